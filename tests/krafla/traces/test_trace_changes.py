"""The changes of a step, in short lines."""

from __future__ import annotations

import pytest

from krafla.traces import Step, Trace, changes, step_changes
from krafla.values import ModelValue, function, record

r1, r2 = ModelValue("r1"), ModelValue("r2")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (1, 1, []),
        (1, 2, ["x: 1 -> 2"]),
        (1, True, ["x: 1 -> TRUE"]),
        (function({r1: 0, r2: 0}), function({r1: 0, r2: 3}), ["x[r2]: 0 -> 3"]),
        (function({r1: 0}), function({r2: 3}), ["x[r1] gone (was 0)", "x[r2] = 3"]),
        (record(kind="a", by=1), record(kind="b", by=1), ['x.kind: "a" -> "b"']),
        (frozenset({1, 2}), frozenset({2, 3}), ["x + 3", "x - 1"]),
        ((1,), (1, 2), ["x appends 2"]),
        ((1, 2, 3), (1,), ["x loses at its end: <<2, 3>>"]),
        ((1, 2, 3), (2, 3), ["x loses in front: <<1>>"]),
        ((1, 2, 3), (3,), ["x loses in front: <<1, 2>>"]),
        ((2, 3), (1, 2, 3), ["x gains in front: <<1>>"]),
        ((1, 2), (1, 5), ["x[2]: 2 -> 5"]),
        ((1, 1, 1), (1, 1), ["x loses at its end: <<1>>"]),
        ((1, 1), (1, 1, 1), ["x appends 1"]),
        ((1, 2), (), ["x is emptied of <<1, 2>>"]),
        ((1, 2), (2, 3), ["x[1]: 1 -> 2", "x[2]: 2 -> 3"]),
        ((1, 2, 3), (2, 4), ["x[1]: 1 -> 2", "x[2]: 2 -> 4", "x loses at its end: <<3>>"]),
        ((), (r1, "free", 0), ['x: <<>> -> <<r1, "free", 0>>']),
        ((r1, "free", 0), (), ['x: <<r1, "free", 0>> -> <<>>']),
        ((r1, "free"), (r1, "held"), ['x[2]: "free" -> "held"']),
        ((), (1, 2), ["x appends 1", "x appends 2"]),
        ((record(a=1, b=2),), (record(a=1, b=3),), ["x[1].b: 2 -> 3"]),
    ],
)
def test_only_changes_are_listed(before, after, lines):
    assert changes("x", before, after) == lines


def test_the_first_step_is_listed_in_full_and_the_next_by_its_changes():
    trace = Trace("S", (Step("Init", (), record(x=0, y=1)), Step("Up", (), record(x=1, y=1))))

    assert step_changes(trace, 0) == ["x = 0", "y = 1"]
    assert step_changes(trace, 1) == ["x: 0 -> 1"]
    assert trace.changed(1) == ("x",)
    assert trace.changed(0) == ("x", "y")


def test_a_trace_stutters_if_it_returns_to_its_last_state_by_no_action():
    steps = (Step("Init", (), record(x=0)), Step("Up", (), record(x=1)))

    assert Trace("S", steps, lasso=1).stutters
    assert not Trace("S", steps, lasso=1, back="Loop").stutters
    assert not Trace("S", steps, lasso=0).stutters
    assert not Trace("S", steps).stutters
