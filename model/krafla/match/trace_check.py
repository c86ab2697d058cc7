"""The replay of a trace: the spec must have every step, and every step must keep its properties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from krafla.match.property_checker import PropertyChecker
from krafla.match.reasons import not_offered
from krafla.match.validation import (
    choices_for,
    properties_for,
    spec_of,
    stand_ins,
    takes_only_next,
)
from krafla.match.whole import Whole
from krafla.oracle.errors import EvaluationError
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.match import Nearest
    from krafla.oracle import Explanation, Spec, State
    from krafla.oracle.properties import Properties
    from krafla.traces import Step, Trace

__all__ = ["Rejection", "TraceReport", "check_trace", "excused_by", "in_words_of", "shows_no_step"]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The first step that the spec does not have, or that breaks a property, and why.

    If a lasso does not close, or closes by a step that breaks a property, this is the last step of
    the trace. ``nearest`` is the step of the spec that is most like the rejected one.
    """

    index: int
    step: Step
    explanation: Explanation
    broken: str | None = None
    nearest: Nearest | None = None

    def __str__(self) -> str:
        step, nearest = self.step, self.nearest
        text = f"step {self.index}, {step.action}: {self.explanation}"
        is_told = nearest is not None and nearest.helps(step.action, step.parameters)
        return f"{text}\n{nearest}" if is_told else text

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names in it: the property, the variables that differ, the false formulas."""
        texts = [reason.text for reason in self.explanation.reasons]
        paths = [detail.path for detail in self.explanation.differences]
        return (*(() if self.broken is None else (self.broken,)), *paths, *texts)


@dataclass(frozen=True, slots=True)
class TraceReport:
    """The result of replaying a trace: the spec accepted its first ``steps`` states.

    A rejection concerns the next state, or the lasso if all states were accepted.
    """

    trace: Trace
    steps: int
    rejection: Rejection | None = None

    @property
    def verdict(self) -> Verdict:
        """Return whether the trace is a behaviour of the spec that keeps its properties.

        A trace of an initial state only is inconclusive.
        """
        if self.rejection is not None:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if shows_no_step(self.trace) else Verdict.HELD


def check_trace(
    trace: Trace, spec: Spec | None = None, properties: Properties | None = None
) -> TraceReport:
    """Return whether the spec has this behaviour, and the first step that it does not have.

    A step without parameters may be any step of its action. A lasso must close by a step of its
    action ``back``, or of any action if it names none. All ``properties`` are judged (by default
    those of ``properties_for``), except the one that the trace claims to violate. A step that
    violates that one, as claimed, may break others too: one mistake often does. ``KraflaError`` if
    the trace is empty or does not fit the spec.
    """
    if not trace.steps:
        raise KraflaError(f"a trace of {trace.spec} without a single state shows nothing")
    known = spec_of(trace) if spec is None else spec
    properties = properties_for(trace, known) if properties is None else properties
    judge = _known_judge(known, properties, excused_by(trace), takes_only_next(trace))
    return TraceReport(trace, *judge.judge(in_words_of(trace, known)))


def in_words_of(trace: Trace, spec: Spec) -> Trace:
    """Return the trace with the action names of Next in place of their stand-ins."""
    actions = stand_ins(spec)
    if not actions:
        return trace
    steps = (replace(one, action=actions.get(one.action, one.action)) for one in trace.steps)
    return trace.with_steps(tuple(steps))


def shows_no_step(trace: Trace) -> bool:
    """Return whether a trace has an initial state and no step."""
    return len(trace) <= 1 and (trace.lasso is None or trace.stutters)


def excused_by(trace: Trace) -> str | None:
    """Return the property that a trace claims to violate; it is not judged."""
    claim = trace.claim
    return claim.property if claim is not None and trace.claims_violation else None


@lru_cache(maxsize=16)
def _known_judge(
    spec: Spec, properties: Properties | None, excused: str | None, only_next: bool
) -> _Judge:
    return _Judge(spec, properties, excused, only_next)


class _Judge:
    """The judge of all traces of one loaded spec with the same claim."""

    def __init__(
        self, spec: Spec, properties: Properties | None, excused: str | None, only_next: bool
    ) -> None:
        self._only_next = only_next
        self._whole = Whole(spec, choices_for(spec))
        self._keeping = PropertyChecker(spec, properties, excused) if properties else None

    def judge(self, trace: Trace) -> tuple[int, Rejection | None]:
        """Return how many states were accepted, and the rejection of the next one."""
        steps = trace.steps
        state, rejection = self._begun(steps[0])
        if rejection is not None:
            return 0, rejection
        for index in range(1, len(steps)):
            try:
                state, rejection = self._taken(state, index, steps)
            except EvaluationError as error:
                raise EvaluationError(error.message, f"step {index}") from None
            if rejection is not None:
                return index, rejection
        return len(steps), self._not_closed(trace, state)

    def _begun(self, first: Step) -> tuple[State, Rejection | None]:
        state = self._whole.first(first)
        if not self._whole.is_initial(first, state):
            return state, Rejection(0, first, self._whole.not_initial(first))
        return state, self._broken(0, first, None, state, None)

    def _taken(
        self, state: State, index: int, steps: Sequence[Step]
    ) -> tuple[State, Rejection | None]:
        """Return the state after a step, and the rejection of the step if there is one."""
        whole, step = self._whole, steps[index]
        whole.check_names(index, step)
        after, changed = whole.after(state, steps[index - 1], step)
        if not whole.takes(state, step, after):
            explanation, nearest = whole.refusal(state, index, step)
            return after, Rejection(index, step, explanation, None, nearest)
        if self._only_next and not whole.offers(state, step, after):
            explanation = not_offered(whole.moves, state, step.action, step.parameters or ())
            return after, Rejection(index, step, explanation)
        return after, self._broken(index, step, state, after, changed)

    def _not_closed(self, trace: Trace, state: State) -> Rejection | None:
        whole, index = self._whole, len(trace) - 1
        last = trace.steps[index]
        if whole.stays(trace):
            return None
        closing = whole.closing(trace)
        if closing is None:
            explanation, nearest = whole.no_return(trace)
            return Rejection(index, last, explanation, None, nearest)
        return self._broken(index, last, state, whole.first(closing), None)

    def _broken(
        self,
        index: int,
        step: Step,
        before: State | None,
        after: State,
        changed: list[str] | None,
    ) -> Rejection | None:
        if self._keeping is None:
            return None
        found = self._keeping.broken_by(before, after, changed)
        if found is None:
            return None
        return Rejection(index, step, found[1], found[0])
