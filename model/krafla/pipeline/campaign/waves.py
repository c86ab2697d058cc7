"""The seeds that a store lacks, played in waves: each is a load, so a kill loses at most one."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.campaign.plan import WAVE, missing_spans
from krafla.pipeline.campaign.player import LOADED, Player, first_of, play_batches
from krafla.pipeline.campaign.rounds import Rounds, round_end
from krafla.pipeline.campaign.rows import BRED, COVERAGE, RUNS
from krafla.pipeline.campaign.sketches import states_sketch
from krafla.pipeline.store import load_id
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from krafla.pipeline.campaign.plan import CampaignPlan
    from krafla.pipeline.session import Session
    from krafla.pipeline.store import Store

__all__ = ["check_player", "play_missing"]

_SECONDS: Final = 120.0
"""How long a wave is meant to take: as much is lost if the driver is killed."""
_TASKS_EACH: Final = 4
"""How many tasks each process has in the first wave."""
_TASKS_MAX: Final = 5_000
_GROWTH_MAX: Final = 4


def check_player(plan: CampaignPlan, session: Session) -> None:
    """Raise ``KraflaError`` if executors cannot load what a campaign needs."""
    one = session.spark.range(0, 1, 1, 1)
    is_brief = plan.is_brief(session.parallelism)
    wrong = one.mapInArrow(partial(first_of, plan.runs, is_brief), as_spark(LOADED)).collect()
    if wrong:
        raise KraflaError(wrong[0]["message"], wrong[0]["place"])


def play_missing(plan: CampaignPlan, store: Store, session: Session) -> None:
    """Play every seed of a plan that a store lacks, wave by wave."""
    is_resumed = bool(store.commits(WAVE))
    is_brief, rounds = plan.is_brief(session.parallelism), Rounds(store)
    waiting = missing_spans(plan, store)[::-1]
    done = plan.count - sum(last - first + 1 for first, last in waiting)
    size = plan.chunk * session.parallelism * _TASKS_EACH
    while waiting:
        first, last = waiting.pop()
        end = min(first + size, round_end(first)) if plan.learns else first + size
        if last >= end:
            waiting.append((end, last))
            last = end - 1
        session.phase(f"{done:,} of {plan.count:,} seeds played")
        began = time.monotonic()
        player = Player(plan.runs, is_brief, rounds.parents_of(first) if plan.learns else None)
        frame = _frame(plan, player, store, first, last, is_resumed=is_resumed)
        _commit_wave(plan, store, first, last, frame)
        done += last - first + 1
        if last - first + 1 == size:
            growth = min(_GROWTH_MAX, _SECONDS / (time.monotonic() - began))
            tasks = max(session.parallelism, round(growth * size / plan.chunk))
            size = plan.chunk * min(tasks, _TASKS_MAX)


def _frame(
    plan: CampaignPlan, player: Player, store: Store, first: int, last: int, *, is_resumed: bool
) -> DataFrame:
    """Return the rows of the seeds of a span that have no result."""
    from pyspark.sql import functions as f

    tasks = -(-(last - first + 1) // plan.chunk)
    seeds = store.spark.range(first, last + 1, 1, tasks)
    if is_resumed:
        done = store.read(RUNS, WAVE).select(f.col("seed").alias("id"))
        # It is sent to each task, so that the tasks stay as they were cut.
        seeds = seeds.join(f.broadcast(done.where(f.col("id").between(first, last))), "id", "anti")
    return seeds.mapInArrow(partial(play_batches, player), as_spark(player.schema))


def _commit_wave(plan: CampaignPlan, store: Store, first: int, last: int, frame: DataFrame) -> None:
    """Play a frame, and add its rows and the sketch of its states to a store."""
    # Overwritten if an earlier try was killed. Two drivers that play the same span write the same.
    load = load_id(WAVE, first, last, plan.claim)
    frame = frame.persist()
    try:
        store.write(RUNS, load, frame)
        if plan.learns:
            store.write(BRED, load, frame)
        store.write(COVERAGE, load, states_sketch(frame, first, last))
    finally:
        frame.unpersist()
    store.commit(load, WAVE, {"claim": plan.claim, "first": first, "last": last})
