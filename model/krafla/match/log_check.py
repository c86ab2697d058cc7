"""A plain log against the spec that its reader names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.match.property_checker import PropertyChecker
from krafla.match.step_order import find_order
from krafla.match.validation import properties_for, spec_of
from krafla.traces import PartialTrace
from krafla.values import ModelValue, freeze

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.match.spec_source import SpecSource
    from krafla.traces import Observation
    from krafla.traces.plain_log import PlainLog
    from krafla.values import Value

__all__ = ["ordered", "trace_of_log"]


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


def ordered(trace: PartialTrace, log: PlainLog, source: SpecSource) -> tuple[PartialTrace, bool]:
    """Return the trace of a log in the order in which most of its steps have a behaviour.

    Steps change places where the clocks of several processes leave their order open. The second
    result says that there were too many orders to try all.
    """
    if log.moments is None:
        return trace, False
    spec = spec_of(trace, source)
    properties = properties_for(trace, spec, source)
    breaks = PropertyChecker(spec, properties).broken_by if properties else None
    found = find_order(spec, trace, log.moments, breaks)
    observations = tuple(trace.observations[number] for number in found.numbers)
    return replace(trace, observations=observations), found.was_cut


def _typed(one: Observation, models: Mapping[str, ModelValue]) -> Observation:
    parameters = one.parameters
    if parameters is not None:
        parameters = tuple(None if value is None else freeze(value, models) for value in parameters)
    seen = tuple(
        ((name, *(freeze(step, models) for step in path)), freeze(value, models))
        for (name, *path), value in one.seen
    )
    return replace(one, parameters=parameters, seen=seen)
