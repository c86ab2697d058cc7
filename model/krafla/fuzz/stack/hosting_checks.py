"""Checks of what runs a controller above Raft: it is told all, and what it asks is done at once."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from kraft.controller import effects as does
from kraft.controller import events
from kraft.raft import effects as raft
from kraft.raft.events import PrepareAppend, ResignRequested, ScheduleAppend

if TYPE_CHECKING:
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["HOSTING_PROPERTIES", "HostingChecks"]

HOSTING_PROPERTIES: Final = ("AppendsAtOnceProp", "ToldInOrderProp")

_ASKED: Final[dict[type, tuple[type, ...]]] = {
    does.Append: (PrepareAppend, ScheduleAppend),
    does.Resign: (ResignRequested,),
}
_TOLD: Final = (
    raft.HandleCommit, raft.HandleLoadSnapshot, raft.HandleLeaderChange, raft.AppendRefused,
)  # fmt: skip
_TAKEN: Final = (
    events.BatchesCommitted, events.SnapshotLoaded, events.LeaderChanged, events.AppendRefused,
)  # fmt: skip


class HostingChecks:
    """What each process of a controller owes.

    ``_asked`` are the events that its replica must take next, because the controller asked for
    them. ``_told`` are the performed effects that the controller has not heard of yet.
    """

    def __init__(self) -> None:
        self._asked: dict[int, deque[type]] = {}
        self._told: dict[int, deque[Any]] = {}

    def forget(self, incarnation: int) -> None:
        """Forget a process that has ended."""
        self._asked.pop(incarnation, None)
        self._told.pop(incarnation, None)

    def raft(self, step: SimStep) -> None:
        """Check a step of a replica. Raises Violated.

        Kafka: RaftClient.prepareAppend, RaftClient.schedulePreparedAppend.
        """
        asked = self._asked.get(step.incarnation)
        if asked is None:
            # Until its controller has said something, it may be a broker.
            self._told[step.incarnation] = _told(step)
            return
        left = self._told[step.incarnation]
        if left:
            raise Violated("ToldInOrderProp", f"the controller was not told of {_name(left[0])}")
        self._told[step.incarnation] = _told(step)
        if asked and step.kind == "event":
            due, found = asked.popleft(), type(step.event)
            if found is not due:
                raise Violated(
                    "AppendsAtOnceProp",
                    f"its replica takes a {found.__name__}, but the controller asked for a "
                    f"{due.__name__} before",
                )

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a controller. Raises Violated."""
        asked = self._asked.setdefault(step.incarnation, deque())
        event = listener.event
        if isinstance(event, _TAKEN):
            left = self._told.get(step.incarnation)
            if not left or not _is_of(event, left.popleft()):
                raise Violated(
                    "ToldInOrderProp",
                    f"the controller is told {_name(event)}, which is not what Raft says next",
                )
        elif asked:
            raise Violated(
                "AppendsAtOnceProp",
                f"the controller takes a {_name(event)} before its replica has taken the "
                f"{asked[0].__name__} that it asked for",
            )
        for effect in listener.effects:
            asked.extend(_ASKED.get(type(effect), ()))


def _told(step: SimStep) -> deque[Any]:
    return deque(effect for effect in step.effects if isinstance(effect, _TOLD))


def _is_of(event: Any, effect: Any) -> bool:
    """Return whether an event says to a controller what an effect of Raft says."""
    match event, effect:
        case events.BatchesCommitted(), raft.HandleCommit():
            return _ends(event.batches) == _ends(effect.batches)
        case events.SnapshotLoaded(), raft.HandleLoadSnapshot():
            return bool(event.snapshot_id == effect.snapshot_id)
        case events.LeaderChanged(), raft.HandleLeaderChange():
            return bool((event.epoch, event.leader_id) == (effect.epoch, effect.leader_id))
        case _:
            return isinstance(event, events.AppendRefused) and isinstance(
                effect, raft.AppendRefused
            )


def _ends(batches: Any) -> list[tuple[int, int]]:
    return [(batch.base_offset, batch.epoch) for batch in batches]


def _name(one: object) -> str:
    return type(one).__name__
