"""An observation of no step: that the code stayed where it was, or that it refused an action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.match.reasons import not_given
from krafla.oracle.errors import EvaluationError
from krafla.oracle.explain import Explanation
from krafla.values import ModelValue, distinct, fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.match.moves import Move, Moves
    from krafla.match.seen import Seen
    from krafla.oracle import State
    from krafla.traces import Observation
    from krafla.values import Value

__all__ = [
    "changed",
    "check_given",
    "check_refused",
    "is_without_step",
    "refusal_of",
    "refused_before",
    "why_not_without_step",
]


def check_given(
    moves: Moves, seen: Seen, models_now: Callable[[int], tuple[Value, ...] | None]
) -> None:
    """Raise ``KraflaError`` for a parameter that Next never gives the action.

    Nothing can allow it, so its refusal would always be right. ``models_now`` returns the values
    that a parameter can have now, if all of these are model values: then a string is misspelt.
    """
    action = seen.observation.action
    for at, value in enumerate(seen.observation.parameters or ()):
        if action is None or value is None:
            continue
        values, when = moves.given_to(action, at), ""
        if values is None and isinstance(value, str):
            values, when = models_now(at), "now "
        told = not_given(action, value, values, when)
        if told is not None:
            raise KraflaError(told, seen.place)


def check_refused(moves: Moves, seen: Seen, state: State | None = None) -> None:
    """Raise ``KraflaError`` if what was observed is a refusal that says nothing in a state.

    Without a state only what Next gives in every state counts.
    """
    action = seen.observation.action
    if seen.observation.kind != "refusal" or action is None:
        return

    def models_now(at: int) -> tuple[Value, ...] | None:
        if state is None:
            return None
        try:
            found = distinct(one[at] for _, one, _ in moves.of((action,), state, seen))
        except EvaluationError:
            # The parameters are without number: the search with those given tells.
            return None
        return found if all(isinstance(one, ModelValue) for one in found) else None

    check_given(moves, seen, models_now)


def is_without_step(moves: Moves, state: State, seen: Seen) -> bool:
    """Return whether a state fits a stay or a refusal: the spec does not allow what was refused."""
    return seen.fits(state) and next(_refused(moves, state, seen), None) is None


def why_not_without_step(
    moves: Moves, state: State, seen: Seen, before: Observation | None
) -> Explanation:
    """Return the step that the code refuses, or where the state is another than was seen.

    ``before`` is the observation before it.
    """
    for action, parameters, _ in _refused(moves, state, seen):
        return refusal_of(action, parameters)
    return changed(state, seen, before)


def refused_before(before: Observation | None, stay: Observation) -> Observation | None:
    """Return the observation before a stay, if it is the refusal of which the stay is a part.

    A refusal that shows a state is both: what was refused, and what was seen then.
    """
    if before is None or before.kind != "refusal" or stay.kind != "stay":
        return None
    is_of_it = stay.call == "same" or (stay.call is None and stay.place == before.place)
    return before if is_of_it else None


def refusal_of(action: str, parameters: tuple[Value, ...]) -> Explanation:
    """Return that the code refuses a step which the spec has."""
    call = f"{action}({', '.join(map(fmt, parameters))})" if parameters else action
    return Explanation(f"the code refuses {call}, which the spec allows")


def changed(state: State, seen: Seen, before: Observation | None) -> Explanation:
    """Return where a state differs from what was seen, though no step was taken."""
    refused = refused_before(before, seen.observation)
    said = "says that it took no step" if refused is None else f"refused {_call(refused)}"
    finding = f"the code {said}, but its state is another"
    return Explanation(finding, (), seen.differences(state))


def _call(refused: Observation) -> str:
    given = ("..." if one is None else fmt(one) for one in refused.parameters or ())
    return f"{refused.action}({', '.join(given)})" if refused.parameters else f"{refused.action}"


def _refused(moves: Moves, state: State, seen: Seen) -> Iterator[Move]:
    """Yield the steps that Next offers of an action that the code refused."""
    if seen.observation.kind == "refusal":
        yield from moves.claimed(state, seen, only_next=True)
