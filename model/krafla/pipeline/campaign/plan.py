"""What a campaign is: which seeds, of which runs; and which of them a store lacks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.campaign import BRIEF_STEPS
from krafla.pipeline.campaign.rounds import ROUNDS
from krafla.pipeline.campaign.rows import RUNS
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from krafla.fuzz.engine.runs import Runs
    from krafla.pipeline.store import Store

__all__ = ["SEED", "WAVE", "CampaignPlan", "check_claim", "missing_spans", "parse_seeds"]

SEED: Final = 0
"""The seed of every campaign: its run n is run n of `krafla fuzz --seed 0`."""
WAVE: Final = "wave"
"""The kind of a load with the results of some seeds."""
SEEDS_MAX: Final = 10_000_000
_SEEDS: Final = re.compile(r"(\d{1,12})\.\.(\d{1,12})", re.ASCII)
_SPANS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """Which seeds are played, how, and how many by one task.

    With ``learns``, later rounds of seeds are bred from earlier ones.
    """

    first: int
    last: int
    runs: Runs
    chunk: int
    learns: bool = False

    def __post_init__(self) -> None:
        """Raise ``KraflaError`` if a campaign would learn from seeds that it does not play."""
        if self.learns and self.first:
            raise KraflaError("a campaign that learns begins at seed 0")

    @property
    def count(self) -> int:
        """Return how many seeds there are."""
        return self.last - self.first + 1

    @property
    def claim(self) -> dict[str, Any]:
        """Return all that decides the result of a seed, as JSON data."""
        runs = self.runs
        options = runs.plan | ({"--learn": ROUNDS} if self.learns else {})
        return {"system": runs.name, "runs": options, "judged_by": runs.judged_by()}

    @property
    def command(self) -> str:
        """Return the command of the campaign, but for the place of its store."""
        seeds = f"--seeds {self.first}..{self.last}"
        options = self.runs.arguments + " --learn" * self.learns
        return f"krafla campaign {self.runs.name} {seeds}{options}"

    def is_brief(self, processes: int) -> bool:
        """Return whether each of these processes plays too little for an optimising compiler."""
        return self.count // processes * self.runs.judged_steps < BRIEF_STEPS


def parse_seeds(text: str) -> tuple[int, int]:
    """Return the first and the last seed of ``A..B``; ``KraflaError`` for anything else."""
    match = _SEEDS.fullmatch(text)
    if match is None:
        raise KraflaError(f"seeds are a first and a last number, as in 0..4999, not {text!r}")
    first, last = int(match[1]), int(match[2])
    if last < first:
        raise KraflaError(f"the last seed, {last}, comes before the first, {first}")
    if last - first >= SEEDS_MAX:
        raise KraflaError(f"a campaign has at most {SEEDS_MAX:,} seeds")
    return first, last


def check_claim(plan: CampaignPlan, store: Store) -> None:
    """Raise ``KraflaError`` if a store has results of other runs: one is for one campaign."""
    wanted = plan.claim
    for commit in store.commits(WAVE):
        before = commit.facts["claim"]
        if before != wanted:
            raise KraflaError(
                f"this holds another campaign ({_difference(before, wanted)});"
                " choose another directory",
                printable(store.uri),
            )


def missing_spans(plan: CampaignPlan, store: Store) -> list[tuple[int, int]]:
    """Return spans, in order, that have every seed of a plan which has no result in a store.

    A span begins and ends with such a seed; others between them may have a result.
    """
    if not store.commits(WAVE):
        return [(plan.first, plan.last)]
    from pyspark.sql import functions as f

    done = store.read(RUNS, WAVE).select(f.col("seed").alias("id"))
    missing = store.spark.range(plan.first, plan.last + 1).join(done, "id", "left_anti")
    width = -(-plan.count // _SPANS_MAX)
    group = f.floor((f.col("id") - plan.first) / width).alias("span")
    ends = missing.groupBy(group).agg(f.min("id").alias("first"), f.max("id").alias("last"))
    spans: list[tuple[int, int]] = []
    for row in sorted(ends.collect()):
        if spans and spans[-1][1] + 1 == row["first"]:
            spans[-1] = (spans[-1][0], row["last"])
        else:
            spans.append((row["first"], row["last"]))
    return spans


def _difference(before: dict[str, Any], wanted: dict[str, Any]) -> str:
    if before["system"] != wanted["system"]:
        return f"it is of {before['system']}"
    old, new = before["runs"], wanted["runs"]
    names = sorted(name for name in old | new if old.get(name) != new.get(name))
    if not names:
        return "the code or the spec has changed since"
    return f"other {', '.join(names)}: asked again, it must be the same"
