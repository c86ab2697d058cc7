"""What a house rule returns, and the file lists and parsers that the rules share."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _is_skipped(name)]
        found += [Path(folder, name) for name in names]
    for path in sorted(found):
        # In a worktree of git, .git is a file, which has a path of the machine.
        if path.is_file() and path.name != ".git" and (not suffixes or path.suffix in suffixes):
            yield path


def _is_skipped(folder: str) -> bool:
    hidden = folder.startswith(".") and folder not in KEPT_DOT_FOLDERS
    return hidden or folder in SKIPPED_FOLDERS


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


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of the syntax tree of one Python file: several rules look at each."""
    return tuple(ast.walk(parse(path)))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method of one Python file, nested ones too."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
