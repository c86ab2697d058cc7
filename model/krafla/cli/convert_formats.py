"""Every format of a trace behind two functions, with what TLC's formats leave to be known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from krafla.tlc.printout import dumps_printed, loads_printed
from krafla.traces import Trace, TraceFormatError, dumps, read_trace, read_whole_trace
from krafla.traces.files import read_text, refuse_run
from krafla.traces.itf import dumps_itf, loads_itf
from krafla.traces.limits import MAX_DOCUMENT
from krafla.traces.shapes import Shapes
from krafla.traces.tlc_json import dumps_tlc_json, loads_tlc_json
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.traces import PartialTrace
    from krafla.values import Value

__all__ = ["Known", "read_as", "text_as"]

# States of a model that are looked at to learn the types of its variables.
_SAMPLES = 2_000


@dataclass(frozen=True)
class Known:
    """What the command line tells about a trace: its model, a trace of the same spec, the spec."""

    model_name: str | None = None
    like: Path | None = None
    spec_name: str | None = None

    @cached_property
    def model(self) -> Model | None:
        """Return the model of this name, or of this path; ``KraflaError`` if there is none."""
        if self.model_name is None:
            return None
        from krafla.manifest import load
        from krafla.project.asked import names_asked, the_name

        names = names_asked((self.model_name,))
        return load().select((the_name(names, load().models),))[0]

    @cached_property
    def sample(self) -> Trace | None:
        """Return the trace of the same spec."""
        return None if self.like is None else read_whole_trace(self.like)

    @property
    def spec(self) -> str | None:
        """Return the name of the spec, if it is known."""
        found = self.model.spec if self.model else self.sample.spec if self.sample else None
        return self.spec_name or found

    @property
    def constants(self) -> tuple[tuple[str, Value], ...]:
        """Return the constants of the trace of the same spec; a model's are filled in later."""
        return self.sample.constants if self.sample else ()

    @cached_property
    def values(self) -> Mapping[str, list[Value]]:
        """Return known values of each variable and constant."""
        if self.sample is not None:
            states = [step.state for step in self.sample.steps]
            known = {str(name): [state[name] for state in states] for name in states[0]}
            return known | {name: [value] for name, value in self.sample.constants}
        return {} if self.model is None else _explored(self.model)


def _explored(model: Model) -> dict[str, list[Value]]:
    from krafla.match.validation import bounded
    from krafla.oracle import explore
    from krafla.tlc.config import read_config

    spec = bounded(model)
    found = explore(spec, limit=_SAMPLES)
    known = {name: found.values(name)[1] for name in spec.variables}
    return known | {name: [value] for name, value in read_config(model.config).constants}


def read_as(format_name: str, path: Path, known: Known) -> Trace | PartialTrace:
    """Return the trace of a file in the named format; ``KraflaError`` names the fault."""
    if format_name == "ndjson":
        return read_trace(path)
    text, cut = read_text(path, MAX_DOCUMENT)
    refuse_run(text, path)
    if cut:
        raise TraceFormatError("the compressed data ends too early", str(path))
    if format_name == "itf":
        names = Shapes(known.values).model_values
        return loads_itf(text, str(path), spec=known.spec, model_values=names)
    spec = known.spec
    if spec is None:
        raise KraflaError("TLC does not write which spec it ran: say --model, --like or --spec")
    if format_name == "tlc-json":
        if known.model is None and known.sample is None:
            raise KraflaError("TLC's JSON has no types: say --model or --like")
        trace = loads_tlc_json(text, str(path), spec=spec, like=known.values)
        trace = replace(trace, constants=known.constants)
    else:
        trace = loads_printed(text, str(path), spec=spec, constants=known.constants)
    if known.model is None:
        return trace
    from krafla.match.counterexample import replayable

    return replayable(replace(trace, model=known.model.name), known.model)


def text_as(format_name: str, trace: Trace | PartialTrace) -> tuple[str, tuple[str, ...]]:
    """Return the trace in the named format, and the parts that the format cannot hold."""
    if format_name == "ndjson":
        return dumps(trace), ()
    if not isinstance(trace, Trace):
        raise KraflaError(f"a partial trace cannot be written as {format_name}, only as ndjson")
    if format_name == "itf":
        return dumps_itf(trace), ()
    if format_name == "tlc-json":
        return dumps_tlc_json(trace), (*_lost(trace), *_claimed(trace), "the types of values")
    return dumps_printed(trace), _lost(trace)


def _lost(trace: Trace) -> tuple[str, ...]:
    found = {
        "constants": bool(trace.constants),
        "its origin": trace.origin is not None,
        "events": any(step.event is not None for step in trace.steps),
        "the text of its spec": trace.text is not None,
    }
    return tuple(what for what, is_there in found.items() if is_there)


def _claimed(trace: Trace) -> tuple[str, ...]:
    return () if trace.claim is None else ("its claim",)
