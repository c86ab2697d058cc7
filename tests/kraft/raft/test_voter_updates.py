"""What is written of a voter: by the first leader, by each new one, and when a follower asks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.raft.replicas import (
    CLUSTER_ID,
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    candidate,
    endpoints,
    follower,
    key,
    replica,
    unattached,
    voted_answer,
    voter_set,
)
from tests.kraft.raft.voter_leaders import (
    END,
    appended_voters,
    fetch,
    leading,
    of_version_zero,
    pending_add,
    pending_remove,
    shutting_down,
    uncommitted,
    update,
    voters_log,
)

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, NodeId, OffsetAndEpoch
from kraft.log.batches import controls_batch
from kraft.log.image import LogImage, Snapshot
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import AppendLog, FlushLog, HandleLeaderChange, TruncateLog
from kraft.raft.events import PrepareAppend, ScheduleAppend
from kraft.raft.roles import Follower, Leader, Prospective, Unattached
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.voter_records import voters_of, voters_record
from kraft.records.batch import parse_batch
from kraft.records.control_schemas import KRAFT_VERSION, KRAFT_VOTERS, LEADER_CHANGE
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.raft_voters import UpdateRaftVoterRequest, UpdateRaftVoterResponse

THREE = voter_set(1, 2, 3)
BOOTSTRAP = OffsetAndEpoch(0, 0)
ELSEWHERE = (Endpoint("CONTROLLER", "elsewhere", 1),)


def formatted(voters, version=1):
    """Return the log of a node that was formatted with these voters, and has not run yet."""
    data = snapshot_bytes(BOOTSTRAP, (), voters, version, 0)
    return LogImage().with_snapshot(Snapshot(BOOTSTRAP, data))


def elected(log, **fields):
    """Return node 1 once it has won epoch 5, and the control records that it began it with."""
    state = replica(candidate(), log=log, voters=fields.pop("voters", ()), **fields)
    won = Replica(state).asks(2)
    won.answer(2, voted_answer())
    assert isinstance(won.role, Leader)
    (append,) = won.of(AppendLog)
    (batch,) = append.batches
    return won, dict(batch.controls), [kind for kind, _ in batch.controls]


def test_s89_the_first_leader_writes_what_it_was_formatted_with_in_one_batch_with_its_epoch():
    won, records, kinds = elected(formatted(THREE))
    assert kinds == [LEADER_CHANGE.api_key, KRAFT_VERSION.api_key, KRAFT_VOTERS.api_key]
    assert records[LEADER_CHANGE.api_key] == {
        "version": 0,
        "leaderId": 1,
        "voters": ({"voterId": 1}, {"voterId": 2}, {"voterId": 3}),
        "grantingVoters": ({"voterId": 1}, {"voterId": 2}),
    }
    assert records[KRAFT_VERSION.api_key]["kRaftVersion"] == 1
    assert voters_of(records[KRAFT_VOTERS.api_key]) == THREE
    assert won.state.controls.last_voters_offset == 2
    assert (won.state.controls.voters, won.state.high_watermark) == (THREE, None)


def test_s89_with_kraft_version_zero_a_leader_writes_nothing_but_that_it_leads():
    won, _, kinds = elected(LogImage(), voters=(1, 2, 3))
    assert kinds == [LEADER_CHANGE.api_key]
    assert won.state.controls.last_voters_offset is None


def test_s89_a_later_leader_does_not_write_again_what_the_log_has():
    _, records, kinds = elected(voters_log(THREE, epoch=4))
    assert kinds == [LEADER_CHANGE.api_key]
    assert records[LEADER_CHANGE.api_key]["leaderId"] == 1


def test_s89_the_leader_of_one_voter_commits_its_voters_with_its_first_record():
    log = formatted(voter_set(1))
    alone = Replica(replica(unattached(deadline=NOW), log=log, voters=()))
    alone.poll()
    assert appended_voters(alone) == [(2, (1,))]
    assert (alone.role.epoch, alone.state.high_watermark) == (EPOCH + 1, 3)


def test_s90_the_voters_of_a_bootstrap_snapshot_count_and_not_the_configured_ones():
    formatted_with = Replica.booted(log=formatted(THREE), voters=(1, 8, 9))
    assert formatted_with.state.controls.voters == THREE
    formatted_with.wait(2 * TIMEOUTS.election)
    formatted_with.settle()
    assert isinstance(formatted_with.role, Prospective)
    assert set(formatted_with.state.connections) == {2, 3}


def test_s90_a_leader_offers_nobody_its_bootstrap_snapshot():
    won, _, _ = elected(formatted(THREE))
    won.settle()
    answer = fetch(won, 2, 0)
    assert answer.snapshot_id is None
    assert answer.records != b""


def three():
    return leading(1, 2, 3)


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [
        (three, update(cluster_id="another"), "INCONSISTENT_CLUSTER_ID"),
        (three, update(epoch=EPOCH - 1), "FENCED_LEADER_EPOCH"),
        (three, update(epoch=EPOCH + 1), "UNKNOWN_LEADER_EPOCH"),
        (lambda: Replica(replica(follower())), update(), "NOT_LEADER_OR_FOLLOWER"),
        (shutting_down, update(), "BROKER_NOT_AVAILABLE"),
        (three, update(-1), "INVALID_REQUEST"),
        (three, update(directory_id=None), "INVALID_REQUEST"),
        (three, update(directory_id=ZERO_UUID), "INVALID_REQUEST"),
        (three, update(listeners=()), "INVALID_REQUEST"),
        (three, update(listeners=(Endpoint("OTHER", "else", 1),)), "INVALID_REQUEST"),
        (three, update(listeners=(Endpoint("CONTROLLER", "é" * 16_384, 1),)), "INVALID_REQUEST"),
        (three, update(minimum_version=-1), "INVALID_REQUEST"),
        (three, update(minimum_version=2, maximum_version=1), "INVALID_REQUEST"),
        (pending_add, update(), "REQUEST_TIMED_OUT"),
        (pending_remove, update(), "REQUEST_TIMED_OUT"),
        (lambda: leading(1, 2, high_watermark=None), update(), "REQUEST_TIMED_OUT"),
        (of_version_zero, update(), "UNSUPPORTED_VERSION"),
        (uncommitted, update(), "REQUEST_TIMED_OUT"),
        (three, update(minimum_version=0, maximum_version=0), "INVALID_REQUEST"),
        (three, update(minimum_version=2, maximum_version=3), "INVALID_REQUEST"),
        (three, update(4), "VOTER_NOT_FOUND"),
        (three, update(2, 1), "VOTER_NOT_FOUND"),
        # Of two reasons Kafka's first.
        (three, update(epoch=EPOCH + 1, directory_id=None), "UNKNOWN_LEADER_EPOCH"),
        (pending_add, update(minimum_version=-1), "INVALID_REQUEST"),
        (pending_add, update(minimum_version=2, maximum_version=1), "INVALID_REQUEST"),
        (pending_add, update(minimum_version=2, maximum_version=3), "REQUEST_TIMED_OUT"),
        (three, update(4, minimum_version=2, maximum_version=3), "INVALID_REQUEST"),
    ],
)
def test_s99_an_update_is_refused_and_changes_nothing(state, request_, error):
    led = state()
    before = led.state
    answer = led.request(request_)
    assert (answer.error_code.name, answer.epoch) == (error, EPOCH)
    assert led.of(AppendLog) == []
    assert (led.state.role, led.state.controls) == (before.role, before.controls)


def test_s99_an_update_is_appended_and_answered_at_once_before_it_is_committed():
    led = three()
    answer = led.request(update(2, maximum_version=3))
    assert answer == UpdateRaftVoterResponse(ErrorCode.NONE, EPOCH, NodeId(1), endpoints(1))
    assert led.order()[:2] == ["AppendLog", "SendResponse"]
    assert led.state.high_watermark == END
    voter = led.state.controls.voters.get(2)
    assert (voter.endpoints, voter.maximum_version) == (endpoints(72), 3)
    assert led.state.controls.voters.node_ids == (1, 2, 3)
    led.settle()
    # It is a change like any other: the next one waits for it to be committed.
    assert led.request(update(3)).error_code is ErrorCode.REQUEST_TIMED_OUT
    fetch(led, 2, END + 1)
    assert led.request(update(3)).error_code is ErrorCode.NONE


def test_s99_an_update_by_a_sole_voter_is_committed_at_once_and_the_state_machine_told():
    alone = leading(1)
    assert alone.request(update(1)).error_code is ErrorCode.NONE
    assert alone.state.high_watermark == END + 1
    (told,) = alone.told
    assert [batch.base_offset for batch in told.batches] == [END]


def test_s99_a_refused_update_tells_who_leads():
    answer = Replica(replica(follower(leader=2))).request(update(3))
    assert answer == UpdateRaftVoterResponse(
        ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, NodeId(2), endpoints(2)
    )


def followed(*, version=1, voters=THREE, now=NOW + TIMEOUTS.update_voter, **fields):
    """Return a follower of node 2 at a time, whose own endpoints are `own` (None: as the log's)."""
    own = fields.pop("own", None)
    state = replica(
        follower(fetch_deadline=now + TIMEOUTS.fetch, has_fetched=True),
        log=voters_log(voters, version=version, epoch=4),
        high_watermark=END if version else 1,
        voters=() if version else (1, 2, 3),
        **fields,
    )
    if own is not None:
        state = replace(state, configuration=replace(state.configuration, endpoints=own))
    return Replica(state, now)


def test_s100_a_follower_that_listens_elsewhere_asks_for_an_update_instead_of_one_fetch():
    moved = followed(own=ELSEWHERE)
    moved.poll()
    request = UpdateRaftVoterRequest(CLUSTER_ID, EPOCH, 1, key(1).directory_id, ELSEWHERE, 0, 1)
    assert moved.sent() == [(2, request)]
    assert moved.role.update_voter_deadline == moved.now + TIMEOUTS.update_voter
    moved.answer(2, UpdateRaftVoterResponse(ErrorCode.NONE, EPOCH, NodeId(2)))
    moved.poll()
    assert len(moved.sent(FetchRequest)) == 1


def test_s100_a_follower_asks_when_three_fetch_timeouts_are_over_and_not_before():
    early = followed(own=ELSEWHERE, now=NOW + TIMEOUTS.update_voter - 1)
    early.poll()
    assert len(early.sent(FetchRequest)) == 1
    assert early.role.update_voter_deadline == NOW + TIMEOUTS.update_voter
    assert TIMEOUTS.update_voter == 3 * TIMEOUTS.fetch


@pytest.mark.parametrize(
    "state",
    [
        followed(),
        followed(own=ELSEWHERE, version=0),
    ],
    ids=["nothing new", "kraft.version 0"],
)
def test_s100_a_follower_with_nothing_to_write_fetches_on_and_looks_again_a_period_later(state):
    state.poll()
    assert len(state.sent(FetchRequest)) == 1
    assert state.role.update_voter_deadline == state.now + TIMEOUTS.update_voter


def test_s100_other_versions_are_something_new_as_well():
    upgraded = followed(maximum_version=2)
    upgraded.poll()
    assert [request.maximum_version for _, request in upgraded.sent(UpdateRaftVoterRequest)] == [2]


def test_s100_a_replica_that_is_no_voter_does_not_ask():
    observer = followed(own=ELSEWHERE, voters=voter_set(2, 3))
    observer.poll()
    assert len(observer.sent(FetchRequest)) == 1


def test_s100_while_its_fetch_is_under_way_a_follower_waits_and_is_not_polled_for_nothing():
    waiting = followed(own=ELSEWHERE).asks(2)
    assert waiting.next_deadline() > waiting.now
    waiting.poll()
    assert waiting.sent() == []
    waiting.answer(2, FetchResponse(ErrorCode.NONE, EPOCH, NodeId(2), END))
    waiting.poll()
    assert len(waiting.sent(UpdateRaftVoterRequest)) == 1


@pytest.mark.parametrize(
    ("response", "role", "leader"),
    [
        (UpdateRaftVoterResponse(ErrorCode.FENCED_LEADER_EPOCH, EPOCH + 1, NodeId(3)), Follower, 3),
        (UpdateRaftVoterResponse(ErrorCode.NONE, EPOCH + 1, NodeId(3)), Follower, 3),
        (UpdateRaftVoterResponse(ErrorCode.FENCED_LEADER_EPOCH, EPOCH + 1, None), Unattached, None),
        (UpdateRaftVoterResponse(ErrorCode.NONE, EPOCH - 1, NodeId(3)), Follower, 2),
        (UpdateRaftVoterResponse(ErrorCode.REQUEST_TIMED_OUT, EPOCH, NodeId(2)), Follower, 2),
    ],
)
def test_s100_the_answer_to_an_update_tells_of_epochs_and_leaders(response, role, leader):
    moved = followed(own=ELSEWHERE)
    moved.poll()
    moved.answer(2, response)
    assert isinstance(moved.role, role)
    assert (moved.role.epoch, moved.leader) == (max(EPOCH, response.epoch), leader)
    assert (HandleLeaderChange(EPOCH + 1, leader) in moved.told) is (response.epoch > EPOCH)
    assert moved.state.controls.voters == THREE


def test_s100_an_answer_to_an_update_that_was_given_up_changes_nothing():
    moved = followed(own=ELSEWHERE)
    before = moved.state
    newer = UpdateRaftVoterResponse(ErrorCode.NONE, EPOCH + 1, NodeId(3))
    moved.answer(2, newer, correlation_id=0)
    assert (moved.state, moved.effects) == (before, ())


@pytest.mark.parametrize("new", [{"endpoints": ELSEWHERE}, {"maximum_version": 5}])
def test_s101_a_new_leader_of_which_the_log_says_otherwise_updates_itself_as_its_epoch_begins(new):
    state = replica(candidate(), log=voters_log(THREE, epoch=4), voters=())
    state = replace(state, configuration=replace(state.configuration, **new))
    won = Replica(state).asks(2)
    won.answer(2, voted_answer())
    (batch,) = won.of(AppendLog)[0].batches
    kinds = [kind for kind, _ in batch.controls]
    assert kinds == [LEADER_CHANGE.api_key, KRAFT_VERSION.api_key, KRAFT_VOTERS.api_key]
    voters = won.state.controls.voters
    assert voters == voters_of(batch.controls[2][1])
    assert (voters.get(2), voters.get(3)) == (THREE.get(2), THREE.get(3))
    assert replace(THREE.get(1), **new) == voters.get(1)


def with_uncommitted(voters, *more):
    """Return a follower of node 2 that has one more, uncommitted record of the voters."""
    state = followed(voters=voters).state
    batch = controls_batch(END, EPOCH - 1, 0, [voters_record(voter_set(*more))])
    return Replica(
        replace(
            state, log=state.log.append((batch,)), controls=state.controls.with_batches((batch,))
        )
    )


@pytest.mark.parametrize(
    ("committed", "uncommitted_nodes", "was_voter"),
    [(voter_set(2, 3), (1, 2, 3), True), (THREE, (2, 3), False)],
    ids=["a voter becomes an observer", "an observer becomes a voter"],
)
def test_s102_when_a_record_of_the_voters_is_cut_off_the_set_before_it_counts_again(
    committed, uncommitted_nodes, was_voter
):
    cut = with_uncommitted(committed, *uncommitted_nodes).asks(2)
    own = cut.state.configuration.key
    assert cut.state.controls.voters.is_voter(own) is was_voter
    diverging = OffsetAndEpoch(END, EPOCH - 1)
    cut.answer(2, FetchResponse(ErrorCode.NONE, EPOCH, NodeId(2), END, 0, diverging=diverging))
    assert cut.of(TruncateLog) == [TruncateLog(END)]
    assert cut.state.controls.voters == committed
    assert cut.state.controls.voters.is_voter(own) is not was_voter


def test_s103_an_observer_that_knows_no_voters_learns_who_leads_from_its_bootstrap_servers():
    fields = {"node": None, "voters": (), "bootstrap_servers": (2, 3)}
    observer = Replica.booted(**fields)
    assert len(observer.state.controls.voters) == 0
    observer.settle()
    ((asked, _),) = observer.sent(FetchRequest)
    assert asked in (2, 3)
    other = NodeId(5 - asked)
    answer = FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, other)
    observer.answer(asked, answer)
    assert isinstance(observer.role, Follower)
    assert (observer.role.epoch, observer.leader) == (EPOCH, other)


def test_an_update_of_the_leader_itself_comes_after_what_was_prepared_and_is_flushed_next():
    led = three()
    led.event(PrepareAppend, epoch=EPOCH, values=(b"a",))
    led.event(ScheduleAppend)
    assert led.request(update(1)).error_code is ErrorCode.NONE
    assert led.state.controls.voters.get(1).endpoints == endpoints(71)
    (batch,) = led.of(AppendLog)[1].batches
    assert batch.controls
    assert parse_batch(batch.raw).base_timestamp == NOW // MILLISECOND
    assert [type(e) for e in led.effects if isinstance(e, AppendLog | FlushLog)] == [
        AppendLog,
        FlushLog,
        AppendLog,
    ]
    assert led.poll() == (FlushLog(),)
