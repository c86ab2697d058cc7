"""``krafla check --pin``: numbers that were found take the place of those that were pinned."""

from __future__ import annotations

import json

import pytest
from tests.krafla.cli.lamp_room import edit, lay_out
from typer.testing import CliRunner

from krafla.cli import application


@pytest.fixture
def specs(tmp_path, monkeypatch):
    """A small room in which every answer is known; its first model pins wrong numbers."""
    specs = lay_out(tmp_path)
    monkeypatch.setenv("KRAFLA_SPECS", str(specs))
    edit(specs / "lamp/models.toml", "distinct = 3\n", "distinct = 40 # of three\n")
    edit(specs / "lamp/models.toml", "generated = 3", "generated = 30")
    edit(specs / "lamp/witnesses.toml", "LampShort = 1", "LampShort = 2")
    return specs


def check(*arguments):
    """Return how ``krafla check`` ends."""
    return CliRunner().invoke(application("check"), ["check", *arguments])


def test_a_number_that_does_not_fit_says_which_line_to_change_and_pin_changes_it(specs):
    path = specs / "lamp/models.toml"
    witnesses = path.with_name("witnesses.toml")
    wrong = (
        f"{path}:9: distinct = 40 -> 3",
        f"{path}:10: generated = 30 -> 3",
        f"{witnesses}:1: LampShort = 2 -> 1",
    )
    asked = check("LampShort", "LampLong")
    assert asked.exit_code == 3
    assert f"3 distinct states, but 40 are pinned: {wrong[0]}\n" in asked.stdout
    assert "krafla check LampShort --pin   # write the numbers that were found; " in asked.stdout
    before = path.read_text()
    pinned = check("LampShort", "LampLong", "--pin")
    assert pinned.exit_code == 0, pinned.output
    for line in wrong:
        assert f"    pinned: {line}\n" in pinned.stdout
    after = before.replace("distinct = 40 #", "distinct = 3 #")
    assert path.read_text() == after.replace("generated = 30", "generated = 3")
    assert witnesses.read_text() == "LampShort = 1\n"
    again = check("LampShort", "--pin", "--json")
    assert (again.exit_code, json.loads(again.stdout)["pinned"]) == (0, [])


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("NeverOnInv == ~is_on\n\nCountsUpProp == [][presses' >= presses]_<<presses, is_on>>",
         "NeverOnInv == ~is_on\n\nCountsUpProp == [][presses' < presses]_<<presses, is_on>>", 1),
        ("OnReach == is_on", "OnReach == FALSE", 3),
    ],
    ids=["violated", "a witness was not reached"],
)  # fmt: skip
def test_nothing_is_pinned_if_anything_else_is_wrong(specs, old, new, status):
    edit(specs / "lamp/LampProperties.tla", old, new)
    before = (specs / "lamp/models.toml").read_bytes()
    result = check("LampShort", "--pin")
    assert result.exit_code == status, result.output
    assert "    not pinned: a number is written only if all else held\n" in result.stdout
    assert (specs / "lamp/models.toml").read_bytes() == before


def test_a_number_that_is_not_pinned_is_told_with_the_line_to_add_and_not_written(specs):
    path = specs / "lamp/models.toml"
    edit(path, "distinct = 7\n", "")
    result = check("LampLong", "--pin")
    assert result.exit_code == 3, result.output
    assert f"is pinned; found 7: add distinct = 7 below {path}:" in result.stdout
    assert "distinct = 7" not in path.read_text()
