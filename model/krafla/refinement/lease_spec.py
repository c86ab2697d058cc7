"""BrokerLease loaded for a vocabulary, and what it says of states and steps, remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from krafla.oracle import EvaluationError, Spec
from krafla.oracle.conjunction import Conjunction, variables_read
from krafla.oracle.loading import find_module
from krafla.oracle.pinning import pin_constants
from krafla.refinement.lease import LeaseMapping
from krafla.refinement.properties import MODULE, Properties, read_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from krafla.oracle.state import State
    from krafla.refinement.vocabulary import Vocabulary

__all__ = ["LeaseSpec", "holds", "load_lease"]

_REMEMBERED = 500_000
_LOADED = 12
T = TypeVar("T")

_Constants: TypeAlias = "tuple[tuple[tuple[str, str], ...], Path | None]"
_loaded: dict[_Constants, tuple[Spec, LeaseMapping]] = {}
_judged: dict[tuple[_Constants, tuple[str, ...]], LeaseSpec] = {}


class LeaseSpec:
    """The spec with its properties and the mapping into it, for all runs with its constants."""

    def __init__(self, spec: Spec, properties: Properties, mapping: LeaseMapping) -> None:
        self.spec = spec
        self.properties = properties
        self.mapping = mapping
        self.initial = spec.initial_states()[0]
        self._all = Conjunction(spec, properties.invariants, properties.steps)
        self._witnesses = {
            name: variables_read(spec, spec.definition(name).getBody())
            for name in properties.witnesses
        }
        self._sound_states: set[int] = set()
        self._sound_steps: set[tuple[int, int]] = set()

    def broken_by(self, before: State, after: State, changed: Collection[str]) -> str | None:
        """Return the first property that a step or its final state breaks; ``None`` if none.

        ``changed`` names every variable that the step changed. The state before kept all
        invariants.
        """
        if after.fingerprint not in self._sound_states:
            if not holds(self._all.holds_in, after, changed):
                return self._all_broken(before, after)[0]
            _remember(self._sound_states, after.fingerprint)
        step = (before.fingerprint, after.fingerprint)
        if step not in self._sound_steps:
            if not holds(self._all.permits, before, after, changed):
                return self._all_broken(before, after)[0]
            _remember(self._sound_steps, step)
        return None

    def reaches(self, witness: str, state: State, changed: Collection[str]) -> bool:
        """Return whether a state is one that a witness asks for, which the one before was not.

        ``changed`` names every variable in which the two differ.
        """
        if self._witnesses[witness].isdisjoint(changed):
            return False
        return self.spec.check_invariant(witness, state)

    def all_broken_by(self, before: State, after: State) -> tuple[str, ...]:
        """Return every property that a step or its final state breaks."""
        return tuple(self._all_broken(before, after))

    def _all_broken(self, before: State, after: State) -> list[str]:
        invariant, step = self.spec.check_invariant, self.spec.check_action_property
        return [
            *(name for name in self.properties.invariants if not holds(invariant, name, after)),
            *(name for name in self.properties.steps if not holds(step, name, before, after)),
        ]


def load_lease(
    vocabulary: Vocabulary, also: Collection[str] = (), path: Path | None = None
) -> LeaseSpec:
    """Return BrokerLease with the constants of a vocabulary, loaded once in this process.

    ``also`` names conditional properties to judge as well; ``path`` is the folder of another
    copy of the spec.
    """
    constants = (vocabulary.key(), path)
    key = (constants, tuple(sorted(also)))
    known = _judged.get(key)
    if known is None:
        properties = read_properties(find_module(MODULE, path), also)
        spec, mapping = _loaded.get(constants) or _load(vocabulary, path)
        known = _judged[key] = LeaseSpec(spec, properties, mapping)
    return known


def _load(vocabulary: Vocabulary, path: Path | None) -> tuple[Spec, LeaseMapping]:
    spec = Spec.load(MODULE, vocabulary.constants, path=path)
    pin_constants(spec)
    if len(_loaded) >= _LOADED:
        oldest = next(iter(_loaded))
        del _loaded[oldest]
        for key in [key for key in _judged if key[0] == oldest]:
            del _judged[key]
    loaded = _loaded[vocabulary.key(), path] = spec, LeaseMapping(vocabulary)
    return loaded


def holds(question: Callable[..., bool], *arguments: object) -> bool:
    """Return the answer; what cannot be evaluated is not true: a state lacks what is asked for."""
    try:
        return question(*arguments)
    except EvaluationError:
        return False


def _remember(known: set[T], one: T) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known.add(one)
