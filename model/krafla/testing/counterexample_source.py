"""Counterexamples as tests: of models that must fail, and of predicates that the spec breaks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.graph import StateGraph, behaviour, shortest
from krafla.graph.behaviour import violation_trace
from krafla.oracle import Spec, explore
from krafla.project.at_hand import at_hand
from krafla.project.models import Model
from krafla.project.pairs import extended_by
from krafla.testing.project_lookup import project_around
from krafla.testing.setting import NamedTrace, NoBehaviour
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.project.models import Manifest
    from krafla.testing.setting import Setting
    from krafla.traces import Trace

__all__ = ["Counterexamples", "counterexamples"]

_STATES_MAX: Final = 20_000


def counterexamples(
    *models: str, invariants: Sequence[str] = (), states_max: int = _STATES_MAX
) -> Counterexamples:
    """Return behaviours that break a property: what a model that must fail shows, as tests.

    ``models`` are names of models of the project, or cfg files of the spec's module (``.cfg``, from
    the folder of the test); without any, and without ``invariants``, all models of the project that
    must fail. The last step of such a behaviour is one that only the broken model allows: the code
    must refuse it, or do what the spec allows. ``invariants`` are state predicates of the spec that
    some reachable state breaks: the code is driven to a nearest such state. At most ``states_max``
    states are searched for each.
    """
    return Counterexamples(models, tuple(invariants), states_max)


@dataclass(frozen=True, slots=True)
class Counterexamples:
    """Behaviours that break a property; ``counterexamples`` makes it."""

    models: tuple[str, ...]
    invariants: tuple[str, ...]
    states_max: int

    def cases(self, setting: Setting) -> Sequence[NamedTrace]:
        """Return one case for each model and each invariant."""
        names = self.models
        if not names and not self.invariants:
            names = tuple(_failing(setting))
        found = [NamedTrace(name, partial(self._of_model, setting, name)) for name in names]
        return found + [
            NamedTrace(name, partial(self._of_invariant, setting, name)) for name in self.invariants
        ]

    def _of_invariant(self, setting: Setting, name: str) -> Trace:
        graph = setting.graph(self.states_max)
        spec = graph.found.spec
        goal = bytes(not one for one in graph.found.satisfying(name))
        way = shortest(graph, graph.initial(), goal)
        if way is None:
            cut = "" if graph.found.is_complete else "; the search was cut there"
            raise NoBehaviour(f"{name} holds in all {len(graph):,} states of {spec.name}{cut}")
        return behaviour(graph, way, spec=spec.name)

    def _of_model(self, setting: Setting, name: str) -> Trace:
        spec = setting.spec
        if name.endswith(".cfg"):
            model = _configured(setting, name)
        else:
            (model,) = _manifest(setting).select((name,))
        found = _violation(model, self.states_max)
        known = {one.name for one in spec.actions}
        foreign = sorted({step.action for step in found.steps[1:]} - known)
        missing = sorted(set(spec.variables) - set(map(str, found.steps[0].state)))
        if foreign or missing:
            what = f"a state without {missing[0]}, a variable of {spec.name}" if missing else ""
            if foreign:
                what = f"the action {foreign[0]}, which {spec.name} does not have"
            raise KraflaError(f"its counterexample has {what}", name)
        steps = tuple(
            replace(step, state=Function({one: step.state[one] for one in spec.variables}))
            for step in found.steps
        )
        return replace(found.with_steps(steps), spec=spec.name, model=None)


def _failing(setting: Setting) -> list[str]:
    spec, manifest = setting.spec.name, _manifest(setting)
    names = [
        one.name
        for one in manifest.models
        if one.expect == "violates"
        and spec in {one.spec, one.module.stem, *extended_by(one.module)}
    ]
    if not names:
        raise KraflaError(f"no model of {spec} that must fail", str(manifest.path))
    return names


def _manifest(setting: Setting) -> Manifest:
    """Return the models of the project around the test, or else of the one at hand."""
    return (project_around(setting.folder) or at_hand()).manifest()


def _configured(setting: Setting, name: str) -> Model:
    """Return the model of a cfg file: of the module with its name beside it, or of the spec's."""
    config = setting.folder / name
    module = config.with_suffix(".tla")
    if not module.is_file():
        module = setting.spec.module
    folders = (module.parent, setting.spec.module.parent)
    return Model(Path(name).stem, module, config, folders, setting.spec.name, expect="violates")


def _violation(model: Model, states_max: int) -> Trace:
    spec = Spec.load(
        model.module.stem, path=model.module, cfg=model.config, search_path=model.search_path
    )
    graph = StateGraph(explore(spec, limit=states_max))
    if graph.found.violation is not None:
        return violation_trace(graph, spec=model.spec)
    if graph.found.unchecked:
        # A property of whole behaviours: only TLC as a process finds its counterexample.
        from krafla.match.counterexample import replayable
        from krafla.tlc.model_check import run_of

        found = run_of(model, coverage=False).counterexample
        if found is not None:
            return replayable(found, model)
    cut = "" if graph.found.is_complete else "; the search was cut there"
    raise NoBehaviour(f"{model.name} breaks nothing in its {len(graph):,} states{cut}")
