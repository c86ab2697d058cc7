"""The scenarios that the controller is held to have tests, and their page is about them."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from tests.tidy.document_rules import table_rows

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "controller-scenarios.md"
SECTIONS = tomllib.loads((TESTS / "kraft" / "scenarios.toml").read_text())["section"]
SCENARIOS = {
    int(number): fields for section in SECTIONS for number, fields in section["scenarios"].items()
}
COUNT = 148


@cache
def named_in(path: Path) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse(path.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_there_are_all_scenarios_in_their_order():
    assert list(SCENARIOS) == list(range(1, COUNT + 1))
    assert all(set(fields) == {"says", "tests"} for fields in SCENARIOS.values())


@pytest.mark.parametrize("section", SECTIONS, ids=[one["heading"] for one in SECTIONS])
def test_every_scenario_names_tests_that_exist(section):
    for number, fields in section["scenarios"].items():
        assert fields["tests"], f"scenario {number} has no test"
        for test in fields["tests"]:
            path, _, name = test.partition("::")
            assert name.startswith("test_"), test
            assert name in named_in(TESTS / path), f"scenario {number}: there is no {test}"


def test_the_page_is_about_scenarios_and_says_how_it_is_known():
    rows = [row for _, row in table_rows(PAGE)]
    assert rows
    for row in rows:
        named = row["scenario"].partition(":")[0]
        numbers = [int(one) for one in re.findall(r"\d+", named)]
        assert numbers or named == "-"
        assert set(numbers) <= set(SCENARIOS)
        assert re.split(r"\W", row["known from"])[0] in {"jar", "log", "source", "here"}
