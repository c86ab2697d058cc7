"""What a step of a controller appends and answers, as several checks ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kraft.controller import effects as does

if TYPE_CHECKING:
    from kraft.sim.raft.steps import ListenerStep

__all__ = ["appended_by", "replies_of", "response_of"]


def appended_by(listener: ListenerStep) -> tuple[Any, ...]:
    """Return the records that a step appends."""
    return tuple(
        record
        for effect in listener.effects
        if isinstance(effect, does.Append)
        for record in effect.records
    )


def replies_of(listener: ListenerStep) -> dict[object, does.Reply]:
    """Return the replies of a step by the tokens of their requests."""
    return {one.token: one for one in listener.effects if isinstance(one, does.Reply)}


def response_of(listener: ListenerStep, token: object) -> Any:
    """Return the answer to a request, sent now or once it is committed; None if there is none."""
    for effect in listener.effects:
        if isinstance(effect, does.Reply) and effect.token == token:
            return effect.response
    return next((one.response for one in listener.after.deferred if one.token == token), None)
