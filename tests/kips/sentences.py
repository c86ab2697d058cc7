"""The sentences of the KIPs, the tests that show them, and the page that has both.

A sentence stands in `kip_*.toml` beside this file. Its test has its id: `@sentence("631-101")`.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "kips.md"

AS_PUBLISHED = "as published"
DIFFERS = "as built differs"
NOT_KRAFLAS = "not krafla's"
AWAITS = "awaits its code"
STATUSES = (AS_PUBLISHED, DIFFERS, NOT_KRAFLAS, AWAITS)
FIELDS = {"says", "differs", "not_kraflas", "awaits"}

Test = TypeVar("Test", bound="Callable[..., object]")


def sentence(identifier: str) -> Callable[[Test], Test]:
    """Return a decorator that does not change the test; `shown` reads its id."""
    assert identifier in {one.identifier for kip in kips() for one in kip.sentences}

    def unchanged(test: Test) -> Test:
        return test

    return unchanged


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a KIP, in our words.

    `note` is the row that differs, the key of the reason, or the part that is awaited.
    """

    identifier: str
    section: str
    says: str
    status: str
    note: str

    @property
    def has_test(self) -> bool:
        return self.status in {AS_PUBLISHED, DIFFERS}


@dataclass(frozen=True, slots=True)
class Kip:
    """The sentences of a KIP in its order, and the reasons why some are not krafla's."""

    name: str
    sentences: tuple[Sentence, ...]
    reasons: dict[str, str]


@cache
def kips() -> tuple[Kip, ...]:
    """Return the KIPs that have a table."""
    return tuple(_read(path) for path in sorted(HERE.glob("kip_*.toml")))


def _read(path: Path) -> Kip:
    table = tomllib.loads(path.read_text())
    found = tuple(
        _sentence(identifier, section["heading"], fields)
        for section in table["section"]
        for identifier, fields in section["sentences"].items()
    )
    return Kip(table["kip"], found, table["reasons"])


def _sentence(identifier: str, section: str, fields: dict[str, str]) -> Sentence:
    assert set(fields) <= FIELDS, f"{identifier}: {sorted(set(fields) - FIELDS)}"
    assert len(fields) <= 2, f"{identifier} has two statuses"
    status, note = AS_PUBLISHED, ""
    for key, meaning in (("differs", DIFFERS), ("not_kraflas", NOT_KRAFLAS), ("awaits", AWAITS)):
        if key in fields:
            status, note = meaning, fields[key]
    return Sentence(identifier, section, fields["says"], status, note)


@cache
def shown() -> dict[str, list[str]]:
    """Return the tests of each sentence, by name."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for identifier in _identifiers(node):
                    found.setdefault(identifier, []).append(node.name)
    return found


def _identifiers(node: ast.FunctionDef) -> list[str]:
    return [
        str(ast.literal_eval(decorator.args[0]))
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "sentence"
    ]


def counts(kip: Kip) -> str:
    """Return the table of a KIP: for each section its sentences by status, and its tests."""
    tests = shown()
    lines = [
        f"| {kip.name}: section | sentences | " + " | ".join(STATUSES) + " | tests |",
        "|---" + "|---:" * 6 + "|",
    ]
    for section in dict.fromkeys(one.section for one in kip.sentences):
        of_section = [one for one in kip.sentences if one.section == section]
        lines.append(_count_line(section, of_section, tests))
    return "\n".join([*lines, _count_line("all", list(kip.sentences), tests)])


def totals(kip: Kip) -> str:
    """Return how many sentences a KIP has, and how many of each status."""
    by_status = Counter(one.status for one in kip.sentences)
    numbers = ", ".join(f"{by_status[one]} {one}" for one in STATUSES if by_status[one])
    return f"{len(kip.sentences)} sentences: {numbers}. The reasons why some are not krafla's:"


def _count_line(name: str, of_section: list[Sentence], tests: dict[str, list[str]]) -> str:
    by_status = Counter(one.status for one in of_section)
    shows = sum(len(tests.get(one.identifier, ())) for one in of_section)
    numbers = [len(of_section), *(by_status[status] for status in STATUSES), shows]
    return f"| {name} | " + " | ".join(str(number) for number in numbers) + " |"


def page() -> str:
    """Return the text of docs/kips.md."""
    parts = [
        "# What the KIPs say, sentence by sentence",
        "`python -m tests.kips --write` writes this page from the tables in `tests/kips`, and"
        "\nprints the counts of each section. The sentences are in our words, each with its test."
        "\nA `test_differs_...` shows what Kafka 4.1 does instead; the sentence's id is in a row of"
        "\n[kip-differences.md](kip-differences.md). A sentence with a reason in brackets is"
        "\noutside of krafla and has no test.",
    ]
    tests = shown()
    for kip in kips():
        parts += [
            f"## {kip.name}",
            totals(kip),
            "\n".join(f"* {key}: {reason}" for key, reason in kip.reasons.items()),
        ]
        for section in dict.fromkeys(one.section for one in kip.sentences):
            lines = [_line(one, tests) for one in kip.sentences if one.section == section]
            parts += [f"### {section}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _line(one: Sentence, tests: dict[str, list[str]]) -> str:
    notes = {
        NOT_KRAFLAS: f" ({one.note})",
        AWAITS: f"; awaits {one.note}",
    }
    shows = ", ".join(f"`{name}`" for name in tests.get(one.identifier, ()))
    end = f": {shows}" if shows else ""
    return f"* {one.identifier} {one.says}{notes.get(one.status, '')}{end}"
