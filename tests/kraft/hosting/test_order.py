"""What a process does next, whatever else waits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.kraft.hosting.hosted import START, Arrived, process_of

from kraft.hosting.order import is_waiting, next_deadline, take_turn
from kraft.hosting.own_requests import Clean, Prepare, Resign, Schedule, Shutdown, TakeSnapshot
from kraft.hosting.process import OwnRequest, ReplicaFunctions
from kraft.ids import OffsetAndEpoch
from kraft.log.batches import data_batch
from kraft.log.image import LogImage, Snapshot
from kraft.raft import events
from kraft.raft.configuration import MILLISECOND
from kraft.raft.events import Poll, Source
from kraft.raft.roles import NEVER
from kraft.raft.state import Step
from kraft.rpc.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kraft.rpc.topics import CreateTopicsRequest

REQUEST = Arrived(7, 3, 70, DescribeQuorumRequest("cluster", None))
RESPONSE = Arrived(8, 2, 80, DescribeQuorumResponse(None), is_request=False)
ABOVE = Arrived(9, -1, 90, CreateTopicsRequest(()))
EPOCH = 5
LOG = LogImage().append(
    (data_batch(0, 2, 1234, (b"value",) * 4), data_batch(4, 2, 5678, (b"value",)))
)


class World:
    """A process, and `did`: the events of its replica, and the calls of its listener, in order.

    Its replica is idle, but for a Poll at START if it is made `due` or `busy`.
    """

    def __init__(self, *, due=False, busy=False):
        self.did = []
        replica = ReplicaFunctions(
            self._on_event, lambda state: state.due, lambda state: state.busy
        )
        self.process = process_of(self, replica)
        self.process.become(self._state(due=due, busy=busy))

    def _state(self, *, due=False, busy=False):
        role = SimpleNamespace(epoch=EPOCH)
        return SimpleNamespace(role=role, log=LOG, due=START if due else NEVER, busy=busy)

    def _on_event(self, state, event):
        self.did.append(event)
        is_poll = isinstance(event, Poll)
        state = self._state(due=state.due < NEVER and not is_poll, busy=state.busy and not is_poll)
        return Step(state)

    def due(self):
        self.did.append("due")
        self.process.listener_deadline = NEVER

    def receive(self, message):
        self.did.append(message)

    def all_done(self):
        """Let the process work, and return the names of what it did."""
        while take_turn(self.process) is not None:
            pass
        return [one if isinstance(one, str) else type(one).__name__ for one in self.did]


def test_urgent_requests_go_first_then_polls_then_the_listener_then_the_inbox():
    world = World(due=True)
    world.process.inbox.extend((ABOVE, REQUEST, Clean()))
    world.process.listener_deadline = START
    world.process.urgent.extend((Prepare(EPOCH, (b"1",)), Schedule()))
    assert world.all_done() == [
        "PrepareAppend", "ScheduleAppend", "Poll", "due", "Arrived", "RequestReceived",
        "CleanRequested",
    ]  # fmt: skip


def test_a_busy_replica_polls_before_it_takes_a_message_though_nothing_is_due():
    world = World(busy=True)
    world.process.inbox.append(REQUEST)
    assert world.all_done() == ["Poll", "RequestReceived"]


def test_nothing_is_done_before_it_is_due():
    world = World(due=True)
    world.process.listener_deadline = START + MILLISECOND
    world.process.outside.time = START - 1
    assert world.all_done() == []
    assert next_deadline(world.process) == START
    assert not is_waiting(world.process)
    world.process.outside.time = START
    assert world.all_done() == ["Poll"]
    assert next_deadline(world.process) == START + MILLISECOND


@pytest.mark.parametrize("where", ["inbox", "urgent"])
def test_a_process_with_a_request_is_waiting(where):
    process = World().process
    getattr(process, where).append(Schedule())
    assert is_waiting(process)


def test_a_process_with_a_busy_replica_is_waiting():
    assert is_waiting(World(busy=True).process)


def test_one_turn_is_one_thing_and_tells_what_it_was():
    world = World()
    world.process.inbox.extend((REQUEST, RESPONSE, ABOVE))
    before = world.process.state
    taken = take_turn(world.process)
    now, chance = START, 1
    assert taken.event == events.RequestReceived(now, chance, Source(3, 7), REQUEST.payload)
    assert (taken.message, taken.before) == (REQUEST, before)
    assert taken.step.state is world.process.state is not before
    taken = take_turn(world.process)
    assert taken.event == events.ResponseReceived(now, 2, 2, 80, RESPONSE.payload)
    taken = take_turn(world.process)
    assert (taken.message, taken.event, taken.step) == (ABOVE, None, None)
    assert world.process.outside.drawn == 2


def test_a_request_that_no_longer_applies_is_passed_over():
    class Void(OwnRequest):
        def event(self, *_arguments):
            return None

    world = World()
    world.process.inbox.extend((Void(), Void(), REQUEST))
    assert take_turn(world.process).message == REQUEST
    world.process.inbox.append(Void())
    assert take_turn(world.process) is None


def test_a_snapshot_is_cleaned_up_after_what_waits_in_the_inbox():
    world = World()
    snapshot_id = OffsetAndEpoch(4, 2)
    world.process.inbox.extend((TakeSnapshot(snapshot_id, (b"1",)), REQUEST))
    assert world.all_done() == ["SnapshotCreated", "RequestReceived", "CleanRequested"]
    assert world.did[0] == events.SnapshotCreated(START, 1, snapshot_id, (b"1",), 1234)


def test_a_snapshot_may_be_overtaken_by_a_newer_one_that_replaces_the_log():
    world = World()
    newer = Snapshot(OffsetAndEpoch(9, 2), b"")
    world.process.state.log = LogImage().begin_at(newer)
    world.process.inbox.append(TakeSnapshot(OffsetAndEpoch(4, 2), ()))
    assert take_turn(world.process).event.last_timestamp == START // MILLISECOND


@pytest.mark.parametrize(
    ("request_", "event"),
    [
        (Prepare(3, (b"1", b"2")), events.PrepareAppend(START, 1, 3, (b"1", b"2"))),
        (Schedule(), events.ScheduleAppend(START, 1)),
        (Resign(3), events.ResignRequested(START, 1, 3)),
        (Resign(), events.ResignRequested(START, 1, EPOCH)),
        (Shutdown(9), events.ShutdownRequested(START, 1, 9)),
    ],
)
def test_an_own_request_becomes_this_event(request_, event):
    world = World()
    world.process.urgent.append(request_)
    assert take_turn(world.process).event == event


def test_what_a_handler_raises_comes_with_what_the_process_did():
    world = World()
    world.process.replica = ReplicaFunctions(lambda _state, _event: 1 // 0)
    world.process.inbox.append(REQUEST)
    with pytest.raises(ZeroDivisionError):
        take_turn(world.process)
    assert world.process.doing == events.RequestReceived(START, 1, Source(3, 7), REQUEST.payload)
