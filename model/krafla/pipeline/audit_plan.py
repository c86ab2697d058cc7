"""Which clusters are judged in pieces: an estimate of when all tasks of an audit are done.

One task judges a cluster, unless that would keep the others waiting. The history of a long cluster
is replayed by one task while others judge its beginning and the other clusters; then many tasks
judge the rest of it. Replaying decides how quick that can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Final

from krafla.audit.compare import agrees
from krafla.audit.pieces import REPLAY_SHARE, cuts_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.audit.inventory import Inventory

__all__ = ["EXTRA_RECORDS", "Division", "judged_records", "plan"]

EXTRA_RECORDS: Final = 2_500_000
"""How many records one task judges in the time that two more stages cost."""
_STEPS: Final = 20


@dataclass(frozen=True, slots=True)
class Division:
    """How a history is cut: `first` is the share that is judged while it is replayed.

    The rest makes so many pieces of equal length.
    """

    first: float
    pieces: int

    def cuts(self, member: Inventory) -> list[int]:
        """Return the offsets at which the history of a log is cut."""
        begin = _begin(member)
        if begin is None:
            return []
        rest = (1 - self.first) / self.pieces
        return cuts_at(member.offsets, begin, [self.first + n * rest for n in range(self.pieces)])


def plan(records: Sequence[int], slots: int) -> dict[int, Division]:
    """Return which clusters are judged in pieces, by their numbers; none if that gains no time.

    `records` are those that each cluster has to judge, `slots` says how many tasks run at once.
    """
    # A cluster that is no longer than the share of a slot delays no other task.
    long = [n for n in range(len(records)) if records[n] * slots > sum(records)]
    long.sort(key=lambda n: -records[n])
    best: dict[int, Division] = {}
    soonest = float(_makespan(records, slots))
    for count in range(1, len(long) + 1):
        for step in range(1, _STEPS):
            divided = _divided(records, long[:count], slots, step / _STEPS)
            done = _done(records, divided, slots)
            if done < soonest:
                best, soonest = divided, done
    return best


def judged_records(members: Iterable[Inventory]) -> int:
    """Return about how many records the histories of a cluster's logs have; equal ones count once.

    Where a log begins in a checkpoint that cannot be read, it is fewer.
    """
    known = [(member, begin) for member in members if (begin := _begin(member)) is not None]
    known.sort(key=lambda one: one[0].end - one[1], reverse=True)
    judged: list[tuple[Inventory, int]] = []
    for member, begin in known:
        if not any(
            other <= begin and log.end >= member.end and agrees(log, member)
            for log, other in judged
        ):
            judged.append((member, begin))
    return sum(member.end - begin for member, begin in judged)


def _begin(member: Inventory) -> int | None:
    """Return where the history of a log starts if its checkpoints can be read, as `start_of`."""
    if not member.marks:
        return None
    if member.first == 0:
        return 0
    ends = (one.end_offset for one in member.checkpoints)
    return next((end for end in ends if member.first <= end <= member.end), None)


def _divided(
    records: Sequence[int], long: Sequence[int], slots: int, first: float
) -> dict[int, Division]:
    """Return the clusters that are cut: together they have a piece for each slot."""
    total = sum(records[n] for n in long)
    return {n: Division(first, max(1, round(slots * records[n] / total))) for n in long}


def _done(records: Sequence[int], divided: dict[int, Division], slots: int) -> float:
    """Return when all is judged; the time of one record's judging is 1."""
    early: list[float] = [one for n, one in enumerate(records) if n not in divided]
    late: list[float] = []
    for number, division in divided.items():
        one = records[number] * (1 - division.first) / division.pieces
        # The last piece is not replayed.
        early += [records[number] * division.first, REPLAY_SHARE * (records[number] - one)]
        late += [one] * division.pieces
    return _makespan(early, slots) + _makespan(late, slots) + EXTRA_RECORDS


def _makespan(tasks: Iterable[float], slots: int) -> float:
    """Return when the last task is done if each slot takes the longest one that is left."""
    free = [0.0] * slots
    heapify(free)
    for task in sorted(tasks, reverse=True):
        heapreplace(free, free[0] + task)
    return max(free)
