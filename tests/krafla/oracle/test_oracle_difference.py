"""Differences between values, down to the element."""

from __future__ import annotations

import pytest

from krafla.oracle import differences
from krafla.values import ModelValue, freeze, function, record

B1, B2 = ModelValue("b1"), ModelValue("b2")


@pytest.mark.parametrize(
    ("expected", "got", "told"),
    [
        (1, 1, []),
        (True, 1, ["x: expected TRUE, got 1"]),
        (
            function({B1: record(fenced=True, epoch=3), B2: 0}),
            function({B1: record(fenced=False, epoch=3), B2: 0}),
            ["x[b1].fenced: expected TRUE, got FALSE"],
        ),
        (
            record(epoch=1, isr=(1, 2)),
            record(epoch=1, leader=2),
            ["x.isr: lacks <<1, 2>>", "x.leader: unexpected 2"],
        ),
        ((1, 2), (1, 3, 4), ["x[2]: expected 2, got 3", "x[3]: unexpected 4"]),
        ((1, 2), (1,), ["x[2]: lacks 2"]),
        ({1, 2, 3}, {2, 4}, ["x: lacks 1", "x: lacks 3", "x: unexpected 4"]),
        ((1,), function({0: 1}), ["x: expected <<1>>, got (0 :> 1)"]),
        ({(True,)}, {(1,)}, ["x: lacks <<TRUE>>", "x: unexpected <<1>>"]),
    ],
)
def test_each_place_that_differs_is_told(expected, got, told):
    assert [str(found) for found in differences("x", freeze(expected), freeze(got))] == told
