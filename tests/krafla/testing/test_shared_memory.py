"""What runs of one process share: it makes no verdict depend on what came before."""

from __future__ import annotations

import copy
import pickle
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.strategies import just
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_traces import C1, of_lock

from krafla.match import match
from krafla.oracle import EvaluationError
from krafla.testing import Inconclusive, Judge, Spec, SpecViolation, Taken, action, drive
from krafla.testing.patience import answered
from krafla.traces import Observation, PartialTrace
from krafla.values import ModelValue
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

JOBS = r"""
---- MODULE Jobs ----
VARIABLES jobs
Init == jobs = {[id |-> 1, done |-> FALSE]}
Finish == \E j \in jobs : ~j.done /\ jobs' = (jobs \ {j}) \union {[j EXCEPT !.done = TRUE]}
Idle == UNCHANGED jobs
Next == Finish \/ Idle
====
"""
TWO_WAYS = r"""
---- MODULE TwoWays ----
VARIABLES x, y
Init == x \in {0, 1} /\ y = 0
Act == \/ x = 0 /\ x' = 1 /\ y' = y
       \/ x = 1 /\ x' = 0
Next == Act
====
"""
QUEUED = r"""
---- MODULE Queued ----
CONSTANT P
VARIABLES q
Init == q = P
Take(p) == q' = q \ {p}
Next == \E p \in q : Take(p)
====
"""
PAIRS = r"""
---- MODULE Pairs ----
EXTENDS Integers
VARIABLES pair
Init == pair = <<0, 0>>
Grow == pair' = <<pair[1] + 1, pair[2] + 2>>
Next == Grow
====
"""


def spec_of(folder: Path, text: str, constants: dict[str, Any] | None = None) -> Spec:
    name = text.split()[2]
    (folder / f"{name}.tla").write_text(text)
    return Spec.load(folder / f"{name}.tla", constants or {}, init="Init", next="Next")


def test_a_class_is_judged_by_the_options_that_it_says_now() -> None:
    class Changed(LockMachine):
        spec_invariants = properties = ()

    before = Changed().judge.spec
    Changed.hidden = ("Acquire",)
    assert Changed().judge.hidden == ("Acquire",)
    assert Changed().judge.spec is before
    Changed.constants = {"Client": {"c1"}, "Nobody": "Nobody"}
    assert Changed().judge.spec.evaluate("Client") == frozenset({"c1"})


@dataclass(eq=False)
class Job:
    id: int
    done: bool = False


def test_a_new_object_in_the_place_of_one_that_is_gone_has_its_own_value(tmp_path: Path) -> None:
    """Python gives a new tuple the id of one that nothing holds any more."""
    judge = Judge(spec_of(tmp_path, PAIRS))
    judge.start({"pair": (0, 0)})
    for n in range(1, 101):
        judge.step("Grow", seen={"pair": tuple([n, 2 * n])})  # noqa: C409 - a new tuple each time
    assert judge.steps == 100


def test_an_object_in_a_frozen_set_may_change(tmp_path: Path) -> None:
    judge = Judge(spec_of(tmp_path, JOBS))
    job = Job(1)
    jobs = frozenset({job})
    judge.start({"jobs": jobs})
    job.done = True
    with pytest.raises(SpecViolation):
        judge.step("Idle", seen={"jobs": jobs})
    judge.step("Finish", seen={"jobs": jobs})


@pytest.mark.parametrize("first", [0, 1])
def test_each_way_through_an_action_must_say_what_becomes_of_all(
    tmp_path: Path, first: int
) -> None:
    judge = Judge(spec_of(tmp_path, TWO_WAYS))
    for way in (first, 1 - first):
        run = judge.fresh()
        run.start({"x": way, "y": 0})
        if way:
            with pytest.raises(EvaluationError, match="y"):
                run.step("Act", seen={"x": 0, "y": 0})
        else:
            run.step("Act", seen={"x": 1, "y": 0})


def test_there_is_one_nothing_that_was_taken() -> None:
    assert copy.deepcopy([Taken.nothing]) == [Taken.nothing]
    assert pickle.loads(pickle.dumps(Taken.nothing)) is Taken.nothing
    other = pickle.loads(pickle.dumps(Taken("Use", 1)))
    assert (other.action, other.parameters) == ("Use", (1,))


def test_a_spec_can_be_asked_again_when_a_late_question_has_ended(lock_spec: Spec) -> None:
    may_end = threading.Event()
    ask = partial(answered, lock_spec, what=lambda: "a question")
    with pytest.raises(Inconclusive, match="still being evaluated after"):
        ask(may_end.wait, limit_s=0.001)
    with pytest.raises(Inconclusive, match="a question: Lock was still being evaluated"):
        ask(lambda: 1, limit_s=60)
    may_end.set()
    found = None
    while found is None:
        try:
            found = ask(lambda: 2, limit_s=60)
        except Inconclusive:
            continue
    assert found == 2


def test_what_is_not_enabled_is_remembered_too(
    lock_spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(lock_spec)
    judge.start()
    assert judge.enabled("Release") == ()
    again = judge.fresh()
    again.start()
    monkeypatch.setattr(Judge, "_ask", lambda *_: pytest.fail("it was asked again"))
    assert again.enabled("Release") == ()


def test_a_failure_in_the_constructor_is_the_failure() -> None:
    class Forgets(LockMachine):
        def __init__(self) -> None:
            super().__init__()
            self.forget(client="c1")

        @action("Acquire", client=just("c1"))
        def forget(self, client: str) -> None:
            pass

    with pytest.raises(SpecViolation, match="Acquire"):
        drive(Forgets, of_lock(("Acquire", C1, C1, ())))


def test_a_few_runs_that_show_nothing_at_all_are_no_success() -> None:
    class Idle(LockMachine):
        acquire = release = None

        @action(None)
        def wait(self) -> Taken:
            return Taken.nothing

    case: Any = Idle.TestCase
    case.settings = settings(max_examples=3, database=None)
    with pytest.raises(Inconclusive, match="no step was judged in"):
        case("runTest").runTest()


def test_a_refusal_of_a_name_that_a_set_of_the_state_never_has_is_an_error(
    tmp_path: Path,
) -> None:
    spec = spec_of(tmp_path, QUEUED, {"P": {ModelValue("p1"), ModelValue("p2")}})
    refused = Observation("Take", ("p9",), kind="refusal")
    with pytest.raises(KraflaError, match='"p9" is no value that Next gives to Take; now it gives'):
        match(spec, PartialTrace("Queued", (Observation("Init"), refused)), only_next=True)
    judge = Judge(spec)
    judge.start()
    with pytest.raises(KraflaError, match='"p9" is no value that Next gives to Take; now it gives'):
        judge.refuse("Take", "p9")
