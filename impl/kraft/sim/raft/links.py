"""The links that a network fault affects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.faults import LEADER
from kraft.sim.raft.network import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.sim.raft.faults import Fault

_SHARES: Final = (20_000, 100_000, 300_000)
"""Of a million messages, how many a fault of all links affects."""
_GRAY: Final = (500_000, 900_000, 990_000)
"""Of a million messages, how many a gray link loses."""


def network_rules(fault: Fault, machines: int, leader: int | None) -> tuple[Rule, ...]:
    """Return the rules of a network fault among `machines` machines; none without a target.

    The target of a partition is one of its groups, as bits, or the leader if it is one machine and
    there is a leader.
    """
    chance = Stream(fault.chance, "links")
    kind = fault.kind
    everybody = range(machines)
    if kind == "loss":
        return (Rule(kind, loss=chance.choice(_SHARES), salt=fault.chance),)
    if kind == "duplication":
        extra = chance.choice((1, 50, 1_000)) * MILLISECOND
        share = chance.choice(_SHARES)
        return (Rule(kind, duplication=share, extra=extra, salt=fault.chance),)
    if kind == "delay":
        extra = chance.choice((10, 200, 2_000)) * MILLISECOND
        return (Rule(kind, delay=chance.choice(_SHARES), extra=extra, salt=fault.chance),)
    if kind == "swizzle-clog":
        return _swizzled(fault, machines, chance)
    if kind in ("isolation", "clog", "gray-link"):
        target = leader if fault.target == LEADER else fault.target % machines
        if target is None:
            return ()
        if kind == "clog":
            return (Rule(kind, held=frozenset((target,)), until=fault.time + fault.duration),)
        if kind == "gray-link":
            return _gray(fault, target, machines, chance)
        return (Rule(kind, cut=between((target,), everybody, chance.below(3))),)
    group = [machine for machine in everybody if fault.target >> machine & 1]
    others = [machine for machine in everybody if not fault.target >> machine & 1]
    if kind == "partial-mesh":
        pairs = [(one, two) for one in everybody for two in everybody if one < two]
        broken = [pair for pair in pairs if chance.below(4) == 0]
        links = {link for one, two in broken for link in ((one, two), (two, one))}
        return (Rule(kind, cut=frozenset(links)),) if links else ()
    if not group or not others:
        return ()
    if kind == "bridge":
        bridge = chance.choice(list(everybody))
        group = [machine for machine in group if machine != bridge]
        others = [machine for machine in others if machine != bridge]
    cut = between(group, others, 1 + chance.below(2) if kind == "one-way-partition" else 0)
    return (Rule(kind, cut=cut),) if cut else ()


def between(group: Iterable[int], others: Iterable[int], way: int) -> frozenset[tuple[int, int]]:
    """Return the links between two groups: both ways, only to the group (1), only from it (2)."""
    members, rest = set(group), set(others)
    links: set[tuple[int, int]] = set()
    for member in members:
        for other in rest - members:
            if way != 1:
                links.add((member, other))
            if way != 2:
                links.add((other, member))
    return frozenset(links)


def _gray(fault: Fault, target: int, machines: int, chance: Stream) -> tuple[Rule, ...]:
    """Return the rule of one link to or from the target; none if there is no other machine."""
    if machines < 2:
        return ()
    other = (target + 1 + chance.below(machines - 1)) % machines
    link = (target, other) if chance.below(2) else (other, target)
    return (Rule(fault.kind, link=link, loss=chance.choice(_GRAY), salt=fault.chance),)


def _swizzled(fault: Fault, machines: int, chance: Stream) -> tuple[Rule, ...]:
    """Return a rule for each clogged machine, with its own time of release."""
    chosen = [machine for machine in range(machines) if chance.below(2)]
    return tuple(
        Rule(
            fault.kind,
            held=frozenset((machine,)),
            since=fault.time + chance.below(fault.duration // 2 + 1),
            until=fault.time + fault.duration // 2 + chance.below(fault.duration // 2 + 1),
        )
        for machine in chance.shuffled(chosen)
    )
