"""Small models for TLC, each in a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.krafla.unlisted_models import model_of

SPECS = Path(__file__).with_name("specs")
CONSTANTS = "CONSTANTS Limit = 3 Nil = Nil\nCONSTRAINT Bounded\nCHECK_DEADLOCK FALSE\n"
ENDLESS = """---- MODULE Endless ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % 20000000 \\/ x' = (x * 7 + 1) % 20000000
====
"""


@pytest.fixture
def make_model(tmp_path):
    """Return a function that lays out a model: a module of specs/ and the text of a cfg."""

    def make(config: str, module: str = "Counter", *, text: str | None = None, **fields):
        folder = tmp_path / "model"
        if not folder.is_dir():
            shutil.copytree(SPECS, folder)
        if text is not None:
            (folder / f"{module}.tla").write_text(text)
        path = folder / f"{module}.cfg"
        path.write_text(config)
        return model_of(folder / f"{module}.tla", path, **fields)

    return make


@pytest.fixture
def counter(make_model):
    """Return a function that lays out a model of the counter with more lines in its cfg."""

    def make(lines: str, **fields):
        return make_model(f"{CONSTANTS}{lines}\n", **fields)

    return make


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def endless(make_model):
    return make_model("INIT Init\nNEXT Next", "Endless", text=ENDLESS)


@pytest.fixture
def started(monkeypatch):
    """The processes that runs have started."""
    processes = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr("krafla.tlc.process.subprocess.Popen", Recorded)
    return processes
