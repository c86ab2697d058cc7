"""House rules about Python code: sizes, docstrings, swallowed errors, tests that cannot fail."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING

from tests.tidy.inspection import (
    Finding,
    Inspection,
    files,
    functions,
    nodes,
    package_files,
    parse,
    place,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
ASSERTING_CALLS = {"raises", "warns", "fail", "run_state_machine_as_test"}
ASSERTING_PREFIXES = ("assert_",)
SILENCERS = re.compile(
    r"#\s*(?:type:\s*ignore(?P<types>\[[^\]]+\])?"
    r"|noqa(?P<lint>:\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?"
    r"|pragma:\s*no cover(?P<cover>))"
)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def files_are_short(root: Path) -> Inspection:
    """A Python file has at most 400 lines."""
    counts = [(path, len(path.read_text().splitlines())) for path in files(root, ".py")]
    return Inspection(
        len(counts),
        tuple(
            Finding(place(root, path), count, f"{count} lines, more than {FILE_LINES_MAX}")
            for path, count in counts
            if count > FILE_LINES_MAX
        ),
    )


def functions_are_short(root: Path) -> Inspection:
    """A function has at most 60 lines; the docstring of a command is its help, and not counted."""
    looked_at, findings = 0, []
    for path in files(root, ".py"):
        for function in functions(path):
            looked_at += 1
            length = (function.end_lineno or function.lineno) - function.lineno + 1
            if function.name == "command" and ast.get_docstring(function) is not None:
                text = function.body[0]
                length -= (text.end_lineno or text.lineno) - text.lineno + 1
            if length > FUNCTION_LINES_MAX:
                message = f"{function.name} has {length} lines, more than {FUNCTION_LINES_MAX}"
                findings.append(Finding(place(root, path), function.lineno, message))
    return Inspection(looked_at, tuple(findings))


def public_names_have_docstrings(root: Path) -> Inspection:
    """Every public module, class, function and method of both packages has a docstring."""
    looked_at, findings = 0, []
    for path in package_files(root):
        tree = parse(path)
        for node in [tree, *_public_definitions(tree)]:
            looked_at += 1
            if not (ast.get_docstring(node) or "").strip():
                name = "module" if isinstance(node, ast.Module) else node.name
                line = 1 if isinstance(node, ast.Module) else node.lineno
                findings.append(Finding(place(root, path), line, f"{name} has no docstring"))
    return Inspection(looked_at, tuple(findings))


def _public_definitions(parent: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    for node in parent.body:
        if not isinstance(node, Definition) or node.name.startswith("_"):
            continue
        decorators = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
        if decorators & {"overload", "setter", "override"}:
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _public_definitions(node)


def packages_do_not_print(root: Path) -> Inspection:
    """The packages write through the reports, not with `print`."""
    looked_at, findings = 0, []
    for path in package_files(root):
        for node in nodes(path):
            if isinstance(node, ast.Call):
                looked_at += 1
                if isinstance(node.func, ast.Name) and node.func.id == "print":
                    findings.append(Finding(place(root, path), node.lineno, "print() in a package"))
    return Inspection(looked_at, tuple(findings))


def errors_are_not_swallowed(root: Path) -> Inspection:
    """Catching everything must raise again, or say on the line why it does not."""
    looked_at, findings = 0, []
    for path in files(root, ".py"):
        lines = path.read_text().splitlines()
        for node in nodes(path):
            if not isinstance(node, ast.ExceptHandler):
                continue
            looked_at += 1
            if not _is_broad(node) or any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
                continue
            if node.type is None or not re.search(r"# noqa: BLE001 \S+", lines[node.lineno - 1]):
                message = "catches everything and does not raise again"
                findings.append(Finding(place(root, path), node.lineno, message))
    return Inspection(looked_at, tuple(findings))


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(name) in {"Exception", "BaseException"} for name in caught)


def silenced_checks_give_a_reason(root: Path) -> Inspection:
    """A silenced type or lint check names the check, and gives its reason on the same line."""
    looked_at, findings = 0, []
    for path in files(root, ".py"):
        text = path.read_text()
        looked_at += 1
        if not SILENCERS.search(text):
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT:
                continue
            match = SILENCERS.search(token.string)
            if not match:
                continue
            reason = SILENCERS.sub("", token.string)
            named = any(group is not None for group in match.groupdict().values())
            if not named or len(re.findall(r"\w+", reason)) < 2:
                message = f"{match[0]!r} without the name of the check and a reason"
                findings.append(Finding(place(root, path), token.start[0], message))
    return Inspection(looked_at, tuple(findings))


def tests_can_fail(root: Path) -> Inspection:
    """Every test asserts something that is not a constant."""
    looked_at, findings = 0, []
    for path in files(root / "tests", ".py"):
        if not path.name.startswith("test_"):
            continue
        for function in functions(path):
            if not function.name.startswith("test_"):
                continue
            looked_at += 1
            if not any(_asserts(node) for node in ast.walk(function)):
                message = f"{function.name} asserts nothing"
                findings.append(Finding(place(root, path), function.lineno, message))
    return Inspection(looked_at, tuple(findings))


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        return name in ASSERTING_CALLS or name.startswith(ASSERTING_PREFIXES)
    return False
