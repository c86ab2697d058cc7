"""A run on machines as a file: all that decides it, its digest, and what failed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.engine.run_file import VERSION, format_of
from krafla.verdict import KraflaError
from kraft.sim.raft.configuration import Knobs, RaftConfiguration  # noqa: TC001 - msgspec reads
from kraft.sim.raft.faults import Fault  # noqa: TC001 - msgspec reads the annotations
from kraft.sim.raft.kinds import KINDS
from kraft.sim.stack.configuration import StackKnobs  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from krafla.fuzz.engine.machine_run import Played

__all__ = ["KeptRun", "decode", "kept"]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a file says of a run.

    ``failed`` is the property that broke and ``text`` its sentence, both empty if none did.
    ``mutant`` names the seeded bug that the run was played with, empty for none.
    """

    format: str
    version: int
    seed: int
    configuration: RaftConfiguration
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


def kept(system: str, played: Played, mutant: str = "", *, lockstep: bool = False) -> KeptRun:
    """Return the content of the file that keeps a run."""
    case, violation = played.case, played.violation
    assert case.plan is not None
    assert case.knobs is not None
    return KeptRun(
        format_of(system),
        VERSION,
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


def decode(data: bytes, place: str) -> KeptRun:
    """Return the run in the bytes of a file.

    Raises KraflaError, with the place, for what is no run, or has values that no run can have.
    """
    try:
        found = msgspec.json.decode(data, type=KeptRun)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KraflaError(f"no run of `krafla fuzz`: {error}", place) from error
    for fault in found.plan:
        if fault.kind not in KINDS or fault.time < 0 or fault.duration < 0:
            raise KraflaError(f"has a fault that does not exist: {fault}", place)
    return found
