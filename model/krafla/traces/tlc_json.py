"""Reading and writing the counterexamples of newer TLC (``-dumpTrace json``).

That format has no types (see ``krafla.traces.shapes``), no constants and no claim.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from krafla.traces.errors import TraceFormatError
from krafla.traces.limits import MAX_STEPS
from krafla.traces.reader import convert, strict_json
from krafla.traces.shapes import AmbiguousDataError, Shapes
from krafla.traces.trace import INITIAL, Step, Trace
from krafla.values import Function, ModelValue, Value, fmt, sorted_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["dumps_tlc_json", "loads_tlc_json"]

# The name that TLC writes for a step whose action it cannot name.
_SOME_ACTION = "Next"


class _Location(Struct):
    """The place of an action."""

    module: str
    beginLine: int  # noqa: N815 - TLC's spelling
    beginColumn: int = 0  # noqa: N815 - TLC's spelling
    endLine: int = 0  # noqa: N815 - TLC's spelling
    endColumn: int = 0  # noqa: N815 - TLC's spelling


class _Action(Struct):
    """The action of a step in TLC's form: names in ``parameters``, values in ``context``."""

    name: str
    location: _Location | None = None
    context: dict[str, Any] = {}
    parameters: list[str] = []


_NumberedState = tuple[int, dict[str, Any]]


class _Graph(Struct):
    state: list[_NumberedState]
    action: list[tuple[_NumberedState, _Action, _NumberedState]] = []


def loads_tlc_json(
    text: str,
    name: str,
    *,
    spec: str,
    like: Mapping[str, Iterable[Value]],
) -> Trace:
    """Return the behaviour in a file that TLC wrote; ``TraceFormatError`` says what is wrong.

    ``like`` has known values of each variable, and the constants: they give the data its types. The
    forms of all releases are read: ``{"counterexample": ..., "vars": ...}``, the counterexample
    alone, and a plain array of states. Parameters without a type stay unknown.
    """
    data = strict_json(text, name)
    graph = _graph(data, name)
    states = _in_order(graph.state, name)
    shapes = Shapes(like)
    edges: dict[int, _Action] = {}
    lasso, back = None, ""
    for (before, _), action, (after, _) in graph.action:
        if after == before + 1 and 1 < after <= len(states) and after not in edges:
            edges[after] = action
        elif before == len(states) and 1 <= after <= before and lasso is None:
            lasso, back = after - 1, "" if after == before else action.name
        else:
            raise TraceFormatError(f"an action leads from state {before} to {after}", name)
    steps = tuple(
        _step(number, state, edges.get(number), shapes, name)
        for number, state in enumerate(states, 1)
    )
    if any(list(step.state) != list(steps[0].state) for step in steps):
        raise TraceFormatError("the states are not of the same variables", name)
    return Trace(spec, steps, lasso=lasso, back=back)


def _graph(data: Any, name: str) -> _Graph:
    if isinstance(data, list):
        return _Graph([(number, state) for number, state in enumerate(data, 1)])
    if isinstance(data, dict) and "counterexample" in data:
        data = data["counterexample"]
    if not isinstance(data, dict) or "state" not in data:
        raise TraceFormatError("no counterexample of TLC: an object with 'state' is needed", name)
    return convert(data, _Graph, name)


def _in_order(numbered: list[_NumberedState], name: str) -> list[dict[str, Any]]:
    # TLC writes a set of states: their order in the file has no meaning.
    ordered = sorted(numbered, key=lambda one: one[0])
    if not 1 <= len(ordered) <= MAX_STEPS:
        raise TraceFormatError(f"a behaviour has 1 to {MAX_STEPS} states", name)
    if [number for number, _ in ordered] != list(range(1, len(ordered) + 1)):
        raise TraceFormatError("states are missing, or numbered twice", name)
    if not all(isinstance(state, dict) and state for _, state in ordered):
        raise TraceFormatError("a state must be an object of variables", name)
    return [state for _, state in ordered]


def _step(
    number: int,
    data: dict[str, Any],
    action: _Action | None,
    shapes: Shapes,
    name: str,
) -> Step:
    try:
        state = Function({variable: shapes.read(variable, one) for variable, one in data.items()})
        parameters = None if action is None else _parameters(action, shapes)
    except ValueError as error:
        raise TraceFormatError(f"state {number}: {error}", name) from error
    if number == 1:
        return Step(INITIAL, (), state)
    if action is None:
        return Step(_SOME_ACTION, None, state)
    place = action.location
    location = "" if place is None else f"{place.module}:{place.beginLine}"
    return Step(action.name, parameters, state, location)


def _parameters(action: _Action, shapes: Shapes) -> tuple[Value, ...] | None:
    """Return the parameters in TLC's form; TLC writes none for an action without parameters."""
    if not action.parameters or not action.context.keys() >= set(action.parameters):
        return None
    try:
        return tuple(shapes.read(None, action.context[one]) for one in action.parameters)
    except AmbiguousDataError:
        return None


def dumps_tlc_json(trace: Trace) -> str:
    """Return the trace as TLC would write it, without types and without what TLC has no place for.

    ``TraceFormatError`` for a function with two arguments that have the same text.
    """
    states = [[number, _plain(step.state)] for number, step in enumerate(trace.steps, 1)]
    edges = [
        [states[index - 1], _action(trace.steps[index], trace.spec), states[index]]
        for index in range(1, len(states))
    ]
    if trace.lasso is not None:
        closing = Step(trace.back or trace.steps[-1].action, None, trace.steps[-1].state)
        edges.append([states[-1], _action(closing, trace.spec), states[trace.lasso]])
    variables = list(map(str, trace.steps[0].state)) if trace.steps else []
    document = {"counterexample": {"action": edges, "state": states}, "vars": variables}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _action(step: Step, spec: str) -> dict[str, Any]:
    module, _, line = step.location.rpartition(":")
    begin = int(line) if line.isdecimal() else 0
    location = {
        "beginLine": begin,
        "beginColumn": 0,
        "endLine": begin,
        "endColumn": 0,
        "module": module or spec,
    }
    data: dict[str, Any] = {"name": step.action, "location": location}
    if step.parameters:
        # A trace has only the order of parameters, not their names.
        names = [str(number) for number in range(1, len(step.parameters) + 1)]
        data["context"] = dict(zip(names, map(_plain, step.parameters), strict=True))
        data["parameters"] = names
    return data


def _plain(value: Value) -> Any:
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, frozenset):
        return [_plain(member) for member in sorted_values(value)]
    if isinstance(value, tuple):
        return [_plain(member) for member in value]
    plain = {
        argument if isinstance(argument, str) else fmt(argument): _plain(result)
        for argument, result in value.items()
    }
    if len(plain) != len(value):
        raise TraceFormatError(f"two arguments of a function are one text in TLC's JSON: {value}")
    return plain
