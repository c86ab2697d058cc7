"""The environment of the Makefile says where else it can be made."""

from __future__ import annotations

import errno
from pathlib import Path

import environment
import pytest


@pytest.mark.parametrize(
    ("number", "is_about_the_place"),
    [(errno.EROFS, True), (errno.EACCES, True), (errno.ENOSPC, False)],
)
def test_a_folder_that_cannot_be_written_is_told_with_the_remedy(
    monkeypatch, capsys, number, is_about_the_place
):
    def refused(*_, **__):
        raise OSError(number, "refused", ".venv")

    monkeypatch.setattr(Path, "mkdir", refused)
    assert environment.main([".venv", "runtime"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("krafla: cannot prepare .venv: [Errno ")
    assert ("make VENV=/elsewhere" in told) == is_about_the_place
