"""``krafla check --invariant`` and ``--property``: something is tried without editing a file."""

from __future__ import annotations

import json

import pytest
from tests.krafla.cli.lamp_room import edit, lay_out
from typer.testing import CliRunner

from krafla.cli import application

ONLY = "    only this was asked, not the model's own properties, witnesses and pinned numbers\n"
REFUSED = {
    "a formula that ends too early": (
        ("--invariant", "presses < "), "'presses < ', column 11: does not parse: it ends too early"
    ),
    "a formula that does not parse": (
        ("--invariant", "presses \\in {1,,2}"), "column 16: does not parse at \",\""
    ),
    "a formula that ends in an operator": (
        ("--invariant", "presses[1] = 2 ="), "column 12: does not parse here"
    ),
    "a formula with more after it": (
        ("--invariant", "presses = 1,"), "column 12: does not parse from here on"
    ),
    "an unknown operator in the second line of the second formula": (
        ("--invariant", "TRUE", "--invariant", "/\\ presses < 3\n/\\ pressed < 2"),
        "line 2, column 4: Unknown operator: `pressed'. Like it: presses",
    ),
    "a variable": (("--invariant", "presses"), "column 1: is neither true nor false"),
    "a number": (("--invariant", "42"), "--invariant 42: is neither true nor false"),
    "a variable of another type": (
        ("--invariant", "presses = {}"),
        "--invariant 'presses = {}': some state gives it no value: Attempted to check equality",
    ),
    "a number as a function": (
        ("--invariant", "presses[1] = 2"), "some state gives it no value: "
    ),
    "a formula of a step": (("--invariant", "presses' = 1"), "speaks of steps, not of a state"),
    "an operator that is not there": (
        ("--property", "CountUpProp"), "no operator 'CountUpProp'; did you mean CountsUpProp"
    ),
    "an action": (("--property", "Press"), "Press is a formula about one step, not a property"),
    "an operator with a strange name": (
        ("--property", "a b"), "takes the name of an operator, not 'a b'; --invariant takes"
    ),
    "an empty formula": (("--invariant", " "), "an empty formula says nothing"),
    "a formula beside kept results": (
        ("--invariant", "TRUE", "--results", "r"), "--results cannot be combined"
    ),
    "a formula beside --pin": (("--invariant", "TRUE", "--pin"), "--pin needs a whole check"),
}  # fmt: skip


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Return how ``krafla check`` ends on a small room in which every answer is known."""
    monkeypatch.setenv("KRAFLA_SPECS", str(lay_out(tmp_path)))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        return CliRunner().invoke(application("check"), ["check", *arguments])

    return run


def test_a_formula_that_some_state_breaks_is_violated_with_the_steps_and_values(check):
    result = check("LampShort", "--invariant", "presses < 2")
    assert result.exit_code == 1, result.output
    assert "  2 Press   <- TriedInv is false here   Lamp:" in result.stdout
    assert "presses = 2\n" in result.stdout
    assert "VIOLATED  LampShort: invariant TriedInv is violated\n" in result.stdout
    assert f"    TriedInv is presses < 2\n{ONLY}" in result.stdout
    same = "the same search (--workers 1: the same steps)\n"
    assert f"--invariant 'presses < 2'   # {same}" in result.stdout


def test_a_formula_of_constants_alone_is_held_or_violated(check):
    assert check("LampShort", "--invariant", "Limit = 2").exit_code == 0
    result = check("LampShort", "--invariant", "Limit = 3")
    assert result.exit_code == 1, result.output
    assert "VIOLATED  LampShort: TriedInv is false whatever the state\n" in result.stdout
    assert "TriedInv is Limit = 3" in result.stdout


@pytest.mark.nightly
def test_what_the_model_pins_and_asks_itself_is_not_asked_of_a_trial(check, tmp_path):
    edit(tmp_path / "specs/lamp/models.toml", "distinct = 3", "distinct = 4")
    edit(tmp_path / "specs/lamp/models.toml", '["OnReach"]', '["OffAtFirstInv"]')
    assert check("LampShort").exit_code == 3
    result = check("LampShort", "--invariant", "presses < 3", "--invariant", "PressesInv")
    assert result.exit_code == 0, result.output
    assert f"HELD  LampShort: no error in any reachable state\n{ONLY}" in result.stdout
    assert "2 properties checked" in result.stdout


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("CountsUpProp", 0, "HELD  LampShort: no error"),
        ("CountsDownProp", 1, "VIOLATED  LampShort: "),
        # Under PROPERTY TLC would ask the initial states only.
        ("NeverOnInv", 1, "VIOLATED  LampShort: invariant NeverOnInv is violated"),
    ],
)
def test_an_operator_is_tried_by_its_name_of_every_state_or_of_every_step(
    check, tmp_path, name, status, said
):
    down = "CountsDownProp == [][presses' < presses]_presses\nOnReach == is_on\n"
    edit(tmp_path / "specs/lamp/LampProperties.tla", "OnReach == is_on\n", down)
    result = check("LampShort", "--property", name)
    assert result.exit_code == status, result.output
    assert said in result.stdout


@pytest.mark.parametrize("distinct", [3, 2])
def test_a_trial_says_why_it_has_more_states_than_are_pinned(check, tmp_path, distinct):
    edit(tmp_path / "specs/lamp/LampShort.cfg", "SPECIFICATION", "VIEW Turned\nSPECIFICATION")
    turned = "Turned == presses % 2\nOnReach == is_on\n"
    edit(tmp_path / "specs/lamp/LampProperties.tla", "OnReach == is_on\n", turned)
    edit(tmp_path / "specs/lamp/models.toml", "distinct = 3", f"distinct = {distinct}")
    result = check("LampShort", "--invariant", "TRUE")
    assert "(as pinned)" not in result.stdout
    told = "    more states than the 2 that are pinned: without the cfg's VIEW, no state stands for"
    assert (told in result.stdout) == (distinct == 2), result.output


@pytest.mark.by_day(7)
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_tried_is_one_error_with_its_place(check, case):
    arguments, said = REFUSED[case]
    result = check("LampShort", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert ONLY not in result.output


def test_models_must_be_named_for_a_trial(check):
    result = check("--invariant", "TRUE")
    assert result.exit_code == 2
    assert "need a MODEL or --tag" in result.stderr


@pytest.mark.nightly
def test_a_trial_of_several_models_has_no_totals_of_specs(check):
    result = check("--tag", "lamp", "--invariant", "presses < 3", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == told["exit_status"] == 1
    assert [one["verdict"] for one in told["models"]] == ["held", "violated", "held"]
    assert (told["specs"], told["doubts"]) == ([], [])


@pytest.mark.nightly
def test_a_simulation_without_a_violation_does_not_show_that_a_formula_holds(check, tmp_path):
    result = check("LampShort", "--invariant", "presses < 3", "--simulate", "5")
    assert result.exit_code == 3, result.output
    assert "simulation can find violations, but not show" in result.stdout
    # So does a model that is only simulated.
    edit(
        tmp_path / "specs/lamp/models.toml",
        'kind = "safety"\nexpect = "holds"\ndistinct = 7\n',
        'kind = "simulation"\nexpect = "holds"\nbehaviours = 5\ndepth = 5\n',
    )
    assert check("LampLong", "--invariant", "presses < 9").exit_code == 3


PAIR = """\
---- MODULE Pair ----
EXTENDS TLC
CONSTANTS l1, l2, NoLamp
VARIABLE lit
Init == lit = NoLamp
Next == lit = NoLamp /\\ \\E lamp \\in {l1, l2} : lit' = lamp
Spec == Init /\\ [][Next]_lit
Sym == Permutations({l1, l2})
====
"""
PAIR_CFG = """\
SPECIFICATION Spec
CONSTANTS l1 = l1  l2 = l2  NoLamp = NoLamp
SYMMETRY Sym
CHECK_DEADLOCK FALSE
"""
PAIR_MODEL = """
[[model]]
name = "Pair"
module = "lamp/Pair.tla"
cfg = "lamp/Pair.cfg"
spec = "Pair"
tier = "full"
kind = "safety"
expect = "holds"
bounds = "two lamps"
"""


@pytest.mark.by_day(1)
@pytest.mark.parametrize("lamp", ["l1", "l2"])
def test_a_formula_may_name_one_of_several_symmetric_nodes(check, tmp_path, lamp):
    room = tmp_path / "specs" / "lamp"
    (room / "Pair.tla").write_text(PAIR)
    (room / "Pair.cfg").write_text(PAIR_CFG)
    with (room / "models.toml").open("a") as file:
        file.write(PAIR_MODEL)
    result = check("Pair", "--invariant", f"lit # {lamp}")
    assert result.exit_code == 1, result.output
    assert check("Pair", "--invariant", f"lit # {lamp} \\/ lit # NoLamp").exit_code == 0


@pytest.mark.nightly
def test_a_temporal_property_that_holds_where_behaviours_are_cut_off_is_in_doubt(check, tmp_path):
    room = tmp_path / "specs" / "lamp"
    more = "Few == presses < 3\nOffLive == []<>(presses <= Limit)\n"
    edit(room / "LampProperties.tla", "OnReach == is_on\n", f"OnReach == is_on\n{more}")
    assert check("LampShort", "--property", "OffLive").exit_code == 0
    config = "CONSTANT Limit = 2\nCONSTRAINT Few\n"
    edit(room / "LampShort.cfg", "CONSTANT Limit = 2\n", config)
    result = check("LampShort", "--property", "OffLive")
    assert result.exit_code == 3, result.output
    assert "the cfg has CONSTRAINT, which cuts behaviours off: OffLive may hold" in result.stdout
    assert check("LampShort", "--property", "CountsUpProp").exit_code == 0
