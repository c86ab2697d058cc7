"""The trace from the lines of a trace file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from krafla.traces.encoding import decode
from krafla.traces.errors import TraceFormatError, TruncatedTraceError
from krafla.traces.lines import CallData, HeaderLine, ObservationLine, StepLine
from krafla.traces.partial import Call, Observation, PartialTrace
from krafla.traces.spec_text import SpecText
from krafla.traces.states import StateBuilder
from krafla.traces.trace import Claim, Conjunct, Event, Origin, Step, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krafla.traces.lines import (
        ClaimData,
        EventData,
        HeaderLine,
        OriginData,
        PartialHeaderLine,
        SpecTextData,
    )
    from krafla.traces.reader import Lines
    from krafla.values import Value

__all__ = [
    "claim_of", "constants_of", "event_of", "origin_of", "partial_of", "text_of", "trace_of",
]  # fmt: skip


def trace_of(header: HeaderLine, lines: Lines) -> Trace:
    """Return the trace of a header and the lines after it.

    ``TruncatedTraceError`` if there are fewer steps than the header announces, ``TraceFormatError``
    for the first wrong line.
    """
    place = lines.place(1)
    if header.lasso is not None and header.lasso >= header.steps:
        raise TraceFormatError(f"lasso {header.lasso} is no step of {header.steps}", place)
    constants, claim = _placed(place, constants_of, header.constants), None
    if header.claim is not None:
        claim = _placed(place, claim_of, header.claim)
    origin = None if header.origin is None else origin_of(header.origin)
    text = None if header.text is None else _placed(place, text_of, header.text)
    states = StateBuilder()
    steps = tuple(
        _placed(place, _step, row, states) for row, place in lines.rows(StepLine, header.steps)
    )
    if len(steps) < header.steps or lines.ends_early:
        begun = Trace(
            header.spec, steps, constants, model=header.model, origin=origin, text=text,
            machine=header.machine,
        )  # fmt: skip
        raise _truncated(lines, begun if steps else None, len(steps), header.steps, "steps")
    return Trace(
        header.spec, steps, constants, claim, header.lasso, header.back, header.model, origin, text,
        header.machine,
    )  # fmt: skip


def partial_of(header: PartialHeaderLine, lines: Lines) -> PartialTrace:
    """Return the partial trace of a header and the lines after it; same errors as ``trace_of``."""
    constants = _placed(lines.place(1), constants_of, header.constants)
    observations = tuple(
        _placed(place, _observation, row)
        for row, place in lines.rows(ObservationLine, header.observations)
    )
    hidden = header.partial.hidden
    trace = PartialTrace(
        header.spec,
        observations,
        constants,
        None if hidden is None else tuple(hidden),
        header.partial.hidden_max,
        header.model,
        header.digest,
        None if header.text is None else _placed(lines.place(1), text_of, header.text),
        header.machine,
        header.made_by,
    )
    if len(observations) < header.observations or lines.ends_early:
        raise _truncated(lines, trace, len(observations), header.observations, "observations")
    return trace


def _truncated(
    lines: Lines, begun: Trace | PartialTrace | None, whole: int, announced: int, what: str
) -> TruncatedTraceError:
    return TruncatedTraceError(
        f"the file ends too early: {whole} of {announced} {what} are whole", lines.end, begun
    )


def _placed(place: str, make: Any, *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except ValueError as error:
        raise TraceFormatError(str(error), place) from error


def constants_of(data: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    """Return the constants of a header; ``ValueError`` names a wrong one."""
    return tuple((name, _decoded(name, value)) for name, value in data.items())


def origin_of(data: OriginData) -> Origin:
    """Return the origin of a header."""
    return Origin(data.made_by, data.profile, data.seed, data.plan, data.digest)


def text_of(data: SpecTextData) -> SpecText:
    """Return the text of a spec in a header; ``ValueError`` if the module to load is not in it."""
    if data.root not in data.modules:
        raise ValueError(f"'text': there is no module {data.root} in it, which is to be loaded")
    return SpecText(data.root, tuple(sorted(data.modules.items())), data.config)


def claim_of(data: ClaimData) -> Claim:
    """Return the claim of a header; ``ValueError`` names a wrong value."""
    found = data.conjunct
    if found is None:
        return Claim(data.kind, data.property)
    values = tuple((name, _decoded(name, value)) for name, value in found.values)
    return Claim(data.kind, data.property, Conjunct(found.text, found.place, values))


def event_of(data: EventData) -> Event:
    """Return the event of a step; ``ValueError`` says what is wrong with its node."""
    node = None if data.node is UNSET else _decoded("node", data.node)
    return Event(node, tuple(data.sent), data.taken, data.time_ms)


def _step(row: StepLine, states: StateBuilder) -> Step:
    if row.state is not UNSET and row.changed is UNSET:
        state = states.whole(row.state)
    elif row.changed is not UNSET and row.state is UNSET:
        state = states.changed(row.changed)
    else:
        raise ValueError("a step needs one of 'state' and 'changed'")
    return Step(
        action=row.action,
        parameters=None if row.parameters is None else tuple(_decoded_all(row.parameters)),
        state=state,
        location=row.location,
        event=None if row.event is None else event_of(row.event),
    )


def _observation(row: ObservationLine) -> Observation:
    parameters: tuple[Value | None, ...] | None = None
    if row.parameters is not None:
        parameters = tuple(
            None if one is None else _decoded("parameters", one) for one in row.parameters
        )
    seen = tuple((tuple(map(decode, part)), decode(value)) for part, value in row.seen)
    if not all(isinstance(part[0], str) for part, _ in seen):
        raise ValueError("what was seen begins with the name of a variable")
    call = _call(row.call) if isinstance(row.call, CallData) else row.call
    return Observation(row.action, parameters, seen, row.place, row.time_ms, row.kind, call)


def _call(data: CallData) -> Call:
    given = data.parameters
    return Call(data.method, None if given is None else tuple(_decoded_all(given)))


def _decoded_all(data: Iterable[Any]) -> list[Value]:
    return [_decoded("parameters", one) for one in data]


def _decoded(name: str, data: Any) -> Value:
    try:
        return decode(data)
    except ValueError as error:
        raise ValueError(f"{name!r}: {error}") from error
