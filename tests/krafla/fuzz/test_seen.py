"""What runs together show, and why they may show nothing."""

from __future__ import annotations

import pytest

from krafla.fuzz.engine.seen import Seen


@pytest.mark.parametrize(
    ("actions", "judged", "doubts"),
    [
        ({}, 0, ()),
        ({"Vote": 0}, 0, ("no step was judged by the spec",)),
        ({"Vote": 2}, 2, ()),
    ],
    ids=["without a judge", "with one that judged nothing", "with one that judged"],
)
def test_a_lockstep_that_judged_nothing_is_a_doubt(actions, judged, doubts):
    seen = Seen()
    seen.add(5, {"actions": actions, "totals": {"acknowledged": 1, "judged": judged}})
    assert seen.doubts == doubts


def test_steps_after_raft_s_promises_ended_are_no_evidence():
    seen = Seen()
    seen.add(500, {"totals": {"acknowledged": 1, "unpromised": 200}})
    assert seen.evidence[0] == "300 steps, the properties asked after each"
