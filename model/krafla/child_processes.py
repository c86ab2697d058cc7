"""Child processes that do not outlive this one, whatever ends it."""

from __future__ import annotations

import atexit
import os
import signal
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ChildGroup", "end_with_parent"]

# It waits for the end of a pipe that only its parent can write to, and ends its whole group.
_LEADER: Final = "read -r _; kill -KILL 0"
_living: set[ChildGroup] = set()


class ChildGroup:
    """A process group for children and their own children; its end, or ours, kills them all.

    The group is led by a small shell. Give ``id`` to `subprocess` as ``process_group``: it is None
    where processes have no groups. A Ctrl-C of the terminal does not reach the group. ``OSError``
    if the shell does not start.
    """

    def __init__(self) -> None:
        self.id: int | None = None
        self._pipe = -1
        if not hasattr(os, "posix_spawn"):
            return
        _end_at_exit()
        theirs, self._pipe = os.pipe()
        nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        actions = [(os.POSIX_SPAWN_DUP2, theirs, 0), nowhere, (os.POSIX_SPAWN_DUP2, 1, 2)]
        _living.add(self)
        try:
            self.id = os.posix_spawn(
                "/bin/sh", ["sh", "-c", _LEADER], {}, file_actions=actions, setpgroup=0
            )
        finally:
            os.close(theirs)
            if self.id is None:
                self.end()

    def __enter__(self) -> ChildGroup:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill what is left of the group."""
        try:
            _living.remove(self)
        except KeyError:
            return
        os.close(self._pipe)
        if self.id is not None:
            # The id belongs to the group until its leader has been waited for.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.id, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self.id, 0)

    def forget(self) -> None:
        """Let go of the group, in a forked process: it would outlive its true parent."""
        os.close(self._pipe)


def end_with_parent() -> None:
    """Have this process, which `multiprocessing` has started, killed once its parent has ended."""
    Thread(target=_watch_parent, name="watch the parent", daemon=True).start()


def _watch_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None, "multiprocessing has started this process"
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


def _end_all() -> None:
    for group in tuple(_living):
        group.end()


@cache
def _end_at_exit() -> None:
    # Not as soon as this module is imported: the children's folders, which were made before, are
    # removed after them.
    atexit.register(_end_all)


def _forget_all() -> None:
    for group in _living:
        group.forget()
    _living.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
