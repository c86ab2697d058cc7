"""Driving code through a trace: each step is asked of the code, and its answer of the spec."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from krafla.interrupted import interruption_in
from krafla.testing.completion import scheduled
from krafla.testing.current_test import CURRENT_TEST
from krafla.testing.errors import SpecViolation
from krafla.testing.found import save, while_shrinking
from krafla.testing.judge import Judge
from krafla.testing.machine_judge import judge_of
from krafla.testing.schedule import Schedule
from krafla.testing.teardown import tear_down
from krafla.testing.trace_reduction import shortest_failure
from krafla.testing.trace_run import Departure, Driven, TraceRun
from krafla.testing.unobserved import warn_of_unobserved
from krafla.values import fmt, same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle import Spec
    from krafla.testing.trace_reduction import Failure
    from krafla.traces import PartialTrace, Trace

__all__ = ["Departure", "Driven", "drive"]


def drive(
    machine: Any,
    trace: Trace | PartialTrace | Schedule,
    *,
    spec: Spec | None = None,
    refusals: bool = False,
    shrinks: int = 100,
) -> Driven:
    """Drive code through a trace: call the method of each step's action, judge what it shows.

    ``machine`` is a ``SpecMachine``, or any class or object with a method for each action and
    ``observe()``. A class is made anew, without arguments, and its ``teardown`` called at the end.
    ``spec`` judges instead of that which the class names, and is needed if it names none.

    The code must begin and go on as the spec allows; what it does not show is the spec's to choose.
    Hidden steps for which it has no method are left out. Where a partial trace says that the code
    took no step, or refused an action, the code is asked for the same. Where the spec does not
    allow a step of a trace that claims a violation (a counterexample of another spec, a saved
    failure), the code must refuse it.
    With ``refusals`` the code is asked, in each state on the way, for what is forbidden there: each
    action with each value that Next gives it, where the spec does not allow that step. The code
    must refuse and stay as it is. Methods that are ``only_if_enabled`` are not asked. A class that
    fails is driven again, at most ``shrinks`` times, through shorter traces; the shortest with
    the same failure is told.

    Raises ``SpecViolation`` with the false conjunct; ``Departure`` if the code went another way
    that the spec allows and the trace cannot be followed any more; ``Inconclusive`` if nothing was
    judged: the trace has no step, each is hidden and without a method, or the code took none;
    ``KraflaError`` if a method is missing, or if trace and spec do not fit.
    """
    __tracebackhide__ = True
    run: TraceRun | None = None
    try:
        with _made(machine) as code:
            judge = _judge(code, spec)
            if not hasattr(code, "observe"):
                warn_of_unobserved(code.__class__)
            place = "the trace" if (test := CURRENT_TEST.get()) is None else test.name
            schedule = scheduled(trace, judge.spec, place)
            _check_constants(schedule.trace, judge.spec)
            run = TraceRun(code, judge, schedule, tries=refusals)
            return run.run()
    except SpecViolation as violation:
        found = violation
    if isinstance(machine, type) and run is not None and run.failure is not None:
        again = partial(_failure, machine, spec)
        with while_shrinking():
            found = shortest_failure(judge.spec, run.failure, again, shrinks)
    save(found, machine if isinstance(machine, type) else type(machine))
    raise found


def _failure(machine: type, spec: Spec | None, trace: Trace) -> Failure | None:
    """Return what the code does wrong on a trace; ``None`` if the run ends in any other way."""
    run: TraceRun | None = None
    try:
        with _made(machine) as code:
            run = TraceRun(code, _judge(code, spec), Schedule(trace), tries=False)
            run.run()
    except BaseException as error:
        if interruption_in(error) is not None:
            raise
        # A shorter way may break the code in another way.
        return None if run is None else run.failure
    return None


@contextmanager
def _made(machine: Any) -> Iterator[Any]:
    """Give an object of a class, torn down afterwards, or the object itself.

    If its ``teardown`` fails, too, that is a note on what was found before.
    """
    __tracebackhide__ = True
    if not isinstance(machine, type):
        yield machine
        return
    code = machine()
    found: BaseException | None = None
    try:
        yield code
    except BaseException as error:
        found = error
        raise
    finally:
        if hasattr(code, "teardown"):
            tear_down(code.teardown, found)


def _judge(code: Any, spec: Spec | None) -> Judge:
    """Return the judge of a run: of the spec that is given, or else of that of the class."""
    known = getattr(code, "judge", None)
    if spec is None and isinstance(known, Judge):
        return known
    test = CURRENT_TEST.get()
    if spec is None and test is not None and getattr(type(code), "spec", None) is None:
        spec = test.load()
    found = judge_of(type(code), spec).fresh()
    if isinstance(known, Judge):
        # A machine's methods may ask it.
        code.judge = found
    return found


def _check_constants(trace: Trace, spec: Spec) -> None:
    own = dict(spec.constants_of(spec.name))
    for name, value in trace.constants:
        if name in own and not same(own[name], value):
            raise KraflaError(
                f"the trace has {name} = {fmt(value, 100)}, the spec of the code has "
                f"{fmt(own[name], 100)}"
            )
