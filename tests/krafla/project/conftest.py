"""Commands given in a folder outside the repository, as a stranger gives them."""

from __future__ import annotations

import shlex

import pytest
from tests.krafla.project.folders import lay_out
from typer.testing import CliRunner

from krafla.cli import application
from krafla.project import at_hand as room


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a lock, in which the commands of the test are given."""
    monkeypatch.setenv("KRAFLA_SPECS", "")
    monkeypatch.setattr(room, "_given", [])
    folder = lay_out(tmp_path / "lock")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def krafla():
    """How a command ends: as a line of the shell, or as its words."""

    def run(line, *words):
        first, *others = (*shlex.split(line), *map(str, words))
        return CliRunner().invoke(application(first), [first, *others])

    return run


@pytest.fixture
def printed():
    """The commands that an output says to go on with, as they are printed."""

    def found(output):
        lines = (line.strip().removeprefix("reproduce: ") for line in output.splitlines())
        return [line.partition("   #")[0] for line in lines if line.startswith("krafla ")]

    return found
