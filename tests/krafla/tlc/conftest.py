"""Small models for TLC, each in a folder of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.krafla.unlisted_models import model_of

SPECS = Path(__file__).with_name("specs")
CONSTANTS = "CONSTANTS Limit = 3 Nil = Nil\nCONSTRAINT Bounded\nCHECK_DEADLOCK FALSE\n"


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
