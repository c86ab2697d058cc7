"""The result of a campaign: what all of its rows come to, summed up by Spark."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.seen import TALLIES, Seen
from krafla.pipeline.campaign.plan import WAVE
from krafla.pipeline.campaign.rows import DIGEST_BLOCK, RUNS, blocks_digest
from krafla.pipeline.campaign.sketches import states_estimate
from krafla.verdict import KraflaError, Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame, Row

    from krafla.pipeline.campaign.plan import CampaignPlan
    from krafla.pipeline.store import Commit, Store

__all__ = ["CAMPAIGN", "CampaignResult", "facts_of", "how_shrunk", "read_outcome", "runs_of"]

CAMPAIGN: Final = "campaign"
"""The kind of a load with the result of a whole campaign."""
_FORMAT: Final = 6
_LOST_TOLD: Final = 20


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """The result of a campaign. ``digest`` covers the results of all seeds, in order.

    ``tallies`` has the counts over all seeds, ``summary`` sums them up in a line. ``findings`` has
    one entry for each kind: its number of seeds, the shortest run, the names of the files kept in
    the table ``findings`` of ``load``. ``doubts`` says why the campaign shows less than it should,
    ``missed`` what no seed came by.
    """

    out: str
    load: str
    system: str
    verdict: Verdict
    digest: str
    counts: dict[str, int]
    tallies: dict[str, dict[str, int]]
    coverage: tuple[str, ...]
    summary: str
    findings: tuple[dict[str, Any], ...]
    doubts: tuple[str, ...]
    missed: tuple[str, ...]
    reproduce: str

    def requiring_coverage(self) -> CampaignResult:
        """Return the result of the same campaign if what was missed makes it inconclusive."""
        held_no_more = self.missed and self.verdict is Verdict.HELD
        return replace(
            self,
            verdict=Verdict.INCONCLUSIVE if held_no_more else self.verdict,
            doubts=self.doubts + self.missed,
            missed=(),
            reproduce=f"{self.reproduce} --require-coverage",
        )


def how_shrunk(finding: Mapping[str, Any]) -> str:
    """Return in words how small a finding of a campaign was made."""
    if finding["smallest"] is None:
        return "not shrunk"
    return f"shrunk from {finding['size']:,} {finding['unit']} to {finding['smallest']:,}"


def read_outcome(store: Store, load: str | None = None) -> CampaignResult:
    """Return the result of a finished campaign; ``KraflaError`` if the store holds none.

    Without ``load`` it is the one with the most seeds.
    """
    found = [one for one in store.commits(CAMPAIGN) if load in (None, one.load)]
    if not found:
        raise KraflaError("there is no finished campaign in this store", printable(store.uri))
    commit = max(found, key=lambda one: (one.facts["counts"]["seeds"], one.load))
    return _result(store, commit)


def _result(store: Store, commit: Commit) -> CampaignResult:
    facts = commit.facts
    if facts.get("format") != _FORMAT:
        raise KraflaError("this campaign is of another krafla, which alone can read it",
                          printable(store.uri))  # fmt: skip
    return CampaignResult(
        store.uri,
        commit.load,
        facts["system"],
        Verdict(facts["verdict"]),
        facts["digest"],
        facts["counts"],
        facts["tallies"],
        tuple(facts["coverage"]),
        facts["summary"],
        tuple(facts["findings"]),
        tuple(facts["doubts"]),
        tuple(facts["missed"]),
        facts["reproduce"],
    )


def runs_of(plan: CampaignPlan, store: Store) -> DataFrame:
    """Return one row for each seed of a plan.

    ``KraflaError`` if a seed has no result, or if one gave two that differ: two drivers at once may
    play a seed twice, but it is the same.
    """
    from pyspark.sql import functions as f

    rows = store.read(RUNS, WAVE).where(f.col("seed").between(plan.first, plan.last))
    each = rows.groupBy("seed").agg(f.count_distinct("digest").alias("results"))
    facts = each.agg(
        f.count("*").alias("seeds"), f.min(f.when(f.col("results") > 1, f.col("seed"))).alias("two")
    )
    (known,) = facts.collect()
    if known["two"] is not None:
        raise KraflaError(f"seed {known['two']} gave two results: its runs are not reproducible",
                          printable(store.uri))  # fmt: skip
    if known["seeds"] != plan.count:
        lost = plan.count - known["seeds"]
        raise KraflaError(f"{lost:,} seeds have no result, though all were played",
                          printable(store.uri))  # fmt: skip
    return rows.dropDuplicates(["seed"])


def facts_of(
    plan: CampaignPlan, store: Store, runs: DataFrame, findings: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what the result of a campaign says, as JSON data."""
    counts = _verdicts(runs)
    seen = _seen(plan, store, runs)
    lost = counts[Verdict.INCONCLUSIVE.value]
    doubts = [*(_lost(runs, lost) if lost else ()), *seen.doubts]
    verdict = Verdict.VIOLATED if findings else Verdict.INCONCLUSIVE if doubts else Verdict.HELD
    found = "".join(f"{one['kind']} {one['smallest']} {one['detail']}\n" for one in findings)
    content = f"{_digest(runs)}\n{found}"
    return {
        "format": _FORMAT,
        "system": plan.runs.name,
        "verdict": verdict.value,
        "digest": hashlib.sha256(content.encode()).hexdigest(),
        "first": plan.first,
        "last": plan.last,
        "claim": plan.claim,
        "counts": {
            "seeds": plan.count,
            **counts,
            **seen.totals,
            "properties": len(plan.runs.system.properties),
        },
        "tallies": seen.tallies,
        "coverage": list(seen.lines()),
        "summary": seen.summary(),
        "findings": findings,
        "doubts": doubts,
        "missed": seen.missed,
        "reproduce": plan.command,
    }


def _verdicts(runs: DataFrame) -> dict[str, int]:
    counts = {row["verdict"]: row["count"] for row in runs.groupBy("verdict").count().collect()}
    return {one.value: counts.get(one.value, 0) for one in Verdict}


def _seen(plan: CampaignPlan, store: Store, runs: DataFrame) -> Seen:
    """Return what all runs covered together."""
    from pyspark.sql import functions as f

    states = states_estimate(store, plan.first, plan.last)
    seen = Seen(states=states or 0, is_estimate=True)
    seen.runs = plan.count
    seen.steps = runs.agg(f.sum("steps").alias("steps")).collect()[0]["steps"]
    for row in _tallies(runs):
        seen.tallies[row["tally"]][row["name"]] = row["count"]
    return seen


def _tallies(runs: DataFrame) -> list[Row]:
    """Return the sum of each count, in the order in which the seeds first name them."""
    from pyspark.sql import functions as f

    def entries(tally: str) -> Column:
        names = f.arrays_zip(
            f.map_keys(tally).alias("name"),
            f.map_values(tally).alias("count"),
            # One too many of an empty map, which the slice leaves out.
            f.sequence(f.lit(0), f.size(tally)).alias("place"),
        )
        each = f.slice(names, f.lit(1), f.size(tally))
        return f.transform(each, lambda one: f.struct(
            f.lit(tally).alias("tally"), one["name"].alias("name"),
            one["count"].alias("count"), one["place"].alias("place")))  # fmt: skip

    every = runs.select("seed", f.explode(f.concat(*map(entries, TALLIES))).alias("one"))
    sums = every.groupBy("one.tally", "one.name").agg(
        f.sum("one.count").alias("count"), f.min(f.struct("seed", "one.place")).alias("first")
    )
    return sorted(sums.collect(), key=lambda row: row["first"])


def _digest(runs: DataFrame) -> str:
    """Return the SHA-256 of the digests of all seeds, worked out block by block."""
    from pyspark.sql import functions as f

    lines = f.concat_ws(" ", f.col("seed").cast("string"), "digest")
    ordered = f.array_sort(f.collect_list(f.struct("seed", lines.alias("line"))))
    text = f.concat_ws("\n", f.col("ordered.line"), f.lit(""))
    blocks = (
        runs.groupBy(f.floor(f.col("seed") / DIGEST_BLOCK).alias("block"))
        .agg(ordered.alias("ordered"))
        .select("block", f.sha2(text, 256).alias("digest"))
    )
    return blocks_digest((row["block"], row["digest"]) for row in blocks.collect())


def _lost(runs: DataFrame, count: int) -> list[str]:
    """Return which seeds have no verdict, and why."""
    from pyspark.sql import functions as f

    lost = runs.where(f.col("verdict") == Verdict.INCONCLUSIVE.value).orderBy("seed")
    told: Sequence[Row] = lost.select("seed", "finding", "detail").limit(_LOST_TOLD).collect()
    doubts = [f"seed {row['seed']} {row['finding'][0]}: {row['detail']}" for row in told]
    if count > len(doubts):
        doubts.append(f"and {count - len(doubts)} more seeds")
    return doubts
