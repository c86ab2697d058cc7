"""Driving code through traces: what cannot be driven, and errors of the code on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis.stateful import initialize
from tests.krafla.testing.lock_server import (
    LockDriver,
    LockServer,
    LockServerMachine,
)
from tests.krafla.testing.lock_traces import C1, C2, NOBODY, of_lock

from krafla.testing import (
    Departure,
    Trace,
    drive,
    member_of,
)
from krafla.verdict import KraflaError

SPECS = Path(__file__).parent / "specs"


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


def test_an_action_that_the_spec_does_not_have_is_found_by_its_effect() -> None:
    assert drive(LockDriver, of_lock(("Grab", C1, C1, ()))).steps == 1
    with pytest.raises(KraflaError) as error:
        drive(LockDriver, of_lock(("Grab", C1, C1, (C2,))))
    assert str(error.value) == (
        "the trace: step 1: no action of Lock leads to its state; nearest enabled action: "
        "Acquire(c1): would leave queue[1] without c2"
    )


def test_a_method_with_other_parameters_is_an_error() -> None:
    class Greedy(LockDriver):
        def acquire(self, client: str, how: str) -> None:  # type: ignore[override]  # the mistake
            del how
            self.lock.acquire(client)

    with pytest.raises(KraflaError, match="takes 2 parameters, Acquire has 1"):
        drive(Greedy, of_lock(("Acquire", C1, C1, ())))


def test_an_error_of_the_code_says_at_which_step_it_came() -> None:
    class Breaks(LockDriver):
        def release(self, client: str) -> None:
            raise ZeroDivisionError(client)

    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))
    with pytest.raises(ZeroDivisionError) as error:
        drive(Breaks, trace)
    told, command = error.value.__notes__
    assert told == "krafla: the code raised this in step 2, Release(c1), after 1 judged step"
    assert command.startswith("krafla: the steps before it: krafla explain ")


def test_a_class_is_torn_down_and_an_object_is_not() -> None:
    ended: list[str] = []

    class Held(LockDriver):
        def teardown(self) -> None:
            ended.append("torn down")

    trace = of_lock(("Acquire", C1, C1, ()))
    drive(Held, trace)
    assert ended == ["torn down"]
    drive(Held(), trace)
    assert ended == ["torn down"]


def test_what_hypothesis_initializes_is_called_and_values_are_not_drawn() -> None:
    class Late(LockServerMachine):
        @initialize()
        def make(self) -> None:
            self.lock = LockServer()

    class Drawn(LockServerMachine):
        @initialize(client=member_of("Client"))
        def make(self, client: str) -> None:
            self.lock.acquire(client)

    trace = of_lock(("Acquire", C1, C1, ()))
    assert drive(Late, trace).steps == 1
    with pytest.raises(KraflaError, match=r"@initialize of .*Drawn.make draws values"):
        drive(Drawn, trace)


class Begun(LockServerMachine):
    """A client has the lock from the beginning, and its request is judged."""

    @initialize()
    def take(self) -> None:
        self.acquire(client="c1")


def test_steps_that_initialize_takes_are_those_of_the_trace() -> None:
    begun = of_lock(("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)))
    assert drive(Begun, begun).steps == 2
    assert drive(Begun, of_lock(("Acquire", C1, C1, ()))).steps == 1
    for trace in (of_lock(("Acquire", C2, C2, ())), of_lock()):
        with pytest.raises(
            Departure, match="the code is in another state than the trace: @initialize took 1 step"
        ):
            drive(Begun, trace)


def test_constants_of_trace_and_code_must_be_the_same() -> None:
    trace = of_lock(("Acquire", C1, C1, ()))
    other = Trace("Lock", trace.steps, (("Client", frozenset({C1, C2})),))
    with pytest.raises(
        KraflaError, match=r"the trace has Client = \{c1, c2\}, the spec of the code"
    ):
        drive(LockDriver, other)


def test_a_class_without_a_spec_is_an_error() -> None:
    class Bare:
        def acquire(self, client: str) -> None: ...

    with pytest.raises(KraflaError, match="Bare names no spec"):
        drive(Bare, of_lock(("Acquire", C1, C1, ())))
