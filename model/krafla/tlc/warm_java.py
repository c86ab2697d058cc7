"""JVMs that run TLC several times, for a check of several models.

Most of a short search is the start of the JVM and its compilation of TLC. A warm JVM has done both.
Each run in it finds TLC as in a fresh JVM (`krafla.tlc.warm_tlc`). If no warm JVM can be had, the
run gets a JVM of its own and does not fail.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.scratch import scratch_folder
from krafla.tlc.command import default_heap_mb, java_options
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.process import run_process, start, tail_of
from krafla.tlc.side_by_side import killed_with_the_rest
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.tlc.command import Command

__all__ = ["run_tlc", "warm_javas"]

_PROGRAM: Final = Path(__file__).with_name("warm_tlc.py")
# Begins the line that ends a run; the exit status follows. TLC's own messages begin otherwise.
_END_OF_RUN: Final = "@!@!@END-OF-RUN "
_OPTIONS: Final = (
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    # Signals belong to Python, which this JVM lives in.
    "-Xrs",
)


def run_tlc(
    command: Command, folder: Path, feed: Callable[[str], None], timeout: float | None = None
) -> tuple[int, bool, str]:
    """Return the exit status, whether time ran out, and the end of stderr.

    Each line of stdout goes to ``feed`` as it comes. Within `warm_javas` TLC runs in a warm
    JVM, if the command asks nothing special of it. ``KraflaError`` if no JVM starts.
    """
    if command.fits_any_java and _pool is not None:
        with _pool.lent() as java:
            if java is not None:
                return java.run(command, folder, feed, timeout)
    return run_process(command.words, folder, feed, timeout)


@contextmanager
def warm_javas() -> Iterator[None]:
    """Return a context in which the JVMs of `run_tlc` stay warm; all of them end with it."""
    global _pool
    if _pool is not None:
        yield
        return
    with scratch_folder("java") as folder:
        _pool = pool = _Pool(folder)
        try:
            yield
        finally:
            _pool = None
            pool.end()


class _WarmJava:
    """A JVM in which one run of TLC follows another, for one thread at a time.

    Its files lie in ``folder``. ``KraflaError`` if it does not start.
    """

    def __init__(self, folder: Path) -> None:
        jre = find_jre()
        temporary = folder / "tmp"
        temporary.mkdir(parents=True)
        words = [sys.executable, "-P", str(_PROGRAM), _END_OF_RUN, str(jre.libjvm)]
        words += [str(find_jar().path), *_OPTIONS, *java_options(temporary, default_heap_mb())]
        self._errors = folder / "stderr"
        with self._errors.open("wb") as stderr:
            self._process, self._group = start(words, folder, stderr, stdin=subprocess.PIPE)
        is_ready = False
        try:
            is_ready = self._status_at_end(lambda _: None) is not None
        finally:
            if not is_ready:
                self.end()
        if not is_ready:
            raise KraflaError("no warm JVM", tail_of(self._errors))

    @property
    def is_alive(self) -> bool:
        """Return whether another run can follow."""
        return self._process.poll() is None

    def run(
        self,
        command: Command,
        folder: Path,
        feed: Callable[[str], None],
        timeout: float | None,
    ) -> tuple[int, bool, str]:
        """Return what `run_tlc` returns; whatever cuts the run short ends this JVM."""
        request = {
            "library": command.library, "folder": str(folder), "arguments": command.arguments,
        }  # fmt: skip
        said_before = self._errors.stat().st_size
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self._process.kill()

        timer = None if timeout is None else threading.Timer(timeout, expire)
        status = None
        try:
            if timer is not None:
                timer.daemon = True
                timer.start()
            assert self._process.stdin is not None, "stdin is a pipe"
            with killed_with_the_rest(self._process.kill):
                # Where it has died, its output ends, too.
                with suppress(BrokenPipeError):
                    self._process.stdin.write(json.dumps(request).encode() + b"\n")
                    self._process.stdin.flush()
                status = self._status_at_end(feed)
        finally:
            if timer is not None:
                timer.cancel()
            if status is None:
                self._process.kill()
                ended = self._process.wait()
        errors = tail_of(self._errors, said_before)
        return ended if status is None else status, expired.is_set(), errors

    def _status_at_end(self, feed: Callable[[str], None]) -> int | None:
        """Feed the lines of a run; return the status that ends it, or None if the JVM has ended."""
        assert self._process.stdout is not None, "stdout is a pipe"
        for line in self._process.stdout:
            text = line.decode("utf-8", errors="replace")
            if text.startswith(_END_OF_RUN):
                return int(text.removeprefix(_END_OF_RUN))
            feed(text)
        return None

    def end(self) -> None:
        """End this JVM."""
        self._group.end()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


class _Pool:
    """The warm JVMs, each lent to one run at a time; as many as there are runs at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process_id = os.getpid()
        self._idle: list[_WarmJava] = []
        self._count = 0
        self._is_over = False
        self._lock = threading.Lock()

    @contextmanager
    def lent(self) -> Iterator[_WarmJava | None]:
        """Yield a JVM for one run; None where none can be had, as in a forked process."""
        java = None if os.getpid() != self._process_id else self._taken()
        try:
            yield java
        finally:
            if java is not None:
                self._given_back(java)

    def end(self) -> None:
        """End all that are idle; those that are lent end when they come back."""
        with self._lock:
            self._is_over = True
            idle, self._idle = self._idle, []
        for java in idle:
            java.end()

    def _taken(self) -> _WarmJava | None:
        with self._lock:
            while self._idle:
                java = self._idle.pop()
                if java.is_alive:
                    return java
                java.end()
            self._count += 1
            folder = self._folder / str(self._count)
        try:
            return _WarmJava(folder)
        except (KraflaError, OSError):
            return None

    def _given_back(self, java: _WarmJava) -> None:
        with self._lock:
            if java.is_alive and not self._is_over:
                self._idle.append(java)
                return
        java.end()


_pool: _Pool | None = None
