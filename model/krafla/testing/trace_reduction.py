"""A shorter trace on which the code fails in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.match.moves import Moves
from krafla.oracle import EvaluationError
from krafla.testing.errors import SpecViolation
from krafla.traces import Claim, ClaimKind, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krafla.oracle import Spec
    from krafla.traces import Trace

__all__ = ["shortest_failure"]


def shortest_failure(
    spec: Spec,
    trace: Trace,
    first: SpecViolation,
    run: Callable[[Trace], None],
    runs_max: int,
) -> SpecViolation:
    """Return the violation of the shortest trace found that fails at the same action.

    ``trace`` ends with the step that failed as ``first`` says. Steps before it are left out, many
    at once, then one by one, as long as the spec allows the rest; ``run`` drives what is left, at
    most ``runs_max`` times.
    """
    found = first
    steps = trace.steps
    size = len(steps) - 2
    while size >= 1 and runs_max > 0:
        for fewer in _without(steps, size):
            shorter = _behaviour(spec, trace, fewer)
            if shorter is None:
                continue
            runs_max -= 1
            smaller = _violation(run, shorter)
            if smaller is not None and smaller.action == first.action:
                found, steps = smaller, shorter.steps
                break
            if runs_max <= 0:
                break
        else:
            size //= 2
        size = min(size, len(steps) - 2)
    return found


def _without(steps: Sequence[Step], size: int) -> Iterator[tuple[Step, ...]]:
    """Yield the steps without ``size`` of them in a row; the first and the last stay."""
    for start in range(1, len(steps) - size, size):
        yield (*steps[:start], *steps[start + size :])


def _behaviour(spec: Spec, trace: Trace, steps: Sequence[Step]) -> Trace | None:
    """Return the trace of these steps if the spec allows all but the last, which may be wrong."""
    moves = Moves(spec)
    state = spec.state({str(name): value for name, value in steps[0].state.items()})
    found = [steps[0]]
    for step in steps[1:]:
        try:
            outcomes = moves.outcomes(state, step.action, step.parameters or (), only_next=True)
        except EvaluationError:
            outcomes = ()
        if not outcomes and step is not steps[-1]:
            return None
        wanted = step.state
        state = next((one for one in outcomes if one.as_function() == wanted), None) or (
            outcomes[0] if outcomes else state
        )
        found.append(replace(step, state=state.as_function()))
    claim = Claim(ClaimKind.DIVERGENCE, steps[-1].action)
    return replace(trace.with_steps(tuple(found)), claim=claim, lasso=None)


def _violation(run: Callable[[Trace], None], trace: Trace) -> SpecViolation | None:
    """Return the violation of a run; ``None`` if it ends in any other way."""
    try:
        run(trace)
    except SpecViolation as violation:
        return violation
    except Exception:  # noqa: BLE001 - a shorter way may break the code in another way
        return None
    return None
