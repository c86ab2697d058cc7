"""Steps that no process of the code sees: the spec takes them between the judged ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krafla.match import match
from krafla.testing import (
    Function,
    Inconclusive,
    Judge,
    Observation,
    PartialTrace,
    Spec,
    SpecMachine,
    SpecViolation,
    Step,
    Trace,
    action,
    drive,
)
from krafla.testing.machine_calls import enabled
from krafla.traces import read_trace, write_trace
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.testing import State


@pytest.fixture
def mail(mail_spec: Spec) -> Judge:
    found = Judge(mail_spec, hidden=["Deliver"])
    found.step("Send", "ann", 1)
    found.step("Send", "ann", 2)
    return found


def test_the_post_may_deliver_in_any_order(mail: Judge) -> None:
    mail.step("Read", "ann", 2, seen={("inbox", "ann"): []})
    mail.step("Read", "ann", 1)
    assert mail.steps == 4
    # Which steps were hidden is a guess.
    assert isinstance(mail.trace, PartialTrace)


def test_each_process_shows_its_own_part(mail: Judge) -> None:
    mail.step("Send", "bob", 1, seen={("inbox", "ann"): [2, 1]})
    mail.step("Read", "bob", 1, seen={("inbox", "bob"): []})
    with pytest.raises(SpecViolation, match=r"Read\(ann, 1\) is not enabled"):
        mail.step("Read", "ann", 1)


def test_what_was_never_sent_cannot_be_read(mail: Judge) -> None:
    with pytest.raises(SpecViolation, match=r"the spec does not have step 3: Read\(bob, 1\)"):
        mail.step("Read", "bob", 1)


def test_a_process_that_did_nothing_may_see_what_hidden_steps_did(mail: Judge) -> None:
    mail.stay({("inbox", "ann"): [2]})
    with pytest.raises(SpecViolation, match="the code says that it took no step"):
        mail.stay({("inbox", "ann"): []})


def test_a_refusal_is_right_while_some_order_of_hidden_steps_explains_it(mail: Judge) -> None:
    mail.refuse("Read", "ann", 1)
    mail.step("Read", "ann", 2, seen={("inbox", "ann"): [1]})
    with pytest.raises(SpecViolation, match="the code refuses Read"):
        mail.refuse("Read", "ann", 1)


def test_what_hidden_steps_enable_is_enabled(mail: Judge) -> None:
    assert set(mail.enabled("Read")) == {("ann", 1), ("ann", 2)}


def test_where_more_hidden_steps_lead_is_not_known(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"], hidden_max=1)
    judge.step("Send", "ann", 1)
    judge.step("Send", "ann", 2)
    with pytest.raises(Inconclusive, match="no state within 1 hidden step in a row fits"):
        judge.stay({("inbox", "ann"): [2, 1]})
    with pytest.raises(Inconclusive, match="a larger hidden_max"):
        judge.stay({("inbox", "bob"): [1]})
    judge.stay({("inbox", "ann"): [2]})
    judge.stay({("inbox", "ann"): [2, 1]})
    # Among the states that were left out, one may still fit, until the whole state is seen.
    with pytest.raises(Inconclusive):
        judge.stay({("inbox", "bob"): [1]})
    judge.stay({"post": set(), "inbox": {"ann": [2, 1], "bob": []}})
    with pytest.raises(SpecViolation):
        judge.stay({("inbox", "bob"): [1]})


def test_hidden_steps_that_lead_no_further_leave_no_doubt(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"], hidden_max=2)
    judge.step("Send", "ann", 1)
    judge.step("Send", "ann", 2)
    assert not judge.allows("Read", "bob", 1)
    with pytest.raises(SpecViolation):
        judge.stay({("inbox", "bob"): [1]})


def test_no_hidden_steps_at_all_leave_no_doubt(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"], hidden_max=0)
    judge.step("Send", "ann", 1)
    with pytest.raises(SpecViolation):
        judge.step("Read", "ann", 1)


CLOCKS = """---- MODULE Clocks ----
EXTENDS Naturals
CONSTANT Last
VARIABLES now, light, rings
Init == now = 0 /\\ light = "on" /\\ rings = 0
Tick == now < Last /\\ now' = now + 1 /\\ UNCHANGED <<light, rings>>
Wink == light' = (IF light = "on" THEN "off" ELSE "on") /\\ UNCHANGED <<now, rings>>
Ring == rings' = rings + 1 /\\ UNCHANGED <<now, light>>
Next == Tick \\/ Wink \\/ Ring
====
"""


def test_hidden_steps_without_end_leave_no_doubt_if_they_come_round_again(tmp_path: Path) -> None:
    (tmp_path / "Clocks.tla").write_text(CLOCKS)
    spec = Spec.load(tmp_path / "Clocks.tla", {"Last": 100})
    wrong = {"rings": 2}
    with pytest.raises(SpecViolation):
        Judge(spec, hidden=["Wink"]).step("Ring", seen=wrong)
    with pytest.raises(Inconclusive, match="bound the hidden actions in the spec"):
        Judge(spec, hidden=["Tick"]).step("Ring", seen=wrong)
    bounded = Spec.load(tmp_path / "Clocks.tla", {"Last": 3})
    with pytest.raises(SpecViolation):
        Judge(bounded, hidden=["Tick", "Wink"]).step("Ring", seen=wrong)
    for one, hidden, verdict in (
        (spec, ("Wink",), Verdict.VIOLATED),
        (spec, ("Tick",), Verdict.INCONCLUSIVE),
        (bounded, ("Tick", "Wink"), Verdict.VIOLATED),
    ):
        trace = PartialTrace(
            "Clocks", (Observation("Ring", (), ((("rings",), 2),)),), hidden=hidden
        )
        assert match(one, trace).verdict is verdict


ROADS = """---- MODULE Roads ----
EXTENDS Naturals
VARIABLES place, visits
Init == place \\in {"far", "near"} /\\ visits = 0
After == [far |-> "field", field |-> "forest", forest |-> "gate", near |-> "street",
          street |-> "gate", gate |-> "house", house |-> "house"]
Walk == place' = After[place] /\\ UNCHANGED visits
See == place \\in {"street", "gate", "house"} /\\ visits' = visits + 1 /\\ UNCHANGED place
Visit == place = "house" /\\ visits' = visits + 1 /\\ UNCHANGED place
Next == Walk \\/ See \\/ Visit
====
"""


def test_a_state_counts_with_the_fewest_hidden_steps_that_lead_there(tmp_path: Path) -> None:
    (tmp_path / "Roads.tla").write_text(ROADS)
    judge = Judge(Spec.load(tmp_path / "Roads.tla", {}), hidden=["Walk"], hidden_max=3)
    judge.refuse("See")
    assert {state["place"] for state in judge.states} == {"far", "field", "forest", "near"}
    # The gate is one step from the forest, which is two from the beginning, and two from near.
    judge.step("Visit")


def test_a_look_that_shows_something_begins_a_new_row_of_hidden_steps(climb_spec: Spec) -> None:
    judge = Judge(climb_spec, hidden=["Climb"], hidden_max=2)
    for height in range(2, 12, 2):
        judge.stay({"height": height})
        assert judge.has_stepped
    judge.stay()
    judge.step("Photo", seen={"height": 12})
    assert isinstance(judge.trace, PartialTrace)
    assert judge.trace.hidden_max == 2
    assert match(climb_spec, judge.trace).verdict is Verdict.HELD
    with pytest.raises(Inconclusive, match="no state within 2 hidden steps in a row fits"):
        judge.stay({"height": 15})


def test_the_trace_of_many_looks_can_be_read(climb_spec: Spec, tmp_path: Path) -> None:
    judge = Judge(climb_spec, hidden=["Climb"])
    for _ in range(30):
        judge.stay({"height": 5})
    write_trace(judge.trace, tmp_path / "looks.ndjson")
    assert read_trace(tmp_path / "looks.ndjson") == judge.trace


def test_a_look_that_shows_nothing_begins_no_new_row(climb_spec: Spec) -> None:
    judge = Judge(climb_spec, hidden=["Climb"], hidden_max=2)
    for _ in range(3):
        judge.stay()
    assert {state["height"] for state in judge.states} == {0, 1, 2}


def test_a_question_without_an_answer_is_a_doubt(climb_spec: Spec) -> None:
    few = Judge(climb_spec, hidden=["Climb"], frontier=2)
    short = Judge(climb_spec, hidden=["Climb"], hidden_max=1)
    for judge, words in (
        (few, "Photo: none of the first 2 states allows it, and there are more"),
        (short, "Photo: no state within 1 hidden step in a row allows it, and more lead to other"),
    ):
        judge.start({"height": 0, "photos": 0})
        with pytest.raises(Inconclusive, match=words):
            judge.allows("Photo")
        with pytest.raises(Inconclusive, match=words):
            judge.enabled("Photo")
        assert judge.allows("Climb")
        assert judge.enabled("Climb") == ((),)


def test_what_may_be_enabled_is_neither_offered_nor_tried_as_a_refusal(climb_spec: Spec) -> None:
    class Climber(SpecMachine):
        spec = climb_spec
        hidden = ("Climb",)
        hidden_max = 1

        def __init__(self) -> None:
            super().__init__()
            self.height = 0

        def observe(self) -> dict[str, int]:
            return {"height": self.height}

        @action("Climb")
        def climb(self) -> None:
            self.height += 1

        @action("Photo", may_refuse=True)
        def photo(self) -> None:
            raise AssertionError("that the spec denies it here is not sure")

    assert enabled(Climber(), "Photo") == ()
    assert enabled(Climber(), "Climb") == ((),)
    low, high = (Function({"height": height, "photos": 0}) for height in (0, 1))
    trace = Trace("Climb", (Step("Init", (), low), Step("Climb", (), high)))
    assert drive(Climber, trace, refusals=True).refusals == 0


def test_a_hidden_step_keeps_the_properties(climb_spec: Spec) -> None:
    for kept in ({"invariants": ["NotOneInv"]}, {"properties": ["SlowProp"]}):
        judge = Judge(climb_spec, hidden=["Climb"], **kept)
        with pytest.raises(SpecViolation):
            judge.step("Photo", seen={"photos": 1})
        with pytest.raises(SpecViolation):
            judge.stay({"height": 2})
        assert not judge.allows("Photo")
        assert judge.enabled("Photo") == ()


def test_a_look_at_what_a_hidden_step_must_not_do_names_the_property(climb_spec: Spec) -> None:
    judge = Judge(climb_spec, hidden=["Climb"], invariants=["NotOneInv"])
    judge.start()
    with pytest.raises(SpecViolation, match="NotOneInv is false after a hidden step") as caught:
        judge.stay({"height": 1})
    assert caught.value.broken == "NotOneInv"
    assert caught.value.conjunct == "height # 1"


def test_states_that_were_left_out_make_a_violation_a_doubt(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"], frontier=2)
    for person in ("ann", "bob"):
        judge.step("Send", person, 1)
    with pytest.raises(Inconclusive, match="none of the first 2 states fits"):
        judge.stay({"inbox": {"ann": [1], "bob": [1]}})
    with pytest.raises(Inconclusive, match=r'step 3, Read\("bob", 1\): none of the first 2'):
        judge.step("Read", "bob", 1)


def test_a_single_hidden_step_is_a_guess_too(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"])
    judge.step("Send", "ann", 1)
    assert not isinstance(judge.trace, PartialTrace)
    judge.step("Read", "ann", 1)
    assert isinstance(judge.trace, PartialTrace)


def test_a_state_that_two_orders_of_hidden_steps_reach_counts_once(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"], frontier=4)
    for person in ("ann", "bob"):
        judge.step("Send", person, 1, seen={"inbox": {"ann": [], "bob": []}})
    # Nothing, either letter, both: four states.
    assert judge.enabled("Read") == (("ann", 1), ("bob", 1))
    with pytest.raises(SpecViolation):
        judge.step("Read", "ann", 2)


def closure(spec: Spec, states: set[State]) -> set[State]:
    """Return all states that the post leads to."""
    found, new = set(states), set(states)
    while new:
        new = {after for one in new for _, after in spec.steps_by("Deliver", one)} - found
        found |= new
    return found


def visible(state: State, shown: str) -> dict[Any, Any]:
    """Return what a process shows of a state."""
    if shown == "all":
        return dict(state)
    if shown == "nothing":
        return {}
    return {("inbox", shown): state["inbox"][shown]}


STEPS = st.tuples(
    st.sampled_from(["Send", "Read"]),
    st.sampled_from(["ann", "bob"]),
    st.sampled_from([1, 2]),
    st.sampled_from(["all", "nothing", "ann", "bob"]),
    st.integers(0, 40),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=6))
def test_the_candidates_are_the_states_that_some_behaviour_reaches(
    mail_spec: Spec, steps: list[tuple[str, str, int, str, int]]
) -> None:
    """A second way to them: all sets of states, one step at a time, with no order to save work."""
    judge = Judge(mail_spec, hidden=["Deliver"], hidden_max=100)
    judge.start()
    states = set(mail_spec.initial_states())
    for name, person, letter, shown, pick in steps:
        before = closure(mail_spec, states)
        after = {end for one in before for end in mail_spec.outcomes(one, name, person, letter)}
        # Now and then the code shows the state before a step, as if it had done nothing.
        possible = sorted(after | before, key=lambda one: one.fingerprint)
        seen = visible(possible[pick % len(possible)], shown)
        states = {one for one in after if visible(one, shown) == seen}
        if not states:
            with pytest.raises(SpecViolation):
                judge.step(name, person, letter, seen=seen)
            return
        judge.step(name, person, letter, seen=seen)
        assert set(judge.states) == states
