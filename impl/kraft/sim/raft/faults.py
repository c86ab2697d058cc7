"""The fault plan of a run. A plan is data: it can be kept, read, and shortened fault by fault.

Each kind of fault has its own stream, and each fault carries its own chance. So without one of its
faults, a plan has all others unchanged, at the same times and with the same chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND

if TYPE_CHECKING:
    from kraft.sim.raft.configuration import Knobs, QuorumConfiguration

SECOND: Final = 1000 * MILLISECOND
DRIFT_MAXIMUM: Final = 100_000
"""Parts per million: a tenth. Real clocks are a thousand times better."""


class Fault(NamedTuple):
    """One fault: its start, its duration, its target, and its own chance.

    `target` is a machine or, for some kinds, a set of machines as the bits of a number. Times are
    in true nanoseconds. A fault without a duration ends at once.
    """

    time: int
    kind: str
    target: int
    chance: int
    duration: int = 0


Plan = tuple[Fault, ...]

# Mean and least duration of each lasting kind, in milliseconds. A crashed machine is down for the
# duration of the fault.
_DURATIONS_MS: Final = {
    "loss": (2_000, 50),
    "duplication": (3_000, 50),
    "delay": (2_000, 50),
    "partition": (4_000, 200),
    "one-way-partition": (4_000, 200),
    "isolation": (4_000, 200),
    "bridge": (4_000, 200),
    "partial-mesh": (5_000, 200),
    "clog": (500, 20),
    "swizzle-clog": (3_000, 500),
    "pause": (1_500, 50),
    "newcomer-isolation": (6_000, 2_000),
    "slow-disk": (2_000, 100),
    "full-disk": (3_000, 100),
    "other-disk": (6_000, 1_000),
    "duplicate-node-id": (6_000, 1_000),
    "cloned-disk": (6_000, 1_000),
    "old-image": (6_000, 500),
}
_DOWN: Final = frozenset(
    (
        "kill",
        "power-loss",
        "crash-point",
        "crash-truncating",
        "cluster-power-loss",
        "shutdown",
        "lost-disk",
        "bit-rot",
        "new-port",
        "broker-shutdown",
    )
)
# How many of five draws hit the leader instead of a random machine.
LEADER: Final = -1
_AIMED: Final = {
    "isolation": 2,
    "clog": 1,
    "kill": 2,
    "power-loss": 2,
    "crash-point": 2,
    # The present leader is cut off, and truncates later.
    "crash-truncating": 4,
    "pause": 2,
    "resign": 5,
    "slow-disk": 2,
    "clock-jump": 2,
    "shutdown": 2,
}
_GROUPS: Final = frozenset(("partition", "one-way-partition", "bridge", "partial-mesh"))


def draw_plan(seed: int, configuration: QuorumConfiguration, knobs: Knobs) -> Plan:
    """Return the plan of a seed: its faults in the order of their times."""
    machines = configuration.voters + configuration.observers
    faults: list[Fault] = []
    for kind, gap in knobs.rates:
        chance = Stream(seed, "plan", kind)
        time = configuration.calm + chance.exponential(gap)
        while time < configuration.calm + configuration.chaos:
            faults.append(_fault(time, kind, machines, knobs, chance))
            time += max(chance.exponential(gap), MILLISECOND)
    return tuple(sorted(faults))


def whom(fault: Fault) -> str:
    """Return the target of a fault in words."""
    if fault.kind not in _GROUPS:
        return "the leader" if fault.target == LEADER else f"node {fault.target}"
    nodes = [str(bit) for bit in range(fault.target.bit_length()) if fault.target >> bit & 1]
    if len(nodes) < 2:
        return f"node {nodes[0]}" if nodes else "no node"
    return f"nodes {', '.join(nodes[:-1])} and {nodes[-1]}"


def _fault(time: int, kind: str, machines: int, knobs: Knobs, chance: Stream) -> Fault:
    if kind in _GROUPS:
        target = chance.below(1 << machines)
    else:
        target = chance.below(machines)
        if chance.below(5) < _AIMED.get(kind, 0):
            target = LEADER
    duration = 0
    if kind in _DOWN:
        duration = 10 * MILLISECOND + chance.exponential(knobs.down)
    elif kind in _DURATIONS_MS:
        mean, least = _DURATIONS_MS[kind]
        duration = least * MILLISECOND + chance.exponential(mean * MILLISECOND)
    return Fault(time, kind, target, chance.word(), duration)
