"""The kinds of faults: what each one does, and which promises hold during it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ALL_PROMISES: Final = "everything"


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One kind of fault.

    `gaps_ms` are the mean times between two such faults that a seed chooses from. `is_default`
    marks the kinds of a Raft simulation that keep all its promises; `promised` says what remains
    with the others.
    """

    name: str
    room: str
    sentence: str
    gaps_ms: tuple[int, ...]
    promised: str = ALL_PROMISES
    is_default: bool = True


_VERY_OFTEN: Final = (500, 1_500, 4_000)
_OFTEN: Final = (1_000, 3_000, 8_000)
_SOMETIMES: Final = (3_000, 8_000, 20_000)
_RARELY: Final = (8_000, 20_000)
_DAMAGE: Final = "each record is what its CRC says, or the process refuses to start"

_ALL: Final = (
    FaultKind("loss", "network", "A share of all messages is lost.", _SOMETIMES),
    FaultKind("duplication", "network", "Requests and responses arrive twice.", _SOMETIMES),
    FaultKind("delay", "network", "Some messages are late and overtaken by others.", _SOMETIMES),
    FaultKind("partition", "network", "Two groups of machines cannot hear each other.", _SOMETIMES),
    FaultKind(
        "one-way-partition", "network", "One group hears the other and is not heard.", _SOMETIMES
    ),
    FaultKind("isolation", "network", "One machine is cut off, or the leader.", _SOMETIMES),
    FaultKind("bridge", "network", "Two groups share one machine and nothing else.", _RARELY),
    FaultKind(
        "partial-mesh",
        "network",
        "Single pairs of machines cannot talk, as in KIP-996's examples.",
        _SOMETIMES,
    ),
    FaultKind("clog", "network", "Messages of one machine wait, and then come at once.", _OFTEN),
    FaultKind(
        "swizzle-clog",
        "network",
        "Machines are clogged one by one, and unclogged in another order.",
        _RARELY,
    ),
    FaultKind("kill", "process", "A process ends; what it wrote stays.", _SOMETIMES),
    FaultKind(
        "power-loss",
        "process",
        "A machine loses power: what is not flushed is lost, kept or torn.",
        _SOMETIMES,
    ),
    FaultKind(
        "crash-point",
        "process",
        "A process ends between two effects of a step, or inside one, with or without power.",
        _VERY_OFTEN,
    ),
    FaultKind(
        "crash-truncating",
        "process",
        "A process ends while it truncates its log, with or without power.",
        _VERY_OFTEN,
    ),
    FaultKind("cluster-power-loss", "process", "All machines lose power at once.", (20_000,)),
    FaultKind("pause", "process", "A process stands still, and its clock does not.", _SOMETIMES),
    FaultKind("shutdown", "process", "A process is asked to end, and starts again.", _RARELY),
    FaultKind("resign", "process", "A leader is asked to step down.", _SOMETIMES),
    FaultKind("clock-drift", "clock", "A clock runs up to a tenth too fast or slow.", _RARELY),
    FaultKind("clock-jump", "clock", "A clock is set forward or back by seconds.", _SOMETIMES),
    FaultKind("slow-disk", "disk", "A flush takes up to a thousand times as long.", _SOMETIMES),
    FaultKind("full-disk", "disk", "Nothing more can be written, and the process ends.", _RARELY),
    FaultKind(
        "lost-disk",
        "disk",
        "A machine gets an empty disk with a new directory id; with kraft.version 0, where that"
        " would go unnoticed, observers only.",
        _RARELY,
    ),
    FaultKind(
        "other-disk",
        "identity",
        "A node runs on an empty disk with another directory id for a while, then on its own.",
        _RARELY,
    ),
    FaultKind(
        "duplicate-node-id",
        "identity",
        "A second process with the same node id and a disk of its own answers some requests.",
        _RARELY,
    ),
    FaultKind("add-voter", "voters", "A replica is made a voter.", _SOMETIMES),
    FaultKind(
        "newcomer-isolation",
        "voters",
        "A replica is made a voter, and soon hears nobody any more for a while.",
        _SOMETIMES,
    ),
    FaultKind(
        "new-port",
        "voters",
        "A process ends and comes back on another port, which a voter has the leader write.",
        _SOMETIMES,
    ),
    FaultKind("remove-voter", "voters", "A voter is made an observer.", _SOMETIMES),
    FaultKind(
        "bit-rot",
        "disk",
        "A bit of a file flips.",
        _RARELY,
        f"{_DAMAGE}; a bad end of a log looks torn, and is cut off",
        is_default=False,
    ),
    FaultKind(
        "misdirected-write",
        "disk",
        "A write lands elsewhere in its file.",
        _RARELY,
        f"{_DAMAGE}; a bad end of a log looks torn, and is cut off",
        is_default=False,
    ),
    FaultKind(
        "old-image",
        "disk",
        "A disk is put back to what it was before.",
        _RARELY,
        "no file is corrupt; votes and acknowledged records of that disk are forgotten",
        is_default=False,
    ),
    FaultKind(
        "cloned-disk",
        "identity",
        "A copy of a disk runs in a second process with the same identity.",
        _RARELY,
        "no file is corrupt; one replica can vote twice in an epoch",
        is_default=False,
    ),
    FaultKind(
        "broker-shutdown",
        "broker",
        "A broker asks for leave to stop, stops, and starts again.",
        _OFTEN,
        is_default=False,
    ),
    FaultKind(
        "quick-restart",
        "broker",
        "A broker ends and is back before anybody misses it.",
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


def kinds_of(text: str) -> tuple[str, ...]:
    """Return the kinds in a comma-separated list.

    Its words are names of kinds, groups such as `network`, `default` and `all`.

    Raises ValueError for any other word.
    """
    chosen: set[str] = set()
    for word in (part.strip() for part in text.split(",") if part.strip()):
        found = {
            kind.name
            for kind in _ALL
            if word in (kind.name, kind.room, "all") or (word == "default" and kind.is_default)
        }
        if not found:
            raise ValueError(f"no fault is called {word!r}; there are {', '.join(KINDS)}")
        chosen |= found
    return tuple(name for name in KINDS if name in chosen)
