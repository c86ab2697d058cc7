"""All connections of a node: how many there may be, how long idle, and how much they may hold.

Connections with which nothing is done keep no others out, and take no memory that others need: the
one that was used least recently ends first.

Kafka: ConnectionQuotas, Selector.IdleExpiryManager, SimpleMemoryPool.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

RESERVED_FILES: Final = 64
"""Descriptors that connections leave to the log, to other controllers, and to Python."""
_MILLISECONDS: Final = 1000
_LOG: Final = logging.getLogger("kraft.node.connections")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What connections may take: their number in all and of one address, seconds, bytes.

    Without a positive number of bytes there is no limit of them.
    """

    most: int
    most_of_an_address: int
    idle_seconds: float
    held_bytes: int


class Connection(Protocol):
    """A connection as its limits see it: its address, and whether a request is being served."""

    listener: str
    host: str

    @property
    def is_serving(self) -> bool:
        """Whether a request waits for its answer, or to be let in."""

    def close(self, reason: str = "", level: int = logging.WARNING) -> None:
        """End the connection, and log the reason."""


def limits_of(values: Mapping[str, Any]) -> ConnectionLimits:
    """Return the limits in a configuration; there are never more than descriptors for them."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = values["max.connections"]
    if files != resource.RLIM_INFINITY:
        most = min(most, max(1, files - RESERVED_FILES))
    return ConnectionLimits(
        most,
        values["max.connections.per.ip"],
        values["connections.max.idle.ms"] / _MILLISECONDS,
        values["queued.max.request.bytes"],
    )


class Connections:
    """The connections of all listeners, in the order of their last use."""

    __slots__ = ("_held", "_holders", "_limits", "_of_hosts", "_timer", "_used")

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._used: dict[Connection, float] = {}
        self._of_hosts: Counter[str] = Counter()
        self._holders: dict[Connection, int] = {}
        self._held = 0
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Return how many connections there are."""
        return len(self._used)

    def __iter__(self) -> Iterator[Connection]:
        """Yield the connections; the one that was used least recently comes first."""
        return iter(tuple(self._used))

    def __contains__(self, connection: object) -> bool:
        """Return whether a connection is one of these."""
        return connection in self._used

    def admit(self, connection: Connection) -> bool:
        """Take a connection that was accepted; return False if its address has too many.

        If there are too many in all, the one that was used least recently ends. Kafka does so for
        the listener between brokers, and lets others wait.
        Kafka: ConnectionQuotas.inc, Processor.closeExcessConnections.
        """
        if self._of_hosts[connection.host] >= self._limits.most_of_an_address:
            most = self._limits.most_of_an_address
            _LOG.info(
                "Rejected connection from %s, address already has the configured maximum of %s "
                "connections.",
                connection.host,
                most,
            )
            return False
        if len(self._used) >= self._limits.most:
            idle = (one for one in self._used if not one.is_serving)
            first = next(idle, None) or next(iter(self._used))
            first.close(f"there are {len(self._used)} connections, and it was used least recently")
            # Its transport says so only later.
            self.forget(first)
        self._of_hosts[connection.host] += 1
        self._used[connection] = asyncio.get_running_loop().time()
        self._watch()
        return True

    def forget(self, connection: Connection) -> None:
        """Let a connection go that has ended; one that is not known changes nothing."""
        if self._used.pop(connection, None) is None:
            return
        self.hold(connection, 0)
        self._of_hosts[connection.host] -= 1
        if not self._of_hosts[connection.host]:
            del self._of_hosts[connection.host]
        if not self._used and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def touch(self, connection: Connection) -> None:
        """Note that a connection brought a whole request, or took an answer."""
        if self._used.pop(connection, None) is not None:
            self._used[connection] = asyncio.get_running_loop().time()

    def hold(self, connection: Connection, size: int) -> None:
        """Note how many bytes a connection holds: of a request to come, or of unread answers.

        If all hold too many, those end that have held theirs longest. Kafka stops reading from all
        connections then, and some that never finish a request keep the others waiting.
        """
        before = self._holders.get(connection, 0)
        if size and connection in self:
            self._holders[connection] = size
        else:
            self._holders.pop(connection, None)
            size = 0
        self._held += size - before
        while 0 < self._limits.held_bytes < self._held:
            longest = next(iter(self._holders))
            longest.close(
                f"connections hold {self._held} bytes of requests and answers, and it has held "
                f"{self._holders[longest]} the longest"
            )
            self.forget(longest)

    def _watch(self) -> None:
        """Wait until the first connection has been idle for too long."""
        if self._timer is None and self._used:
            due = next(iter(self._used.values())) + self._limits.idle_seconds
            self._timer = asyncio.get_running_loop().call_at(due, self._close_idle)

    def _close_idle(self) -> None:
        """End connections that have been idle for too long. Kafka: Selector."""
        self._timer = None
        last = asyncio.get_running_loop().time() - self._limits.idle_seconds
        for connection, used in tuple(self._used.items()):
            if used > last:
                break
            if connection.is_serving:
                self.touch(connection)
                continue
            idle = f"it has been idle for {self._limits.idle_seconds:g} seconds"
            connection.close(idle, logging.INFO)
            self.forget(connection)
        self._watch()
