"""Names in a trace that its spec lacks are found before the replay."""

from __future__ import annotations

from krafla.traces import Observation, PartialTrace, Step, Trace, unknown_names
from krafla.values import record

SPEC = {"actions": {"Up", "Down"}, "variables": {"x"}, "constants": {"N"}}
STEPS = (Step("Init", (), record(x=0)), Step("Up", (), record(x=1)))


def test_a_trace_with_names_of_its_spec_has_no_unknown_names():
    trace = Trace("S", STEPS, (("N", 1),), lasso=0, back="Down")

    assert unknown_names(trace, **SPEC) == ()


def test_every_unknown_name_of_a_trace_is_found_with_its_place():
    steps = (Step("Init", (), record(x=0, y=0)), Step("Over", (), record(x=1, y=0)))
    trace = Trace("S", steps, (("M", 1),), lasso=0, back="Out")

    assert unknown_names(trace, **SPEC) == (
        "constant M: S has none",
        "constant N: the trace gives no value",
        "step 0: S has no variable y",
        "step 1: S has no action Over",
        "the step back: S has no action Out",
    )


def test_every_unknown_name_of_a_partial_trace_is_found_with_its_place():
    seen = ((("x", 1), 1), (("y",), 1), (("y", 2), 1))
    trace = PartialTrace(
        "S", (Observation(None), Observation("Over", None, seen)), (("N", 1),), ("Out",)
    )

    assert unknown_names(trace, **SPEC) == (
        "hidden: S has no action Out",
        "observation 1: S has no action Over",
        "observation 1: S has no variable y",
    )
