"""Driving code through a trace: each step is asked of the code, and its answer of the spec."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from krafla.testing.completion import scheduled
from krafla.testing.current_test import CURRENT_TEST
from krafla.testing.errors import SpecViolation
from krafla.testing.found import save
from krafla.testing.judge import Judge
from krafla.testing.machine_judge import judge_of
from krafla.testing.schedule import Schedule
from krafla.testing.trace_reduction import shortest_failure
from krafla.testing.trace_run import Departure, Driven, TraceRun
from krafla.values import fmt, same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle import Spec
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
    ``spec`` is needed if the class names none.

    The code must begin and go on as the spec allows; what it does not show is the spec's to choose.
    Hidden steps for which it has no method are left out. Where a partial trace says that the code
    took no step, or refused an action, the code is asked for the same. Where the spec does not
    allow a step of a trace that claims a violation (a counterexample of another spec, a saved
    failure), the code must refuse it.
    With ``refusals`` the code is asked, in each state on the way, for what is forbidden there: each
    action with each value that Next gives it, where the spec does not allow that step. The code
    must refuse and stay as it is. Methods that are ``only_if_enabled`` are not asked. A class that
    fails is driven again, at most ``shrinks`` times, through shorter traces; the shortest on which
    it fails is told.

    Raises ``SpecViolation`` with the false conjunct; ``Departure`` if the code went another way
    that the spec allows and the trace cannot be followed any more; ``Inconclusive`` if nothing was
    judged: the trace has no step, each is hidden and without a method, or the code took none;
    ``KraflaError`` if a method is missing, or if trace and spec do not fit.
    """
    __tracebackhide__ = True
    with _made(machine) as code:
        judge = _judge(code, spec)
        place = "the trace" if (test := CURRENT_TEST.get()) is None else test.name
        schedule = scheduled(trace, judge.spec, place)
        _check_constants(schedule.trace, judge.spec)
        one = TraceRun(code, judge, schedule, tries=refusals)
        try:
            return one.run()
        except SpecViolation as violation:
            failure = violation
    if isinstance(machine, type) and one.failed is not None:

        def again(shorter: Trace) -> None:
            with _made(machine) as code:
                TraceRun(code, judge.fresh(), Schedule(shorter), tries=False).run()

        failure = shortest_failure(judge.spec, one.failed, failure, again, shrinks)
    save(failure, type(code))
    raise failure


@contextmanager
def _made(machine: Any) -> Iterator[Any]:
    """Give an object of a class, torn down afterwards, or the object itself."""
    __tracebackhide__ = True
    if not isinstance(machine, type):
        yield machine
        return
    code = machine()
    try:
        yield code
    finally:
        if hasattr(code, "teardown"):
            code.teardown()


def _judge(code: Any, spec: Spec | None) -> Judge:
    known = getattr(code, "judge", None)
    if isinstance(known, Judge):
        return known
    if getattr(type(code), "spec", None) is not None:
        return judge_of(type(code)).fresh()
    test = CURRENT_TEST.get()
    if spec is None and test is not None:
        spec = test.load()
    return judge_of(type(code), spec).fresh()


def _check_constants(trace: Trace, spec: Spec) -> None:
    own = dict(spec.constants_of(spec.name))
    for name, value in trace.constants:
        if name in own and not same(own[name], value):
            raise KraflaError(
                f"the trace has {name} = {fmt(value, 100)}, the spec of the code has "
                f"{fmt(own[name], 100)}"
            )
