"""The kinds of faults: what each one does, and which promises hold during it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

ALL_PROMISES: Final = "everything"


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One kind of fault.

    `gaps_ms` are the mean times between two such faults that a seed chooses from. `is_default`
    marks the kinds of a Raft simulation that keep all its promises; `promised` says what remains
    with the others. A kind that came later is off as well: seeds keep their runs. `lasts_ms` are
    the mean and the least duration. While a fault with `is_down` lasts, the process does not run.
    `aimed` says how many of five such faults hit the leader instead of a random machine.
    `hits_groups` marks the kinds whose target is a set of machines.
    """

    name: str
    room: str
    sentence: str
    gaps_ms: tuple[int, ...]
    promised: str = ALL_PROMISES
    is_default: bool = True
    lasts_ms: tuple[int, int] | None = None
    is_down: bool = False
    aimed: int = 0
    hits_groups: bool = False


_VERY_OFTEN: Final = (500, 1_500, 4_000)
_OFTEN: Final = (1_000, 3_000, 8_000)
_SOMETIMES: Final = (3_000, 8_000, 20_000)
_RARELY: Final = (8_000, 20_000)
_DAMAGE: Final = "each record is what its CRC says, or the process refuses to start"

_ALL: Final = (
    FaultKind(
        "loss", "network", "A share of all messages is lost.", _SOMETIMES, lasts_ms=(2_000, 50)
    ),
    FaultKind(
        "duplication",
        "network",
        "Requests and responses arrive twice.",
        _SOMETIMES,
        lasts_ms=(3_000, 50),
    ),
    FaultKind(
        "delay",
        "network",
        "Some messages are late and overtaken by others.",
        _SOMETIMES,
        lasts_ms=(2_000, 50),
    ),
    FaultKind(
        "partition",
        "network",
        "Two groups of machines cannot hear each other.",
        _SOMETIMES,
        lasts_ms=(4_000, 200),
        hits_groups=True,
    ),
    FaultKind(
        "one-way-partition",
        "network",
        "One group hears the other and is not heard.",
        _SOMETIMES,
        lasts_ms=(4_000, 200),
        hits_groups=True,
    ),
    FaultKind(
        "isolation",
        "network",
        "One machine is cut off, or the leader.",
        _SOMETIMES,
        lasts_ms=(4_000, 200),
        aimed=2,
    ),
    FaultKind(
        "bridge",
        "network",
        "Two groups share one machine and nothing else.",
        _RARELY,
        lasts_ms=(4_000, 200),
        hits_groups=True,
    ),
    FaultKind(
        "partial-mesh",
        "network",
        "Single pairs of machines cannot talk, as in KIP-996's examples.",
        _SOMETIMES,
        lasts_ms=(5_000, 200),
        hits_groups=True,
    ),
    FaultKind(
        "clog",
        "network",
        "Messages of one machine wait, and then come at once.",
        _OFTEN,
        lasts_ms=(500, 20),
        aimed=1,
    ),
    FaultKind(
        "gray-link",
        "network",
        "One machine hears another only now and then, and is heard by it.",
        _SOMETIMES,
        is_default=False,
        lasts_ms=(4_000, 200),
        aimed=2,
    ),
    FaultKind(
        "swizzle-clog",
        "network",
        "Machines are clogged one by one, and unclogged in another order.",
        _RARELY,
        lasts_ms=(3_000, 500),
    ),
    FaultKind(
        "kill", "process", "A process ends; what it wrote stays.", _SOMETIMES, is_down=True, aimed=2
    ),
    FaultKind(
        "power-loss",
        "process",
        "A machine loses power: what is not flushed is lost, kept or torn.",
        _SOMETIMES,
        is_down=True,
        aimed=2,
    ),
    FaultKind(
        "crash-point",
        "process",
        "A process ends between two effects of a step, or inside one, with or without power.",
        _VERY_OFTEN,
        is_down=True,
        aimed=2,
    ),
    FaultKind(
        "crash-truncating",
        "process",
        "A process ends while it truncates its log, with or without power.",
        _VERY_OFTEN,
        is_down=True,
        aimed=4,
    ),
    FaultKind(
        "cluster-power-loss", "process", "All machines lose power at once.", (20000,), is_down=True
    ),
    FaultKind(
        "pause",
        "process",
        "A process stands still, and its clock does not.",
        _SOMETIMES,
        lasts_ms=(1_500, 50),
        aimed=2,
    ),
    FaultKind(
        "shutdown",
        "process",
        "A process is asked to end, and starts again.",
        _RARELY,
        is_down=True,
        aimed=2,
    ),
    FaultKind("resign", "process", "A leader is asked to step down.", _SOMETIMES, aimed=5),
    FaultKind("clock-drift", "clock", "A clock runs up to a tenth too fast or slow.", _RARELY),
    FaultKind(
        "clock-jump", "clock", "A clock is set forward or back by seconds.", _SOMETIMES, aimed=2
    ),
    FaultKind(
        "slow-disk",
        "disk",
        "A flush takes up to a thousand times as long.",
        _SOMETIMES,
        lasts_ms=(2_000, 100),
        aimed=2,
    ),
    FaultKind(
        "full-disk",
        "disk",
        "Nothing more can be written, and the process ends.",
        _RARELY,
        lasts_ms=(3_000, 100),
    ),
    FaultKind(
        "lost-disk",
        "disk",
        "A machine gets an empty disk with a new directory id; with kraft.version 0, where that"
        " would go unnoticed, observers only.",
        _RARELY,
        is_down=True,
    ),
    FaultKind(
        "other-disk",
        "identity",
        "A node runs on an empty disk with another directory id for a while, then on its own.",
        _RARELY,
        lasts_ms=(6_000, 1_000),
    ),
    FaultKind(
        "duplicate-node-id",
        "identity",
        "A second process with the same node id and a disk of its own answers some requests.",
        _RARELY,
        lasts_ms=(6_000, 1_000),
    ),
    FaultKind("add-voter", "voters", "A replica is made a voter.", _SOMETIMES),
    FaultKind(
        "newcomer-isolation",
        "voters",
        "A replica is made a voter, and soon after it hears no other node for a while.",
        _SOMETIMES,
        lasts_ms=(6_000, 2_000),
    ),
    FaultKind(
        "new-port",
        "voters",
        "A process ends and comes back on another port, which a voter has the leader write.",
        _SOMETIMES,
        is_down=True,
    ),
    FaultKind("remove-voter", "voters", "A voter is made an observer.", _SOMETIMES),
    FaultKind(
        "bit-rot",
        "disk",
        "A bit of a file flips.",
        _RARELY,
        promised=f"{_DAMAGE}; a bad end of a log looks torn, and is cut off",
        is_default=False,
        is_down=True,
    ),
    FaultKind(
        "misdirected-write",
        "disk",
        "A write lands elsewhere in its file.",
        _RARELY,
        promised=f"{_DAMAGE}; a bad end of a log looks torn, and is cut off",
        is_default=False,
    ),
    FaultKind(
        "old-image",
        "disk",
        "A disk is put back to what it was before.",
        _RARELY,
        promised="no file is corrupt; votes and acknowledged records of that disk are forgotten",
        is_default=False,
        lasts_ms=(6_000, 500),
    ),
    FaultKind(
        "cloned-disk",
        "identity",
        "A copy of a disk runs in a second process with the same identity.",
        _RARELY,
        promised="no file is corrupt; one replica can vote twice in an epoch",
        is_default=False,
        lasts_ms=(6_000, 1_000),
    ),
    FaultKind(
        "broker-shutdown",
        "broker",
        "A broker asks for leave to stop, stops, and starts again.",
        _OFTEN,
        is_default=False,
        is_down=True,
    ),
    FaultKind(
        "quick-restart",
        "broker",
        "A broker ends and is back before any node notices.",
        _SOMETIMES,
        is_default=False,
    ),
    FaultKind(
        "lost-directory",
        "broker",
        "One of several log directories of a broker fails.",
        _SOMETIMES,
        is_default=False,
    ),
)

KINDS: Final = {kind.name: kind for kind in _ALL}
"""All kinds of faults, by name."""

DEFAULT_KINDS: Final = tuple(kind.name for kind in _ALL if kind.is_default)
"""The kinds that keep all promises."""

BROKER_KINDS: Final = tuple(kind.name for kind in _ALL if kind.room == "broker")
"""The kinds that hit only brokers; in stack simulations they keep all promises."""


NETWORK_KINDS: Final = tuple(kind.name for kind in _ALL if kind.room == "network")
"""The kinds that links suffer."""

MACHINE_KINDS: Final = tuple(name for name in KINDS if name not in BROKER_KINDS)
"""The kinds that need no brokers."""


def kinds_of(text: str, among: Collection[str] = KINDS) -> tuple[str, ...]:
    """Return the kinds in a comma-separated list, of those that a simulation can perform.

    Its words are names of kinds, groups such as `network`, `default` and `all`.

    Raises ValueError for any other word.
    """
    chosen: set[str] = set()
    for word in (part.strip() for part in text.split(",") if part.strip()):
        found = {
            kind.name
            for kind in _ALL
            if kind.name in among
            and (word in (kind.name, kind.room, "all") or (word == "default" and kind.is_default))
        }
        if not found:
            raise ValueError(f"no fault is called {word!r}; there are {', '.join(among)}")
        chosen |= found
    return tuple(name for name in KINDS if name in chosen)
