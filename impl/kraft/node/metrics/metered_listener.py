"""The state machine of a process, with a clock around each of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.hosting.outside import Message
    from kraft.hosting.process import StateMachine
    from kraft.node.metrics.observations import Observations
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot


class MeteredListener:
    """A `kraft.hosting.process.StateMachine` that passes all calls on, and times them.

    `now` is the node's clock, in nanoseconds. Requests tell by `at` when they arrived.
    """

    __slots__ = ("_inner", "_now", "_observations")

    def __init__(
        self, inner: StateMachine, observations: Observations, now: Callable[[], int]
    ) -> None:
        self._inner = inner
        self._observations = observations
        self._now = now

    def committed(self, effect: HandleCommit) -> None:
        """Pass on committed batches."""
        if effect.batches:
            self._observations.committed(effect.batches, self._now())
        self._timed(self._inner.committed, effect)

    def load(self, effect: HandleLoadSnapshot) -> None:
        """Pass on a snapshot."""
        self._timed(self._inner.load, effect)

    def leader_changed(self, effect: HandleLeaderChange) -> None:
        """Pass on a change of the leader."""
        self._timed(self._inner.leader_changed, effect)

    def append_refused(self) -> None:
        """Pass on a refusal."""
        self._timed(self._inner.append_refused)

    def receive(self, message: Message) -> None:
        """Pass on a message."""
        arrived: int | None = getattr(message, "at", None)
        self._timed(self._inner.receive, message, arrived=arrived)

    def due(self) -> None:
        """Pass on that something is due."""
        self._timed(self._inner.due)

    def _timed(
        self, call: Callable[..., None], *arguments: Any, arrived: int | None = None
    ) -> None:
        started = self._now()
        call(*arguments)
        waited = None if arrived is None else started - arrived
        self._observations.handled(waited, self._now() - started)
