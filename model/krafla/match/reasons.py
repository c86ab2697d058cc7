"""Why a candidate cannot take the next observation."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from krafla.match.nearest import nearest_step
from krafla.oracle.blame import Blame
from krafla.oracle.errors import EvaluationError
from krafla.oracle.explain import Explanation
from krafla.values import ModelValue, fmt, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.match.moves import Move, Moves
    from krafla.match.nearest import Nearest
    from krafla.match.seen import Seen
    from krafla.oracle import Reason, Spec, State
    from krafla.values import Value

__all__ = ["nearest_of", "not_given", "not_initial", "not_offered", "refusal"]

# The most branches of an action whose refusals are examined.
_BLAMED_BRANCHES = 40
# Parameters that Next offers instead.
_OFFERED_SHOWN = 6


def refusal(spec: Spec, moves: Moves, state: State, seen: Seen) -> Explanation:
    """Return the false conjunct, or where the state after the observed step differs."""
    observation = seen.observation
    action, given = observation.action, observation.parameters
    claimed = list(moves.claimed(state, seen))
    if not claimed:
        if action is None:
            return Explanation("no step of any action leads to what was seen")
        for at, value in enumerate(given or ()):
            told = value is not None and not_given(action, value, moves.given_to(action, at))
            if told:
                return Explanation(told)
        if given is not None and None not in given and moves.is_whole(action):
            return spec.explain(state, action, [one for one in given if one is not None])
        return Explanation(f"{_call(seen)} is not enabled", _blame(spec, state, action))
    name, parameters, nearest = min(claimed, key=lambda move: seen.distance(move[2]))
    if action is None:
        details = seen.differences(nearest)
        return Explanation("no step of any action leads to what was seen", (), details)
    if moves.is_whole(name):
        found = spec.explain(state, name, parameters, after=seen.completed(nearest))
        if found.reasons or found.differences:
            return found
    # What was seen is a part that the state does not have.
    return Explanation(f"{_call(seen)} leads to another state", (), seen.differences(nearest))


def not_offered(
    moves: Moves, state: State, action: str, parameters: tuple[Value, ...]
) -> Explanation:
    """Return that Next does not offer a step which the action alone allows."""
    calls = [
        f"{action}({', '.join(map(fmt, one))})"
        for one in (parameters, *islice(moves.offered(action, state), _OFFERED_SHOWN))
    ]
    told = f"Next has no {calls[0]}"
    if moves.depends(action):
        told += " in this state"
    return Explanation(f"{told}; it has {', '.join(calls[1:])}" if len(calls) > 1 else told)


def not_given(
    action: str, value: Value, values: tuple[Value, ...] | None, when: str = ""
) -> str | None:
    """Return the sentence that a value is none of those which Next gives to an action.

    ``None`` if it is one, or if Next might give it: a number may be out of its bounds only, but a
    name that it never gives is misspelt. ``values`` are ``None`` if they are not known; ``when``
    says when it gives them.
    """
    if not values or any(same(value, one) for one in values):
        return None
    if not isinstance(value, str | ModelValue) and type(value) in set(map(type, values)):
        return None
    shown = [fmt(one) for one in values[:_OFFERED_SHOWN]]
    if len(values) > _OFFERED_SHOWN:
        shown.append(f"and {len(values) - _OFFERED_SHOWN} more")
    return (
        f"{fmt(value)} is no value that Next gives to {action}; {when}it gives {', '.join(shown)}"
    )


def nearest_of(moves: Moves, state: State, seen: Seen) -> Nearest | None:
    """Return the nearest step that the spec has in a state; ``None`` if it has none."""
    return nearest_step(_enumerable(moves, state, seen), seen)


def _enumerable(moves: Moves, state: State, seen: Seen) -> Iterator[Move]:
    """Yield the steps of all actions but those whose parameters TLC cannot list."""
    for name in moves.names:
        with suppress(EvaluationError):
            yield from moves.of((name,), state, seen)


def not_initial(spec: Spec, seen: Seen) -> Explanation:
    """Return where the first observation differs from the nearest initial state."""
    initial = min(spec.initial_states(), key=seen.distance)
    finding = "the trace does not begin where the spec does"
    return Explanation(finding, (), seen.differences(initial))


def _blame(spec: Spec, state: State, action: str) -> tuple[Reason, ...]:
    """Return the reason furthest down in the spec why the branches of an action are disabled."""
    found: list[Reason] = []
    for branch in [one for one in spec.branches if one.owner.name == action][:_BLAMED_BRANCHES]:
        found += Blame(spec, state.java).of(branch.node, branch.context)
    found.sort(key=lambda reason: (reason.place.line, reason.place.column), reverse=True)
    return tuple(found[:1])


def _call(seen: Seen) -> str:
    observation = seen.observation
    if observation.parameters is None:
        return f"{observation.action}, whatever its parameters,"
    shown = ", ".join("_" if one is None else fmt(one) for one in observation.parameters)
    return f"{observation.action}({shown})"
