"""The sketch of distinct states: near the truth, and the same in any order."""

from __future__ import annotations

from random import Random

import pytest

from krafla.pipeline import sketch


@pytest.mark.parametrize("count", [0, 1, 100, 5_000, 60_000, 200_000])
def test_an_estimate_is_within_three_hundredths_of_the_count(count):
    seen = sketch.empty()
    sketch.add(seen, range(count))
    assert abs(sketch.estimate(seen) - count) <= 0.03 * count


def test_parts_merge_into_the_whole_in_any_order():
    chance = Random(1)
    fingerprints = [chance.randrange(-(2**63), 2**63) for _ in range(3_000)]
    whole, left, right = sketch.empty(), sketch.empty(), sketch.empty()
    sketch.add(whole, fingerprints)
    sketch.add(left, fingerprints[:2_000][::-1])
    sketch.add(right, fingerprints[1_000:])
    assert sketch.merged(left, right) == sketch.merged(right, left) == bytes(whole)


def test_what_was_seen_before_changes_nothing():
    seen = sketch.empty()
    sketch.add(seen, range(500))
    before = bytes(seen)
    sketch.add(seen, range(500))
    assert bytes(seen) == before
