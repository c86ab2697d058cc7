"""The lines of a trace file from a trace; every line can be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from krafla.traces.encoding import encode
from krafla.traces.errors import TraceFormatError
from krafla.traces.limits import MAX_LINE
from krafla.traces.lines import (
    FORMAT_VERSION,
    CallData,
    ClaimData,
    ConjunctData,
    EventData,
    HeaderLine,
    ObservationLine,
    OriginData,
    PartialData,
    PartialHeaderLine,
    SpecTextData,
    StepLine,
)
from krafla.traces.partial import Call
from krafla.traces.reader import check_strings, convert
from krafla.traces.states import state_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.traces.partial import Called, Observation, PartialTrace
    from krafla.traces.spec_text import SpecText
    from krafla.traces.trace import Claim, Event, Origin, Step, Trace
    from krafla.values import Value

__all__ = ["claim_data", "event_data", "origin_data", "partial_lines", "text_data", "trace_lines"]


def trace_lines(trace: Trace) -> Iterator[str]:
    """Yield the header and the steps; ``TraceFormatError`` for one that could not be read."""
    yield _line("the header", _header, trace)
    before: Step | None = None
    for index, step in enumerate(trace.steps):
        yield _line(f"step {index}", _step, index, step, before)
        before = step


def partial_lines(trace: PartialTrace) -> Iterator[str]:
    """Yield the header and the observations; same errors as ``trace_lines``."""
    yield _line("the header", _partial_header, trace)
    for index, one in enumerate(trace.observations):
        yield _line(f"observation {index}", _observation, index, one)


def _line(place: str, make: Callable[..., msgspec.Struct], *arguments: Any) -> str:
    try:
        row = make(*arguments)
        # msgspec checks a struct only when it is decoded, not when it is made.
        data = msgspec.to_builtins(row)
        convert(data, type(row), place)
        check_strings(data)
        text = msgspec.json.encode(row).decode("utf-8")
    except ValueError as error:
        raise TraceFormatError(str(error), place) from error
    if len(text) > MAX_LINE:
        raise TraceFormatError(f"takes {len(text)} characters; the most is {MAX_LINE}", place)
    return text


def _header(trace: Trace) -> HeaderLine:
    return HeaderLine(
        krafla_trace=FORMAT_VERSION,
        spec=trace.spec,
        steps=len(trace.steps),
        model=trace.model,
        constants=_named(trace.constants),
        origin=None if trace.origin is None else origin_data(trace.origin),
        claim=None if trace.claim is None else claim_data(trace.claim),
        lasso=trace.lasso,
        back=trace.back,
        text=None if trace.text is None else text_data(trace.text),
        machine=trace.machine,
    )


def text_data(text: SpecText) -> SpecTextData:
    """Return the text of a spec as a line type."""
    return SpecTextData(text.root, dict(text.modules), text.config)


def origin_data(origin: Origin) -> OriginData:
    """Return the origin as a line type."""
    return OriginData(origin.made_by, origin.profile, origin.seed, origin.plan, origin.digest)


def claim_data(claim: Claim) -> ClaimData:
    """Return the claim as a line type."""
    conjunct = claim.conjunct
    if conjunct is None:
        return ClaimData(claim.kind, claim.property)
    values = [(name, encode(value)) for name, value in conjunct.values]
    return ClaimData(
        claim.kind, claim.property, ConjunctData(conjunct.text, conjunct.place, values)
    )


def event_data(event: Event) -> EventData:
    """Return the event as a line type."""
    node = msgspec.UNSET if event.node is None else encode(event.node)
    return EventData(node, list(event.sent), event.taken, event.time_ms)


def _step(index: int, step: Step, before: Step | None) -> StepLine:
    return StepLine(
        step=index,
        action=step.action,
        parameters=None if step.parameters is None else [encode(one) for one in step.parameters],
        location=step.location,
        event=None if step.event is None else event_data(step.event),
        state=_named(step.state.items()) if before is None else msgspec.UNSET,
        changed=msgspec.UNSET if before is None else state_changes(before.state, step.state),
    )


def _partial_header(trace: PartialTrace) -> PartialHeaderLine:
    hidden = None if trace.hidden is None else list(trace.hidden)
    return PartialHeaderLine(
        krafla_trace=FORMAT_VERSION,
        spec=trace.spec,
        model=trace.model,
        partial=PartialData(hidden, trace.hidden_max),
        observations=len(trace.observations),
        constants=_named(trace.constants),
        digest=trace.digest,
        text=None if trace.text is None else text_data(trace.text),
        machine=trace.machine,
        made_by=trace.made_by,
    )


def _observation(index: int, one: Observation) -> ObservationLine:
    parameters = one.parameters
    return ObservationLine(
        observation=index,
        action=one.action,
        parameters=None
        if parameters is None
        else [None if argument is None else encode(argument) for argument in parameters],
        seen=[([encode(step) for step in part], encode(value)) for part, value in one.seen],
        place=one.place,
        time_ms=one.time_ms,
        kind=one.kind,
        call=_call(one.call),
    )


def _call(call: Called) -> CallData | Literal["same"] | None:
    if not isinstance(call, Call):
        return call
    given = call.parameters
    return CallData(call.method, None if given is None else [encode(one) for one in given])


def _named(pairs: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    name: Value
    for name, value in pairs:
        if not isinstance(name, str) or name in named:
            raise ValueError(f"{name!r} is no name, or names two things")
        try:
            named[name] = encode(value)
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from error
    return named
