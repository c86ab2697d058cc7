"""The fault plan of a run. A plan is data: it can be kept, read, and shortened fault by fault.

Each kind of fault has its own stream, and each fault carries its own chance. So without one of its
faults, a plan has all others unchanged, at the same times and with the same chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.kinds import KINDS

if TYPE_CHECKING:
    from kraft.sim.raft.configuration import Knobs, RaftConfiguration

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

LEADER: Final = -1
"""The target of a fault that hits whichever machine leads at its time."""


def draw_plan(seed: int, configuration: RaftConfiguration, knobs: Knobs) -> Plan:
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


def target_of(fault: Fault) -> str:
    """Return the target of a fault in words."""
    if fault.kind not in KINDS or not KINDS[fault.kind].hits_groups:
        return "the leader" if fault.target == LEADER else f"node {fault.target}"
    nodes = [str(bit) for bit in range(fault.target.bit_length()) if fault.target >> bit & 1]
    if len(nodes) < 2:
        return f"node {nodes[0]}" if nodes else "no node"
    return f"nodes {', '.join(nodes[:-1])} and {nodes[-1]}"


def _fault(time: int, name: str, machines: int, knobs: Knobs, chance: Stream) -> Fault:
    kind = KINDS[name]
    if kind.hits_groups:
        target = chance.below(1 << machines)
    else:
        target = chance.below(machines)
        if chance.below(5) < kind.aimed:
            target = LEADER
    duration = 0
    if kind.is_down:
        duration = 10 * MILLISECOND + chance.exponential(knobs.down)
    elif kind.lasts_ms is not None:
        mean, least = kind.lasts_ms
        duration = least * MILLISECOND + chance.exponential(mean * MILLISECOND)
    return Fault(time, name, target, chance.word(), duration)
