"""Traces as lines of JSON: a header, then one line for each step.

The header names the format and its version and counts the steps, so a file that was cut
short is told from a short trace.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krafla.traces.encoding import decode, encode
from krafla.traces.trace import Claim, ClaimKind, Step, Trace
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FORMAT_VERSION", "TraceFormatError", "dumps", "loads", "read", "write"]

FORMAT_VERSION = 1


class TraceFormatError(KraflaError):
    """The text is no trace that this version can read; the place is ``file:line``."""


def dumps(trace: Trace) -> str:
    """Return the trace as NDJSON text, the same text for equal traces."""
    claim = trace.claim
    header = {
        "krafla_trace": FORMAT_VERSION,
        "spec": trace.spec,
        "model": trace.model,
        "constants": {name: encode(value) for name, value in trace.constants},
        "claim": None if claim is None else {"kind": claim.kind.value, "property": claim.property},
        "lasso": trace.lasso,
        "back": trace.back,
        "steps": len(trace.steps),
    }
    lines = [header, *map(_step_line, trace.steps)]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _step_line(step: Step) -> dict[str, Any]:
    return {
        "action": step.action,
        "parameters": None
        if step.parameters is None
        else [encode(argument) for argument in step.parameters],
        "location": step.location,
        "state": encode(step.state),
    }


def loads(text: str, name: str = "trace") -> Trace:
    """Return the trace the text holds; ``TraceFormatError`` names the line at fault."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    if not lines:
        raise TraceFormatError("the file is empty", name)
    header = _object(lines[0], f"{name}:1")
    version = header.get("krafla_trace")
    if version != FORMAT_VERSION or isinstance(version, bool):
        found = "no krafla_trace header" if version is None else f"trace format {version!r}"
        raise TraceFormatError(f"{found}; this krafla reads format {FORMAT_VERSION}", f"{name}:1")
    count = _typed(header, "steps", int, f"{name}:1")
    if count != len(lines) - 1:
        raise TraceFormatError(
            f"the header announces {count} steps, {len(lines) - 1} follow", f"{name}:{len(lines)}"
        )
    steps = tuple(_step(line, f"{name}:{number}") for number, line in enumerate(lines[1:], 2))
    return _with_header(header, steps, f"{name}:1")


def _with_header(header: dict[str, Any], steps: tuple[Step, ...], place: str) -> Trace:
    lasso = header.get("lasso")
    if lasso is not None and (type(lasso) is not int or not 0 <= lasso < len(steps)):
        raise TraceFormatError(f"lasso {lasso!r} is no step of {len(steps)}", place)
    constants = header.get("constants")
    if not isinstance(constants, dict):
        raise TraceFormatError("'constants' must be an object", place)
    model = header.get("model")
    if model is not None and not isinstance(model, str):
        raise TraceFormatError("'model' must be a name or null", place)
    return Trace(
        spec=_typed(header, "spec", str, place),
        steps=steps,
        constants=tuple((name, _decoded(data, place)) for name, data in constants.items()),
        claim=_claim(header.get("claim"), place),
        lasso=lasso,
        back=_typed(header, "back", str, place),
        model=model,
    )


def _claim(data: Any, place: str) -> Claim | None:
    if data is None:
        return None
    try:
        claim = Claim(ClaimKind(data["kind"]), data["property"])
    except (TypeError, KeyError, ValueError) as error:
        raise TraceFormatError(f"{data!r} is no claim", place) from error
    if claim.property is not None and not isinstance(claim.property, str):
        raise TraceFormatError(f"{data!r} is no claim", place)
    return claim


def _step(line: str, place: str) -> Step:
    data = _object(line, place)
    parameters = data.get("parameters")
    if parameters is not None and not isinstance(parameters, list):
        raise TraceFormatError("'parameters' must be a list or null", place)
    state = _decoded(data.get("state"), place)
    if not isinstance(state, Function) or not all(isinstance(name, str) for name in state):
        raise TraceFormatError("'state' must be an object of variables", place)
    return Step(
        action=_typed(data, "action", str, place),
        parameters=None
        if parameters is None
        else tuple(_decoded(one, place) for one in parameters),
        state=state,
        location=_typed(data, "location", str, place),
    )


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        data = json.loads(line, parse_constant=_refuse, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise TraceFormatError(f"not JSON: {error}", place) from error
    if not isinstance(data, dict):
        raise TraceFormatError(f"expected an object, found {type(data).__name__}", place)
    return data


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a value")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("an object gives one key twice")
    return data


def _typed(data: dict[str, Any], key: str, kind: type, place: str) -> Any:
    value = data.get(key)
    if type(value) is not kind:
        raise TraceFormatError(f"{key!r} must be {kind.__name__}, found {value!r}", place)
    return value


def _decoded(data: Any, place: str) -> Any:
    try:
        return decode(data)
    except (ValueError, RecursionError) as error:
        raise TraceFormatError(str(error), place) from error


def write(trace: Trace, path: Path) -> None:
    """Write the trace to a file, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(dumps(trace), encoding="utf-8")
    draft.replace(path)


def read(path: Path) -> Trace:
    """Return the trace of a file; ``TraceFormatError`` names the file and the line at fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TraceFormatError("not UTF-8 text", f"{path}, byte {error.start}") from error
    except OSError as error:
        raise TraceFormatError(error.strerror or str(error), str(path)) from error
    return loads(text, str(path))
