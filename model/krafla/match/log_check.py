"""A plain log against the spec that its reader names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.match.validation import spec_of
from krafla.traces import PartialTrace
from krafla.values import ModelValue, freeze

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.match.spec_source import SpecSource
    from krafla.traces import Observation
    from krafla.traces.plain_log import PlainLog
    from krafla.values import Value

__all__ = ["trace_of_log"]


def trace_of_log(
    log: PlainLog, source: SpecSource, constants: tuple[tuple[str, Value], ...] = ()
) -> PartialTrace:
    """Return a log as a partial trace of a spec that hides nothing.

    A string that names a model value of the spec is that model value. ``KraflaError`` if the spec
    does not load.
    """
    trace = PartialTrace(source.module.stem, log.observations, constants)
    names = spec_of(trace, source).converter.model_values
    models = {name: ModelValue(name) for name in names}
    observations = tuple(_typed(one, models) for one in log.observations)
    return replace(trace, observations=observations)


def _typed(one: Observation, models: Mapping[str, ModelValue]) -> Observation:
    parameters = one.parameters
    if parameters is not None:
        parameters = tuple(None if value is None else freeze(value, models) for value in parameters)
    seen = tuple(
        ((name, *(freeze(step, models) for step in path)), freeze(value, models))
        for (name, *path), value in one.seen
    )
    return replace(one, parameters=parameters, seen=seen)
