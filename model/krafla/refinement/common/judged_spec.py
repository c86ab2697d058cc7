"""A loaded spec that judges the steps of an implementation, and remembers its verdicts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from krafla.oracle.conjunction import Conjunction
from krafla.oracle.properties import holds
from krafla.oracle.variables_read import variables_read

if TYPE_CHECKING:
    from collections.abc import Collection

    from krafla.oracle.properties import Properties
    from krafla.testing import Spec, State
    from krafla.traces.spec_text import SpecText
    from krafla.values import Value

__all__ = ["Disagreement", "JudgedSpec", "StepMapping"]

_REMEMBERED = 500_000
T = TypeVar("T")


class StepMapping(ABC):
    """The mapping from a simulated cluster and its choices to a spec.

    It changes the notation and holds no rule of the protocol. Equal values must be one object,
    since ``is`` compares them.
    """

    @abstractmethod
    def variables(self, cluster: Any) -> dict[str, Value]:
        """Return the values of all variables of the spec."""

    def action_of(self, action: str) -> str:
        """Return the spec's name of an action of the simulation: the same, unless overridden."""
        return action

    @abstractmethod
    def parameters_of(self, cluster: Any, choice: Any) -> tuple[Value, ...] | None:
        """Return the parameters of the action that a choice stands for, in the cluster before it.

        ``None`` if the choice names something that does not exist: no action has such parameters.
        """

    @abstractmethod
    def refused_action(self, choice: Any) -> str | None:
        """Return the action that a refused choice would have been.

        ``None`` if only the answer would have decided which action it is.
        """

    def disagreement(
        self, _spec: Spec, _reached: State, _cluster: Any, _changed: Collection[str]
    ) -> Disagreement | None:
        """Return an operator on which the implementation disagrees with the spec, if any."""
        return None


Mapping = TypeVar("Mapping", bound=StepMapping)


class Disagreement:
    """An operator of the spec for which the implementation has another value."""

    def __init__(self, finding: str, operator: str, expected: Value, got: Value) -> None:
        self.finding = finding
        self.operator = operator
        self.expected = expected
        self.got = got


class JudgedSpec(Generic[Mapping]):
    """A spec with its properties and the mapping into it, shared by all runs with its constants.

    ``text`` is what traces of the runs carry if the spec is not judged as it is written.
    """

    def __init__(
        self,
        module: str,
        constants: dict[str, Value],
        spec: Spec,
        properties: Properties,
        mapping: Mapping,
        text: SpecText | None = None,
    ) -> None:
        self.module = module
        self.constants = constants
        self.spec = spec
        self.properties = properties
        self.mapping = mapping
        self.text = text
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

        ``changed`` names every variable that the step changed. The state before the step kept all
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
        """Return whether a step has reached the state that a witness describes.

        ``changed`` names every variable that the step changed.
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


def _remember(known: set[T], one: T) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known.add(one)
