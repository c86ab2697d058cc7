"""Steps that no process of the code sees: the spec takes them between the judged ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krafla.testing import Inconclusive, Judge, PartialTrace, SpecViolation

if TYPE_CHECKING:
    from krafla.testing import Spec, State


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


def test_no_more_hidden_steps_than_allowed_come_in_a_row(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"], hidden_max=1)
    judge.step("Send", "ann", 1)
    judge.step("Send", "ann", 2)
    with pytest.raises(SpecViolation):
        judge.stay({("inbox", "ann"): [2, 1]})


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
    for action, person, letter, shown, pick in steps:
        before = closure(mail_spec, states)
        after = {end for one in before for end in mail_spec.outcomes(one, action, person, letter)}
        # Now and then the code shows the state before a step, as if it had done nothing.
        possible = sorted(after | before, key=lambda one: one.fingerprint)
        seen = visible(possible[pick % len(possible)], shown)
        states = {one for one in after if visible(one, shown) == seen}
        if not states:
            with pytest.raises(SpecViolation):
                judge.step(action, person, letter, seen=seen)
            return
        judge.step(action, person, letter, seen=seen)
        assert set(judge.states) == states
