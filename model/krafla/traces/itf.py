"""Reading and writing the Informal Trace Format of Apalache and Quint (Apalache's ADR 15).

States are written in that format, so its readers see the whole behaviour. The format has no place
for actions, parameters, claim, origin and events: they stand in ``#meta`` under ``krafla``, so that
a trace written here is read back unchanged.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.traces.encoding import decode, encode
from krafla.traces.errors import TraceFormatError
from krafla.traces.from_lines import claim_of, event_of, origin_of, text_of
from krafla.traces.itf_values import ItfReader, itf_value
from krafla.traces.limits import MAX_STEPS
from krafla.traces.lines import ItfStepData, ItfTraceData
from krafla.traces.reader import check_strings, convert, strict_json
from krafla.traces.to_lines import claim_data, event_data, origin_data, text_data
from krafla.traces.trace import INITIAL, Step, Trace
from krafla.values import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["dumps_itf", "loads_itf"]

_DESCRIPTION: Final = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_SOURCE: Final = re.compile(r"(?:.*[/\\])?(?P<module>[A-Za-z0-9_]+)\.(?:tla|qnt)")
_FIELDS: Final = frozenset({"#meta", "params", "vars", "states", "loop"})
# The action of a step whose action is unknown: TLC's word for it.
_SOME_ACTION: Final = "Next"


def dumps_itf(trace: Trace) -> str:
    """Return the trace in ITF, Apalache's JSON format of traces.

    Raises ``TraceFormatError``, which names the value that ITF cannot express. A model value
    ``r1`` is written as the string ``r1_OF_MODEL``, as Apalache writes values of an uninterpreted
    type; a string that looks like one is refused.
    """
    meta = ItfTraceData(
        spec=trace.spec,
        model=trace.model,
        back=trace.back,
        origin=None if trace.origin is None else origin_data(trace.origin),
        claim=None if trace.claim is None else claim_data(trace.claim),
        text=None if trace.text is None else text_data(trace.text),
        machine=trace.machine,
    )
    document: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": _DESCRIPTION,
            "source": f"{trace.spec}.tla",
            "krafla": _checked(meta, "#meta"),
        },
        "params": [name for name, _ in trace.constants],
        "vars": list(map(str, trace.steps[0].state)) if trace.steps else [],
        "states": [_state_data(trace, index) for index in range(len(trace.steps))],
    }
    if trace.lasso is not None:
        document["loop"] = trace.lasso
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _state_data(trace: Trace, index: int) -> dict[str, Any]:
    step, place = trace.steps[index], f"states[{index}]"
    meta = ItfStepData(
        action=step.action,
        parameters=None
        if step.parameters is None
        else _placed(place, lambda: [encode(one) for one in step.parameters or ()]),
        location=step.location,
        event=None if step.event is None else event_data(step.event),
    )
    data = {"#meta": {"index": index, "krafla": _checked(meta, place)}}
    named = [*step.state.items(), *(trace.constants if index == 0 else ())]
    for name, value in named:
        if not isinstance(name, str) or name in data:
            raise TraceFormatError(f"{name!r} is no name, or names two things", place)
        data[name] = itf_value(value, f"{place}.{name}")
    return data


def _checked(data: msgspec.Struct, place: str) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(data)
    convert(plain, type(data), place)
    _placed(place, lambda: check_strings(plain))
    return plain


def _placed(place: str, make: Any) -> Any:
    try:
        return make()
    except ValueError as error:
        raise TraceFormatError(str(error), place) from error


def loads_itf(
    text: str,
    name: str = "trace",
    *,
    spec: str | None = None,
    model_values: Iterable[str] = (),
) -> Trace:
    """Return the trace of an ITF document; ``TraceFormatError`` names the file and what is wrong.

    ``spec`` is required if the document does not name its module. Strings in ``model_values`` are
    read as model values, as are strings that end in ``_OF_MODEL``. A step without an action gets
    the action ``Next`` and unknown parameters.
    """
    document = strict_json(text, name)
    if not isinstance(document, dict) or "states" not in document:
        raise TraceFormatError("no ITF trace: an object with 'vars' and 'states' is needed", name)
    unknown = sorted(document.keys() - _FIELDS)
    if unknown:
        raise TraceFormatError(f"unknown field {unknown[0]!r}", name)
    reader = ItfReader(name, frozenset(model_values))
    variables = _names(document, "vars", name)
    parameters = _names(document, "params", name) if "params" in document else []
    states = document["states"]
    if not isinstance(states, list) or not 1 <= len(states) <= MAX_STEPS:
        raise TraceFormatError(f"'states' must be a list of 1 to {MAX_STEPS} objects", name)
    steps = tuple(_step(reader, one, i, variables, parameters) for i, one in enumerate(states))
    constants = tuple(
        (one, reader.value(_field(states[0], one, f"{name}: states[0]"), f"states[0].{one}"))
        for one in parameters
    )
    meta = _trace_meta(document, name, spec)
    lasso = document.get("loop")
    if lasso is not None and (type(lasso) is not int or not 0 <= lasso < len(steps)):
        raise TraceFormatError(f"'loop' is {lasso!r}, no state of {len(steps)}", name)
    claim = None if meta.claim is None else _of_meta(claim_of, meta.claim, name)
    origin = None if meta.origin is None else origin_of(meta.origin)
    carried = None if meta.text is None else _of_meta(text_of, meta.text, name)
    return Trace(
        meta.spec, steps, constants, claim, lasso, meta.back, meta.model, origin, carried,
        meta.machine,
    )  # fmt: skip


def _of_meta(make: Callable[[Any], Any], data: Any, name: str) -> Any:
    return _placed(f"{name}: #meta", lambda: make(data))


def _trace_meta(document: Mapping[str, Any], name: str, spec: str | None) -> ItfTraceData:
    meta = document.get("#meta", {})
    if not isinstance(meta, dict):
        raise TraceFormatError("'#meta' must be an object", name)
    if "krafla" in meta:
        return convert(meta["krafla"], ItfTraceData, f"{name}: #meta.krafla")
    source = meta.get("source")
    found = _SOURCE.fullmatch(source) if isinstance(source, str) else None
    chosen = spec or (found["module"] if found else None)
    if chosen is None:
        raise TraceFormatError("it does not say of which spec it is: name the spec", name)
    return ItfTraceData(spec=chosen)


def _names(document: Mapping[str, Any], field: str, name: str) -> list[str]:
    names = document.get(field)
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise TraceFormatError(f"{field!r} must be a list of names", name)
    return list(dict.fromkeys(names))


def _field(state: Any, name: str, place: str) -> Any:
    if not isinstance(state, dict) or name not in state:
        raise TraceFormatError(f"there is no {name!r}", place)
    return state[name]


def _step(
    reader: ItfReader, data: Any, index: int, variables: list[str], parameters: list[str]
) -> Step:
    path = f"states[{index}]"
    place = f"{reader.name}: {path}"
    if not variables:
        raise TraceFormatError("'vars' names no variable", reader.name)
    values = {one: reader.value(_field(data, one, place), f"{path}.{one}") for one in variables}
    allowed = {"#meta", *variables, *(parameters if index == 0 else ())}
    unknown = sorted(data.keys() - allowed)
    if unknown:
        raise TraceFormatError(f"{unknown[0]!r} is not in 'vars'", place)
    meta = data.get("#meta", {})
    if not isinstance(meta, dict) or meta.get("index", index) != index:
        raise TraceFormatError(f"'#meta' must be an object, with index {index} if any", place)
    if "krafla" not in meta:
        action = INITIAL if index == 0 else _SOME_ACTION
        return Step(action, () if index == 0 else None, Function(values))
    said = convert(meta["krafla"], ItfStepData, f"{place}.#meta.krafla")
    step: Step = _placed(place, lambda: _described(said, Function(values)))
    return step


def _described(said: ItfStepData, state: Function) -> Step:
    parameters = None if said.parameters is None else tuple(map(decode, said.parameters))
    event = None if said.event is None else event_of(said.event)
    return Step(said.action, parameters, state, said.location, event)
