"""What a simulated quorum is made of, and the knobs that a seed turns anew for each run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND, Timeouts
from kraft.sim.raft.kinds import DEFAULT_KINDS, KINDS
from kraft.sim.raft.network import Latency

SECOND: Final = 1000 * MILLISECOND
MACHINES_MAXIMUM: Final = 64


class QuorumConfigurationError(ValueError):
    """A configuration that no quorum can have; the message names the field and the value."""


@dataclass(frozen=True, slots=True)
class QuorumConfiguration:
    """All about a run that is neither seed nor plan. Times are true nanoseconds.

    Machines 0 to `voters` - 1 are the first voters, the next `observers` observe. For the first
    `calm` nothing goes wrong, then faults begin until `chaos` is over; then a core is healed, and
    has `liveness_elections` election timeouts, with no other faults than those that stay, to
    choose a leader and commit. `voters_minimum`: the workload removes no more voters. Without
    `spare` the faults of a disk may take a majority of the copies, and the promises end there.

    Raises QuorumConfigurationError if a value is out of range.
    """

    voters: int = 5
    observers: int = 2
    kraft_version: int = 1
    timeouts: Timeouts = field(default_factory=Timeouts)
    kinds: tuple[str, ...] = DEFAULT_KINDS
    calm: int = 3 * SECOND
    chaos: int = 30 * SECOND
    liveness_elections: int = 20
    voters_minimum: int = 2
    spare: bool = True

    def __post_init__(self) -> None:
        """Refuse what no quorum can be."""
        if not 1 <= self.voters <= MACHINES_MAXIMUM // 2:
            raise QuorumConfigurationError(f"voters: {self.voters} is not in 1 .. 32")
        if not 0 <= self.observers <= MACHINES_MAXIMUM // 4:
            raise QuorumConfigurationError(f"observers: {self.observers} is not in 0 .. 16")
        if self.kraft_version not in (0, 1):
            raise QuorumConfigurationError(f"kraft_version: {self.kraft_version} is not 0 or 1")
        for name in ("calm", "chaos", "liveness_elections", "voters_minimum"):
            if getattr(self, name) < 0:
                raise QuorumConfigurationError(f"{name}: {getattr(self, name)} is negative")
        unknown = sorted(set(self.kinds) - KINDS.keys())
        if unknown:
            raise QuorumConfigurationError(
                f"kinds: no fault is called {', '.join(unknown)}; there are {', '.join(KINDS)}"
            )


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a seed decides once for its run: how fast everything is, and which faults how often.

    `rates` has each kind of fault that is on, with the mean time between two of it; `down` is the
    mean time that a stopped process stays down. The workload appends every `append_every`, up to
    `values_maximum` values of `value_bytes` at once, and asks for a snapshot after
    `snapshot_records` records. `own_time` is what a step takes without its disk.
    """

    latency: Latency = field(default_factory=Latency)
    flush_latency: int = 500_000
    own_time: int = 20_000
    append_every: int = 200 * MILLISECOND
    values_maximum: int = 3
    value_bytes: int = 24
    snapshot_records: int = 100
    down: int = 2 * SECOND
    fetch_bytes: int = 8 * 1024 * 1024
    snapshot_bytes: int = 8 * 1024 * 1024
    segment_bytes: int = 1024 * 1024
    rates: tuple[tuple[str, int], ...] = ()


def draw_knobs(seed: int, configuration: QuorumConfiguration, likely: int | None = None) -> Knobs:
    """Return the knobs of a seed.

    How likely a fault is to be on is drawn first, in millionths, if it is not given: so runs with
    all of them and runs with none are not rare. Many kinds make each of them rarer, so that the
    quorum gets on between two faults.
    """
    chance = Stream(seed, "knobs")
    drawn = chance.choice((0, 150_000, 300_000, 500_000, 700_000, 1_000_000))
    likely = drawn if likely is None else likely
    between = chance.choice((200, 400, 800, 1_600)) * MILLISECOND
    rates = []
    for name in sorted(configuration.kinds):
        own = Stream(seed, "knob", name)
        if own.happens(likely):
            rates.append((name, own.choice(KINDS[name].gaps_ms) * MILLISECOND))
    crowd = sum(between * 1000 // gap for _, gap in rates)
    if crowd > 1000:
        rates = [(name, gap * crowd // 1000) for name, gap in rates]
    mean = chance.choice((2, 5, 10, 20)) * MILLISECOND
    return Knobs(
        Latency(mean // 4, mean, chance.choice(("steady", "exponential", "exponential", "heavy"))),
        chance.choice((100_000, 500_000, 2 * MILLISECOND)),
        chance.choice((5_000, 50_000, 200_000)),
        chance.choice((100, 200, 300, 500)) * MILLISECOND,
        chance.choice((1, 3, 8)),
        chance.choice((8, 24, 200)),
        chance.choice((10, 40, 150)),
        chance.choice((200, 1000, 3000)) * MILLISECOND,
        chance.choice((400, 4_000, 8 * 1024 * 1024)),
        chance.choice((100, 1_000, 8 * 1024 * 1024)),
        # A truncation that takes several segments can be half done.
        chance.choice((300,) if "crash-truncating" in dict(rates) else (300, 10_000, 1024 * 1024)),
        tuple(rates),
    )
