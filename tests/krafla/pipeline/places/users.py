"""A user of this machine who is not this process's, and what it cannot see."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = "krafla-test-"


@dataclass(frozen=True)
class User:
    """A system user: its name, and its user and group id."""

    name: str
    uid: int
    gid: int

    def words(self, words: Sequence[str | Path], hidden: Sequence[Path] = ()) -> list[str | Path]:
        """Return the command that runs a command as this user.

        The hidden folders are empty for it, whatever their modes are: it has mounts of its own.
        """
        covered = "".join(f"mount -t tmpfs -o mode=700 none '{one}' && " for one in hidden)
        return [
            "unshare", "--mount", "--propagation", "private",
            "sh", "-c", covered + 'cd / && exec "$@"', "sh",
            "setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups",
            *words,
        ]  # fmt: skip


@contextmanager
def another_user() -> Iterator[User]:
    """Make a system user; afterwards end its processes and remove it.

    It needs root. Users that an ended process of tests has left behind are removed, too.
    """
    for name in _left_behind():
        _run("userdel", name)
    name = f"{_NAME}{os.getpid()}"
    _run("useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--user-group",
         "--shell", "/usr/sbin/nologin", name)  # fmt: skip
    try:
        fields = _entry(name)
        user = User(name, int(fields[2]), int(fields[3]))
        try:
            yield user
        finally:
            for pid in processes_of(user):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    finally:
        _run("userdel", "--force", name)


def processes_of(user: User) -> list[int]:
    """Return the ids of the processes that run as a user."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (folder / "status").read_text()
            if re.search(rf"^Uid:\s+{user.uid}\s", status, re.MULTILINE) and "\nVmRSS" in status:
                found.append(int(folder.name))
    return found


def _left_behind() -> list[str]:
    names = [line.partition(":")[0] for line in Path("/etc/passwd").read_text().splitlines()]
    ours = [name for name in names if name.startswith(_NAME)]
    return [name for name in ours if not Path("/proc", name.removeprefix(_NAME)).exists()]


def _entry(name: str) -> list[str]:
    lines = Path("/etc/passwd").read_text().splitlines()
    return next(line for line in lines if line.startswith(f"{name}:")).split(":")


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
