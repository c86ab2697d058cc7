"""The sketch of distinct states: near the truth, and the same in any order."""

from __future__ import annotations

from random import Random

import pytest

from krafla.pipeline.campaign.plan import WAVE
from krafla.pipeline.campaign.rows import COVERAGE
from krafla.pipeline.campaign.run import store_of
from krafla.pipeline.campaign.sketches import states_curve, states_estimate, states_sketch

pytestmark = pytest.mark.xdist_group("spark")


def waves(spark, uri, *parts):
    """Return tables with a wave for each part: a list of runs, which are lists of states."""
    store, first = store_of(spark, uri), 0
    for number, part in enumerate(parts):
        frame = spark.spark.createDataFrame([(one,) for one in part], "states array<bigint>")
        last = first + len(part) - 1
        store.write(COVERAGE, str(number), states_sketch(frame, first, last))
        store.commit(str(number), WAVE, {})
        first = last + 1
    return store


def test_an_estimate_is_near_the_count_and_merges_in_any_order(spark, tmp_path):
    chance = Random(1)
    states = [chance.randrange(-(2**63), 2**63) for _ in range(40_000)]
    left = [states[:9_000], states[5_000:20_000]]
    right = [states[19_000:], []]
    store = waves(spark, str(tmp_path / "one"), left, right)
    found = states_estimate(store, 0, 3)
    assert abs(found - len(states)) <= 0.03 * len(states)
    other = waves(spark, str(tmp_path / "two"), right[::-1], [one[::-1] for one in left], left)
    assert states_estimate(other, 0, 5) == found
    rows = states_curve(store, 0, 3).orderBy("last").select("last", "states").collect()
    (first, some), (last, whole) = rows
    assert (first, last, whole) == (1, 3, found)
    assert abs(some - 20_000) <= 600


def test_small_numbers_are_exact_and_nothing_is_none(spark, tmp_path):
    store = waves(spark, str(tmp_path / "out"), [[1, 2, 3], [3, 4]], [[], []])
    assert states_estimate(store, 0, 3) == 4
    assert states_estimate(store, 2, 3) == 0
    assert states_estimate(store, 9, 10) == 0


def test_the_states_of_seeds_that_share_a_wave_with_others_are_not_known(spark, tmp_path):
    store = waves(spark, str(tmp_path / "out"), [[1, 2, 3], [3, 4]], [[5], []])
    assert states_estimate(store, 0, 1) == 4
    assert states_estimate(store, 2, 9) == 1
    for first, last in ((0, 0), (1, 3), (0, 2)):
        assert states_estimate(store, first, last) is None
        known = {row["states"] for row in states_curve(store, first, last).collect()}
        assert known == {0}
    assert [row["states"] for row in states_curve(store, 2, 3).collect()] == [1]
