"""Runs as files: which system a file is of, and what playing it again shows.

A file has all that decides the run, so it does not matter how seeds are drawn when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.files import write_bytes
from krafla.fuzz.engine.system import NAMES, find_system, unknown
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["VERSION", "Replay", "format_of", "read_bytes", "replay_file", "system_of", "write"]

VERSION: Final = 2
_FORMAT: Final = "krafla fuzz "
# In files of version 1 the controllers and brokers on machines were called by another word.
_OLD_FORMATS: Final = {("krafla fuzz cluster", 1): "stack", ("krafla fuzz raft", 1): "raft"}
# A file without a format is a recording as `krafla fuzz` wrote them before it named the system.
_UNNAMED: Final = "lease"
_RECORDED: Final = b'"choices"'
_TRACE: Final = b'"krafla_trace"'


class _Header(msgspec.Struct):
    format: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """What a kept run shows when it is played again.

    ``steps`` is how far it was played, ``finding`` the text of the finding, if there is one.
    ``is_same`` tells whether it is bit for bit the run in the file, None if the file does not say.
    ``sentence`` is the last line, after the verdict.
    """

    verdict: Verdict
    steps: int
    finding: str | None
    digest: str
    is_same: bool | None
    lines: tuple[str, ...]
    sentence: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the same as JSON data."""
        return {
            "schema": 1,
            "verdict": self.verdict.value,
            "exit_code": int(self.verdict.exit_code),
            "steps": self.steps,
            "finding": self.finding,
            "digest": self.digest,
            "same": self.is_same,
        }


def format_of(system: str) -> str:
    """Return what a file says of the system whose run it holds."""
    return _FORMAT + system


def system_of(data: bytes, place: str, expected: str | None = None) -> str:
    """Return the name of the system whose run a file holds.

    ``expected`` is the system that the caller asks for. ``KraflaError``, with the place, if the
    file holds a run of another system, or no run.
    """
    try:
        header = msgspec.json.decode(data, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KraflaError(_no_run(data, str(error)), place) from error
    if not header.format:
        if _RECORDED not in data:
            raise KraflaError(_no_run(data, "it does not name its system"), place)
        return expected or _UNNAMED
    name = _OLD_FORMATS.get((header.format, header.version))
    if name is None:
        name = header.format.removeprefix(_FORMAT)
        if name == header.format or name not in NAMES:
            why = unknown(name) if name != header.format else "which is not a run of `krafla fuzz`"
            raise KraflaError(f"says that it is {header.format!r}: {why}", place)
        if header.version != VERSION:
            raise KraflaError(
                f"is of version {header.version}; this krafla reads version {VERSION}", place
            )
    if expected not in {None, name}:
        raise KraflaError(f"is a run of `krafla fuzz {name}`, not of {expected}", place)
    return name


def _no_run(data: bytes, why: str) -> str:
    """Return what is wrong with a file that holds no run, and what plays it if it is a trace."""
    if not data.strip():
        return "no run of `krafla fuzz`: the file is empty"
    if _TRACE in data[:200]:
        return "a trace, not a run of `krafla fuzz`: `krafla replay --impl` plays it"
    return f"neither a run of `krafla fuzz` nor a trace: {why}"


def read_bytes(path: Path) -> bytes:
    """Return the content of a file. Raises KraflaError, with the path, if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise KraflaError(error.strerror or str(error), str(path)) from error


def replay_file(path: Path, expected: str | None = None) -> Replay:
    """Play the run in a file with the code as it is now, and return what it shows.

    Raises KraflaError, with the path, for a file that cannot be read or holds no run.
    """
    data = read_bytes(path)
    return find_system(system_of(data, str(path), expected)).replay(data, str(path))


def write(content: object, path: Path) -> None:
    """Write a run to a file. Raises KraflaError if that is not possible."""
    data = msgspec.json.format(msgspec.json.encode(content), indent=1)
    write_bytes(path, [data, b"\n"])
