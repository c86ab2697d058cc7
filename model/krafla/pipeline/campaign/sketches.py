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


def states_estimate(store: Store, first: int, last: int) -> int | None:
    """Return about how many distinct states a span of seeds visited.

    Not known, None, if a wave of these seeds has others, too.
    """
    from pyspark.sql import functions as f

    states = f.hll_sketch_estimate(f.hll_union_agg("states"))
    (found,) = _waves_of(store, first, last).agg(
        states.alias("states"), f.min("first").alias("first"), f.max("last").alias("last")
    ).collect()  # fmt: skip
    if found["first"] is not None and (found["first"] < first or found["last"] > last):
        return None
    return int(found["states"] or 0)


def states_curve(store: Store, first: int, last: int) -> DataFrame:
    """Return for each wave of a span of seeds about how many states it and those before it visited.

    Its columns are ``load``, ``first``, ``last`` and ``states``: 0 in all if it is not known.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    waves = Window.partitionBy(f.lit(0))
    so_far = f.hll_union_agg("states").over(waves.orderBy("last", "load"))
    is_known = (f.min("first").over(waves) >= first) & (f.max("last").over(waves) <= last)
    states = f.when(is_known, f.hll_sketch_estimate(so_far)).otherwise(0).alias("states")
    return _waves_of(store, first, last).select("load", "first", "last", states)


def _waves_of(store: Store, first: int, last: int) -> DataFrame:
    from pyspark.sql import functions as f

    return store.read(COVERAGE).where((f.col("first") <= last) & (f.col("last") >= first))
