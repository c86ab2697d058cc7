"""The end of a leader's recovery, which only that leader can ask for."""

from __future__ import annotations

import pytest
from tests.krafla.audit.old_logs import ELR, OldLog

from krafla.audit.result import Weight
from krafla.audit.run import audit

RECOVERED = {"leaderRecoveryState": 0}


def recovering(level):
    """Return a log in which broker 1 recovers as the leader, after an unclean election."""
    log = OldLog(level, max(level, 7), (ELR,) if level >= 25 else ())
    log.topic((0, 1, 2))
    raised = {"leader": 0} if level < 12 else {}
    log.add(log.change(isr=(0,), **raised), log.fence(1), log.fence(2))
    gone = {"isr": (), "lastKnownElr": (0,), "eligibleLeaderReplicas": (0,)} if level >= 25 else {}
    log.add(log.change(leader=-1, **gone), log.fence(0))
    uncleanly = {"lastKnownElr": (), "eligibleLeaderReplicas": ()} if level >= 25 else {}
    log.add(log.unfence(1), log.change(leader=1, isr=(1,), leaderRecoveryState=1, **uncleanly))
    log.add(log.unfence(2))
    return log


def fenced(log, **more):
    gone = {"isr": (), "eligibleLeaderReplicas": (1,), "lastKnownElr": (1,)}
    return [log.change(leader=-1, **(gone if log.level >= 25 else {}), **more), log.fence(1)]


ENDS = {
    "the leader recovered": (lambda log: [log.change(**RECOVERED)], True),
    "the ISR grows with it": (lambda log: [log.change(isr=(1, 2), **RECOVERED)], True),
    "the leader is fenced": (fenced, True),
    "fencing the leader ends it": (lambda log: fenced(log, **RECOVERED), False),
    "an unclean election ends it": (
        lambda log: [log.change(leader=2, isr=(2,), **RECOVERED), log.fence(1)], False
    ),
    "another leader is elected": (
        lambda log: [log.change(leader=2, isr=(1, 2), **RECOVERED)], False
    ),
}  # fmt: skip


@pytest.mark.parametrize("level", [7, 19, 25])
@pytest.mark.parametrize("what", ENDS)
def test_a_recovery_ends_while_the_leader_stays_in_the_isr(tmp_path, loading, what, level):
    operation, held = ENDS[what]
    log = recovering(level)
    offset = log.end
    log.add(*operation(log))
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    refused = [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION]
    assert refused[:1] == ([] if held else [("P10", offset)])


def test_a_recovery_does_not_end_without_a_leader(tmp_path, loading):
    log = recovering(19)
    log.add(*fenced(log))
    offset = log.add(log.change(**RECOVERED))
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == [("P10", offset)]
