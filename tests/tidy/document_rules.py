"""House rules about the documents: links, claims and names lead to things that exist."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tests.tidy.inspection import Finding, Inspection, files, nodes, parse, place
from tests.tidy.spec_rules import extended, manifest_strings, operators

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NOTHING = {"", "-", "(none)"}
SHOWING = re.compile(r'^(?:def (?=test_)|@sentence\(")([\w-]+)', re.MULTILINE)
ROOMS = {"kraft": "impl", "krafla": "model"}


def links_resolve(root: Path) -> Inspection:
    """A relative link of a Markdown file leads to a file, and its anchor to a heading there."""
    looked_at, findings = 0, []
    for path in files(root, ".md"):
        for number, line in _prose(path):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                looked_at += 1
                name, _, anchor = target.partition("#")
                goal = path.parent / name if name else path
                broken = not goal.exists() or (
                    anchor and goal.suffix == ".md" and anchor not in _anchors(goal)
                )
                if broken:
                    findings.append(Finding(place(root, path), number, f"dead link: {target}"))
    return Inspection(looked_at, tuple(findings))


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _anchors(path: Path) -> set[str]:
    headings = (line.lstrip("#").strip() for _, line in _prose(path) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each table row of a Markdown file: its line, and its cells by lower-case header."""
    header: list[str] = []
    for number, line in _prose(path):
        if not line.lstrip().startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = [cell.lower() for cell in cells]
        elif not set("".join(cells)) <= set("-: "):
            yield number, dict(zip(header, cells, strict=False))


def names_in(cell: str) -> list[str]:
    """Return what a cell names: its `quoted` words, or all of it."""
    return re.findall(r"`([^`]+)`", cell) or ([] if cell in NOTHING else [cell])


def claims_are_shown(root: Path) -> Inspection:
    """A claim names its invariant, test, model and mutant, and each of them exists."""
    page = root / "docs" / "claims.md"
    if not page.exists():
        return Inspection(0, ())
    known, models = operators(root), manifest_strings(root)
    mutants = _mutant_words(root)
    looked_at, findings = 0, []
    for number, row in table_rows(page):
        if "claim" not in row:
            continue
        looked_at += 1
        wrong = [name for name in names_in(row.get("invariant", "")) if name not in known]
        wrong += [name for name in names_in(row.get("test", "")) if not _is_test(root, name)]
        wrong += [name for name in names_in(row.get("model", "")) if name not in models]
        wrong += [name for name in names_in(row.get("mutant", "")) if name not in mutants]
        findings += [Finding(place(root, page), number, f"no such thing: {name}") for name in wrong]
        if all(row.get(column, "") in NOTHING for column in ("invariant", "test", "model")):
            findings.append(Finding(place(root, page), number, "nothing shows this claim"))
    return Inspection(looked_at, tuple(findings))


def _is_test(root: Path, name: str) -> bool:
    path, _, test = name.partition("::")
    if not (root / path).is_file():
        return False
    wanted = test.split("::")[-1].partition("[")[0]
    return not test or any(
        node.name == wanted
        for node in nodes(root / path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def _mutant_words(root: Path) -> set[str]:
    """Return the words of the files that have mutants, each with its hyphens."""
    places = [root / "tests" / "mutants", root / "model" / "krafla" / "fuzz", root / "specs"]
    texts = [
        path.read_text() for folder in places for path in files(folder, ".py", ".toml", ".tla")
    ]
    return {word for text in texts for word in re.findall(r"[\w-]+", text)}


def under_headings(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each table row of a Markdown file with the heading above it."""
    headings = {number: line for number, line in _prose(path) if line.startswith("#")}
    for number, row in table_rows(path):
        yield headings[max((at for at in headings if at < number), default=0)], row


def names_agree(root: Path) -> Inspection:
    """Each row of docs/naming.md names an action of its module and a Python name that exists.

    The action may be defined in a module that this one extends.
    A table stands below a heading that names its module. A name is looked up once its module or
    its subpackage exists; what does not exist yet cannot disagree.
    """
    page = root / "docs" / "naming.md"
    if not page.exists():
        return Inspection(0, ())
    known, above = operators(root), extended(root)
    modules = {operator.partition("!")[0] for operator in known}
    headings = {number: line for number, line in _prose(page) if line.startswith("#")}
    looked_at, findings = 0, []
    for number, row in table_rows(page):
        if "spec action" not in row:
            continue
        heading = headings[max(at for at in headings if at < number)]
        module = next((name for name in sorted(modules) if name in heading.split()), None)
        for name in names_in(row["spec action"]) if module else ():
            looked_at += 1
            action = name.partition("(")[0]
            if not any(f"{one}!{action}" in known for one in above.get(module, {module})):
                findings.append(Finding(place(root, page), number, f"no action {module}!{name}"))
        for name in names_in(row.get("python", "")):
            resolved = python_name_exists(root, name)
            looked_at += resolved is not None
            if resolved is False:
                findings.append(Finding(place(root, page), number, f"no Python name {name}"))
    return Inspection(looked_at, tuple(findings))


def unnamed_actions(root: Path) -> Inspection:
    """Each action of a spec with a table in docs/naming.md has a row: none is forgotten."""
    page = root / "docs" / "naming.md"
    if not page.exists():
        return Inspection(0, ())
    text = page.read_text()
    looked_at, findings = 0, []
    for path in files(root / "specs", ".tla"):
        if not re.search(rf"^#+ .*\b{path.stem}\b", text, re.MULTILINE):
            continue
        bodies = re.findall(
            r"^\w*Next ==(.*?)\n(?=\n|\S)", path.read_text(), re.MULTILINE | re.DOTALL
        )
        for name in re.findall(r"(?:\\/|:)\s*([A-Z]\w+)", "\n".join(bodies)):
            if name.endswith("Next"):
                continue
            looked_at += 1
            if f"`{name}" not in text:
                message = f"action {name} has no row in docs/naming.md"
                findings.append(Finding(place(root, path), 1, message))
    return Inspection(looked_at, tuple(findings))


def python_name_exists(root: Path, dotted: str) -> bool | None:
    """Say whether `dotted` is a module or a name in one; None while its subpackage is absent."""
    package, *rest = dotted.split(".")
    if package not in ROOMS or not rest:
        return False
    where = root / ROOMS[package] / package
    if not (where / rest[0]).exists() and not (where / f"{rest[0]}.py").exists():
        return None
    while rest and (where / rest[0]).is_dir():
        where = where / rest.pop(0)
    if rest and (where / f"{rest[0]}.py").exists():
        where = where / f"{rest.pop(0)}.py"
    else:
        where = where / "__init__.py"
    if not where.exists():
        return False
    return _defines(parse(where), rest)


def _defines(tree: ast.Module | ast.ClassDef, names: list[str]) -> bool:
    if not names:
        return True
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == names[0]:
            return _defines(node, names[1:])
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        bound = {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
        if len(names) == 1 and (names[0] in bound or getattr(node, "name", None) == names[0]):
            return True
    return False


def difference_topics(root: Path) -> set[str]:
    """Return what the rows of docs/kip-differences.md are about; a record is `record 7`."""
    page = root / "docs" / "kip-differences.md"
    rows = [row for _, row in table_rows(page)]
    records = {f"record {row['id']}" for row in rows if "id" in row}
    return records | {row["topic"] for row in rows if "topic" in row}


def differences_are_shown(root: Path) -> Inspection:
    """A row of docs/kip-differences.md names what shows it, or what it waits for, and that exists.

    A test is named by itself or by the sentence of a KIP that it has; what is not a test is an
    operator of the specs. What a profile does is done by a name that exists.
    """
    page = root / "docs" / "kip-differences.md"
    if not page.exists():
        return Inspection(0, ())
    texts = [path.read_text() for path in files(root / "tests", ".py")]
    known = operators(root).union(*(SHOWING.findall(text) for text in texts))
    looked_at, findings = 0, []
    for number, row in table_rows(page):
        wrong = []
        if "shown by" in row and not row["shown by"].startswith(("awaits ", "not shown: ")):
            wrong = [name for name in names_in(row["shown by"]) or [""] if name not in known]
        elif "in the profile" in row:
            names = re.findall(r"`([^`]+)`", row["in the profile"])
            wrong = [name for name in names if python_name_exists(root, name) is False]
        elif "topic" in row and "shown by" not in row:
            wrong = ["nothing that shows it"]
        looked_at += 1
        findings += [Finding(place(root, page), number, f"no such thing: {name}") for name in wrong]
    return Inspection(looked_at, tuple(findings))
