"""The loop of a node: one turn of its process after the other, as a simulator takes them.

`kraft.hosting.order` says what comes next; here the effects meet the disk, and time passes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.hosting.effects import DURABLE, perform
from kraft.hosting.order import next_deadline, take_turn
from kraft.ids import NodeId
from kraft.raft.roles import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kraft.hosting.process import HostedProcess, OwnRequest
    from kraft.node.disk import Disk
    from kraft.raft.effects import Effect, Fatal, ShutdownCompleted

NO_NODE: Final = NodeId(-1)
_TURNS_IN_A_ROW: Final = 16
"""After so many turns without a wait, the connections get their turn."""
_SECOND: Final = 1_000_000_000


class Arrived(NamedTuple):
    """A message that waits in the inbox, a request since `at`.

    It is a `kraft.hosting.outside.Message`.
    """

    is_request: bool
    message_id: int
    source: NodeId
    correlation_id: int
    payload: Any
    at: int | None = None


class NodeLoop:
    """Runs a process that has booted. `after_step` is told of each step of its replica.

    `idle` are the nanoseconds in which there was nothing to do.
    """

    __slots__ = ("_disk", "_wake", "after_step", "idle", "process")

    def __init__(self, process: HostedProcess, disk: Disk) -> None:
        self.process = process
        self._disk = disk
        self._wake = asyncio.Event()
        self.after_step: Callable[[Any, Any], None] = lambda _before, _after: None
        self.idle = 0

    def deliver(self, message: Arrived) -> None:
        """Put a message into the inbox."""
        self.process.inbox.append(message)
        self._wake.set()

    def withdraw(self, message: Arrived) -> bool:
        """Take a message out of the inbox; return False if the process has taken it already."""
        inbox = self.process.inbox
        for index, item in enumerate(inbox):
            if item is message:
                del inbox[index]
                return True
        return False

    def urge(self, request: OwnRequest) -> None:
        """Let the process do something before all else."""
        self.process.urgent.append(request)
        self._wake.set()

    async def run(self, boot_effects: Sequence[Effect]) -> Fatal | ShutdownCompleted:
        """Run the process from the effects of its boot to its end; return what ended it.

        Raises what its handlers and its disk raise; then it has ended, too.
        """
        process = self.process
        await self._perform(boot_effects)
        turns = 0
        while process.ended is None:
            taken = take_turn(process)
            if taken is None:
                turns = 0
                await self._rest()
                continue
            if taken.step is not None:
                self.after_step(taken.before, taken.step.state)
                await self._perform(taken.step.effects)
            turns += 1
            if turns >= _TURNS_IN_A_ROW:
                turns = 0
                await asyncio.sleep(0)
        return process.ended

    async def _perform(self, effects: Sequence[Effect]) -> None:
        index = perform(self.process, effects)
        while index < len(effects):
            end = index
            while end < len(effects) and effects[end].__class__ in DURABLE:
                end += 1
            await self._disk.perform(effects[index:end])  # type: ignore[arg-type]  # all of DURABLE
            index = perform(self.process, effects, end)

    async def _rest(self) -> None:
        """Wait for a message, or until something is due."""
        deadline = next_deadline(self.process)
        now = self.process.outside.now()
        # Whatever was delivered until now has been taken: a turn found nothing to do.
        self._wake.clear()
        loop = asyncio.get_running_loop()
        timer = None
        if deadline < NEVER:
            timer = loop.call_later((deadline - now) / _SECOND, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()
            self.idle += self.process.outside.now() - now
