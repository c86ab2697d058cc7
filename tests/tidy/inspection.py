"""What a house rule returns, and the file lists and parsers that the rules share."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SKIPPED_FOLDERS = {"__pycache__", "build", "dist", "site-packages"}
KEPT_DOT_FOLDERS = {".ci"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that breaks a rule."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a rule found, and how many things it looked at: after none, it says nothing."""

    looked_at: int
    findings: tuple[Finding, ...]


def files(root: Path, *suffixes: str) -> Iterator[Path]:
    """Yield the project's files below `root` with one of `suffixes` (all files if none), sorted."""
    for path in sorted(root.rglob("*")):
        folders = path.relative_to(root).parts[:-1]
        hidden = any(name.startswith(".") and name not in KEPT_DOT_FOLDERS for name in folders)
        if hidden or SKIPPED_FOLDERS.intersection(folders) or not path.is_file():
            continue
        if not suffixes or path.suffix in suffixes:
            yield path


def package_files(root: Path) -> Iterator[Path]:
    """Yield the Python files of the two packages."""
    for room in ("impl", "model"):
        yield from files(root / room, ".py")


def place(root: Path, path: Path) -> str:
    """Return `path` as findings show it: relative to `root`, with forward slashes."""
    return path.relative_to(root).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    """Return the syntax tree of one Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method below `tree`, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
