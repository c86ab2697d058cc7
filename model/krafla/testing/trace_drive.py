"""Driving code through a trace: each step is asked of the code, and its answer of the spec."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.oracle.guards import Guards
from krafla.testing.action_method import advice, method_called, method_for
from krafla.testing.code_call import observed
from krafla.testing.completion import scheduled
from krafla.testing.current_test import CURRENT_TEST
from krafla.testing.errors import Inconclusive, SpecViolation, TooFewFollowed
from krafla.testing.found import save
from krafla.testing.judge import Judge
from krafla.testing.machine_judge import judge_of
from krafla.testing.schedule import Schedule
from krafla.testing.taken import Taken
from krafla.testing.trace_reduction import shortest_failure
from krafla.traces import Step
from krafla.values import fmt, same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle import Spec, State
    from krafla.testing.action_method import ActionMethod
    from krafla.testing.outcome import CallOutcome
    from krafla.traces import Observation, PartialTrace, Trace
    from krafla.values import Value

__all__ = ["Departure", "Driven", "drive"]


class Departure(Inconclusive):
    """The trace means nothing for the code, or its rest does, as the spec allows both ways.

    The code took another way, or each step is hidden and it has no method for any.
    """


@dataclass(frozen=True, slots=True)
class Driven:
    """How far a trace was driven: the steps that the code took, and those left out.

    ``skipped`` steps are hidden ones without a method. ``refused`` is the step which the spec does
    not allow, and which the code rightly did not take: the last of ``steps``, as nothing is driven
    after it. ``refusals`` counts what else the code was asked for and did not do.
    """

    steps: int
    skipped: int = 0
    refused: str | None = None
    refusals: int = 0


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
    With ``refusals`` the code is asked, in each state on the way, for all that Next offers and the
    spec does not allow there: it must refuse and stay as it is. Methods that are
    ``only_if_enabled`` are not asked. A class that fails is driven again,
    at most ``shrinks`` times, through shorter traces; the shortest on which it fails is told.

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
        one = _Drive(code, judge, schedule, tries=refusals)
        try:
            return one.run()
        except SpecViolation as violation:
            failure = violation
    if isinstance(machine, type) and one.failed is not None:

        def again(shorter: Trace) -> None:
            with _made(machine) as code:
                _Drive(code, judge.fresh(), Schedule(shorter), tries=False).run()

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


class _Drive:
    """One run of the code through a trace."""

    def __init__(self, code: Any, judge: Judge, schedule: Schedule, *, tries: bool) -> None:
        self._code = code
        self._judge = judge
        self._schedule = schedule
        self._trace = schedule.trace
        self._tries = tries
        self._driven = self._skipped = self._refusals = 0
        self._methods: dict[str, ActionMethod | None] = {}
        # Since which step the code is elsewhere than the trace, in words.
        self._departed = ""
        # The last step that was left out since the code was where the trace is.
        self._left_out: Step | None = None
        # Whether the code was asked for the stay or the refusal that failed.
        self._is_failure_asked = False
        # The trace up to the step at which a violation was found.
        self.failed: Trace | None = None

    def run(self) -> Driven:
        __tracebackhide__ = True
        self._begin()
        self._ask_between(0)
        for index, step in enumerate(self._trace.steps[1:], start=1):
            method = self._method(step.action)
            if method is None:
                self._skip(index, step)
            else:
                self._try_refused(index)
                is_failure = self._is_failure(index)
                is_allowed = self._allows(index, step)
                outcome = self._take(index, step, method)
                if not is_allowed:
                    self._check_refused(f"at step {index}", step, outcome)
                    return Driven(self._driven + 1, self._skipped, _told(step), self._refusals)
                self._driven += any(one is not Taken.nothing for one in outcome.steps)
                if is_failure:
                    self._check_there(_told(step))
                self._compare(index, step, outcome)
            self._ask_between(index)
        self._try_refused(len(self._trace))
        is_judged = self._judge.has_stepped or self._judge.refusals or self._refusals
        if not (is_judged or self._is_failure_asked):
            raise self._nothing()
        return Driven(self._driven, self._skipped, None, self._refusals)

    def _is_failure(self, index: int) -> bool:
        """Return whether the trace claims that this step is what failed."""
        return self._schedule.fails_at(index) and index not in self._schedule.between

    def _ask_between(self, index: int) -> None:
        """Ask the code for what it did not do after a step, and compare what it shows."""
        __tracebackhide__ = True
        asked = self._schedule.between.get(index, ())
        for number, one in enumerate(asked, start=1):
            after = asked[number] if number < len(asked) else None
            if one.kind == "refusal" and after is not None and after.action is not None:
                # The stay after it is of the same call, which is asked for once.
                continue
            if not (self._schedule.fails_at(index) and after is None):
                self._ask_for(index, one)
                continue
            departed = self._departed
            self._is_failure_asked = self._ask_for(index, one)
            self._departed = departed
            self._check_there(_call_of(one))
            if not self._is_failure_asked:
                raise Departure(
                    f"{_call_of(one)} is what failed, after step {index}, and the trace does not "
                    "say how the code is asked for it again"
                )

    def _ask_for(self, index: int, one: Observation) -> bool:
        """Ask the code for a call in which it took no step; return whether there is such a call."""
        __tracebackhide__ = True
        known = tuple(value for value in one.parameters or () if value is not None)
        method = None
        if one.action is not None and known == (one.parameters or ()):
            find = method_called if one.kind == "stay" else method_for
            method = find(type(self._code), one.action)
        if method is None:
            self._look(index)
            return False
        outcome = method.judged(self._code, self._judge, known, method.bound(self._code, known))
        self._refusals += outcome.is_refusal
        self._compare(index, self._trace.steps[index], outcome)
        return True

    def _look(self, index: int) -> None:
        """Judge what the code shows without a step, and whether it is where the trace is."""
        __tracebackhide__ = True
        self._judge.stay(observed(self._code, self._judge, lambda: "observe"))
        self._compare(index, self._trace.steps[index], None)

    def _check_there(self, what: str) -> None:
        """Raise ``Departure`` if the code was not where the failure came: it has shown nothing."""
        if self._departed:
            raise Departure(f"{self._departed}; {what} failed from where the trace is")

    def _nothing(self) -> Inconclusive:
        """Return why nothing was judged but the beginning."""
        if len(self._trace) <= 1:
            return Inconclusive(f"a trace of {self._trace.spec} without a step shows nothing")
        if self._skipped == len(self._trace) - 1:
            return Departure(f"every step is hidden and without a method: {self._skipped} left out")
        first = _told(self._trace.steps[1])
        return Inconclusive(f"the code took no step of the trace; the first is {first}")

    def _try_refused(self, index: int) -> None:
        """Ask the code for all that the spec offers but does not allow here."""
        __tracebackhide__ = True
        if not self._tries:
            return
        for action, parameters in _offered(self._judge.spec, self._judge.states):
            method = self._method(action)
            if method is None or method.only_if_enabled:
                continue
            if self._is_denied(action, parameters):
                before = self._trace.steps[index - 1].state
                asked = Step(action, parameters, before)
                outcome = self._take(index, asked, method)
                self._check_refused(f"before step {index}", asked, outcome)
                self._refusals += 1

    def _is_denied(self, action: str, parameters: tuple[Value, ...]) -> bool:
        """Return whether the spec is known not to allow an action now."""
        try:
            return not self._judge.allows(action, *parameters)
        except TooFewFollowed:
            return False

    def _check_refused(self, place: str, asked: Step, outcome: CallOutcome) -> None:
        """Raise ``Departure`` if the code took other steps than the one that it was asked for."""
        taken = [one for one in outcome.steps if one is not Taken.nothing]
        if taken:
            raise Departure(
                f"{place} the code was asked for {_told(asked)}, which the spec does not allow "
                f"there; it took {', '.join(map(str, taken))}"
            )

    def _begin(self) -> None:
        __tracebackhide__ = True
        for rule in getattr(self._code, "_initialize_rules_to_run", ()):
            if rule.arguments:
                raise KraflaError(
                    f"@initialize of {rule.function.__qualname__} draws values, which a trace does "
                    "not have: make the code in __init__"
                )
            rule.function(self._code)
        self._judge.start(observed(self._code, self._judge, lambda: "observe"))
        self._compare(0, self._trace.steps[0], None)

    def _method(self, action: str) -> ActionMethod | None:
        if action not in self._methods:
            self._methods[action] = method_for(type(self._code), action)
        return self._methods[action]

    def _skip(self, index: int, step: Step) -> None:
        if step.action in self._judge.hidden:
            self._skipped += 1
            self._left_out = step
            return
        actions = {one.name: one for one in self._judge.spec.actions}
        name = type(self._code).__name__
        raise KraflaError(
            f"step {index}: {name} has no method for {_told(step)}: write it, or name the action "
            f"in hidden\n{advice(actions[step.action])}"
        )

    def _allows(self, index: int, step: Step) -> bool:
        """Return whether the spec allows a step, wherever it can be after what the code showed."""
        if self._judge.allows(step.action, *(step.parameters or ())):
            return True
        if self._departed:
            raise Departure(
                f"{self._departed}; from there the spec does not allow step {index}, {_told(step)}"
            )
        if not self._trace.claims_violation:
            raise KraflaError(
                f"step {index}, {_told(step)}, is no step of {self._judge.spec.name}, and the "
                "trace does not claim that: is it of another version?"
            )
        return False

    def _take(self, index: int, step: Step, method: ActionMethod) -> CallOutcome:
        __tracebackhide__ = True
        parameters = step.parameters or ()
        call = method.bound(self._code, parameters)
        try:
            return method.judged(self._code, self._judge, parameters, call)
        except SpecViolation:
            self.failed = self._trace.with_steps((*self._trace.steps[:index], step))
            raise

    def _compare(self, index: int, step: Step, outcome: CallOutcome | None) -> None:
        """Note whether the code can be where the trace is."""
        for state in self._judge.states:
            if all(same(state[str(name)], value) for name, value in step.state.items()):
                self._departed, self._left_out = "", None
                return
        if not self._departed:
            refused = outcome is not None and outcome.is_refusal
            what = "the code refused, as it may" if refused else "the code is elsewhere"
            self._departed = f"since step {index}, {_told(step)}, {what}"
            if self._left_out is not None:
                hidden, name = _told(self._left_out), self._left_out.action
                self._departed += f" ({hidden} was left out: a method for {name} could take it)"


def _offered(spec: Spec, states: tuple[State, ...]) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Yield the actions with the parameters that Next offers in some states, enabled or not."""
    guards = _guards(spec)
    found = (
        (branch.owner.name, parameters)
        for branch in guards.branches
        for state in states
        for parameters, _ in guards.choices(branch, state)
    )
    yield from dict.fromkeys(found)


@lru_cache(maxsize=8)
def _guards(spec: Spec) -> Guards:
    return Guards(spec)


def _told(step: Step) -> str:
    parameters = ", ".join(map(fmt, step.parameters or ()))
    return f"{step.action}({parameters})" if parameters else step.action


def _call_of(one: Observation) -> str:
    if one.action is None:
        return "a stay"
    shown = ("..." if value is None else fmt(value) for value in one.parameters or ())
    return f"{one.action}({', '.join(shown)})"
