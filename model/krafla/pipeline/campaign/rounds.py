"""The rounds of a campaign that learns: each is bred from those before it alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.breeding import ROUND
from krafla.fuzz.engine.novelty import Novelty
from krafla.pipeline.campaign.rows import BRED
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.fuzz.engine.novelty import Parent
    from krafla.pipeline.store import Store

__all__ = ["ROUNDS", "Rounds", "round_end"]

ROUNDS: Final = "in rounds of 32 seeds, or a quarter of those before, or 2,000"
"""What the rounds are: part of the description of a campaign, which decides its results."""
_ROUND_MAX: Final = 2_000
_SHARE: Final = 4


def round_end(seed: int) -> int:
    """Return the first seed after the round of a seed."""
    end = 0
    while end <= seed:
        end += min(_ROUND_MAX, max(ROUND, end // _SHARE))
    return end


@dataclass(slots=True)
class Rounds:
    """What the rounds in a store teach, as far as they have been looked at."""

    store: Store
    _novelty: Novelty = field(default_factory=Novelty)
    _learned: int = 0

    def parents_of(self, seed: int) -> tuple[Parent, ...]:
        """Return what the round of a seed is bred from; all rounds before it must be in the store.

        Seeds are asked for in ascending order.
        """
        while (end := round_end(self._learned)) <= seed:
            self._novelty.add(self._runs(self._learned, end))
            self._learned = end
        return tuple(self._novelty.parents)

    def _runs(self, first: int, end: int) -> list[tuple[int, bytes, dict[int, int]]]:
        """Return the runs of a round in which nothing was found."""
        from pyspark.sql import functions as f

        rows = self.store.read(BRED).where(f.col("seed").between(first, end - 1))
        held = rows.where(f.col("verdict") == Verdict.HELD.value).dropDuplicates(["seed"])
        return [(row["seed"], bytes(row["plan"]), row["features"]) for row in held.collect()]
