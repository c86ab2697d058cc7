"""A shorter trace on which the code fails in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.match.moves import Moves
from krafla.oracle import EvaluationError
from krafla.traces import Claim, ClaimKind, Step, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krafla.oracle import Spec
    from krafla.testing.errors import SpecViolation

__all__ = ["Failure", "shortest_failure"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A violation, and the trace that was driven up to it.

    ``is_allowed``: the spec allows the last step of the trace where it came, and the code took it
    in a wrong way, or not at all. Otherwise the code had to refuse it.
    """

    violation: SpecViolation
    trace: Trace
    is_allowed: bool

    def is_like(self, other: Failure) -> bool:
        """Return whether the same is wrong: the same action, property, formula and kind."""
        if (self.violation.action, self.is_allowed) != (other.violation.action, other.is_allowed):
            # What is told of a violation costs time.
            return False
        return _told(self.violation) == _told(other.violation)


def shortest_failure(
    spec: Spec, first: Failure, run: Callable[[Trace], Failure | None], runs_max: int
) -> SpecViolation:
    """Return the violation of the shortest trace found on which the code fails in the same way.

    Steps before the one that failed are left out, many at once, then one by one, as long as the
    spec allows the rest, and the last step if it did; ``run`` drives what is left, at most
    ``runs_max`` times.
    """
    found, moves = first, Moves(spec)
    tried: set[tuple[Step, ...]] = set()
    candidates = _fewer(found.trace.steps)
    while runs_max > 0 and (fewer := next(candidates, None)) is not None:
        if fewer in tried:
            continue
        tried.add(fewer)
        shorter = _behaviour(spec, moves, first, fewer)
        if shorter is None:
            continue
        runs_max -= 1
        smaller = run(shorter)
        if smaller is not None and smaller.is_like(first):
            found = smaller
            candidates = _fewer(found.trace.steps)
    return found.violation


def _told(violation: SpecViolation) -> tuple[object, ...]:
    """Return what is wrong, without the values in it."""
    trace = violation.trace
    kind = "step" if isinstance(trace, Trace) else trace.observations[-1].kind
    return kind, violation.broken, violation.place, violation.conjunct


def _fewer(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    """Yield the steps without some in a row, the most first; the first and the last stay.

    At last those are left out that lead back to the state before them: the spec allows the rest.
    """
    last = len(steps) - 1
    size = last - 1
    while size >= 1:
        for start in range(1, last - size + 1, size):
            yield (*steps[:start], *steps[start + size :])
        size //= 2
    for size in range(last - 1, 1, -1):
        for start in range(1, last - size + 1):
            if steps[start - 1].state == steps[start + size - 1].state:
                yield (*steps[:start], *steps[start + size :])


def _behaviour(spec: Spec, moves: Moves, first: Failure, steps: Sequence[Step]) -> Trace | None:
    """Return the trace of these steps if the spec allows all but the last, and that as it did."""
    state = spec.state({str(name): value for name, value in steps[0].state.items()})
    found = [steps[0]]
    for step in steps[1:]:
        try:
            outcomes = moves.outcomes(state, step.action, step.parameters or (), only_next=True)
        except EvaluationError:
            outcomes = ()
        if bool(outcomes) != (first.is_allowed or step is not steps[-1]):
            return None
        wanted = step.state
        state = next((one for one in outcomes if one.as_function() == wanted), None) or (
            outcomes[0] if outcomes else state
        )
        found.append(replace(step, state=state.as_function()))
    claim = Claim(ClaimKind.DIVERGENCE, steps[-1].action)
    return replace(first.trace.with_steps(tuple(found)), claim=claim, lasso=None)
