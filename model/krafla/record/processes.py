"""Processes that are known by their id and gone at the end, however it comes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from krafla.child_processes import ChildGroup
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

__all__ = ["Processes", "Running"]

_GONE_SECONDS = 30.0


class Running:
    """One process. A Ctrl-C of the terminal does not reach it, and it ends with this one."""

    def __init__(self, command: Sequence[str], output: Path) -> None:
        with output.open("ab") as stream:
            try:
                self._group = ChildGroup()
                self._process = subprocess.Popen(
                    command,
                    cwd=output.parent,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    process_group=self._group.id,
                )
            except OSError as error:
                reason = error.strerror or str(error)
                raise KraflaError(f"this program does not start: {reason}", command[0]) from error

    @property
    def id(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send the process a signal, unless it has ended."""
        # Popen knows whether the id is still ours: it is until the process has been waited for.
        self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Return its exit status, or None if it is still there after so long."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Kill it and its own children, and wait until it is gone."""
        self._process.kill()
        self._group.end()
        self.wait(_GONE_SECONDS)


class Processes:
    """The processes of a recording. Leaving the context ends all of them."""

    def __init__(self) -> None:
        self._started: list[Running] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def start(self, command: Sequence[str], output: Path) -> Running:
        """Start a process and return it; its output is appended to `output`."""
        running = Running(command, output)
        self._started.append(running)
        return running

    def end(self) -> None:
        """End all of them; a second signal in the meantime does not save any."""
        interrupted: BaseException | None = None
        while self._started:
            try:
                self._started[-1].end()
                self._started.pop()
            except (KeyboardInterrupt, SystemExit) as error:
                interrupted = error
        if interrupted is not None:
            raise interrupted
