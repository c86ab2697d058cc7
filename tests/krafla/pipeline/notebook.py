"""Runs the cells of a notebook in this process, in order, and says what each of them shows.

`python -m tests.krafla.pipeline.notebook` runs the notebooks of docs/notebooks with a Spark of its
own, and writes what they show into their files. A kernel of Jupyter would bring 33 packages, and
start a second Spark; the cells are plain Python, and their numbers are always the same.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
from pathlib import Path

ROOT = Path(__file__).parents[3]
NOTEBOOKS = ROOT / "docs" / "notebooks"


def notebook_in(path):
    return json.loads(path.read_text("utf-8"))


def outputs_of(notebook):
    """Return what the cells of code show, as the file of a notebook has it."""
    names, shown = {"__name__": "__main__"}, []
    with contextlib.chdir(ROOT):
        for number, cell in enumerate(code_cells(notebook), 1):
            shown.append(run(number, "".join(cell["source"]), names))
    return shown


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(number, source, names):
    """Run one cell; return its text and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said, found = io.StringIO(), []
    with contextlib.redirect_stdout(said):
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    if said.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(said.getvalue())})
    if value is not None:
        found.append(
            {
                "data": data_of(value),
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return found


def data_of(value):
    """Return the forms in which Jupyter shows a value."""
    data = {}
    for kind, name in (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_")):
        text = getattr(value, name, lambda: None)()
        if text is not None:
            data[kind] = lines(text)
    return data | {"text/plain": lines(repr(value))}


def lines(text):
    return text.splitlines(keepends=True)


def write(path):
    """Run a notebook, and write what it shows into its file."""
    notebook = notebook_in(path)
    for number, (cell, shown) in enumerate(
        zip(code_cells(notebook), outputs_of(notebook), strict=True), 1
    ):
        cell["outputs"], cell["execution_count"] = shown, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from krafla.pipeline.session import session

    os.environ.setdefault("SPARK_REMOTE", "sc://the-session-that-runs")
    with session("krafla notebooks", "local[2]"):
        for each in sorted(NOTEBOOKS.glob("*.ipynb")):
            write(each)
