"""BrokerLease loaded for a vocabulary, and what it says of states and steps, remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from krafla.oracle import EvaluationError, Spec
from krafla.oracle.conjunction import Conjunction
from krafla.oracle.loading import find_module
from krafla.oracle.pinning import pin_constants
from krafla.refinement.lease import LeaseMapping
from krafla.refinement.properties import MODULE, Properties, read_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from krafla.oracle.state import State
    from krafla.refinement.vocabulary import Vocabulary

__all__ = ["LeaseSpec", "load_lease"]

_REMEMBERED = 500_000
_LOADED = 12
T = TypeVar("T")

_loaded: dict[tuple[object, ...], LeaseSpec] = {}


class LeaseSpec:
    """The spec with its properties and the mapping into it, for all runs with its constants."""

    def __init__(self, spec: Spec, properties: Properties, mapping: LeaseMapping) -> None:
        self.spec = spec
        self.properties = properties
        self.mapping = mapping
        self.initial = spec.initial_states()[0]
        self._all = Conjunction(spec, properties.invariants, properties.steps)
        self._sound_states: set[int] = set()
        self._sound_steps: set[tuple[int, int]] = set()

    @property
    def distinct_states(self) -> int:
        """Return how many distinct states were found to keep every invariant."""
        return len(self._sound_states)

    def broken_by(self, before: State, after: State) -> str | None:
        """Return the first property that a step or its final state breaks; ``None`` if none."""
        if after.fingerprint not in self._sound_states:
            if not _true(self._all.holds_in, after):
                return self._all_broken(before, after)[0]
            _remember(self._sound_states, after.fingerprint)
        step = (before.fingerprint, after.fingerprint)
        if step not in self._sound_steps:
            if not _true(self._all.permits, before, after):
                return self._all_broken(before, after)[0]
            _remember(self._sound_steps, step)
        return None

    def all_broken_by(self, before: State, after: State) -> tuple[str, ...]:
        """Return every property that a step or its final state breaks."""
        return tuple(self._all_broken(before, after))

    def _all_broken(self, before: State, after: State) -> list[str]:
        holds, permits = self.spec.check_invariant, self.spec.check_action_property
        return [
            *(name for name in self.properties.invariants if not _true(holds, name, after)),
            *(name for name in self.properties.steps if not _true(permits, name, before, after)),
        ]


def load_lease(
    vocabulary: Vocabulary, also: Collection[str] = (), path: Path | None = None
) -> LeaseSpec:
    """Return BrokerLease with the constants of a vocabulary, loaded once in this process.

    ``also`` names conditional properties to judge as well; ``path`` is the folder of another
    copy of the spec.
    """
    key = (vocabulary.key(), tuple(sorted(also)), path)
    known = _loaded.get(key)
    if known is None:
        module = find_module(MODULE, path)
        properties = read_properties(module, also)
        spec = Spec.load(MODULE, vocabulary.constants, path=path)
        pin_constants(spec)
        if len(_loaded) >= _LOADED:
            del _loaded[next(iter(_loaded))]
        known = _loaded[key] = LeaseSpec(spec, properties, LeaseMapping(vocabulary))
    return known


def _true(question: Callable[..., bool], *arguments: object) -> bool:
    """Return the answer; what cannot be evaluated is not true: a state lacks what is asked for."""
    try:
        return question(*arguments)
    except EvaluationError:
        return False


def _remember(known: set[T], one: T) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known.add(one)
