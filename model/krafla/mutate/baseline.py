"""A model before any change: its states and steps, ready for comparison."""

from __future__ import annotations

import re
import time
from array import array
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.oracle.errors import SpecError
from krafla.oracle.explore import explore
from krafla.oracle.jvm import TlcClasses
from krafla.oracle.loader import load_tool
from krafla.oracle.spec import Spec
from krafla.oracle.wrapper import Wrapping
from krafla.tlc.config import read_config
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from krafla.manifest import Model
    from krafla.oracle.exploration import Exploration
    from krafla.tlc.config import ModelConfig

__all__ = ["Baseline", "NotHeldError", "breaks", "load_model"]

# This many states beyond the pinned number show that the model has changed.
_MORE = 5_000


class NotHeldError(KraflaError):
    """A model does not hold without any mutant, so nothing is known of its mutants."""

    exit_code = ExitCode.INCONCLUSIVE


def load_model(model: Model, classes: TlcClasses) -> Spec:
    """Return a model's spec in the classes of others of the same modules and variables."""
    wrapping = Wrapping(model.module.stem)
    loaded = load_tool(
        wrapping,
        path=model.module,
        configuration=model.config,
        search_path=model.search_path,
        classes=classes,
    )
    return Spec(model.module.stem, loaded)


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """The state graph of a model as it stands.

    States are TLC's own, by index. Their steps are in ``targets`` and ``branches`` from
    ``starts[i]`` to ``starts[i + 1]``; the target -1 lies outside the bounds. ``temporal`` are
    the properties of whole behaviours, which no search of states can judge.
    """

    model: Model
    classes: TlcClasses
    spec: Spec
    states: list[Any]
    index: dict[int, int]
    initial: frozenset[int]
    starts: array[int]
    targets: array[int]
    branches: array[int]
    owners: tuple[str, ...]
    witnessed: dict[str, bytes]
    generated: int
    keeps_identity: bool
    checks_deadlock: bool
    temporal: tuple[str, ...]
    taken: frozenset[str]
    located: dict[str, str]
    seconds: float

    @property
    def actions(self) -> tuple[str, ...]:
        """Return the names of the actions of Next."""
        return tuple(action.name for action in self.spec.actions)

    @classmethod
    def of(cls, model: Model, progress: Callable[[Exploration], None] | None = None) -> Baseline:
        """Return the graph of a model; ``NotHeldError`` unless it is as the manifest pins it."""
        began = time.monotonic()
        classes = TlcClasses()
        spec = load_model(model, classes)
        # A model that is larger than pinned is not worth the wait for how much larger.
        found = explore(spec, progress=progress, limit=(model.distinct or 0) + _MORE)
        config = read_config(model.config)
        what = breaks(found, config)
        if what is None and found.distinct != (model.distinct or 0):
            least = "" if found.is_complete else "at least "
            what = (
                f"{least}{found.distinct:,} distinct states, but {model.distinct or 0:,} are pinned"
            )
        if what is not None:
            raise NotHeldError(
                f"{model.name} is not held as it stands ({what}): a mutant of it says nothing",
                model.place or None,
            )
        starts, targets, branches = _by_source(found)
        owners = tuple(branch.owner.name for branch in spec.branches)
        return cls(
            model=model,
            classes=classes,
            spec=spec,
            states=found.states.java,
            index={fingerprint: one for one, fingerprint in enumerate(found.fingerprints)},
            initial=frozenset(initial_fingerprints(spec)),
            starts=starts,
            targets=targets,
            branches=branches,
            owners=owners,
            witnessed={name: found.satisfying(name) for name in model.witnesses},
            generated=found.generated,
            # States that symmetry makes equal may differ in a property of the step between them.
            keeps_identity=all(one is None for one in spec.reductions),
            checks_deadlock=config.checks_deadlock,
            temporal=found.unchecked,
            taken=frozenset(name for name, one in found.coverage.items() if one.taken),
            located=_located(spec, config.properties),
            seconds=time.monotonic() - began,
        )

    def property_at(self, name: str) -> str:
        """Return the property that TLC calls by this name, which may be the place of a part.

        A mutant may have moved the part by a line; then its module tells, if one property only
        is made of parts of that module. A name that tells nothing is returned as it is.
        """
        found = self.located.get(name) or self._around(name)
        if found is None and len(self.names) == 1:
            return self.names[0]
        return found or name

    def may_differ(self, name: str, changed: frozenset[str]) -> bool:
        """Return whether a property is among those that changed; an unknown one may be."""
        return name in changed if name in self.names else bool(changed)

    def _around(self, name: str) -> str | None:
        """Return the property with a part that a place is in, or else of its module alone."""
        place = _place(name)
        if place is None:
            return None
        module, begin, end = place
        mates: list[str] = []
        for other, found in self.located.items():
            part = _place(other)
            if part is None or part[0] != module:
                continue
            # TLC counts the brackets of [][Next]_vars in, and the syntax tree does not.
            if (begin <= part[1] and part[2] <= end) or (part[1] <= begin and end <= part[2]):
                return found
            mates.append(found)
        return mates[0] if len(set(mates)) == 1 else None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the properties that are no invariants."""
        return tuple(dict.fromkeys(self.located.values()))

    def steps(self, index: int) -> range:
        """Return the positions of a state's steps in ``targets`` and ``branches``."""
        return range(self.starts[index], self.starts[index + 1])


def breaks(found: Exploration, config: ModelConfig) -> str | None:
    """Return what a check of the same cfg says is wrong in these states, ``None`` if nothing is."""
    if found.violation is not None:
        return f"{found.violation.name} is violated"
    if config.checks_deadlock and len(set(found.sources)) < found.expanded:
        return "it deadlocks: a state has no successor, and the cfg says no CHECK_DEADLOCK FALSE"
    return None


def initial_fingerprints(spec: Spec) -> list[int]:
    """Return the fingerprints of a spec's initial states."""
    with spec.reduced():
        found = spec.asked(spec.tool.getInitStates)
        return [int(found.elementAt(index).fingerPrint()) for index in range(found.size())]


def _by_source(found: Exploration) -> tuple[array[int], array[int], array[int]]:
    """Return the steps in the order of the states they begin in."""
    counts = [0] * (len(found.states) + 1)
    for source in found.sources:
        counts[source + 1] += 1
    starts = array("q", counts)
    for index in range(1, len(starts)):
        starts[index] += starts[index - 1]
    free = list(starts)
    targets = array("i", bytes(4 * len(found.targets)))
    branches = array("h", bytes(2 * len(found.targets)))
    for source, target, branch in zip(found.sources, found.targets, found.branches, strict=True):
        position = free[source]
        free[source] = position + 1
        targets[position] = target
        branches[position] = branch
    return starts, targets, branches


def _located(spec: Spec, names: Iterable[str]) -> dict[str, str]:
    """Return by their place the properties that the parts of specifications belong to.

    TLC names a part of a specification by where it stands.
    """
    found: dict[str, str] = {}
    for name in names:
        definition = spec.definition(name)
        with suppress(SpecError):
            for part in spec.predicates.of_step(name):
                found[str(part.node.getLocation().toString())] = name
        found[name] = name
        found[str(definition.getLocation().toString())] = name
    return found


def _place(location: str) -> tuple[str, tuple[int, int], tuple[int, int]] | None:
    """Return the module, the begin and the end of a place, however TLC puts it into words."""
    found = re.search(r"line (\d+), col (\d+) to line (\d+), col (\d+) of module (\w+)", location)
    if found is None:
        return None
    line, column, last_line, last_column = map(int, found.groups()[:4])
    return found[5], (line, column), (last_line, last_column)
