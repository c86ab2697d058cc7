"""Locks of aiorwlock with one mistake each; three of them were in its earlier releases."""

from __future__ import annotations

import asyncio
from collections import deque

from aiorwlock import RWLock

_Core = RWLock.core


class CountsReadersTwice(_Core):
    """A reader that is cancelled while it waits is counted out, though it never was in.

    aiorwlock 1.5.1: "Fixed a deadlock that could occur when tasks are cancelled."
    """

    async def acquire_read(self):
        try:
            return await super().acquire_read()
        except asyncio.CancelledError:
            self._r_state -= 1
            raise


class CountsWritersLate(_Core):
    """A writer is counted when it runs again, not when it is woken: another one comes between.

    aiorwlock 1.2.0: "Fix a bug that makes concurrent writes possible under some (rare)
    conjunctions".
    """

    async def acquire_write(self):
        me = (asyncio.current_task(), self._WL)
        waits = (self._r_state > 0 or self._w_state > 0) and me not in self._owning
        await super().acquire_write()
        self._w_state += waits

    def _wake_up(self):
        before = self._w_state
        super()._wake_up()
        self._w_state = before


class WakesOneReader(_Core):
    """Only the first reader is woken.

    aiorwlock 0.6.0: "Wake up all readers after writer releases lock".
    """

    def _wake_up(self):
        waiting = self._read_waiters
        self._read_waiters = deque(list(waiting)[:1])
        super()._wake_up()
        self._read_waiters = waiting


class KeepsCancelled(_Core):
    """A task that is cancelled while it acquires the lock holds it for ever."""

    async def _yield_after_acquire(self, lock_type):
        await asyncio.sleep(0)


class ForgetsToWake(_Core):
    """The last reader releases the lock, and wakes no writer."""

    _is_quiet = False

    def _release(self, lock_type):
        self._is_quiet = lock_type == self._RL
        super()._release(lock_type)
        self._is_quiet = False

    def _wake_up(self):
        if not self._is_quiet:
            super()._wake_up()


class Upgrades(_Core):
    """A reader that asks to write first stops to read, without a word."""

    async def acquire_write(self):
        if (asyncio.current_task(), self._RL) in self._owning:
            self._release(self._RL)
        return await super().acquire_write()


class AnyoneReleases(_Core):
    """A task releases the lock that another one holds."""

    def _release(self, lock_type):
        me = (asyncio.current_task(), lock_type)
        owners = [one for one in self._owning if one[1] == lock_type]
        if owners and me not in owners:
            self._owning.remove(owners[0])
            self._owning.append(me)
        super()._release(lock_type)


def lock_of(mutant):
    """Return the class of locks with this mistake."""
    return type(mutant.__name__, (RWLock,), {"core": mutant})
