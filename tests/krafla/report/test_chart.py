"""The figures of pages."""

from __future__ import annotations

import re

import pytest

from krafla.report.chart import HEIGHT, WIDTH, brief_number, curve, shares


def test_bars_are_parts_of_the_longest_and_a_little_is_told_from_nothing():
    assert shares([("a", 50), ("b", 100), ("c", 0), ("d", 0)]) == [50, 100, 0, 0]
    assert shares([("a", 1), ("b", 1_000_000)])[0] > 0
    assert shares([("a", 9), ("b", 90)]) == [10, 100]
    assert shares([]) == []


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1_000, "1K"), (1_250, "1.2K"), (3_000_000, "3M")]
)
def test_a_number_at_an_axis_is_short(number, text):
    assert brief_number(number) == text


@pytest.mark.parametrize("points", [[(0, 0)], [(0, 5), (10, 1_000)], [(0, 3), (1_000_000, 0)]])
def test_a_line_and_its_labels_are_inside_the_figure(points):
    drawn = curve(points, ("seeds", "states"))
    places = [tuple(map(float, one)) for one in re.findall(r"[ML]([\d.]+) ([\d.]+)", drawn.area)]
    assert len(places) == len(points) + 2
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    for label in drawn.columns:
        after = {"middle": 3.5, "end": 0}[label.anchor] * len(label.text)
        assert label.at + after <= WIDTH
    assert all(start >= 0 and start + reach <= WIDTH for *_, start, reach in drawn.points)
    assert [told for _, _, told, *_ in drawn.points][-1] == (
        f"seeds {points[-1][0]:,}: {points[-1][1]:,} states"
    )


def test_an_axis_may_begin_before_its_first_point():
    first, later = (curve([(50, 1), (100, 2)], ("a", "b"), first=one) for one in (0, None))
    assert first.columns[0].text == "0"
    assert later.columns[0].text == "50"
