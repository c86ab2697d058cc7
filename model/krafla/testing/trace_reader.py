"""Trace files of any format, read as behaviours of a loaded spec."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.oracle import explore
from krafla.tlc.printout import loads_printed
from krafla.traces import Trace, TraceFormatError, loads_any
from krafla.traces.files import read_text, refuse_run
from krafla.traces.itf import loads_itf
from krafla.traces.limits import MAX_DOCUMENT
from krafla.traces.tlc_json import loads_tlc_json
from krafla.values import Function, ModelValue, Value, function

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.oracle import Spec
    from krafla.traces import PartialTrace, Step

__all__ = ["read_trace_of"]

# States that are looked at to learn the types of the variables.
_SAMPLES: Final = 2_000
_OURS: Final = re.compile(r'\s*\{\s*"krafla_trace"')
_ITF: Final = re.compile(r'"(?:vars|#meta)"\s*:')
# Apalache writes a value of an uninterpreted type with the name of the type.
_OF_TYPE: Final = re.compile(r"(?P<name>\w+)_OF_[A-Z][A-Z0-9_]*")
# The variables in which Quint says which action it took, and which values it chose.
_QUINT_ACTION: Final = "mbt::actionTaken"
_QUINT_PICKS: Final = "mbt::nondetPicks"


def read_trace_of(path: Path, spec: Spec) -> Trace | PartialTrace:
    """Return the trace of a file as one of ``spec``; its format is known by its content.

    Formats: krafla's own, ITF of Apalache and Quint, TLC's JSON and TLC's printed output, each
    also compressed by gzip. A string that is the name of a model value of the spec is read as that.
    ``TraceFormatError`` names the file and what is wrong.
    """
    text, cut = read_text(path, MAX_DOCUMENT)
    refuse_run(text, path)
    if _OURS.match(text):
        return loads_any(text, str(path), cut=cut)
    if cut:
        raise TraceFormatError("the compressed data ends too early", str(path))
    if not text.lstrip().startswith(("{", "[")):
        found = loads_printed(text, str(path), spec=spec.name)
    elif '"states"' in text and _ITF.search(text):
        names = spec.converter.model_values
        found = loads_itf(text, str(path), spec=spec.name, model_values=names)
        found = found.with_steps(tuple(_of_itf(one, spec) for one in found.steps))
    else:
        found = loads_tlc_json(text, str(path), spec=spec.name, like=_samples(spec))
    return replace(found, constants=spec.constants_of(spec.name), text=None)


def _samples(spec: Spec) -> dict[str, list[Value]]:
    found = explore(spec, limit=_SAMPLES, until_violation=False)
    known = {name: found.values(name)[1] for name in spec.variables}
    models: list[Value] = [ModelValue(name) for name in spec.converter.model_values]
    return known | {"": models}


def _of_itf(step: Step, spec: Spec) -> Step:
    """Return a step with the spec's names of variables, and what Quint says of the action."""
    models = frozenset(spec.converter.model_values)
    state: dict[Value, Value] = {}
    said: dict[str, Value] = {}
    for name, value in step.state.items():
        short = str(name).rpartition("::")[2]
        if name in {_QUINT_ACTION, _QUINT_PICKS}:
            said[str(name)] = value
        else:
            state[name if name in spec.variables else short] = _typed(value, models)
    found = replace(step, state=Function(state))
    action = said.get(_QUINT_ACTION)
    named = next((one for one in spec.actions if one.name.lower() == str(action).lower()), None)
    if named is None or step.parameters is not None:
        return found
    picks = said.get(_QUINT_PICKS)
    chosen = dict(picks.items()) if isinstance(picks, Function) else {}
    given = [_picked(chosen.get(one), models) for one in named.parameters]
    known = [one for one in given if one is not None]
    parameters = tuple(known) if len(known) == len(given) else None
    return replace(found, action=named.name, parameters=parameters)


def _picked(value: Value | None, models: frozenset[str]) -> Value | None:
    """Return the value that Quint picked: ``Some(value)``."""
    if isinstance(value, Function) and value.get("tag") == "Some":
        return _typed(value["value"], models)
    return None


def _typed(value: Value, models: frozenset[str]) -> Value:
    """Return a value with model values for the strings that stand for them."""
    if isinstance(value, str):
        found = _OF_TYPE.fullmatch(value)
        name = found["name"] if found and found["name"] in models else value
        return ModelValue(name) if name in models else value
    if isinstance(value, frozenset):
        return frozenset(_typed(one, models) for one in value)
    if isinstance(value, tuple):
        return tuple(_typed(one, models) for one in value)
    if isinstance(value, Function):
        return function({_typed(key, models): _typed(one, models) for key, one in value.items()})
    return value
