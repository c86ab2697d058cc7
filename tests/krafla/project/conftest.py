"""Commands given in a folder outside the repository, as a stranger gives them."""

from __future__ import annotations

import re
import shlex
import sys

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


@pytest.fixture
def lock(tmp_path, monkeypatch, krafla):
    """The skeleton, as ``krafla init`` writes it, with modules of names that no other test has."""
    monkeypatch.setenv("KRAFLA_SPECS", "")
    # `fuzz --save` sets it for this process.
    monkeypatch.setenv("KRAFLA_FOUND", "")
    folder = tmp_path / "project"
    monkeypatch.chdir(tmp_path)
    assert krafla("init project").exit_code == 0
    monkeypatch.chdir(folder)
    # This process may have imported the modules of another test.
    mark = f"of_{abs(hash(str(tmp_path))):x}"
    for old, new in (("lock_server", f"server_{mark}"), ("test_lock", f"machine_{mark}")):
        (folder / f"{old}.py").rename(folder / f"{new}.py")
        for path in (*folder.glob("*.py"), folder / "krafla.toml"):
            path.write_text(re.sub(rf"\b{old}\b", new, path.read_text()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    return folder
