"""One run of code through a trace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hypothesis.stateful import RuleBasedStateMachine

from krafla.counted import counted
from krafla.oracle.guards import Guards
from krafla.testing.action_method import advice, method_called, method_for
from krafla.testing.code_call import observed
from krafla.testing.errors import Inconclusive, SpecViolation, TooFewFollowed
from krafla.testing.machine_run import run_of
from krafla.testing.taken import Taken
from krafla.testing.trace_reduction import Failure
from krafla.traces import Call, Step
from krafla.values import distinct, fmt, same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle import Spec, State
    from krafla.testing.action_method import ActionMethod
    from krafla.testing.judge import Judge
    from krafla.testing.outcome import CallOutcome
    from krafla.testing.schedule import Schedule
    from krafla.traces import Observation
    from krafla.values import Value

__all__ = ["Departure", "Driven", "TraceRun"]


class Departure(Inconclusive):
    """The code cannot follow the trace, or the rest of it, and has broken nothing.

    The code took another step that the spec allows, or every step is hidden and has no method.
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


class TraceRun:
    """One run of the code through a trace."""

    def __init__(self, code: Any, judge: Judge, schedule: Schedule, *, tries: bool) -> None:
        self._code = code
        self._judge = judge
        self._schedule = schedule
        self._trace = schedule.trace
        self._tries = tries
        self._driven = self._skipped = self._refusals = 0
        self._methods: dict[str, ActionMethod | None] = {}
        # Since which step the code is in another state than the trace, in words.
        self._departed = ""
        # The last step that was left out since the code was where the trace is.
        self._left_out: Step | None = None
        # Whether the code was called for what failed.
        self._is_failure_asked = False
        # Whether the last call was made, and ``_departed`` before it.
        self._is_called, self._called_from = False, ""
        # What the code did wrong at a step, if it can be driven there by steps alone.
        self.failure: Failure | None = None

    def run(self) -> Driven:
        """Drive the code to the end of the trace; for the exceptions see ``drive``."""
        __tracebackhide__ = True
        begun = self._driven = self._begin()
        if self._schedule.is_beginning:
            return Driven(begun)
        self._ask_between(begun)
        for index, step in enumerate(self._trace.steps[begun + 1 :], start=begun + 1):
            call = self._schedule.calls.get(index)
            method = self._method(step.action) if call is None else None
            if call == "same":
                # The code was called for it before.
                self._compare(index, step, None)
            elif isinstance(call, Call):
                self._call(index, step, call)
            elif method is None:
                self._skip(index, step)
            else:
                self._try_refused(index)
                is_failure = self._is_failure(index)
                is_allowed = self._allows(index, step)
                outcome = self._take(index, step, method, is_allowed=is_allowed)
                if not is_allowed:
                    self._check_refused(f"at step {index}", step, outcome)
                    return Driven(self._driven + 1, self._skipped, _told(step), self._refusals)
                self._driven += any(one is not Taken.nothing for one in outcome.steps)
                if is_failure:
                    self._check_there(_told(step))
                self._compare(index, step, outcome)
            self._ask_between(index)
        self._try_refused(len(self._trace))
        if not (self._is_judged or self._is_failure_asked):
            raise self._nothing()
        return Driven(self._driven, self._skipped, None, self._refusals)

    @property
    def _is_judged(self) -> bool:
        """Return whether more than the beginning was judged."""
        judge = self._judge
        return bool(judge.has_stepped or judge.refusals or self._refusals)

    def _is_failure(self, index: int) -> bool:
        """Return whether the trace claims that this step is what failed."""
        return self._schedule.fails_at(index) and index not in self._schedule.between

    def _ask_between(self, index: int) -> None:
        """Ask the code for what it did not do after a step, and compare what it shows."""
        __tracebackhide__ = True
        asked = self._schedule.between.get(index, ())
        for number, one in enumerate(asked, start=1):
            if one.call != "same":
                self._ask_for(index, one)
            if not (self._schedule.fails_at(index) and number == len(asked)):
                continue
            self._is_failure_asked, self._departed = self._is_called, self._called_from
            self._check_there(_call_of(one))
            if not self._is_failure_asked:
                raise Departure(
                    f"{_call_of(one)} is what failed, after step {index}, and the trace does not "
                    "say how the code is asked for it again"
                )

    def _ask_for(self, index: int, one: Observation) -> None:
        """Call the code as before an observation, or look at it if there is no such call."""
        __tracebackhide__ = True
        self._is_called, self._called_from = False, self._departed
        method, known = self._method_of(one)
        if method is None:
            self._look(index)
            return
        outcome = self._made(method, known)
        self._refusals += outcome.is_refusal
        self._compare(index, self._trace.steps[index], outcome)

    def _method_of(self, one: Observation) -> tuple[ActionMethod | None, tuple[Value, ...]]:
        """Return the method that is called before an observation, with its parameters."""
        if isinstance(one.call, Call):
            given, what = one.call.parameters, "what the code did without a step"
            found = self._called(one.call, f"{what} {one.place}".rstrip())
            return (None, ()) if given is None else (found, given)
        known = tuple(value for value in one.parameters or () if value is not None)
        if one.action is None or known != (one.parameters or ()):
            return None, ()
        return self._method(one.action), known

    def _call(self, index: int, step: Step, call: Call) -> None:
        """Make the call in which the code took a step, which its action does not tell."""
        __tracebackhide__ = True
        what = f"step {index}, {_told(step)},"
        method = self._called(call, what)
        if call.parameters is None:
            raise Departure(
                f"{what} came of a call of {call.method}, whose arguments no trace can have: they "
                "are no TLA+ values"
            )
        self._try_refused(index)
        self._allows(index, step)
        outcome = self._made(method, call.parameters)
        self._driven += any(one is not Taken.nothing for one in outcome.steps)
        self._compare(index, step, outcome)

    def _called(self, call: Call, what: str) -> ActionMethod:
        """Return the method of a call; ``KraflaError`` if there is none any more."""
        found = method_called(type(self._code), call.method)
        if found is None:
            name = type(self._code).__name__
            raise KraflaError(f"{what} came of a call of {call.method}: {name} has no such method")
        return found

    def _made(self, method: ActionMethod, parameters: tuple[Value, ...]) -> CallOutcome:
        """Call the code, and judge what it did."""
        __tracebackhide__ = True
        self._is_called, self._called_from = True, self._departed
        call = method.bound(self._code, parameters)
        return method.judged(self._code, self._judge, parameters, call)

    def _look(self, index: int) -> None:
        """Judge what the code shows without a step, and whether it is where the trace is."""
        __tracebackhide__ = True
        self._judge.stay(observed(self._code, self._judge, lambda: "observe"))
        self._compare(index, self._trace.steps[index], None)

    def _check_there(self, what: str) -> None:
        """Raise ``Departure`` if the code was not where the failure came: it has shown nothing."""
        if self._departed:
            raise self._gone(f"{what} was the failure, in another state than the code is in now")

    def _gone(self, why: str) -> Inconclusive:
        """Return why the rest of the trace means nothing for the code.

        Code that did nothing so far went no other way, unless a hidden step was left out.
        """
        if self._is_judged or self._left_out is not None:
            return Departure(f"{self._departed}; {why}")
        return self._nothing()

    def _nothing(self) -> Inconclusive:
        """Return why nothing was judged but the beginning."""
        if len(self._trace) <= 1:
            return Inconclusive(f"a trace of {self._trace.spec} without a step shows nothing")
        if self._skipped == len(self._trace) - 1:
            return Departure(f"every step is hidden and without a method: {self._skipped} left out")
        if self._driven:
            return Inconclusive("the code named no action and showed nothing, so any step would do")
        first = _told(self._trace.steps[1])
        return Inconclusive(f"the code took no step of the trace; the first is {first}")

    def _try_refused(self, index: int) -> None:
        """Ask the code for what is forbidden here: each action with each value of Next."""
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
                outcome = self._take(index, asked, method, is_allowed=False)
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

    def _begin(self) -> int:
        """Make the code begin; return how many steps of the trace it took then."""
        __tracebackhide__ = True
        is_machine = isinstance(self._code, RuleBasedStateMachine)
        for rule in self._code._initialize_rules_to_run if is_machine else ():  # noqa: SLF001 - Hypothesis tells them nowhere else
            if rule.arguments:
                raise KraflaError(
                    f"@initialize of {rule.function.__qualname__} draws values, which a trace does "
                    "not have: make the code in __init__"
                )
            rule.function(self._code)
        run = run_of(self._code)
        if run is None or not run.has_begun:
            self._judge.start(observed(self._code, self._judge, lambda: "observe"))
        # Rules with @initialize may call methods of the machine, which are judged.
        begun = self._judge.steps
        at = min(begun, len(self._trace) - 1)
        self._compare(at, self._trace.steps[at], None)
        if begun and self._departed:
            raise Departure(f"{self._departed}: @initialize took {counted(begun, 'step')}")
        return begun

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
            raise self._gone(f"from there the spec does not allow step {index}, {_told(step)}")
        if not self._trace.claims_violation:
            raise KraflaError(
                f"step {index}, {_told(step)}, is no step of {self._judge.spec.name}, and the "
                "trace does not claim that: is it of another version?"
            )
        return False

    def _take(
        self, index: int, step: Step, method: ActionMethod, *, is_allowed: bool
    ) -> CallOutcome:
        __tracebackhide__ = True
        try:
            return self._made(method, step.parameters or ())
        except SpecViolation as violation:
            if not self._schedule.calls:
                driven = self._trace.with_steps((*self._trace.steps[:index], step))
                self.failure = Failure(violation, driven, is_allowed)
            raise

    def _compare(self, index: int, step: Step, outcome: CallOutcome | None) -> None:
        """Note whether the code can be where the trace is."""
        for state in self._judge.states:
            if all(same(state[str(name)], value) for name, value in step.state.items()):
                self._departed, self._left_out = "", None
                return
        if not self._departed:
            refused = outcome is not None and outcome.is_refusal
            moved = "the code is in another state than the trace"
            what = "the code refused, as it may" if refused else moved
            self._departed = f"since step {index}, {_told(step)}, {what}"
            if self._left_out is not None:
                hidden, name = _told(self._left_out), self._left_out.action
                self._departed += f" ({hidden} was left out: a method for {name} could take it)"


def _offered(spec: Spec, states: tuple[State, ...]) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Yield the actions with the parameters that Next gives them in some states, enabled or not."""
    guards = _guards(spec)
    found = (
        (branch.owner.name, parameters)
        for branch in guards.branches
        for state in states
        for parameters, _ in guards.choices(branch, state)
    )
    yield from distinct(found)


@lru_cache(maxsize=8)
def _guards(spec: Spec) -> Guards:
    return Guards(spec)


def _told(step: Step) -> str:
    parameters = ", ".join(map(fmt, step.parameters or ()))
    return f"{step.action}({parameters})" if parameters else step.action


def _call_of(one: Observation) -> str:
    call = one.call if isinstance(one.call, Call) else None
    name = one.action if call is None else call.method
    if name is None:
        return "a stay" if one.kind == "stay" else "a step"
    given = one.parameters if call is None else call.parameters
    shown = ("..." if value is None else fmt(value) for value in given or ())
    return f"{name}({', '.join(shown)})"
