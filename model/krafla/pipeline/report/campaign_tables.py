"""What a report says of a campaign, as tables: Spark SQL over the rows of its seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.seen import TALLIES
from krafla.pipeline.campaign.plan import WAVE
from krafla.pipeline.campaign.result import CAMPAIGN
from krafla.pipeline.campaign.rows import FINDINGS, RUNS
from krafla.pipeline.campaign.sketches import states_curve
from krafla.pipeline.report.stories import told_stories
from krafla.pipeline.report.tables import ROWS_MAX, ReportTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from krafla.pipeline.campaign.result import CampaignResult
    from krafla.pipeline.store import Store

__all__ = ["campaign_tables"]

_PARTS_MAX: Final = 60
_PART_SEEDS_MIN: Final = 10
"""Fewer seeds than this say little of a speed."""
_COUNTS: Final = (
    *("seeds", "held", "violated", "inconclusive", "steps", "judged", "refused", "unpromised"),
    *("states", "simulated_seconds", "acknowledged", "properties"),
)
"""The order of the counts of a result."""
_FOUND: Final = (
    "kind array<string>, seeds long, number long, profile string, steps long, property string,"
    " detail string, unit string, size long, smallest long, saved array<string>, place int"
)
_QUERIES: Final = {
    "profiles": """
        SELECT profile, count_if(verdict = 'held') AS held,
            count_if(verdict = 'violated') AS violated,
            count_if(verdict = 'inconclusive') AS inconclusive, sum(steps) AS steps
        FROM {runs} GROUP BY profile ORDER BY count(*) DESC, profile LIMIT :most""",
    "tallies": """
        SELECT tally, name, sum(count) AS count, count_if(count > 0) AS runs
        FROM (SELECT inline(tallies) FROM {runs})
        LATERAL VIEW explode(counts) AS name, count
        GROUP BY tally, name
        ORDER BY array_position(:tallies, tally), count DESC, name""",
    "waves": """
        WITH sizes AS (SELECT load, count(*) AS seeds, count_if(verdict = 'held') AS held,
            count_if(verdict = 'violated') AS violated,
            count_if(verdict = 'inconclusive') AS inconclusive,
            sum(steps) AS steps, sum(milliseconds) AS busy_ms FROM {runs} GROUP BY load),
        each AS (SELECT *, greatest(0, states - lag(states, 1, 0) OVER (ORDER BY last, load))
            AS new_states FROM {seen})
        SELECT row_number() OVER (ORDER BY last, load) AS number, first, last, seeds, held,
            violated, inconclusive, steps, states, new_states,
            if(steps > 0, 1000 * new_states DIV steps, 0) AS new_per_1000_steps,
            busy_ms, if(busy_ms > 0, 1000 * steps DIV busy_ms, 0) AS steps_per_second,
            committed_ms
        FROM sizes JOIN each USING (load) JOIN {commits} USING (load) ORDER BY number""",
    "speeds": """
        WITH ends AS (SELECT min(seed) AS low, greatest(:seeds,
            CAST(ceil((max(seed) - min(seed) + 1) / :parts) AS bigint)) AS width FROM {runs})
        SELECT min(seed) AS first, count(*) AS seeds, sum(steps) AS steps,
            if(sum(milliseconds) > 0, 1000 * sum(steps) DIV sum(milliseconds), 0)
                AS steps_per_second
        FROM {runs} CROSS JOIN ends GROUP BY (seed - low) DIV width ORDER BY first""",
    "processes": """
        SELECT worker AS process, count(*) AS seeds, sum(steps) AS steps,
            sum(milliseconds) AS busy_ms,
            if(sum(milliseconds) > 0, 1000 * sum(steps) DIV sum(milliseconds), 0)
                AS steps_per_second
        FROM {runs} GROUP BY worker ORDER BY seeds DESC, process LIMIT :most""",
    "findings": """
        WITH firsts AS (SELECT finding AS kind, min(seed) AS first_seed FROM {runs}
            WHERE verdict = 'violated' GROUP BY finding)
        SELECT found.kind, found.property, found.seeds, first_seed, found.number, found.profile,
            found.steps, found.unit, found.size, found.smallest, found.detail, told.path,
            found.saved AS files, told.story
        FROM {found} found LEFT JOIN firsts USING (kind)
        LEFT JOIN {told} told USING (kind, number) ORDER BY found.place LIMIT :most""",
}


def campaign_tables(store: Store, outcome: CampaignResult) -> ReportTables:
    """Return the tables of a report on a finished campaign; executors tell the stories."""
    from pyspark.sql import functions as f

    made = ReportTables(store.spark)
    facts = next(one.facts for one in store.commits(CAMPAIGN) if one.load == outcome.load)
    inside = f.col("seed").between(facts["first"], facts["last"])
    rows = store.read(RUNS, WAVE).where(inside).dropDuplicates(["seed"])
    tallies = f.array(*(
        f.struct(f.lit(name).alias("tally"), f.col(name).alias("counts")) for name in TALLIES
    )).alias("tallies")  # fmt: skip
    columns = ("seed", "load", "profile", "steps", "verdict", "finding", "milliseconds", "worker")
    runs = rows.select(*columns, tallies).persist()
    made.give("found", _FOUND, [_found(one, n) for n, one in enumerate(outcome.findings)])
    counts = [(name, outcome.counts[name]) for name in _COUNTS if name in outcome.counts]
    made.give("counts", "name string, value long", counts)
    made.frames |= {
        "runs": runs,
        "seen": states_curve(store, facts["first"], facts["last"]),
        "commits": store.committed(WAVE),
        "told": _told(store, outcome, made.frames["found"]),
    }
    made.keep("summary", made.frames["counts"])
    try:
        made.ask(
            _QUERIES, tallies=[*TALLIES], most=ROWS_MAX, parts=_PARTS_MAX, seeds=_PART_SEEDS_MIN
        )
    finally:
        runs.unpersist()
    return made


def _found(finding: dict[str, Any], place: int) -> tuple[Any, ...]:
    names = ("kind", "seeds", "number", "profile", "steps", "property", "detail")
    more = ("unit", "size", "smallest", "saved")
    return *(finding[name] for name in (*names, *more)), place


def _told(store: Store, outcome: CampaignResult, found: DataFrame) -> DataFrame:
    """Return the path and the story of each finding whose run was shrunk."""
    kept = store.read(FINDINGS).where(f"load = '{outcome.load}'")
    wanted = kept.join(found.select("kind", "number"), ["kind", "number"], "left_semi")
    return told_stories(wanted, len(outcome.findings))
