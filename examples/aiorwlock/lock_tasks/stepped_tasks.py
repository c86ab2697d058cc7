"""Tasks that acquire and release one lock, each step of them at a test's command."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Event", "SteppedTasks"]

# More turns of the event loop than any chain of wake-ups in the lock is long.
_TURNS_TO_REST = 8


class Event(NamedTuple):
    """What a task did: an action of the spec, and its parameters."""

    action: str
    parameters: tuple[str, ...]


class SteppedTasks:
    """Named tasks and the lock that they share; ``close`` them at the end.

    There is no thread and no clock: the same commands make the same events.
    """

    def __init__(self, names: Iterable[str], make_lock: Callable[[], Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = make_lock()
        self._events: list[Event] = []
        self._waiting: set[str] = set()
        self._held: Counter[str] = Counter()
        self._refusal: RuntimeError | None = None
        self._commands = {name: asyncio.Queue[tuple[str, str]]() for name in names}
        self._tasks = {name: self._loop.create_task(self._run(name)) for name in self._commands}
        self.rest()

    @property
    def idle(self) -> list[str]:
        """Return the tasks that wait for nothing."""
        return [name for name in self._commands if name not in self._waiting]

    @property
    def free(self) -> list[str]:
        """Return the tasks that wait for nothing and do not hold the lock."""
        return [name for name in self.idle if not self._held[name]]

    def acquire(self, name: str, mode: str) -> None:
        """Let a task that waits for nothing begin to acquire the lock, to "read" or to "write".

        ``RuntimeError`` if the lock refuses that.
        """
        self._command(name, "acquire", mode)

    def release(self, name: str, mode: str) -> None:
        """Let a task that waits for nothing release the lock; ``RuntimeError`` if refused."""
        self._command(name, "release", mode)

    def cancel(self, name: str) -> None:
        """Cancel a task that waits for the lock; it learns of that in the next turn."""
        self._events.append(Event("Cancel", (name,)))
        self._tasks[name].cancel()

    def turn(self) -> None:
        """Run what is ready now, and nothing that only becomes ready by it."""
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()

    def rest(self) -> None:
        """Run until nothing more happens."""
        for _ in range(_TURNS_TO_REST):
            self.turn()

    def new_events(self) -> list[Event]:
        """Return what happened since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def locked(self) -> tuple[bool, bool]:
        """Return whether the lock says that it is held for reading, and for writing."""
        return self._lock.reader.locked, self._lock.writer.locked

    def close(self) -> None:
        """End the tasks and their event loop."""
        self._commands = {}
        for task in self._tasks.values():
            task.cancel()
        self.rest()
        self._loop.close()

    def _command(self, name: str, verb: str, mode: str) -> None:
        self._commands[name].put_nowait((verb, mode))
        self.turn()
        if self._refusal is not None:
            refusal, self._refusal = self._refusal, None
            raise refusal

    async def _run(self, name: str) -> None:
        """Do what is commanded, until ``close``."""
        while name in self._commands:
            try:
                verb, mode = await self._commands[name].get()
                lock = self._lock.reader if mode == "read" else self._lock.writer
                await getattr(self, f"_{verb}")(name, mode.capitalize(), lock)
            except RuntimeError as refusal:
                self._refusal = refusal
            except asyncio.CancelledError:
                # The task lives on: only what it waited for is cancelled.
                self._tasks[name].uncancel()

    async def _acquire(self, name: str, mode: str, lock: Any) -> None:
        asked = Event("Ask", (name, mode.lower()))
        self._events.append(asked)
        self._waiting.add(name)
        try:
            await lock.acquire()
        except RuntimeError:
            self._events.remove(asked)
            raise
        finally:
            self._waiting.remove(name)
        self._held[name] += 1
        self._events.append(Event(f"Grant{mode}", (name,)))

    async def _release(self, name: str, mode: str, lock: Any) -> None:
        lock.release()
        self._held[name] -= 1
        self._events.append(Event(f"Release{mode}", (name,)))
