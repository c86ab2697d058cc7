"""How many distinct states many runs visited, by Spark's HyperLogLog.

A wave has a sketch of its own. Sketches merge in any order, and what was seen before changes
nothing. Only estimates are compared or told: the bytes of a sketch also remember an order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.pipeline.campaign.rows import COVERAGE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from krafla.pipeline.store import Store

__all__ = ["states_curve", "states_estimate", "states_sketch"]

_LOG_REGISTERS: Final = 14
"""16,384 registers: the standard error is 0.8%."""


def states_sketch(played: DataFrame, first: int, last: int) -> DataFrame:
    """Return one row of the table ``coverage``: the states that the seeds of a span visited."""
    from pyspark.sql import functions as f

    states = played.select(f.explode("states").alias("state"))
    sketch = f.hll_sketch_agg("state", f.lit(_LOG_REGISTERS)).alias("states")
    return states.agg(sketch).select(
        f.lit(first).cast("long").alias("first"), f.lit(last).cast("long").alias("last"), "states"
    )


def states_estimate(store: Store, first: int, last: int) -> int:
    """Return about how many distinct states were visited in waves that lie in a span of seeds."""
    from pyspark.sql import functions as f

    inside = store.read(COVERAGE).where((f.col("first") <= last) & (f.col("last") >= first))
    found = inside.agg(f.hll_sketch_estimate(f.hll_union_agg("states")).alias("states"))
    return int(found.collect()[0]["states"] or 0)


def states_curve(store: Store) -> DataFrame:
    """Return for each wave, by its ``last`` seed, about how many states all waves up to it visited.

    Its columns are ``load``, ``first``, ``last`` and ``states``.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    so_far = f.hll_union_agg("states").over(Window.partitionBy(f.lit(0)).orderBy("last", "load"))
    states = f.hll_sketch_estimate(so_far).alias("states")
    return store.read(COVERAGE).select("load", "first", "last", states)
