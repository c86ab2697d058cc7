"""The verdict on a state graph, and the questions that are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.krafla.unlisted_models import model_of

from krafla.graph import Question, build, dead_ends
from krafla.graph.judge import judge
from krafla.tlc.config import read_config
from krafla.verdict import KraflaError, Verdict


def judged(model, **options):
    graph = build(model, [Question(name, "a witness") for name in model.witnesses], **options)
    deadlock = read_config(model.config).checks_deadlock
    return judge(model, graph, dead_ends(graph), checks_deadlock=deadlock)


@pytest.mark.parametrize(
    ("name", "verdict", "reason"),
    [
        ("Maze", Verdict.HELD, "no error in any reachable state"),
        ("MazeMiscounted", Verdict.INCONCLUSIVE, "8 distinct states, but 9 are pinned"),
        ("MazeUntaken", Verdict.INCONCLUSIVE, "action Never was never taken"),
        ("MazeUnpinned", Verdict.INCONCLUSIVE, "no number of distinct states is pinned"),
        ("MazeDeadlock", Verdict.VIOLATED, "absence of deadlock is violated"),
        ("MazeWitness", Verdict.INCONCLUSIVE, "witness Nowhere was not reached"),
        ("MazeTrapped", Verdict.VIOLATED, "NotTrapped is violated"),
        ("MazeMustTrap", Verdict.HELD, "NotTrapped failed, as it must"),
        ("MazeMustFail", Verdict.VIOLATED, "InHouse should fail in this model, but holds"),
    ],
)
def test_a_model_is_held_only_if_all_its_expectations_are_met(model, name, verdict, reason):
    found = judged(model(name))

    assert found.verdict is verdict
    assert reason in found.reasons[0]


def test_a_graph_that_was_cut_is_inconclusive(model):
    found = judged(model(), limit=2)

    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the search was cut at" in found.reasons[0]


def test_a_model_without_states_is_an_error(model):
    with pytest.raises(KraflaError, match="model MazeEmpty: no state is initial"):
        build(model("MazeEmpty"))


def test_a_violation_does_not_end_the_graph(model):
    graph = build(model("MazeTrapped"))

    assert graph.found.violation.name == "NotTrapped"
    assert len(graph) == 8


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("room = 1 )", "--to, column 10", "does not parse"),
        ("1 +", "--to", "does not parse"),
        ("(*", "--to", "does not parse"),
        ("romm = 1", "--to", "Unknown operator: `romm'"),
        ("room' = 1", "--to", "no state predicate"),
        ("room", "--to", "no state predicate: in an initial state its value is no boolean"),
        ("Ring", "--to", "requires 1 argument"),
        ("[]AtGoal", "--to", "no state predicate"),
        ("TRUE\nEvil == TRUE", "--to", "one line of TLA+"),
        (" ", "--to", "one line of TLA+"),
        ("IF room = 4 THEN walls.x = 1 ELSE TRUE", "--to", "cannot be evaluated in a state (room"),
        ("walls.x = 1", "--to", "cannot be evaluated in an initial state (walls = "),
        ("walls.x = 1 => room = 1", "--to", "as in guard /\\ (walls.x = 1 => room = 1)"),
    ],
)
def test_a_question_without_a_boolean_value_is_refused_with_its_place(model, text, place, message):
    with pytest.raises(KraflaError) as caught:
        build(model(), [Question(text, "--to"), Question("AtGoal", "--from")])

    assert caught.value.place == place
    assert message in caught.value.message


def test_a_witness_just_out_of_bounds_is_reached_as_tlc_reaches_it(model):
    graph = build(model(), [Question("room = 9", "--to"), Question("room = 10", "--to")])

    assert graph.beyond == {"room = 9"}
    wanted = replace(model(), witnesses=("room = 9",), witness_count=1)
    assert judge(wanted, graph, dead_ends(graph)).verdict is Verdict.HELD
    missed = replace(model(), witnesses=("room = 10",), witness_count=1)
    assert judge(missed, graph, dead_ends(graph)).verdict is Verdict.INCONCLUSIVE


def test_an_untaken_action_may_be_listed_by_the_name_of_its_stand_in(model, tmp_path):
    maze = model()
    module, config = tmp_path / "MCMaze.tla", tmp_path / "MCMaze.cfg"
    (tmp_path / "Maze.tla").write_text(maze.module.read_text())
    module.write_text("---- MODULE MCMaze ----\nEXTENDS Maze\nNoWay == room < 0 /\\ Never\n====\n")
    config.write_text(f"{maze.config.read_text()}CONSTANT Fall <- NoWay\n")
    reasons = (("Never", "no such door"), ("NoWay", "the floor is mended"))
    mended = model_of(module, config, distinct=7, untaken=reasons)
    graph = build(mended)

    assert judge(mended, graph, dead_ends(graph)).verdict is Verdict.HELD
    silent = replace(mended, untaken=reasons[:1])
    assert judge(silent, graph, dead_ends(graph)).reasons == ("action Fall was never taken",)


GROUPED = r"""---- MODULE Grouped ----
VARIABLE lit
Init == lit = FALSE
Switch == lit' = ~lit
Burn(n) == lit /\ n = 1 /\ UNCHANGED lit
Accidents == \E n \in {1, 2} : Burn(n)
Next == Switch \/ Accidents
Never == \E nothing \in {} : FALSE
NoBurn(n) == Never
====
"""


def test_a_group_of_actions_that_are_all_left_out_is_left_out(tmp_path):
    (tmp_path / "Grouped.tla").write_text(GROUPED)
    (tmp_path / "Grouped.cfg").write_text("INIT Init\nNEXT Next\nCONSTANT Burn <- NoBurn\n")
    grouped = model_of(tmp_path / "Grouped.tla", tmp_path / "Grouped.cfg", distinct=2)
    graph = build(grouped)

    assert [*graph.action_uses()] == ["Switch", "Accidents"]
    assert judge(grouped, graph, dead_ends(graph)).verdict is Verdict.HELD
