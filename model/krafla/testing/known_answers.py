"""Answers of a spec that are wanted again: a machine comes back to the same states, run for run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.values import same

if TYPE_CHECKING:
    from krafla.oracle import State
    from krafla.traces import Observation
    from krafla.values import Value

__all__ = ["KnownAnswers"]

_REMEMBERED: Final = 20_000

_Parameters = tuple["Value | None", ...]


class KnownAnswers:
    """What a spec has answered of steps, of refusals, and of what is enabled.

    Asking it takes two switches between threads and an evaluation, which is most of the price of a
    judged step.
    """

    def __init__(self) -> None:
        self._steps: dict[object, list[tuple[_Parameters, State]]] = {}
        self._refusals: dict[object, list[_Parameters]] = {}
        self._enabled: dict[tuple[int, str], tuple[tuple[Value, ...], ...]] = {}

    def step(self, before: State, observation: Observation) -> State | None:
        """Return the state after a step of which all was seen, if the spec is known to have it."""
        given = observation.parameters
        for parameters, after in self._steps.get(_key(before, observation), ()):
            if _agree(parameters, given) and _is(after, observation):
                return after
        return None

    def add_step(self, before: State, observation: Observation, after: State) -> None:
        """Remember a step of which all was seen."""
        _make_room(self._steps)
        found = self._steps.setdefault(_key(before, observation), [])
        found.append((observation.parameters or (), after))

    def has_refusal(self, state: State, observation: Observation) -> bool:
        """Return whether the spec is known not to allow in a state what the code refused there."""
        known = self._refusals.get(_key(state, observation), ())
        return any(_agree(one, observation.parameters) for one in known)

    def add_refusal(self, state: State, observation: Observation) -> None:
        """Remember that the spec does not allow in a state what the code refused there."""
        _make_room(self._refusals)
        found = self._refusals.setdefault(_key(state, observation), [])
        found.append(observation.parameters or ())

    def enabled(self, state: State, action: str) -> tuple[tuple[Value, ...], ...] | None:
        """Return the parameters with which an action is enabled in a state, if that is known."""
        return self._enabled.get((state.fingerprint, action))

    def add_enabled(
        self, state: State, action: str, parameters: tuple[tuple[Value, ...], ...]
    ) -> None:
        """Remember the parameters with which an action is enabled in a state."""
        _make_room(self._enabled)
        self._enabled[state.fingerprint, action] = parameters


def _key(state: State, observation: Observation) -> object:
    # To Python 1 is TRUE, so what is found is compared again.
    return state.fingerprint, observation.action, observation.parameters


def _agree(known: _Parameters, given: _Parameters | None) -> bool:
    return all(
        one is other or (one is not None and other is not None and same(one, other))
        for one, other in zip(known, given or (), strict=True)
    )


def _is(state: State, observation: Observation) -> bool:
    """Return whether a state is the one that was seen, with all its variables."""
    seen = observation.seen
    return len({part[0] for part, _ in seen}) == len(seen) == len(state) and all(
        len(part) == 1 and part[0] in state.spec.variables and same(state[str(part[0])], value)
        for part, value in seen
    )


def _make_room(known: dict[Any, Any]) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
