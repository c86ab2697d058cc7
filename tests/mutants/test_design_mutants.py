"""The table of design errors says what specs/broken has."""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

from krafla.manifest import find_specs

ROW = re.compile(
    r"^\| (?P<action>\w+) \| `(?P<id>[\w-]+)` \| (?P<what>.+?) \| [\w ]+ "
    r"\| `(?P<model>\w+)` \| `(?P<property>\w+)` \| [\d,]+ \| (?P<count>[\w, ]+) \|$",
    re.MULTILINE,
)


class Row(NamedTuple):
    """One line of the table: the mutant, and what the document says of it."""

    id: str
    what: str
    model: str
    property: str


def listed() -> list[Row]:
    text = (find_specs().parent / "docs/internals/design-mutants.md").read_text(encoding="utf-8")
    return [Row(*(row[name] for name in Row._fields)) for row in ROW.finditer(text)]


def kept() -> dict[str, Row]:
    return {
        entry["id"]: Row(*(entry[name] for name in Row._fields))
        for listing in sorted((find_specs() / "broken").glob("*/mutants.toml"))
        for entry in tomllib.loads(listing.read_text(encoding="utf-8"))["mutant"]
    }


def test_each_design_error_is_a_mutant_with_the_model_and_the_property_that_it_dies_by() -> None:
    mutants = kept()
    rows = listed()
    assert [row for row in rows if mutants.get(row.id) != row] == []
    assert len({row.id for row in rows}) == len(rows) >= 40


def test_the_table_lists_every_action_that_it_names_by_the_name_in_a_spec() -> None:
    text = (find_specs().parent / "docs/internals/design-mutants.md").read_text(encoding="utf-8")
    modules = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(find_specs().glob("*/*.tla"))
    )
    named = {row["action"] for row in ROW.finditer(text)}
    assert [name for name in sorted(named) if not re.search(rf"(?m)^{name}\b.*==", modules)] == []
