"""A run as a file: its configuration, seed, plan and knobs, its digest, and what failed in it.

The file has all that decides the run, so it does not matter how seeds are drawn when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from krafla.files import write_bytes
from krafla.fuzz.engine.machine_run import Case, play
from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.verdict import KraflaError
from kraft.sim.raft.configuration import Knobs, QuorumConfiguration
from kraft.sim.raft.faults import Fault  # noqa: TC001 - msgspec reads the annotations
from kraft.sim.raft.kinds import KINDS
from kraft.sim.stack.configuration import StackKnobs

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.fuzz.engine.machine_run import Played, System

__all__ = ["Recorded", "kept_name", "read", "record", "replay", "write"]

_FORMATS: Final = {f"krafla fuzz {name}": name for name in SYSTEMS}
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a file says of a run.

    ``failed`` is the property that broke and ``text`` the sentence of it, empty if none did.
    ``mutant`` names the seeded bug that the run was played with, empty for none.
    """

    format: str
    version: int
    seed: int
    configuration: QuorumConfiguration
    knobs: Knobs
    plan: tuple[Fault, ...]
    digest: str
    failed: str = ""
    text: str = ""
    mutant: str = ""
    lockstep: bool = False
    above: StackKnobs | None = None

    @property
    def case(self) -> Case:
        """Return the case to play."""
        return Case(self.configuration, self.seed, self.plan, self.knobs, self.above)

    @property
    def system(self) -> System:
        """Return what is simulated."""
        return SYSTEMS[_FORMATS[self.format]]


def record(played: Played, mutant: str = "", *, lockstep: bool = False) -> Recorded:
    """Return what a file is to say of a run."""
    case, violation = played.case, played.violation
    assert case.plan is not None
    assert case.knobs is not None
    system = "raft" if case.above is None else "stack"
    return Recorded(
        f"krafla fuzz {system}",
        _VERSION,
        case.seed,
        case.configuration,
        case.knobs,
        case.plan,
        played.digest,
        "" if violation is None else violation.property,
        "" if violation is None else str(violation),
        mutant,
        lockstep,
        case.above,
    )


def kept_name(system: str, seed: int, example: int) -> str:
    """Return the name of the file that keeps an example of a campaign."""
    return f"krafla-{system}-{seed}-{example}.json"


def write(recorded: Recorded, path: Path) -> None:
    """Write a run to a file. Raises KraflaError if that is not possible."""
    data = msgspec.json.format(msgspec.json.encode(recorded), indent=1)
    write_bytes(path, [data, b"\n"])


def read(path: Path) -> Recorded:
    """Return the run in a file.

    Raises KraflaError, with the path, for a file that cannot be read or is no run, and for a run
    with values that no run can have.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KraflaError(error.strerror or str(error), str(path)) from error
    try:
        recorded = msgspec.json.decode(data, type=Recorded)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KraflaError(f"no run of `krafla fuzz`: {error}", str(path)) from error
    if recorded.format not in _FORMATS or recorded.version != _VERSION:
        known = " or ".join(repr(name) for name in _FORMATS)
        raise KraflaError(
            f"is {recorded.format!r} version {recorded.version}, read is {known} version "
            f"{_VERSION}",
            str(path),
        )
    for fault in recorded.plan:
        if fault.kind not in KINDS or fault.time < 0 or fault.duration < 0:
            raise KraflaError(f"has a fault that is none: {fault}", str(path))
    return recorded


def replay(recorded: Recorded) -> Played:
    """Return what a recorded run comes to now, with the code as it is."""
    if recorded.lockstep:
        from krafla.fuzz.raft.lockstep_judge import play_judged

        return play_judged(recorded.case, recorded.system)
    return play(recorded.case, system=recorded.system)
