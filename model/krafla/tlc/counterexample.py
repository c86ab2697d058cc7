"""Turn the states TLC prints into a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from krafla.tlc.actions import SourceText, parse_label
from krafla.traces import Claim, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values_text import ValueTextError, parse_state
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.tlc.output import Output, PrintedState
    from krafla.values import Function, Value

__all__ = ["ParameterFinder", "counterexample", "resolve_parameters"]


class ParameterFinder(Protocol):
    """Finds the arguments with which an action leads from one state to another."""

    def parameters(
        self, action: str, before: Function, after: Function
    ) -> tuple[Value, ...] | None:
        """Return the arguments in order, or ``None`` if the action does not lead there."""
        ...


def counterexample(
    output: Output,
    *,
    spec: str,
    constants: Sequence[tuple[str, Value]] = (),
    claim: Claim | None = None,
    model: str | None = None,
) -> Trace | None:
    """Return the behaviour the run printed, or ``None`` if it printed none.

    Parameters stay ``None`` unless this TLC prints them; see ``resolve_parameters``.
    ``KraflaError`` names the state whose text cannot be read.
    """
    if not output.states:
        return None
    source = SourceText(output.files)
    steps = tuple(_step(state, source) for state in output.states)
    lasso, back = _lasso(output, len(steps), source)
    return Trace(spec, steps, tuple(constants), claim, lasso, back, model)


def _step(printed: PrintedState, source: SourceText) -> Step:
    try:
        state = parse_state(printed.text)
    except ValueTextError as error:
        raise KraflaError(
            f"cannot read what TLC printed: {error}", f"state {printed.number}"
        ) from error
    label = parse_label(printed.label)
    if label is None:
        return Step(INITIAL, (), state)
    label = source.resolve(label)
    return Step(label.name, label.arguments, state, label.location)


def _lasso(output: Output, length: int, source: SourceText) -> tuple[int | None, str]:
    if output.stuttering:
        return length - 1, ""
    back_to = output.back_to
    if back_to is None or not 1 <= back_to.number <= length:
        return None, ""
    label = parse_label(back_to.label)
    return back_to.number - 1, source.resolve(label).name if label else "Next"


def resolve_parameters(trace: Trace, finder: ParameterFinder) -> Trace:
    """Return the trace with every unknown list of parameters that the finder knows filled in."""
    steps = list(trace.steps)
    for index in range(1, len(steps)):
        step = steps[index]
        if step.parameters is None:
            found = finder.parameters(step.action, steps[index - 1].state, step.state)
            steps[index] = Step(step.action, found, step.state, step.location)
    return trace.with_steps(tuple(steps))
