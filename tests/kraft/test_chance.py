from __future__ import annotations

import math

from kraft.chance import Stream, derive, exponential, mix


def test_mix_is_splitmix64():
    # The first outputs of SplitMix64 for seed 0, as its authors publish them.
    words = [mix(index * 0x9E3779B97F4A7C15 & (2**64 - 1)) for index in range(3)]

    assert words == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_table_is_the_inverse_of_the_exponential_distribution():
    for cell in (0, 1, 100, 511, 900, 1023):
        expected = -math.log((cell + 0.5) / 1024)
        assert abs(exponential(cell, 10**9) / 10**9 - expected) < 2e-5


def test_the_mean_of_exponential_delays_is_the_mean():
    stream = Stream(7, "delays")
    mean = sum(stream.exponential(1_000_000) for _ in range(20_000)) // 20_000

    assert 970_000 < mean < 1_030_000


def test_streams_of_other_names_are_other_streams():
    seeds = {derive(1), derive(1, "a"), derive(1, "b"), derive(1, "ab"), derive(1, "a", "b")}
    seeds |= {derive(1, 1), derive(1, 2), derive(2, 1), derive(1, 1, 1)}

    assert len(seeds) == 9


def test_draws_are_within_their_bounds_and_reach_them():
    stream = Stream(3)
    assert {stream.between(-1, 2) for _ in range(200)} == {-1, 0, 1, 2}
    assert sorted(stream.shuffled(range(20))) == list(range(20))
    assert {stream.choice("abc") for _ in range(100)} == set("abc")
    assert 250 < sum(stream.happens(300_000) for _ in range(1000)) < 350


def test_the_first_numbers_of_a_stream_are_pinned():
    stream = Stream(1, "pinned")

    assert [stream.word() for _ in range(3)] == PINNED


PINNED = [15269684481451494417, 12662477453536599966, 18223251561741259424]
