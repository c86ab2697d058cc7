"""Driving code through traces: what is caught, what is left out, and what cannot be driven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.testing.lock_server import (
    MISTAKES,
    LockDriver,
    LockServer,
    LockServerMachine,
    driver_of,
)
from tests.krafla.testing.lock_traces import C1, C2, NOBODY, of_lock
from tests.krafla.testing.transaction import (
    TRANSACTION_MISTAKES,
    Transaction,
    TransactionDriver,
    driving,
)

from krafla.testing import (
    Departure,
    Inconclusive,
    Refused,
    Spec,
    SpecViolation,
    Taken,
    Trace,
    action,
    counterexamples,
    drive,
    member_of,
    random_walks,
    shortest_paths,
)
from krafla.testing.setting import Setting
from krafla.traces import Claim, ClaimKind, Step, read_trace
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.testing.setting import TraceSource

SPECS = Path(__file__).parent / "specs"


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def lock() -> Setting:
    return Setting(SPECS.parent, lambda: Spec.load(SPECS / "Lock.tla"))


@pytest.fixture(scope="module")
def two_phase() -> Setting:
    return Setting(SPECS.parent, lambda: Spec.load(SPECS / "TwoPhase.tla"))


@pytest.fixture(scope="module")
def dice() -> Setting:
    return Setting(SPECS.parent, lambda: Spec.load(SPECS / "Dice.tla"))


def traces(setting: Setting, source: TraceSource) -> list[Any]:
    return [one.make() for one in source.cases(setting)]


def caught(machine: type, setting: Setting, source: TraceSource, **options: Any) -> str | None:
    """Return the story of the first trace of a source that catches a mistake."""
    for trace in traces(setting, source):
        try:
            drive(machine, trace, **options)
        except SpecViolation as violation:
            return str(violation)
        except Inconclusive:
            continue
    return None


@pytest.mark.parametrize("wrong", MISTAKES, ids=lambda one: one.__name__)
def test_walks_that_try_refusals_catch_every_mistake_of_the_lock(
    lock: Setting, wrong: type[LockServer]
) -> None:
    story = caught(driver_of(wrong), lock, random_walks(2, 30, seed=1), refusals=True)
    assert story is not None
    assert MISTAKES[wrong] in story


@pytest.mark.parametrize("wrong", TRANSACTION_MISTAKES, ids=lambda one: one.__name__)
def test_walks_that_try_refusals_catch_every_mistake_of_the_transaction(
    two_phase: Setting, wrong: type[Transaction]
) -> None:
    story = caught(driving(wrong), two_phase, random_walks(5, 30, seed=1), refusals=True)
    assert story is not None
    assert TRANSACTION_MISTAKES[wrong] in story


@pytest.mark.parametrize("wrong", list(MISTAKES)[:3], ids=lambda one: one.__name__)
def test_a_path_to_its_conjunct_catches_each_forgotten_check(
    lock: Setting, wrong: type[LockServer]
) -> None:
    assert caught(driver_of(wrong), lock, shortest_paths("actions")) is None
    story = caught(driver_of(wrong), lock, shortest_paths("conjuncts"))
    assert story is not None
    assert MISTAKES[wrong] in story


def test_a_path_to_its_effect_catches_a_queue_that_is_forgotten(lock: Setting) -> None:
    forgets = driver_of(list(MISTAKES)[4])
    assert caught(forgets, lock, shortest_paths("actions")) is None
    story = caught(forgets, lock, shortest_paths("effects"))
    assert story is not None
    assert MISTAKES[list(MISTAKES)[4]] in story


def test_a_counterexample_of_a_broken_spec_catches_the_same_mistake(two_phase: Setting) -> None:
    source = counterexamples("specs/TwoPhaseHasty.cfg")
    (trace,) = traces(two_phase, source)
    driven = drive(TransactionDriver, trace)
    assert driven.refused == "Commit"
    hasty = next(iter(TRANSACTION_MISTAKES))
    story = caught(driving(hasty), two_phase, source)
    assert story is not None
    assert "arrived = Participant" in story


def test_a_broken_predicate_leads_to_the_state_that_breaks_it(two_phase: Setting) -> None:
    (trace,) = traces(two_phase, counterexamples(invariants=["NobodyCommits"]))
    last = trace.steps[-1].state
    assert set(last["state"].values()) == {"committed"}
    driven = drive(TransactionDriver, trace)
    assert (driven.steps, driven.skipped) == (5, 2)


def test_hidden_steps_without_a_method_are_left_out(two_phase: Setting) -> None:
    (trace,) = (
        one.make() for one in shortest_paths("actions").cases(two_phase) if one.name == "Commit"
    )
    assert [step.action for step in trace.steps].count("Arrive") == 2
    driven = drive(TransactionDriver, trace)
    assert (driven.steps, driven.skipped) == (3, 2)


def test_a_trace_of_nothing_but_hidden_steps_shows_nothing(two_phase: Setting) -> None:
    steps = traces(two_phase, shortest_paths("actions"))[2].steps
    trace = Trace("TwoPhase", (steps[1], *steps[2:]))
    begun = Step("Init", (), trace.steps[0].state)

    class AllHidden(TransactionDriver):
        hidden = ("Arrive", "Prepare")
        prepare = None  # type: ignore[assignment]  # it has no method

    whole = Trace("TwoPhase", steps)
    assert [one.action for one in whole.steps] == ["Init", "Prepare", "Arrive"], begun
    # A test of @spec_trace is skipped then: the code need not follow it.
    with pytest.raises(Departure, match="every step is hidden"):
        drive(AllHidden, whole)


def test_code_in_another_state_is_told_with_the_hidden_step_that_was_left_out() -> None:
    class OnlyAcquires(LockDriver):
        hidden = ("Release",)
        hidden_max = 0
        release = None  # type: ignore[assignment]  # it has no method

    trace = of_lock(
        ("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()), ("Acquire", C2, C2, ()),
        ("Acquire", C1, C2, (C1,)),
    )  # fmt: skip
    with pytest.raises(Departure) as departed:
        drive(OnlyAcquires, trace)
    assert str(departed.value) == (
        "since step 3, Acquire(c2), the code is in another state than the trace (Release(c1) was "
        "left out: a method for Release could take it); from there the spec does not allow step 4, "
        "Acquire(c1)"
    )


def test_an_action_without_a_method_is_an_error_that_says_what_to_write(lock: Setting) -> None:
    class OnlyAcquires(LockDriver):
        release = None  # type: ignore[assignment]  # it has no method

    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))
    with pytest.raises(KraflaError) as caught_error:
        drive(OnlyAcquires, trace, spec=lock.spec)
    assert str(caught_error.value).splitlines() == [
        "step 2: OnlyAcquires has no method for Release(c1): "
        "write it, or name the action in hidden",
        '@action("Release", c=...)',
        "def release(self, c): ...",
    ]


def test_code_that_goes_another_way_than_the_trace_is_no_violation(dice: Setting) -> None:
    class RollsOne:
        face = 0

        def roll(self) -> None:
            self.face = 1

        def win(self) -> None:
            raise Refused

        def observe(self) -> dict[str, int]:
            return {"face": self.face}

    begin, rolled, won = (Function({"face": face}) for face in (0, 3, 0))
    trace = Trace("Dice", (Step("Init", (), begin), Step("Roll", (), rolled), Step("Win", (), won)))
    with pytest.raises(Departure) as doubt:
        drive(RollsOne, trace, spec=dice.spec)
    assert str(doubt.value) == (
        "since step 1, Roll, the code is in another state than the trace; from there the spec does "
        "not allow step 2, Win"
    )


def test_code_that_may_refuse_departs_from_the_trace() -> None:
    class Moody(LockServerMachine):
        @action("Acquire", client=member_of("Client"), may_refuse=True)
        def acquire(self, client: str) -> None:
            if client == "c1":
                raise Refused
            self.lock.acquire(client)

    trace = of_lock(
        ("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)), ("Release", C1, C2, ())
    )  # fmt: skip
    with pytest.raises(
        Departure, match=r"since step 1, Acquire.*, the code refused, as it may; from"
    ):
        drive(Moody, trace)


def test_code_may_say_which_steps_it_took(two_phase: Setting) -> None:
    class Eager(TransactionDriver):
        def prepare(self, name: str) -> Any:
            self.made.prepare(name)
            return [Taken("Prepare", name), Taken("Arrive", name)]

    driven = [drive(Eager, trace) for trace in traces(two_phase, shortest_paths("actions"))]
    assert [one.steps for one in driven] == [1, 1, 1, 3, 3, 1]


def test_the_trace_of_a_failure_is_kept_and_drives_the_code_to_it_again(found: Path) -> None:
    wrong = driver_of(list(MISTAKES)[2])
    claim = Claim(ClaimKind.DIVERGENCE, "Release")
    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C2, NOBODY, ()), claim=claim)
    with pytest.raises(SpecViolation) as violation:
        drive(wrong, trace)
    (file,) = found.glob("*.ndjson")
    assert file.name == "FreesForAnyoneDriver.trace.ndjson"
    assert f"krafla explain {file}" in str(violation.value)
    kept = read_trace(file)
    with pytest.raises(SpecViolation, match="holder = c"):
        drive(wrong, kept)
    assert drive(LockDriver, kept).refused == "Release(c2)"


def test_a_failure_is_told_by_the_shortest_trace_that_shows_it(lock: Setting, found: Path) -> None:
    last_comes = driver_of(list(MISTAKES)[3])
    (trace,) = traces(lock, random_walks(1, 40, seed=1))

    def steps(shrinks: int) -> list[str]:
        with pytest.raises(SpecViolation, match=r"holder' = Head\(queue\)") as violation:
            drive(last_comes, trace, shrinks=shrinks)
        kept = violation.value.trace
        assert isinstance(kept, Trace)
        assert kept.steps in [read_trace(one).steps for one in found.glob("*.ndjson")]
        return [step.action for step in kept.steps[1:]]

    assert len(steps(0)) > 4
    assert steps(100) == ["Acquire", "Acquire", "Acquire", "Release"]


def test_a_refusal_that_fails_is_told_by_the_shortest_trace_too(lock: Setting, found: Path) -> None:
    queues_twice = driver_of(list(MISTAKES)[1])
    (trace,) = traces(lock, random_walks(1, 40, seed=1))
    with pytest.raises(SpecViolation, match="notin Waiting"):
        drive(queues_twice, trace, refusals=True)
    kept = read_trace(next(found.glob("*.ndjson")))
    assert isinstance(kept, Trace)
    assert [step.action for step in kept.steps[1:]] == ["Acquire", "Acquire", "Acquire"]
    assert kept.steps[2].parameters == kept.steps[3].parameters


def test_a_method_that_is_only_called_if_enabled_is_asked_for_nothing_else() -> None:
    class Sure(LockServerMachine):
        @action("Release", only_if_enabled=True)
        def release(self, client: str) -> None:
            assert client == self.lock.holder, "only the holder's release is enabled"
            self.lock.release(client)

    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))
    # No client without the lock is asked to release it; the holder is asked to acquire it.
    assert drive(Sure, trace, refusals=True).refusals == 1


class Substitute(LockDriver):
    """A client that has asked before is no reason to refuse: the next one is taken instead."""

    def acquire(self, client: str) -> Any:
        free = (one for one in ("c1", "c2", "c3") if one not in self.taken_by)
        chosen = client if client not in self.taken_by else next(free)
        self.lock.acquire(chosen)
        return Taken("Acquire", chosen)

    @property
    def taken_by(self) -> tuple[Any, ...]:
        """Return the clients that hold the lock or wait."""
        seen = self.observe()
        return (seen["holder"], *seen["queue"])


def test_code_that_takes_another_step_than_one_that_it_must_refuse_departs() -> None:
    trace = of_lock(("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)))
    said = (
        r"before step 2 the code was asked for Acquire\(c1\), which the spec does not allow "
        r"there; it took Acquire\(c2\)"
    )
    with pytest.raises(Departure, match=said):
        drive(Substitute, trace, refusals=True)
    claim = Claim(ClaimKind.DIVERGENCE, "Acquire")
    denied = of_lock(("Acquire", C1, C1, ()), ("Acquire", C1, C1, ()), claim=claim)
    with pytest.raises(Departure, match=said.replace("before step 2", "at step 2")):
        drive(Substitute, denied)


def test_an_object_that_fails_is_not_driven_again(lock: Setting) -> None:
    made: list[object] = []

    class Counted(driver_of(list(MISTAKES)[3])):  # type: ignore[misc]  # its mistake is chosen
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    (trace,) = traces(lock, random_walks(1, 40, seed=1))
    with pytest.raises(SpecViolation):
        drive(Counted(), trace)
    assert len(made) == 1
    with pytest.raises(SpecViolation):
        drive(Counted, trace)
    assert 2 < len(made) <= 102


def test_a_step_that_the_spec_does_not_have_must_be_claimed() -> None:
    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C2, NOBODY, ()))
    with pytest.raises(KraflaError, match=r"step 2, Release\(c2\), is no step of Lock, and the tr"):
        drive(LockDriver, trace)


def test_code_may_say_that_it_did_nothing_where_the_spec_allows_nothing() -> None:
    class Silent(LockDriver):
        def release(self, client: str) -> Any:
            if client != self.lock.holder:
                return Taken.nothing
            return self.lock.release(client)

    claim = Claim(ClaimKind.DIVERGENCE, "Release")
    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C2, NOBODY, ()), claim=claim)
    assert drive(Silent, trace).refused == "Release(c2)"


def test_refusals_are_tried_after_the_last_step_too() -> None:
    class FreesForOthers(LockServer):
        def release(self, client: str) -> None:
            if self.holder == "Nobody":
                raise Refused
            super().release(self.holder if client else client)

    one = of_lock(("Acquire", C1, C1, ()))
    assert drive(driver_of(FreesForOthers), one).steps == 1
    with pytest.raises(SpecViolation, match="holder = c"):
        drive(driver_of(FreesForOthers), one, refusals=True)
