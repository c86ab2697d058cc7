"""The notebooks of docs/notebooks show what their cells show today."""

from __future__ import annotations

import ast
import json

import pytest
from tests.krafla.pipeline.notebook import NOTEBOOKS, code_cells, notebook_in, outputs_of

pytestmark = pytest.mark.xdist_group("spark")

WRITE = "python -m tests.krafla.pipeline.notebook"
EVERY = sorted(NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_notebook_was_run_from_its_first_cell_to_its_last(path):
    cells = code_cells(notebook_in(path))
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    for cell in cells:
        ast.parse("".join(cell["source"]))
        assert cell["outputs"], "it shows nothing"
        assert str(NOTEBOOKS.parents[1]) not in json.dumps(cell), "a place on one machine"


@pytest.mark.nightly
@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_show_what_is_in_its_file(spark, path, monkeypatch):
    # A session runs already, and a cell that asks for one gets it; only its address is asked for.
    monkeypatch.setenv("SPARK_REMOTE", "sc://the-session-that-runs")
    notebook = notebook_in(path)
    shown = outputs_of(notebook)
    assert spark.spark.version
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), shown, strict=True), 1):
        assert outputs == cell["outputs"], f"cell {number}; `{WRITE}` writes it"
