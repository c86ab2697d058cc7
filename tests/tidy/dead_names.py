"""Each name at the top of a module of the packages or of bench is used, by that module and name."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tests.tidy.inspection import Finding, Inspection, package_files, parse, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Modules whose names are a list of Kafka's, used or not.
LISTS = {"kraft.image.versions"}
# Names of these spellings are found at run time.
FOUND_BY_NAME = {
    "ACTIONS": "krafla.cli",
    "HELP": "krafla.cli",
    "command": "krafla.cli",
    "__dir__": "krafla",
    "__getattr__": "krafla",
    "MACHINE": "krafla.fuzz",
    "MUTANTS": "krafla.fuzz",
    "VERBS": "kraft.tools",
    "benchmark": "bench",
}
_HEARTBEATS = "kraft.controller.operations.broker_heartbeats"
# A name that no module uses, and what does.
USED_FROM_OUTSIDE = {
    "krafla.audit.releases:RULES": "readers and tests, who see all changes in one place",
    "krafla.fuzz.engine.state_machine:machine_of": "users, who run the machines of Hypothesis",
    "krafla.oracle.jvm:abandon": "an interruption, which must not import the oracle",
    "krafla.pytest_plugin:pytest_collect_file": "pytest, by the name of the hook",
    "krafla.pytest_plugin:pytest_configure": "pytest, by the name of the hook",
    "krafla.pytest_plugin:pytest_generate_tests": "pytest, by the name of the hook",
    "krafla.pytest_plugin:pytest_itemcollected": "pytest, by the name of the hook",
    "krafla.pytest_plugin:pytest_terminal_summary": "pytest, by the name of the hook",
    "krafla.testing.machine_tally:take_told": "the plugin of pytest, if a test has loaded it",
    "krafla.refinement.stack.spec:NEVER_TAKEN": "the tests of the lockstep's coverage",
    "krafla.refinement.stack.spec:SELDOM": "the tests of the lockstep's coverage",
    "krafla.testing.schemas:SCHEMA_FOLDER": "the test that holds the shipped files to it",
    "kraft.broker.settings:with_profile": "users, who hold a cluster to the text of KIP-631",
    f"{_HEARTBEATS}:process_expired_broker_heartbeat": "users, whose queue has timeouts",
    "kraft.controller.operations.defaults:with_profile": "users, as above",
    "kraft.rpc.kip631_names:api_key_of": "users, as above",
    "kraft.rpc.kip631_names:error_name_of": "users, as above",
}


def names_of_modules_are_used(root: Path) -> Inspection:
    """A function, class or constant is read in its module, or taken from it by another."""
    paths = [*package_files(root), *sorted((root / "bench").glob("*.py"))]
    modules = {_module(root, path): path for path in paths}
    used = {pair for module, path in modules.items() for pair in _uses(module, parse(path))}
    looked_at, findings, excused = 0, [], set()
    for module, path in modules.items():
        for line, name in _defined(parse(path)):
            looked_at += 1
            if (module, name) in used or module in LISTS or _is_found(module, name):
                continue
            if f"{module}:{name}" in USED_FROM_OUTSIDE:
                excused.add(f"{module}:{name}")
                continue
            findings.append(Finding(place(root, path), line, f"nothing uses {module}.{name}"))
    if "kraft.broker.settings" in modules:
        findings += [
            Finding("tests/tidy/dead_names.py", 1, f"{name} is an exception without need")
            for name in sorted(USED_FROM_OUTSIDE.keys() - excused)
        ]
    return Inspection(looked_at, tuple(findings))


def _module(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    # Programs of bench import each other by their bare names.
    parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_found(module: str, name: str) -> bool:
    room = FOUND_BY_NAME.get(name)
    return room is not None and (module.startswith(f"{room}.") or "." not in module)


def _defined(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and name of what a module defines, if no decorator takes note of it."""
    known = {"dataclass", "contextmanager", "cache"}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if all(re.split(r"[(]", ast.unparse(one))[0] in known for one in node.decorator_list):
                yield node.lineno, node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for one in (inner for target in targets for inner in ast.walk(target)):
                is_bound = isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
                if is_bound and one.id != "_" and not one.id.startswith("__"):
                    yield node.lineno, one.id


def _uses(module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what a module reads of itself and of others, each name with its module."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                imported[one.asname or one.name] = f"{node.module}.{one.name}"
                yield node.module, one.name
        elif isinstance(node, ast.Import):
            for one in node.names:
                name = one.name if one.asname else one.name.partition(".")[0]
                imported[one.asname or name] = name
    said = _names_in_all(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield module, node.id
        elif isinstance(node, ast.Attribute):
            head, dot, rest = ast.unparse(node.value).partition(".")
            if head in imported:
                yield imported[head] + dot + rest, node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            yield from re.findall(r"([\w.]+):(\w+)", node.value)
            if re.fullmatch(r"[\w.\[\], |]+", node.value):
                # A quoted type.
                yield from ((module, word) for word in re.findall(r"\w+", node.value))


def _names_in_all(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes of `__all__`, which offers names and uses none."""
    return {
        inner
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for inner in ast.walk(node)
    }
