"""House rules about the specs, and about what code says of them."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from tests.tidy.inspection import Finding, Inspection, files, package_files, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPERATOR = re.compile(r"^(?:LOCAL\s+)?([A-Za-z]\w*)\s*(?:\([^=]*\)|\[[^=]*\])?\s*==", re.MULTILINE)
REFERENCE = re.compile(r"\b([A-Za-z]\w*)!([A-Za-z]\w*)")
DECLARATION = re.compile(
    r"^(?:CONSTANT|VARIABLE)S?\b(.*?)(?=\n\s*\n|\n\S)", re.MULTILINE | re.DOTALL
)
EXTENDS = re.compile(r"^EXTENDS\s+([\w\s,]+?)(?=\n\S|\n\s*\n|\s*\Z)", re.MULTILINE)
COMMENT = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
SOURCE_LINE = re.compile(r'^\s*(?:#\s*|"{3})?(Spec|Kafka): (.*)$')
KAFKA_NAME = re.compile(
    r"\b[A-Z][a-z]+(?:[A-Z0-9][a-z]*)+|\b[A-Z]\w*\.[a-z]\w+|\.[A-Z]\w+|\.json\b"
)


def operators(root: Path) -> set[str]:
    """Return every operator, constant and variable of the specs, as `Module!Name`."""
    found = set()
    for path in files(root / "specs", ".tla"):
        text = path.read_text()
        names = OPERATOR.findall(COMMENT.sub("", text))
        for declaration in DECLARATION.findall(text):
            names += re.findall(r"[A-Za-z]\w*", COMMENT.sub("", declaration))
        found.update(f"{path.stem}!{name}" for name in names)
    return found


def spec_modules(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the specs with their text without comments: no bounds, nothing broken on purpose."""
    for path in files(root / "specs", ".tla"):
        if not path.stem.startswith("MC") and "broken" not in path.parts:
            yield path, COMMENT.sub("", path.read_text())


def extended(root: Path) -> dict[str, set[str]]:
    """Return for each module the names of all modules that it extends, and its own."""
    direct = {
        path.stem: set(re.findall(r"\w+", " ".join(EXTENDS.findall(path.read_text()))))
        for path in files(root / "specs", ".tla")
    }
    whole = {name: {name} for name in direct}
    for _ in direct:
        for known in whole.values():
            known |= {below for one in set(known) for below in direct.get(one, ())}
    return whole


def spec_references_resolve(root: Path) -> Inspection:
    """A `Spec:` line names at least one operator, and each it names exists."""
    known = operators(root)
    looked_at, findings = 0, []
    for path, number, kind, text in _source_lines(root):
        if kind != "Spec":
            continue
        looked_at += 1
        references = ["!".join(pair) for pair in REFERENCE.findall(text)]
        if not references:
            findings.append(Finding(path, number, f"names no Module!Operator: {text}"))
        findings += [
            Finding(path, number, f"{reference} is not in specs/")
            for reference in references
            if reference not in known
        ]
    return Inspection(looked_at, tuple(findings))


def kafka_references_name_a_class(root: Path) -> Inspection:
    """A `Kafka:` line names a class, a method or a message definition of Kafka."""
    lines = [line for line in _source_lines(root) if line[2] == "Kafka"]
    return Inspection(
        len(lines),
        tuple(
            Finding(path, number, f"names no Class, Class.method or .json: {text}")
            for path, number, _, text in lines
            if not KAFKA_NAME.search(text)
        ),
    )


def _source_lines(root: Path) -> list[tuple[str, int, str, str]]:
    return [
        (place(root, path), number, match[1], match[2])
        for path in package_files(root)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (match := SOURCE_LINE.match(line))
    ]


def manifest_strings(root: Path) -> set[str]:
    """Return every key and string of the manifest and its rooms: names of models, and of files."""
    specs = root / "specs"
    listings = (specs / "manifest.toml", *specs.glob("*/models.toml"))
    found: set[str] = set()
    queue: list[object] = [tomllib.loads(one.read_text()) for one in listings if one.exists()]
    while queue:
        value = queue.pop()
        if isinstance(value, dict):
            found.update(value)
            queue += value.values()
        elif isinstance(value, list):
            queue += value
        elif isinstance(value, str):
            found.add(value)
    return found


def every_model_is_in_the_manifest(root: Path) -> Inspection:
    """Each .cfg below specs/ is named in the manifest, by path or by file name without suffix."""
    known = {
        form
        for text in manifest_strings(root)
        for form in (text, text.removeprefix("specs/"), text.rsplit("/", 1)[-1])
    }
    configurations = list(files(root / "specs", ".cfg"))
    return Inspection(
        len(configurations),
        tuple(
            Finding(place(root, path), 1, "no model of the manifest uses this file")
            for path in configurations
            if not known & {path.name, path.stem, path.relative_to(root / "specs").as_posix()}
        ),
    )
