"""An observation of no step: that the code stayed where it was, or that it refused an action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.match.reasons import not_given
from krafla.oracle.explain import Explanation
from krafla.values import fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.match.moves import Move, Moves
    from krafla.match.seen import Seen
    from krafla.oracle import State
    from krafla.values import Value

__all__ = ["changed", "check_refused", "is_without_step", "refusal_of", "why_not_without_step"]


def check_refused(moves: Moves, seen: Seen) -> None:
    """Raise ``KraflaError`` for a refusal with a parameter that Next never gives the action.

    Nothing can allow it, so such a refusal would always be right.
    """
    observation = seen.observation
    if observation.kind != "refusal" or observation.action is None:
        return
    for at, value in enumerate(observation.parameters or ()):
        if value is not None:
            values = moves.given_to(observation.action, at)
            told = not_given(observation.action, value, values)
            if told is not None:
                raise KraflaError(told, seen.place)


def is_without_step(moves: Moves, state: State, seen: Seen) -> bool:
    """Return whether a state fits a stay or a refusal: the spec does not allow what was refused."""
    return seen.fits(state) and next(_refused(moves, state, seen), None) is None


def why_not_without_step(moves: Moves, state: State, seen: Seen) -> Explanation:
    """Return the step that the code refuses, or where the state is another than was seen."""
    for action, parameters, _ in _refused(moves, state, seen):
        return refusal_of(action, parameters)
    return changed(state, seen)


def refusal_of(action: str, parameters: tuple[Value, ...]) -> Explanation:
    """Return that the code refuses a step which the spec has."""
    call = f"{action}({', '.join(map(fmt, parameters))})" if parameters else action
    return Explanation(f"the code refuses {call}, which the spec allows")


def changed(state: State, seen: Seen) -> Explanation:
    """Return where a state differs from what was seen, though no step was taken."""
    finding = "the code says that it took no step, but its state is another"
    return Explanation(finding, (), seen.differences(state))


def _refused(moves: Moves, state: State, seen: Seen) -> Iterator[Move]:
    """Yield the steps that Next offers of an action that the code refused."""
    if seen.observation.kind == "refusal":
        yield from moves.claimed(state, seen, only_next=True)
