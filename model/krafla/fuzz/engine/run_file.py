"""Runs as files: a case, the system it is of, and what its run showed when it was kept.

A file has all that decides the run, so it does not matter how seeds are drawn when it is read.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.counted import counted
from krafla.files import unread, write_bytes
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import NAMES, find_system, unknown
from krafla.pipes import read_start
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from krafla.fuzz.engine.runs import Run
    from krafla.fuzz.engine.system import System
    from krafla.report.explain.account import Account
    from krafla.testing import Trace

__all__ = [
    "VERSION", "Header", "Replay", "header_of", "naming_bug", "read_bytes", "replay_file",
    "system_of", "with_bug", "write",
]  # fmt: skip

VERSION: Final = 2
_FORMAT: Final = "krafla fuzz "
# In files of version 1 the controllers and brokers on machines were called by another word.
_OLD_FORMATS: Final = {("krafla fuzz cluster", 1): "stack", ("krafla fuzz raft", 1): "raft"}
# A file without a format is a recording as `krafla fuzz` wrote them before it named the system.
_UNNAMED: Final = "lease"
_CHANGED: Final = "the code or the specs have changed since"
_OTHER: Final = f"; not the run in the file: {_CHANGED}"
_RECORDED: Final = b'"choices"'
_TRACE: Final = b'"krafla_trace"'


class Header(msgspec.Struct):
    """What a file says besides the case.

    ``kind`` is the kind of the finding, ``failed`` the property or action that was violated and
    ``text`` its sentence, all empty if none was. ``mutant`` names the seeded bug that the run was
    played with, empty for none.
    """

    format: str = ""
    version: int = 0
    digest: str = ""
    kind: tuple[str, ...] = ()
    failed: str = ""
    text: str = ""
    mutant: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """What a kept run shows when it is played again.

    ``is_same`` tells whether it has the digest and the finding in the file, None if that has none.
    ``account`` has what was found and the steps. ``mutant`` names the seeded bug that it had,
    ``failed`` what was violated when it was kept.
    """

    verdict: Verdict
    run: Run
    is_same: bool | None
    account: Account
    mutant: str = ""
    failed: str = ""

    @property
    def sentence(self) -> str:
        """Return how far the run was played, and whether it is the one in the file."""
        same = {None: "", True: "; the same run as in the file", False: _OTHER}
        ended = "nothing was found" if self.run.finding is None else "ended by a finding"
        bug = f", with the seeded bug {self.mutant}" if self.mutant else ""
        played = f"{counted(self.run.steps, 'step')}{bug}, {ended}"
        if self.verdict is Verdict.HELD and self.failed and self.is_same is False:
            return f"{played}: {self.failed}, which the file has, is gone; {_CHANGED}"
        return f"{played}{same[self.is_same]}"

    @property
    def failure(self) -> Account | None:
        """Return the account if something was found; else its steps lead nowhere."""
        return None if self.run.finding is None else self.account

    @property
    def document(self) -> dict[str, Any]:
        """Return the same as JSON data."""
        return {
            "schema": 1,
            "verdict": self.verdict.value,
            "exit_code": int(self.verdict.exit_code),
            "steps": self.run.steps,
            "finding": self.run.detail or None,
            "digest": self.run.digest,
            "same": self.is_same,
        }


def header_of(data: bytes, place: str) -> Header:
    """Return what a file says of its run; ``KraflaError``, with the place, if it holds none."""
    try:
        header = msgspec.json.decode(data, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KraflaError(_no_run(data, str(error)), place) from error
    if not header.format and _RECORDED not in data:
        raise KraflaError(_no_run(data, "it does not name its system"), place)
    return header


def system_of(data: bytes, place: str, expected: str | None = None) -> System:
    """Return the system whose run a file holds.

    ``expected`` is the system that the caller asks for. ``KraflaError``, with the place, if the
    file holds a run of another system, or no run.
    """
    header = header_of(data, place)
    if not header.format:
        return find_system(expected or _UNNAMED)
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
    return find_system(name)


def with_bug(system: System, header: Header, place: str) -> AbstractContextManager[object]:
    """Return a context in which the implementation has the seeded bug of a file, if it has one.

    ``KraflaError`` with the place if there is no such bug.
    """
    try:
        return find_mutant(header.mutant, system).applied() if header.mutant else nullcontext()
    except KraflaError as error:
        raise KraflaError(error.message, place) from error


def naming_bug(trace: Trace, mutant: str) -> Trace:
    """Return the trace of a run with the seeded bug named beside the choices in its header."""
    if not mutant:
        return trace
    assert trace.origin is not None, "the trace of a run has an origin"
    assert trace.origin.plan is not None, "and the choices of the run"
    plan = f'{trace.origin.plan[:-1]},"mutant":{msgspec.json.encode(mutant).decode()}}}'
    return replace(trace, origin=replace(trace.origin, plan=plan))


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
        return read_start(path)
    except OSError as error:
        raise unread(path, error) from error


def replay_file(path: Path, expected: str | None = None) -> Replay:
    """Play the run in a file, with its seeded bug if it has one, and return what it shows now.

    Raises KraflaError, with the path, for a file that cannot be read or holds no run.
    """
    data, place = read_bytes(path), str(path)
    system, header = system_of(data, place, expected), header_of(data, place)
    case = system.decoded(data, place)
    with with_bug(system, header, place):
        run = system.play(case)
        account = system.account(run)
    is_same = None
    if header.digest:
        # The digest of choices says nothing of what was found.
        known = header.kind or (("property", header.failed) if header.failed else ())
        is_same = (run.digest, run.kind) == (header.digest, known)
    verdict = Verdict.HELD if run.finding is None else Verdict.VIOLATED
    # A run that held before may be another run now: this says nothing of the one in the file.
    if not run.steps or (run.finding is None and not header.failed and is_same is False):
        verdict = Verdict.INCONCLUSIVE
    return Replay(verdict, run, is_same, account, header.mutant, header.failed)


def write(system: System, run: Run, path: Path, mutant: str = "") -> None:
    """Write a run to a file, with its seeded bug. Raises KraflaError if that is not possible."""
    found = run.kind, run.found_by, run.detail
    header = Header(_FORMAT + system.name, VERSION, run.digest, *found, mutant)
    data = msgspec.json.encode(header)[:-1] + b"," + run.case.encoded[1:]
    write_bytes(path, [msgspec.json.format(data, indent=1), b"\n"])
