"""The graph as arrays: states and steps are numbers, not objects."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from krafla.oracle import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.oracle import Exploration

__all__ = ["ActionUse", "Groups", "StateGraph"]


@dataclass(frozen=True, slots=True)
class Groups:
    """Numbers in groups: group ``i`` is ``members[starts[i]:starts[i + 1]]``."""

    starts: array[int]
    members: array[int]

    def __getitem__(self, group: int) -> array[int]:
        return self.members[self.starts[group] : self.starts[group + 1]]

    @classmethod
    def by(cls, keys: Sequence[int], count: int) -> Groups:
        """Return the indexes of ``keys``, grouped by key, in order; negative keys are left out."""
        sizes = [0] * (count + 1)
        for key in keys:
            if key >= 0:
                sizes[key + 1] += 1
        starts = array("i", accumulate(sizes))
        members = array("i", bytes(4 * starts[-1]))
        free = starts[:]
        for index, key in enumerate(keys):
            if key >= 0:
                members[free[key]] = index
                free[key] += 1
        return cls(starts, members)


@dataclass(slots=True)
class ActionUse:
    """How often an action was taken: in all, to a new state, to the same state, out of bounds."""

    taken: int = 0
    discovered: int = 0
    loops: int = 0
    cut: int = 0


@dataclass(frozen=True)
class StateGraph:
    """The states and steps of an exploration, by number.

    States are numbered in order of discovery, the initial ones first. A step out of the model's
    bounds has the target ``OUTSIDE``. The steps of the states from ``found.expanded`` on are not
    known; there are such states only if the search was cut. ``holds`` has one byte for each named
    predicate and each state, 1 if it is true there. ``beyond`` has the predicates that are true in
    a state just out of bounds.
    """

    found: Exploration
    holds: dict[str, bytes] = field(default_factory=dict)
    beyond: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return self.found.distinct

    @cached_property
    def out(self) -> Groups:
        """Return the steps that begin in each state."""
        return Groups.by(self.found.sources, len(self))

    @cached_property
    def into(self) -> Groups:
        """Return the steps that end in each state."""
        return Groups.by(self.found.targets, len(self))

    def successors(self, state: int) -> list[int]:
        """Return the states one step after a state, each once, in order of the first step."""
        targets = self.found.targets
        ends = dict.fromkeys(targets[step] for step in self.out[state])
        ends.pop(OUTSIDE, None)
        return list(ends)

    def predecessors(self, state: int) -> list[int]:
        """Return the states one step before a state, each once."""
        sources = self.found.sources
        return list(dict.fromkeys(sources[step] for step in self.into[state]))

    def initial(self) -> list[int]:
        """Return the initial states."""
        count = 0
        while count < len(self) and self.found.parents[count] < 0:
            count += 1
        return list(range(count))

    @cached_property
    def depths(self) -> array[int]:
        """Return the number of steps to each state from the nearest initial one."""
        depths = array("i", bytes(4 * len(self)))
        for state, parent in enumerate(self.found.parents):
            # A parent was found before its child.
            depths[state] = 0 if parent < 0 else depths[parent] + 1
        return depths

    def depth_histogram(self) -> dict[int, int]:
        """Return how many states lie at each depth."""
        return dict(sorted(Counter(self.depths).items()))

    def out_degrees(self) -> dict[int, int]:
        """Return how many states have each number of steps, among those whose steps are known."""
        starts = self.out.starts
        sizes = (starts[state + 1] - starts[state] for state in range(self.found.expanded))
        return dict(sorted(Counter(sizes).items()))

    def in_degrees(self) -> dict[int, int]:
        """Return how many states have each number of steps that lead to them."""
        counts = array("i", bytes(4 * len(self)))
        for target in self.found.targets:
            if target != OUTSIDE:
                counts[target] += 1
        return dict(sorted(Counter(counts).items()))

    def action_uses(self) -> dict[str, ActionUse]:
        """Return the use of each action of the spec, in its order."""
        found = self.found
        loops = [0] * len(found.actions)
        cut = [0] * len(found.actions)
        for source, target, label in zip(found.sources, found.targets, found.labels, strict=True):
            if target == source:
                loops[label] += 1
            elif target == OUTSIDE:
                cut[label] += 1
        return {
            name: ActionUse(
                found.coverage[name].taken,
                found.coverage[name].discovered,
                loops[label],
                cut[label],
            )
            for label, name in enumerate(found.actions)
        }
