"""Histories by hand of a controller that is not told what it should be, or not heeded at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.hosting_checks import HOSTING_PROPERTIES, HostingChecks
from kraft.controller import effects as does
from kraft.controller import events
from kraft.ids import NodeId, Offset, OffsetAndEpoch
from kraft.log.batches import data_batch
from kraft.raft import effects as raft
from kraft.raft.events import Poll, PrepareAppend, ResignRequested, ScheduleAppend
from kraft.sim.raft.steps import ListenerStep

TOLD = "ToldInOrderProp"
AT_ONCE = "AppendsAtOnceProp"
LEADER = raft.HandleLeaderChange(3, NodeId(1))
LED = events.LeaderChanged(0, 3, NodeId(1))
COMMIT = raft.HandleCommit((data_batch(4, 3, 0, (b"value",)),))
COMMITTED = events.BatchesCommitted(0, (events.CommittedBatch(Offset(4), 3, (), 1),))
LOAD = raft.HandleLoadSnapshot(OffsetAndEpoch(4, 2))
LOADED = events.SnapshotLoaded(0, OffsetAndEpoch(4, 2), ())
REFUSED = events.AppendRefused(0, 3)
REQUEST = events.RequestReceived(0, 7, None, kraft_version=1)
APPEND = does.Append(3, Offset(5), (), 1)
PREPARE, SCHEDULE, RESIGN = (
    PrepareAppend(0, 0, 3, ()),
    ScheduleAppend(0, 0),
    ResignRequested(0, 0, 3),
)
POLL = Poll(0, 0)
ENDED = "the process has ended"


def replica(event, *effects, kind="event"):
    return SimpleNamespace(incarnation=1, kind=kind, event=event, effects=effects)


def controller(event, *effects):
    return ListenerStep("controller", None, event, None, effects)


def broken(*steps):
    """Return the property that these steps of one process break, None if they break none."""
    checks = HostingChecks()
    try:
        for step in steps:
            if step == ENDED:
                checks.forget(1)
            elif isinstance(step, ListenerStep):
                checks.check(SimpleNamespace(incarnation=1), step)
            else:
                checks.raft(step)
    except Violated as violated:
        return violated.name
    return None


GOOD = (
    replica(None, LOAD, kind="start"), controller(LOADED),
    replica(POLL, COMMIT, LEADER), controller(COMMITTED), controller(LED, APPEND, APPEND),
    replica(PREPARE), replica(SCHEDULE), replica(PREPARE), replica(SCHEDULE), controller(REQUEST),
    controller(REQUEST, APPEND), replica(PREPARE, raft.AppendRefused("no leader")),
    controller(REFUSED, does.Resign(3)), replica(SCHEDULE), replica(RESIGN), replica(POLL),
)  # fmt: skip
WRONG = {
    "a commit that raft did not say": (TOLD, (replica(POLL), controller(COMMITTED))),
    "another leader": (TOLD, (replica(POLL, raft.HandleLeaderChange(4, None)), controller(LED))),
    "other batches": (
        TOLD,
        (replica(POLL, raft.HandleCommit((data_batch(5, 3, 0, (b"v",)),))), controller(COMMITTED)),
    ),
    "another snapshot": (
        TOLD,
        (
            replica(POLL, raft.HandleLoadSnapshot(OffsetAndEpoch(9, 2))),
            controller(LOADED),
        ),
    ),
    "the leader before the commit": (TOLD, (replica(POLL, COMMIT, LEADER), controller(LED))),
    "a refusal that was none": (TOLD, (replica(POLL, LEADER), controller(REFUSED))),
    "silence": (TOLD, (controller(REQUEST), replica(POLL, LEADER), replica(POLL))),
    "a request between": (
        AT_ONCE, (controller(REQUEST, APPEND), controller(REQUEST)),
    ),
    "a poll between": (AT_ONCE, (controller(REQUEST, APPEND), replica(PREPARE), replica(POLL))),
    "no resignation": (AT_ONCE, (controller(REQUEST, does.Resign(3)), replica(POLL))),
}  # fmt: skip


def test_a_process_that_does_all_in_its_order_breaks_nothing():
    assert broken(*GOOD) is None


@pytest.mark.parametrize(("name", "steps"), WRONG.values(), ids=list(WRONG))
def test_what_is_not_told_or_done_in_its_order_is_noticed(name, steps):
    start = replica(None, kind="start")
    assert broken(start, *steps[:-1]) is None
    assert broken(start, *steps) == name
    assert name in HOSTING_PROPERTIES


def test_a_process_that_ended_owes_nothing():
    start = replica(None, kind="start")
    assert broken(start, controller(REQUEST, APPEND), ENDED, start, replica(POLL)) is None


def test_a_broker_is_not_a_controller_that_hears_nothing():
    assert broken(replica(POLL, LEADER), replica(POLL, COMMIT), replica(POLL)) is None
