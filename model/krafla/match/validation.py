"""The spec that judges a trace, its properties, and the validation of partial traces."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.match import FRONTIER_DEFAULT, match
from krafla.match.property_checker import (
    PropertyChecker,
    configured_properties,
    judged_properties,
    left_out_of_cfg,
    left_out_told,
)
from krafla.match.spec_source import SpecSource, configured, source_of
from krafla.oracle import Spec, SpecError
from krafla.oracle.constants import pin_constants
from krafla.traces.spec_facts import facts_of, is_known
from krafla.values import Function, function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.match import Choice, MatchReport
    from krafla.oracle.properties import Properties
    from krafla.traces import PartialTrace, Trace
    from krafla.values import Value

__all__ = [
    *("bounded", "choices_for", "extended_modules", "loaded", "narrowed", "properties_for"),
    *("spec_of", "stand_ins", "takes_only_next", "validate", "validated"),
]

_NAME = re.compile(r"[A-Za-z]\w*")
_UNKNOWN = re.compile(r"identifier (?P<name>\w+) does not appear")
_MISSING = re.compile(r"constant parameter (?P<name>\w+) is not assigned")


def validate(
    trace: PartialTrace,
    *,
    frontier: int = FRONTIER_DEFAULT,
    excused: str | None = None,
    source: SpecSource | None = None,
    progress: Callable[[int, int], None] = lambda _observations, _states: None,
) -> MatchReport:
    """Return whether the spec of a trace, under its constants, has a behaviour that agrees with it.

    An observed step that breaks a property (see ``properties_for``) is not accepted; the property
    ``excused`` is not judged. ``source`` is the spec, if not that of ``source_of``. For
    ``progress`` see ``match``. ``KraflaError`` if the trace is empty or does not fit the spec.
    """
    spec = spec_of(trace, source)
    properties = properties_for(trace, spec, source)
    return validated(
        trace, spec, properties, frontier=frontier, excused=excused, progress=progress,
        only_next=source is not None or takes_only_next(trace),
    )  # fmt: skip


def validated(
    trace: PartialTrace,
    spec: Spec,
    properties: Properties | None,
    *,
    frontier: int = FRONTIER_DEFAULT,
    excused: str | None = None,
    only_next: bool,
    progress: Callable[[int, int], None] = lambda _observations, _states: None,
) -> MatchReport:
    """Return the same as ``validate``, by a loaded spec and these properties."""
    actions = stand_ins(spec)
    observations = tuple(
        replace(one, action=actions.get(one.action or "", one.action)) for one in trace.observations
    )
    trace = replace(trace, observations=observations)
    breaks = PropertyChecker(spec, properties, excused).broken_by if properties else None
    report = match(
        spec,
        trace,
        frontier=frontier,
        choices=choices_for(spec),
        breaks=breaks,
        only_next=only_next,
        progress=progress,
    )
    judged = () if properties is None else (*properties.invariants, *properties.steps)
    left_out = left_out_of_cfg(spec, judged)
    told = left_out_told(spec, left_out) if left_out else ""
    return replace(report, not_judged=properties.temporal if properties else (), left_out=told)


def takes_only_next(trace: Trace | PartialTrace) -> bool:
    """Return whether each step of a trace must be one that Next offers, with its parameters.

    So it is unless ``traces.toml`` knows more of the spec, or of the one that stands for its
    models: these may offer fewer steps than traces show.
    """
    return not is_known(trace.spec)


def narrowed(
    trace: PartialTrace, only: Collection[str], source: SpecSource | None = None
) -> PartialTrace:
    """Return the trace with the observations of these variables only.

    ``KraflaError`` if the spec has no such variable: such a trace would compare nothing.
    """
    known = spec_of(trace, source).variables
    unknown = sorted(set(only) - set(known))
    if unknown:
        raise KraflaError(
            f"{', '.join(unknown)}: no variable of {trace.spec} (it has {', '.join(known)})"
        )
    observations = tuple(
        replace(one, seen=tuple(pair for pair in one.seen if pair[0][0] in only))
        for one in trace.observations
    )
    return replace(trace, observations=observations)


def choices_for(spec: Spec) -> tuple[Choice, ...]:
    """Return how to choose the parameters for which Next offers too few or too many."""
    return tuple(choose(spec) for choose in facts_of(spec.name).choosers())


def spec_of(trace: Trace | PartialTrace, source: SpecSource | None = None) -> Spec:
    """Return the spec that judges a trace: its model's, or its own under the trace's constants.

    Its text is that of ``source``, or else of ``source_of``. ``KraflaError`` if there is no such
    model or spec, or the constants do not fit it.
    """
    source = source or source_of(trace)
    if source.config is not None:
        return configured(source)
    return loaded(trace.spec, trace.constants, source.module if source.is_carried else None)


def stand_ins(spec: Spec) -> dict[str, str]:
    """Return each operator that a configuration put in the place of an action, with the action.

    TLC's output names the stand-in; Next names the action.
    """
    names = {
        str(spec.definition(one.name).getName().toString()): one.name
        for one in spec.actions
        if not spec.is_constant(one.name)
    }
    return {name: action for name, action in names.items() if name != action}


def properties_for(
    trace: Trace | PartialTrace, spec: Spec, source: SpecSource | None = None
) -> Properties | None:
    """Return the properties that the behaviour must keep; ``None`` if there are none.

    A trace of a model must keep the properties of states and steps in the configuration. Any other
    trace must keep those of ``judged_properties``. ``spec`` is the spec that judges the trace, from
    ``source`` or else that of ``source_of``.
    """
    source = source or source_of(trace)
    if source.config is None:
        found = judged_properties(trace.spec, source.module)
    else:
        found = configured_properties(spec, source.config)
    return found if found.invariants or found.steps or found.temporal else None


def bounded(model: Model) -> Spec:
    """Return the spec of a model under its configuration, as TLC checks it; loaded once."""
    return configured(SpecSource(model.module, model.config, model.search_path))


def extended_modules(spec: Spec) -> dict[str, Any]:
    """Return TLC's objects of the root module of a spec and of all it extends, by name."""
    root = spec.tool.getRootModule()
    modules = (root, *root.getExtendedModuleSet(True))
    return {str(one.getName().toString()): one for one in modules}


def loaded(name: str, constants: tuple[tuple[str, Value], ...], path: Path | None = None) -> Spec:
    """Return a spec of the tree under constants, loaded once; ``path`` is another module of it.

    ``KraflaError`` names a constant that the spec does not declare, or that is missing. A trace
    cannot give a value to a definition: it would change its own judge.
    """
    # Whether the default is given or not must make no second spec, whose states are others.
    return _loaded(name, function(constants), path)


@lru_cache(maxsize=8)
def _loaded(name: str, constants: Value, path: Path | None) -> Spec:
    # A function is equal only to what TLA+ holds equal, so F = 1 is not F = TRUE.
    given = dict(constants) if isinstance(constants, Function) else {}
    wrong = [one for one in (name, *map(str, given)) if not _NAME.fullmatch(one)]
    if wrong:
        raise KraflaError(f"{wrong[0]!r} is no name of a module or of a constant")
    try:
        facts = facts_of(name)
        operators = facts.definitions(map(str, given))
        spec = Spec.load(
            name, {str(key): value for key, value in given.items()}, path=path,
            init=facts.init, next=facts.next,
            search_path=None if path is None else (path.parent,), **operators,
        )  # fmt: skip
    except SpecError as error:
        raise _plainly(name, error) from None
    declared = {
        str(one.getName().toString()) for one in spec.tool.getRootModule().getConstantDecls()
    }
    # The loader also declares the model values of the trace, so ask the root module.
    foreign = [str(key) for key in given if key not in declared]
    if foreign:
        raise KraflaError(f"{', '.join(foreign)}: no constant of {name}")
    pin_constants(spec)
    return spec


def _plainly(name: str, error: SpecError) -> KraflaError:
    """Return an error about the trace for TLC's complaint about a constant."""
    unknown, missing = _UNKNOWN.search(error.message), _MISSING.search(error.message)
    if unknown is not None:
        return KraflaError(f"{unknown['name']}: no constant of {name}")
    if missing is not None:
        return KraflaError(f"the trace of {name} lacks the constant {missing['name']}")
    return error
