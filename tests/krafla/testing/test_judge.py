"""The judge of steps: what fits, what does not, and what is left to the spec."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.conftest import SPECS

from krafla.testing import (
    Inconclusive,
    Judge,
    ModelValue,
    PartialTrace,
    Record,
    Spec,
    SpecViolation,
    Trace,
)
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

POOL = r"""
---- MODULE Pool ----
CONSTANT Server
VARIABLE out
Init == out = {}
Borrow(s) == s \notin out /\ out' = out \union {s}
Hand(s) == out' = out \ {s}
Next == (\E s \in Server : Borrow(s)) \/ (\E s \in out : Hand(s))
====
"""
C1, C2, C3 = (ModelValue(f"c{number}") for number in (1, 2, 3))


@pytest.fixture
def judge(lock_spec: Spec) -> Judge:
    found = Judge(lock_spec)
    found.start({"holder": "Nobody", "queue": []})
    return found


def test_whole_observations_make_a_whole_trace(judge: Judge) -> None:
    judge.step("Acquire", "c1", seen={"holder": "c1", "queue": []})
    judge.step("Acquire", "c2", seen={"holder": "c1", "queue": ["c2"]})
    trace = judge.trace
    assert isinstance(trace, Trace)
    assert [one.action for one in trace.steps] == ["Init", "Acquire", "Acquire"]
    assert trace.steps[-1].state["queue"] == (C2,)
    assert judge.steps == 2


def test_what_is_not_seen_is_the_specs_to_choose(judge: Judge) -> None:
    judge.step("Acquire", ..., seen={})
    assert {state["holder"] for state in judge.states} == {C1, C2, C3}
    assert isinstance(judge.trace, PartialTrace)
    judge.step("Acquire", "c1", seen={("queue", 1): "c1"})
    assert {state["holder"] for state in judge.states} == {C2, C3}
    judge.step("Release", "c2", seen={"holder": "c1"})
    assert [dict(state) for state in judge.states] == [{"holder": C1, "queue": ()}]


def test_an_unknown_action_is_any_that_fits(judge: Judge) -> None:
    judge.step(None, seen={"holder": "c2"})
    assert judge.enabled("Release") == ((C2,),)


def test_a_judge_begins_by_itself(lock_spec: Spec) -> None:
    judge = Judge(lock_spec)
    judge.step("Acquire", "c1")
    assert judge.steps == 1


def test_a_fresh_judge_knows_nothing_of_the_last_run(judge: Judge) -> None:
    judge.step("Acquire", "c1")
    other = judge.fresh()
    other.step("Acquire", "c1")
    assert (judge.steps, other.steps) == (1, 1)


@pytest.mark.parametrize("queue", [["c3", "c2"], ["c3"], ["c2", "c3", "c3"], 7, {}])
def test_a_state_that_the_spec_does_not_lead_to_is_a_violation(judge: Judge, queue) -> None:
    judge.step("Acquire", "c1", seen={"holder": "c1", "queue": []})
    judge.step("Acquire", "c2", seen={"holder": "c1", "queue": ["c2"]})
    with pytest.raises(SpecViolation) as caught:
        judge.step("Acquire", "c3", seen={"holder": "c1", "queue": queue})
    violation = caught.value
    assert (violation.action, violation.parameters) == ("Acquire", (C3,))
    assert violation.reason.reasons[0].text == "queue' = Append(queue, c)"
    assert "the spec does not have step 3: Acquire leads to another value of queue" in str(
        violation
    )
    assert isinstance(violation.trace, Trace)


def test_a_part_that_the_state_does_not_have_is_a_violation(judge: Judge) -> None:
    with pytest.raises(SpecViolation, match=r"queue\[2\] .*\(not there\) +c2"):
        judge.step("Acquire", "c1", seen={("queue", 2): "c2"})


def test_an_action_that_is_not_enabled_is_a_violation(judge: Judge) -> None:
    with pytest.raises(SpecViolation, match="holder = c") as caught:
        judge.step("Release", "c1")
    assert isinstance(caught.value.trace, PartialTrace)


@pytest.mark.parametrize("seen", [None, {"holder": "c9", "queue": []}])
def test_a_parameter_that_next_does_not_take_is_a_violation(judge: Judge, seen) -> None:
    """The action alone would allow any value."""
    with pytest.raises(SpecViolation, match=r'Next has no Acquire\("c9"\); it has Acquire\(c1\),'):
        judge.step("Acquire", "c9", seen=seen)


def test_the_code_may_refuse_only_what_the_spec_forbids(judge: Judge) -> None:
    judge.step("Acquire", "c1")
    judge.refuse("Release", "c2")
    with pytest.raises(
        SpecViolation, match=r"the code refuses Release\(c1\), which the spec allows"
    ):
        judge.refuse("Release", "c1")


@pytest.mark.parametrize("name", ["c9", "Nobody", 7])
def test_a_misspelt_parameter_is_no_refusal(judge: Judge, name: object) -> None:
    """No state allows what Next never offers, so it would be held for ever."""
    told = r"after the beginning: \S+ is no value that Next gives to Acquire; it gives c1, c2, c3$"
    with pytest.raises(KraflaError, match=told):
        judge.refuse("Acquire", name)
    judge.step("Acquire", "c1")


def test_a_text_is_misspelt_where_the_state_offers_model_values(tmp_path: Path) -> None:
    module = tmp_path / "Pool.tla"
    module.write_text(POOL, encoding="utf-8")
    judge = Judge(Spec.load(module, {"Server": {ModelValue("s1"), ModelValue("s2")}}))
    judge.step("Borrow", "s1")
    judge.refuse("Hand", "s2")
    with pytest.raises(KraflaError, match='"s9" is no value that Next gives to Hand; now it gives'):
        judge.refuse("Hand", "s9")


def test_a_misspelt_step_names_the_values_that_there_are(judge: Judge) -> None:
    told = 'step 1: "c9" is no value that Next gives to Release; it gives c1, c2, c3'
    with pytest.raises(SpecViolation, match=told):
        judge.step("Release", "c9")


def test_a_refusal_rules_out_the_states_that_allow_the_action(judge: Judge) -> None:
    judge.step("Acquire", ...)
    judge.refuse("Release", "c1")
    assert {state["holder"] for state in judge.states} == {C2, C3}


def test_enabled_parameters_are_those_of_the_state(judge: Judge) -> None:
    assert judge.enabled("Acquire") == ((C1,), (C2,), (C3,))
    assert judge.enabled("Release") == ()
    judge.step("Acquire", "c2")
    assert judge.enabled("Acquire") == ((C1,), (C3,))


def test_who_took_no_step_changed_nothing(judge: Judge) -> None:
    judge.step("Acquire", "c1")
    judge.stay({"holder": "c1"})
    assert judge.steps == 1
    with pytest.raises(SpecViolation, match="the code says that it took no step"):
        judge.stay({"holder": "Nobody"})
    with pytest.raises(
        KraflaError, match="after step 1: hodler: no variable of Lock; did you mean holder"
    ):
        judge.stay({"hodler": "c1"})


def test_the_code_begins_where_the_spec_does(lock_spec: Spec) -> None:
    with pytest.raises(SpecViolation, match="the code does not begin where the spec does"):
        Judge(lock_spec).start({"holder": "c1"})


def test_invariants_and_step_properties_of_the_cfg_are_judged_unless_others_are_named(
    lock_spec: Spec,
) -> None:
    judge = Judge(lock_spec, invariants=["ShortInv"], properties=["HeldProp"])
    judge.step("Acquire", "c1")
    with pytest.raises(SpecViolation, match="The lock is never free again") as caught:
        judge.step("Release", "c1", seen={"holder": "Nobody", "queue": []})
    assert caught.value.broken == "HeldProp"
    judge.start()
    for client in ("c1", "c2"):
        judge.step("Acquire", client)
    with pytest.raises(SpecViolation, match="ShortInv is false after step 3, Acquire") as caught:
        judge.step("Acquire", "c3")
    assert caught.value.broken == "ShortInv"


def test_the_properties_of_the_cfg_are_judged_by_default(tmp_path: Path) -> None:
    cfg = tmp_path / "Short.cfg"
    listed = (SPECS / "Lock.cfg").read_text()
    cfg.write_text(f"{listed}INVARIANT ShortInv\nPROPERTY HeldProp\n")
    spec = Spec.load(SPECS / "Lock.tla", cfg=cfg)
    judge = Judge(spec)
    judge.step("Acquire", "c1")
    with pytest.raises(SpecViolation) as caught:
        judge.step("Release", "c1", seen={})
    assert caught.value.broken == "HeldProp"
    judge.step("Acquire", "c2", seen={})
    with pytest.raises(SpecViolation) as caught:
        judge.step("Acquire", "c3", seen={})
    assert caught.value.broken == "ShortInv"
    careless = Judge(spec, invariants=(), properties=())
    for client in ("c1", "c2", "c3"):
        careless.step("Acquire", client)
    assert careless.steps == 3


def test_the_first_state_keeps_the_invariants(lock_spec: Spec) -> None:
    with pytest.raises(SpecViolation, match="BusyInv is false where the code begins"):
        Judge(lock_spec, invariants=["BusyInv"]).start({"holder": "Nobody"})


def test_what_is_seen_while_the_code_does_nothing_rules_candidates_out(judge: Judge) -> None:
    judge.step("Acquire", ...)
    judge.stay({"holder": "c1"})
    assert [state["holder"] for state in judge.states] == [C1]


def test_a_candidate_that_breaks_a_property_is_not_followed(lock_spec: Spec) -> None:
    judge = Judge(lock_spec, properties=["HeldProp"])
    judge.step("Acquire", "c1")
    judge.step(None, seen={("queue", 1): "c2"})
    judge.step(None)
    assert all(state["holder"] != ModelValue("Nobody") for state in judge.states)


class Client(Enum):
    FIRST = "c1"
    SECOND = "c2"


def test_enums_and_dataclasses_are_values(judge: Judge, mail_spec: Spec) -> None:
    judge.step("Acquire", Client.FIRST, seen={"holder": Client.FIRST, "queue": ()})
    judge.step("Acquire", Client.SECOND, seen={"queue": [Client.SECOND]})

    @dataclass
    class Sent:
        to: str
        letter: int

    mail = Judge(mail_spec)
    mail.step("Send", "ann", 1)
    mail.step("Deliver", Sent("ann", 1), seen={"inbox": {"ann": [1], "bob": []}})
    assert len(mail.states) == 1


BOXES = """---- MODULE Boxes ----
EXTENDS Naturals
CONSTANT Client
VARIABLE box
Init == box = [size |-> 1, c1 |-> 2]
Count == box' = [c \\in Client |-> 3]
Single == box' = [c1 |-> 4]
Next == Count \\/ Single
====
"""


CLIENTS = {ModelValue("c1"), ModelValue("c2")}


def test_the_keys_of_a_dict_are_all_fields_or_all_model_values(tmp_path: Path) -> None:
    (tmp_path / "Boxes.tla").write_text(BOXES)
    judge = Judge(Spec.load(tmp_path / "Boxes.tla", {"Client": CLIENTS}))
    judge.start({"box": {"size": 1, "c1": 2}})
    judge.step("Count", seen={"box": {"c1": 3, "c2": 3}})
    judge.step("Count", seen={"box": {Client.FIRST: 3, Client.SECOND: 3}})
    # Only the writer knows what a single key is.
    with pytest.raises(SpecViolation):
        judge.step("Single", seen={"box": {"c1": 4}})
    judge.step("Single", seen={"box": Record(c1=4)})


def test_the_way_to_a_part_names_a_field_where_there_is_no_such_argument(tmp_path: Path) -> None:
    (tmp_path / "Boxes.tla").write_text(BOXES)
    judge = Judge(Spec.load(tmp_path / "Boxes.tla", {"Client": CLIENTS}))
    judge.start({("box", "c1"): 2, ("box", "size"): 1})
    judge.step("Count", seen={("box", "c1"): 3})
    with pytest.raises(SpecViolation):
        judge.step("Single", seen={("box", "c1"): 3})
    judge.step("Single", seen={("box", "c1"): 4})


def test_a_state_that_was_left_out_at_an_earlier_step_makes_a_later_one_a_doubt(
    lock_spec: Spec,
) -> None:
    def judged(frontier: int) -> Judge:
        judge = Judge(lock_spec, frontier=frontier)
        judge.step(None)
        judge.step(None, seen={"queue": ["c3"]})
        judge.step("Acquire", ...)
        return judge

    few = judged(1)
    # Of the three clients that may have the lock only the first was followed.
    assert [str(one["holder"]) for one in few.states] == ["c1"]
    with pytest.raises(Inconclusive, match="none of the first 1 states fits, and there are more"):
        few.step("Release", "c2")
    judged(9).step("Release", "c2")
