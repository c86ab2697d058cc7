"""The README shows what ``krafla init`` writes, and the story that a broken server has."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
LOCK = files("krafla.skeleton") / "lock"


def block(language):
    found = re.findall(
        rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(found) == 1
    return found[0]


def plain(text):
    """Return the code without docstrings, as Python reads it."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return ast.unparse(tree)


def test_the_machine_is_the_one_that_init_writes():
    assert plain(block("python")) == plain((LOCK / "test_lock.py.txt").read_text("utf-8"))


def test_the_action_is_the_one_that_init_writes():
    assert block("tla") in (LOCK / "Lock.tla").read_text("utf-8")


def test_the_story_names_the_line_of_the_spec():
    number, formula = re.search(r"Lock\.tla:(\d+)\n +(.+)\n", block("text")).groups()

    assert formula in (LOCK / "Lock.tla").read_text("utf-8").splitlines()[int(number) - 1]
