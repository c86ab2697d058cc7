"""Why a candidate cannot take the next observation."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from krafla.match.nearest import nearest_step
from krafla.oracle.errors import EvaluationError
from krafla.oracle.explain import Explanation, call_of, explain_ways
from krafla.values import ModelValue, fmt, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.match.moves import Move, Moves
    from krafla.match.nearest import Nearest
    from krafla.match.seen import Seen
    from krafla.oracle import Spec, State
    from krafla.values import Value

__all__ = ["nearest_of", "not_given", "not_initial", "not_offered", "refusal"]

# The most formulas of an action whose refusals are examined.
_BLAMED_WAYS = 40
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
        known = () if given is None else tuple(one for one in given if one is not None)
        if given is not None and len(known) == len(given) and moves.is_whole(action):
            return spec.explain(state, action, known)
        ways = list(islice(moves.formulas(state, action, given), _BLAMED_WAYS))
        if not ways and known and len(known) == len(given or ()):
            return not_offered(moves, state, action, known)
        return explain_ways(spec, state, _call(seen), ways, ())
    name, parameters, nearest = min(claimed, key=lambda move: seen.distance(move[2]))
    if action is None:
        details = seen.differences(nearest)
        return Explanation("no step of any action leads to what was seen", (), details)
    whole = seen.completed(nearest)
    if moves.is_whole(name):
        found = spec.explain(state, name, parameters, after=whole)
    else:
        ways = list(islice(moves.formulas(state, name, parameters), _BLAMED_WAYS))
        ends = [after for _, given, after in claimed if given == parameters]
        found = explain_ways(spec, state, call_of(name, parameters), ways, ends, whole)
    if found.reasons or found.differences:
        return found
    # What was seen is a part that the state does not have.
    return Explanation(f"{_call(seen)} leads to another state", (), seen.differences(nearest))


def not_offered(
    moves: Moves, state: State, action: str, parameters: tuple[Value, ...]
) -> Explanation:
    """Return that Next does not offer a step which the action alone allows."""
    offered = islice(moves.offered(action, state), _OFFERED_SHOWN)
    calls = [_shown(action, one) for one in (parameters, *offered)]
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


def _call(seen: Seen) -> str:
    observation = seen.observation
    if observation.parameters is None:
        return f"{observation.action}, whatever its parameters,"
    return _shown(observation.action, observation.parameters)


def _shown(action: str | None, parameters: Sequence[Value | None]) -> str:
    shown = ", ".join("_" if one is None else fmt(one) for one in parameters)
    return f"{action}({shown})"
