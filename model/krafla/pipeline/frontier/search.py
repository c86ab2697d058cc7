"""The search itself: level by level, each written before the next begins.

A level is a load of the table ``states``. What is known about a search is what its commits say,
so a driver that is killed loses one level at most, and another driver goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.frontier.tally import Tally
from krafla.pipeline.frontier.task import SCHEMA, STATES, Alone, Spread
from krafla.pipeline.session import parallelism_of
from krafla.testing import EvaluationError
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from krafla.pipeline.frontier.plan import Plan
    from krafla.pipeline.store import Store

__all__ = ["Bounds", "Level", "Reached", "search"]

_PLAN: Final = "plan"
_LEVEL: Final = "level"


@dataclass(frozen=True, slots=True)
class Bounds:
    """When to stop, and when one task does better than many.

    A level of at most ``alone_states`` states is expanded by one task, with the small levels after
    it, for at most about ``alone_seconds``; above ``alone_visited`` states in all, whose
    fingerprints that task must hold, every level is spread. ``states_per_task`` is how many states
    a task expands in a large level.
    """

    limit: int | None = None
    alone_states: int = 5_000
    alone_seconds: float = 60.0
    alone_visited: int = 5_000_000
    states_per_task: int = 50_000


@dataclass(frozen=True, slots=True)
class Level:
    """A load: ``count`` new states, of which the ``frontier`` at ``depth`` are not yet expanded."""

    load: str
    depth: int
    count: int
    frontier: int
    tally: Tally


@dataclass(slots=True)
class Reached:
    """How far a search is. ``is_over`` says that nothing will follow."""

    levels: list[Level] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    is_complete: bool = False
    is_over: bool = False

    @property
    def distinct(self) -> int:
        """Return the number of distinct states, TLC's "distinct states found"."""
        return sum(level.count for level in self.levels)

    @property
    def depth(self) -> int:
        """Return the number of levels, as TLC counts the depth of the graph."""
        return self.levels[-1].depth if self.levels else 0

    @property
    def collision_odds(self) -> float:
        """Return the odds that two states share a fingerprint, by TLC's optimistic formula."""
        return self.distinct * max(self.tally.generated - self.distinct, 0) / 2**64


def search(
    spark: SparkSession,
    place: Store,
    plan: Plan,
    bounds: Bounds,
    *,
    checks_deadlock: bool,
    progress: Callable[[Reached], None] = lambda _reached: None,
) -> Reached:
    """Return what a search of every reachable state finds; one that was begun here is resumed.

    It stops at the first level with a violation. ``KraflaError`` if the place holds the search of
    another plan, or has lost states; ``EvaluationError`` if TLC cannot evaluate an expression.
    """
    one = _Search(spark, place, plan, bounds, checks_deadlock=checks_deadlock)
    one.resume()
    progress(one.reached)
    while not one.reached.is_over:
        one.advance()
        progress(one.reached)
    if one.reached.is_complete:
        one.check()
    return one.reached


class _Search:
    def __init__(
        self,
        spark: SparkSession,
        place: Store,
        plan: Plan,
        bounds: Bounds,
        *,
        checks_deadlock: bool,
    ) -> None:
        self._spark, self._place, self._plan, self._bounds = spark, place, plan, bounds
        self._checks_deadlock = checks_deadlock
        self.reached = Reached()
        self._slots = parallelism_of(spark)

    def resume(self) -> None:
        """Take up what the commits say; begin where there are none."""
        commits = self._place.commits()
        plans = [one.facts["digest"] for one in commits if one.kind == _PLAN]
        if commits and plans != [self._plan.digest]:
            raise KraflaError(
                "here lies the search of another model, of another version of its spec, or no"
                " search: choose another place"
            )
        if not commits:
            plan = self._plan
            self._place.commit(_PLAN, _PLAN, {"digest": plan.digest, "model": plan.model})
        for commit in commits:
            if commit.kind == _LEVEL:
                known = commit.facts
                self._take(
                    Level(
                        commit.load, known["depth"], known["count"], known["frontier"],
                        Tally.of(known["tally"]),
                    )
                )  # fmt: skip
        self._look_whether_over()

    def _take(self, level: Level) -> None:
        self.reached.levels.append(level)
        self.reached.tally.add(level.tally)

    def _look_whether_over(self) -> None:
        reached, tally = self.reached, self.reached.tally
        if not reached.levels:
            return
        full = self._bounds.limit is not None and reached.distinct >= self._bounds.limit
        found = tally.fault is not None or (self._checks_deadlock and tally.stuck is not None)
        done = reached.levels[-1].frontier == 0
        reached.is_complete = done and not found
        reached.is_over = done or full or found

    def advance(self) -> None:
        """Expand the frontier, or as many small levels as one task does; commit the new states."""
        began = time.monotonic()
        levels = self.reached.levels
        depth = levels[-1].depth if levels else 0
        expected = levels[-1].frontier if levels else 0
        alone = not levels or (
            expected <= self._bounds.alone_states
            and self.reached.distinct <= self._bounds.alone_visited
        )
        load = f"level-{len(levels) + 1:06}"
        self._place.write(STATES, load, self._alone(depth) if alone else self._spread(depth))
        level = self._written(load, depth, alone=alone)
        if level.tally.error is None:
            _check_expanded(level, depth, expected, alone=alone)
        elif level.tally.fault is None:
            # A state that breaks an invariant is often one that cannot be stepped.
            raise EvaluationError(level.tally.error)
        facts = {"depth": level.depth, "count": level.count, "frontier": level.frontier}
        self._place.commit(load, _LEVEL, {**facts, "tally": level.tally.as_json()})
        self._take(level)
        self._look_whether_over()
        self.reached.seconds += time.monotonic() - began

    def _states(self) -> DataFrame:
        return self._place.read(STATES, _LEVEL).where("note IS NULL")

    def _frontier(self, depth: int) -> DataFrame:
        last = self._place.written(STATES, self.reached.levels[-1].load)
        return last.where(functions.col("note").isNull() & (functions.col("depth") == depth))

    def _alone(self, depth: int) -> DataFrame:
        bounds = self._bounds
        task = Alone(
            self._plan.packed, depth, bounds.alone_states, bounds.alone_seconds, bounds.limit,
            self._checks_deadlock,
        )  # fmt: skip
        if depth == 0:
            given = self._spark.range(1, numPartitions=1).selectExpr(
                "id AS fp", "CAST(NULL AS BINARY) AS state"
            )
        else:
            # The last load may have states of lower depth, too.
            is_here = functions.col("depth") == depth
            given = self._states().select(
                "fp", functions.when(is_here, functions.col("state")).alias("state")
            )
        return given.coalesce(1).mapInArrow(task, as_spark(SCHEMA))

    def _spread(self, depth: int) -> DataFrame:
        task = Spread(self._plan.packed, depth)
        frontier = self.reached.levels[-1].frontier
        parts = max(2 * self._slots, frontier // self._bounds.states_per_task)
        given = self._frontier(depth).select("fp", "state")
        candidates = given.mapInArrow(task, as_spark(SCHEMA)).repartition(parts, "fp")
        # The least of several ways to a state, so that it does not matter which task was first.
        best = functions.min(functions.struct("parent", "action", "depth", "state")).alias("way")
        merged = candidates.groupBy("fp", "note").agg(best)
        rows = merged.select("fp", "way.depth", "way.parent", "way.action", "way.state", "note")
        visited = self._states().select("fp").repartition(parts, "fp")
        return rows.join(visited, "fp", "left_anti")

    def _written(self, load: str, depth: int, *, alone: bool) -> Level:
        """Return what a load that was just written says of itself."""
        # One task, without a shuffle: these two columns of all rows are small.
        rows = self._place.written(STATES, load).select("fp", "depth", "note").coalesce(1)
        by_depth = rows.groupBy("depth").agg(
            functions.count("fp").alias("states"), functions.collect_list("note").alias("notes")
        )
        counts: dict[int, int] = {}
        tally = Tally()
        for row in by_depth.collect():
            if row["depth"] is not None:
                counts[row["depth"]] = row["states"]
            for note in row["notes"]:
                tally.add(Tally.of(note))
        return Level(
            load,
            max(counts, default=depth),
            sum(counts.values()),
            tally.left if alone else sum(counts.values()),
            tally,
        )

    def check(self) -> None:
        """Raise ``KraflaError`` unless the table has every state that was counted, each once."""
        found = self._states().agg(
            functions.count("fp").alias("rows"), functions.countDistinct("fp").alias("distinct")
        )
        row: Any = found.first()
        if (row["rows"], row["distinct"]) != (self.reached.distinct, self.reached.distinct):
            raise KraflaError(
                f"{self.reached.distinct:,} states were counted, but {row['distinct']:,} of"
                f" {row['rows']:,} are distinct: some were lost where the search is kept"
            )


def _check_expanded(level: Level, depth: int, expected: int, *, alone: bool) -> None:
    """Raise ``KraflaError`` unless a level's tasks have expanded all states of the one before."""
    expanded = level.tally.expanded
    if alone:
        expanded -= level.count - level.frontier
    if expanded != expected or (alone and level.tally.emitted != level.count):
        raise KraflaError(
            f"of {expected:,} states at depth {depth}, {expanded:,} were expanded: some were"
            " lost where the search is kept"
        )
