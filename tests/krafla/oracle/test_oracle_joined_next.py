"""Where Next joins its choice with other formulas, each action has them."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec, explore
from krafla.oracle.guards import Guards
from krafla.testing import Judge, SpecViolation

PARTS = r"""
---- MODULE Joined ----
EXTENDS Naturals, FiniteSets
VARIABLES up, past, turn
vars == <<up, past, turn>>
P == {"a", "b"}
Init == up = {} /\ past = {} /\ turn = 0
Up(p) == p \notin up /\ up' = up \union {p}
(* A process goes down. *)
Down(p) == /\ p \in up
           /\ up' = up \ {p}
Clear == up # {} /\ up' = {}
Choice == \/ \E p \in P : Up(p)
          \/ \E p \in up : Down(p)
          \/ Clear
Once(p) == turn = 0 /\ Up(p)
Still == past' = past /\ turn' = turn
"""
JOINED = r"""
Next == /\ turn < 3
        /\ Choice
        /\ past' = past \union {Cardinality(up)}
        /\ turn' = turn + 1
===="""
# The same steps, with all of them in each action.
EACH = r"""
Rest == turn < 3 /\ past' = past \union {Cardinality(up)} /\ turn' = turn + 1
UpAll(p) == Up(p) /\ Rest
DownAll(p) == Down(p) /\ Rest
ClearAll == Clear /\ Rest
Next == (\E p \in P : UpAll(p)) \/ (\E p \in up : DownAll(p)) \/ ClearAll
===="""


def spec_of(next_action, folder):
    folder.mkdir(exist_ok=True)
    (folder / "Joined.tla").write_text(PARTS + next_action)
    return Spec.load(folder / "Joined.tla", {}, init="Init", next="Next")


@pytest.fixture
def joined(tmp_path):
    return spec_of(JOINED, tmp_path / "joined")


def test_its_actions_are_those_of_the_choice(joined):
    assert [str(one) for one in joined.actions] == ["Up(p)", "Down(p)", "Clear"]
    assert joined.actions[1].place.line == 10


def test_its_steps_are_those_of_a_next_that_says_it_in_each_action(joined, tmp_path):
    each = explore(spec_of(EACH, tmp_path / "each"), until_violation=False)
    found = explore(joined, limit=50, until_violation=False)
    assert len(found.states) == len(each.states) == 10
    for state, other in zip(found.states, each.states, strict=True):
        assert state.as_function() == other.as_function()
        steps = [(name, after) for name, _, after in joined.successors(state)]
        assert all(joined.allows_step(state, after) for _, after in steps)
        for name, parameters, after in joined.successors(state):
            assert after in joined.outcomes(state, name, *parameters)


def test_a_judge_follows_it(joined):
    judge = Judge(joined)
    judge.start({"up": set(), "past": set(), "turn": 0})
    judge.step("Up", "a", seen={"up": {"a"}, "past": {0}, "turn": 1})
    judge.step("Down", "a", seen={"up": set()})
    assert judge.states[0]["turn"] == 2
    assert judge.enabled("Up") == (("a",), ("b",))
    judge.refuse("Down", "a")
    with pytest.raises(SpecViolation) as caught:
        judge.step("Up", "a", seen={"up": {"a"}, "past": {0, 1}, "turn": 7})
    assert "turn" in str(caught.value)
    judge.step("Up", "a")
    with pytest.raises(SpecViolation) as caught:
        judge.step("Up", "b")
    assert caught.value.conjunct == "turn < 3"
    judge.refuse("Up", "b")


def test_what_next_adds_is_a_guard_of_each_action(joined):
    guards = {str(one) for one in Guards(joined).all()}
    assert {"Up: turn < 3", "Down: turn < 3", "Clear: turn < 3", "Down: p \\in up"} <= guards


def test_a_bound_may_need_what_next_adds(tmp_path):
    spec = spec_of(
        r"""
Head(s) == CHOOSE one \in s : TRUE
Next == /\ up # {}
        /\ \/ \E p \in {Head(up)} : Down(p)
           \/ Clear
        /\ UNCHANGED <<past, turn>>
====""",
        tmp_path,
    )
    assert [str(one) for one in spec.actions] == ["Down(p)", "Clear"]
    assert spec.successors(spec.initial_states()[0]) == []


REST = r"UNCHANGED <<past, turn>>"
NESTED = r"""
Next == /\ \/ turn = 0 /\ (Clear \/ (turn = 0 /\ \E p \in P : p # "a" /\ Up(p)))
           \/ Once("b")
        /\ """


@pytest.mark.parametrize(
    ("next_action", "actions"),
    [
        (rf"Next == Clear /\ {REST}", ["Clear"]),
        (
            rf"""Next == (turn = 0 /\ Clear /\ {REST}) \/ (Up("a") /\ {REST})""",
            ["Clear", "Up(p)"],
        ),
        (
            rf"""Next == \E p \in P : p # "a" /\ (Up(p) \/ Down(p)) /\ turn = 0 /\ {REST}""",
            ["Up(p)", "Down(p)"],
        ),
        (rf"Next == \E p, q \in up \union P : /\ p # q /\ Up(p) /\ {REST}", ["Up(p)"]),
        (NESTED + REST, ["Clear", "Up(p)", "Once(p)"]),
        # Two choices, or two actions at once.
        (rf"Next == Choice /\ (Clear \/ \E p \in P : Up(p)) /\ {REST}", ["Next"]),
        (rf"""Next == Clear /\ Once("a") /\ {REST}""", ["Next"]),
        # An operator that is only a part of what happens.
        (
            rf"Next == (up # {{}} /\ up' = {{}} /\ Still) \/ (turn = 0 /\ Clear /\ {REST})",
            ["Next", "Clear"],
        ),
    ],
)
def test_a_part_of_next_joins_an_action_as_well(next_action, actions, tmp_path):
    spec = spec_of(f"{next_action}\n====", tmp_path)
    assert [str(one) for one in spec.actions] == actions
    every = explore(spec, limit=200, until_violation=False).states
    for state in every:
        after = {one.fingerprint for _, _, one in spec.successors(state)}
        assert after == {one.fingerprint for one in every if spec.allows_step(state, one)}
