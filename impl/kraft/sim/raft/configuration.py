"""The configuration of the simulation of Raft, and the knobs that a seed draws for each run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND, Timeouts
from kraft.sim.raft.kinds import DEFAULT_KINDS, KINDS
from kraft.sim.raft.network import Latency

SECOND: Final = 1000 * MILLISECOND
MACHINES_MAXIMUM: Final = 64


class RaftConfigurationError(ValueError):
    """A configuration that no quorum can have; the message names the field and the value."""


@dataclass(frozen=True, slots=True)
class RaftConfiguration:
    """Everything about a run except the seed and the plan. Times are in true nanoseconds.

    Machines 0 to `voters` - 1 are the first voters, the next `observers` are observers. Nothing
    goes wrong for the first `calm`; then faults begin until `chaos` is over. Then a core is healed.
    It has `liveness_elections` election timeouts to elect a leader and commit, with no faults
    except the lasting ones. The workload leaves at least `voters_minimum` voters. Without `spare`,
    disk faults may take a majority of the copies, and then the promises end.

    Raises RaftConfigurationError if a value is out of range.
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
        """Refuse an impossible configuration."""
        if not 1 <= self.voters <= MACHINES_MAXIMUM // 2:
            raise RaftConfigurationError(f"voters: {self.voters} is not in 1 .. 32")
        if not 0 <= self.observers <= MACHINES_MAXIMUM // 4:
            raise RaftConfigurationError(f"observers: {self.observers} is not in 0 .. 16")
        if self.kraft_version not in (0, 1):
            raise RaftConfigurationError(f"kraft_version: {self.kraft_version} is not 0 or 1")
        for name in ("calm", "chaos", "liveness_elections", "voters_minimum"):
            if getattr(self, name) < 0:
                raise RaftConfigurationError(f"{name}: {getattr(self, name)} is negative")
        unknown = sorted(set(self.kinds) - KINDS.keys())
        if unknown:
            raise RaftConfigurationError(
                f"kinds: no fault is called {', '.join(unknown)}; there are {', '.join(KINDS)}"
            )


@dataclass(frozen=True, slots=True)
class Knobs:
    """The values that a seed draws once for its run: speeds, and the frequency of each fault.

    `rates` has each kind of fault that is on, with the mean time between two of them; `down` is the
    mean time for which a stopped process stays down. The workload appends every `append_every`, up
    to `values_maximum` values of `value_bytes` at once, and asks for a snapshot after
    `snapshot_records` records. `own_time` is the duration of a step without its disk.
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


def draw_knobs(seed: int, configuration: RaftConfiguration, likely: int | None = None) -> Knobs:
    """Return the knobs of a seed.

    The probability that a fault is on (in millionths) is drawn first, unless given, so that runs
    with all faults and runs without any are common. With many kinds of faults each one is rarer, so
    that the quorum makes progress between two faults.
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
        # A truncation of several segments can be half done.
        chance.choice((300,) if "crash-truncating" in dict(rates) else (300, 10_000, 1024 * 1024)),
        tuple(rates),
    )
