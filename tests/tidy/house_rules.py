"""House rules about the rooms of the two packages: one word each, and nothing in them is dead."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.tidy.inspection import (
    Finding,
    Inspection,
    files,
    nodes,
    package_files,
    parse,
    place,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = "model/krafla/fuzz/engine/system.py"
# The rooms of the protocols, and the folder in each that they share.
SHARED = {
    "impl/kraft/sim": "common",
    "model/krafla/refinement": "common",
    "model/krafla/fuzz": "engine",
}
ALONE_IN_SPECS = {"lib"}
WITHOUT_SPECS = {"stack"}
MODULES_MAX = 3
# What binds code to one JVM: it is not to be had over Spark Connect.
OF_CLASSIC_SPARK = {"RDD", "SparkConf", "SparkContext", "parallelize", "rdd", "sparkContext"}
# A method that nothing in the packages calls, and who does.
CALLED_FROM_OUTSIDE = {
    "allows_step": "users, who ask the oracle about one step",
}
DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def rooms_have_one_word(root: Path) -> Inspection:
    """The words of the command are the rooms of sim, refinement, fuzz and, but for stack, specs."""
    words = set(command_words(root))
    findings = []
    for folder, shared in SHARED.items():
        rooms = _folders(root / folder) - {shared}
        findings += [
            Finding(folder, 1, f"{room!r}: the command has no such word")
            for room in sorted(rooms - words)
        ]
        findings += [
            Finding(folder, 1, f"the command's {word!r} has no room")
            for word in sorted(words - rooms)
        ]
    manifest = root / "specs" / "manifest.toml"
    rooms = set(tomllib.loads(manifest.read_text())["rooms"]) if manifest.exists() else set()
    for name in sorted((rooms - ALONE_IN_SPECS) ^ (words - WITHOUT_SPECS)):
        findings.append(Finding("specs/manifest.toml", 1, f"{name!r}: not of both"))
    return Inspection(len(words), tuple(findings))


def command_words(root: Path) -> list[str]:
    """Return the words that `krafla fuzz` knows: `NAMES` of its engine."""
    path = root / COMMAND
    for node in parse(path).body if path.exists() else ():
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(isinstance(one, ast.Name) and one.id == "NAMES" for one in targets):
                return list(ast.literal_eval(node.value))
    return []


def _folders(folder: Path) -> set[str]:
    if not folder.is_dir():
        return set()
    return {one.name for one in folder.iterdir() if (one / "__init__.py").exists()}


def class_names_are_not_crowded(root: Path) -> Inspection:
    """A class name stands in at most three modules outside the rooms of the protocols."""
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path in package_files(root):
        if not _is_in_a_protocol_room(root, path):
            for node in nodes(path):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append((path, node.lineno))
    return Inspection(
        len(places),
        tuple(
            Finding(place(root, path), line, f"class {name} stands in {len(found)} modules")
            for name, found in sorted(places.items())
            if len({path for path, _ in found}) > MODULES_MAX
            for path, line in found
        ),
    )


def _is_in_a_protocol_room(root: Path, path: Path) -> bool:
    return any(
        path.is_relative_to(root / folder)
        and path.relative_to(root / folder).parts[0] != shared
        and len(path.relative_to(root / folder).parts) > 1
        for folder, shared in SHARED.items()
    )


def public_methods_have_callers(root: Path) -> Inspection:
    """A public method is used somewhere in the packages, not by tests alone."""
    used = _used_names(root)
    looked_at, findings, excused = 0, [], set()
    for path in package_files(root):
        for node in _public_methods(parse(path)):
            looked_at += 1
            if node.name not in used and node.name not in CALLED_FROM_OUTSIDE:
                message = f"nothing in the packages uses {node.name}"
                findings.append(Finding(place(root, path), node.lineno, message))
            if node.name not in used and node.name in CALLED_FROM_OUTSIDE:
                excused.add(node.name)
    if (root / "impl" / "kraft" / "broker").exists():
        findings += [
            Finding("tests/tidy/house_rules.py", 1, f"{name} is an exception without need")
            for name in sorted(CALLED_FROM_OUTSIDE.keys() - excused)
        ]
    return Inspection(looked_at, tuple(findings))


def _public_methods(parent: ast.Module | ast.ClassDef) -> Iterator[DEFINED]:
    """Yield what classes define, if no decorator takes note of it; dead_names.py has the rest."""
    for node in parent.body:
        if not isinstance(node, DEFINED) or node.name.startswith("_"):
            continue
        if isinstance(parent, ast.ClassDef) and not _is_override(parent):
            known = {"property", "cached_property", "cache", "classmethod", "staticmethod",
                     "contextmanager", "dataclass", "abstractmethod", "lru_cache"}  # fmt: skip
            names = {re.split(r"[.(]", ast.unparse(one))[-1 if "." in ast.unparse(one) else 0]
                     for one in node.decorator_list}  # fmt: skip
            if not names - known:
                yield node
        if isinstance(node, ast.ClassDef):
            yield from _public_methods(node)


def _is_override(parent: ast.ClassDef) -> bool:
    """Return whether a class has a base, whose methods others may call by that base."""
    return any(ast.unparse(base) not in {"Exception", "ValueError"} for base in parent.bases)


def _used_names(root: Path) -> set[str]:
    """Return every name that is read in the packages, imports of it and dotted texts included."""
    used: set[str] = set()
    for path in package_files(root):
        for node in nodes(path):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add(node.id)
            elif isinstance(node, ast.Attribute):
                used.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.update(re.findall(r"[:.](\w+)", node.value) if ":" in node.value else ())
            elif isinstance(node, ast.keyword) and node.arg:
                used.add(node.arg)
    for path in sorted(root.glob("specs/*/traces.toml")):
        used.update(re.findall(r":(\w+)\"", path.read_text()))
    for path in sorted((root / "bench").glob("*.py")):
        used.update(node.id for node in nodes(path) if isinstance(node, ast.Name))
    project = root / "pyproject.toml"
    if project.exists():
        used.update(re.findall(r":(\w+)\"", project.read_text()))
    # typer loads the verb's module and takes `command`; pytest calls its hooks by their names.
    used |= {"command", "main"}
    return used


def spark_works_on_data_frames(root: Path) -> Inspection:
    """No module of krafla uses an RDD or a SparkContext: the same code runs over Spark Connect."""
    looked_at, findings = 0, []
    for path in files(root / "model", ".py"):
        looked_at += 1
        for node in nodes(path):
            names = [alias.name for alias in getattr(node, "names", ()) if hasattr(alias, "name")]
            names += [getattr(node, "id", ""), getattr(node, "attr", "")]
            for name in sorted(OF_CLASSIC_SPARK & {str(one) for one in names}):
                message = f"{name} is not of DataFrames"
                findings.append(Finding(place(root, path), node.lineno, message))
    return Inspection(looked_at, tuple(findings))
