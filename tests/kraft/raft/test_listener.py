"""What the state machine is told: each committed batch once and in order, and who leads."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    begin,
    candidate,
    follower,
    leader,
    log_of,
    prospective,
    replica,
    resigned,
    unattached,
    vote,
    voted_answer,
)
from tests.kraft.raft.replication import (
    Driven,
    at,
    batch,
    fetch,
    fetched,
    following,
    leading,
    log_from,
    snapshot,
)

from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.listener import tell_listener
from kraft.raft.roles import Leader, Prospective
from kraft.raft.state import ListenerProgress
from kraft.raft.turn import Turn

TOLD = (HandleCommit, HandleLoadSnapshot, HandleLeaderChange)


def told(driven):
    return [effect for effect in driven.effects if isinstance(effect, TOLD)]


def tell(role, *, log=None, high_watermark=None, listener=None):
    """Return what a state machine that knows so much is told, and what it knows then."""
    state = replica(role, log=log, high_watermark=high_watermark)
    turn = Turn.begin(replace(state, listener=listener or ListenerProgress()), NOW, 0)
    tell_listener(turn)
    effects = tuple(turn.effects)
    tell_listener(turn)
    assert tuple(turn.effects) == effects
    return effects, turn.listener


def batches(log, start=0, end=None):
    return tuple(
        each
        for each in log.batches()
        if each.base_offset >= start and (end is None or each.base_offset < end)
    )


def test_s70_a_follower_tells_of_batches_in_the_order_of_the_log_as_they_are_committed():
    driven = following(log_of(1, 3))
    driven.answer(2, fetched([batch(2), batch(3)], high_watermark=3))
    assert told(driven) == [HandleCommit((*batches(log_of(1, 3)), batch(2)))]
    assert driven.order() == ["AppendLog", "FlushLog", "HandleCommit"]
    driven.asks(2).answer(2, fetched(high_watermark=3))
    assert told(driven) == []
    driven.asks(2).answer(2, fetched([batch(4)], high_watermark=5))
    assert told(driven) == [HandleCommit((batch(3), batch(4)))]


def test_s70_a_leader_tells_of_batches_in_the_order_of_the_log_as_they_are_committed():
    log = log_of(1, EPOCH, EPOCH, EPOCH)
    driven = leading(log, epoch_start=1)
    driven.request(fetch(3))
    assert told(driven)[0] == HandleCommit(batches(log, 0, 3))
    driven.request(fetch(4, sender=3), sender=3)
    assert told(driven) == [HandleCommit(batches(log, 3))]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.data())
def test_s70_a_state_machine_hears_each_committed_record_once_and_never_a_part_of_a_batch(
    sizes, data
):
    log, end = log_of(), 0
    for number, size in enumerate(sizes):
        log = log.append((batch(end, 1, *[b"%d" % number] * size),))
        end += size
    driven = following(log, asks=False)
    heard = []
    for high_watermark in sorted(data.draw(st.lists(st.integers(0, end), max_size=5))):
        driven.asks(2).answer(2, fetched(high_watermark=high_watermark))
        heard += [each for effect in told(driven) for each in effect.batches]
        whole = [each for each in log.batches() if each.end_offset <= high_watermark]
        assert heard == whole


def test_s70_a_state_machine_that_comes_late_hears_all_that_is_committed():
    log = log_of(1, 1, 3)
    effects, knows = tell(follower(), log=log, high_watermark=2)
    assert effects == (HandleCommit(batches(log, 0, 2)), HandleLeaderChange(EPOCH, 2))
    assert knows == ListenerProgress(2, EPOCH, 2)


def test_s70_nothing_is_told_of_a_log_of_which_nothing_is_known_to_be_committed():
    effects, knows = tell(follower(), log=log_from(snapshot(3, 1), 3))
    assert effects == (HandleLeaderChange(EPOCH, 2),)
    assert knows.next_offset == -1


def test_s71_a_new_leader_is_told_so_only_after_the_first_record_of_its_epoch():
    driven = Driven(replica(candidate(), log=log_of(1)), NOW).asks(2)
    driven.answer(2, voted_answer())
    assert isinstance(driven.role, Leader)
    assert told(driven) == []
    driven.settle()
    driven.request(fetch(1, 1))
    assert told(driven) == []
    driven.request(fetch(2))
    commits, change = told(driven)
    assert [each.epoch for each in commits.batches] == [1, EPOCH]
    assert change == HandleLeaderChange(EPOCH, 1)
    assert driven.order() == ["HandleCommit", "HandleLeaderChange"]
    driven.asks(3).request(fetch(2, sender=3, high_watermark=-1), sender=3)
    assert told(driven) == []


def test_s71_a_sole_voter_with_an_empty_log_hears_its_first_record_before_that_it_leads():
    driven = Driven.booted(voters=(1,))
    driven.settle()
    commit, change = told(driven)
    assert [each.controls[0][1]["leaderId"] for each in commit.batches] == [1]
    assert change == HandleLeaderChange(1, 1)


def test_s71_who_has_resigned_is_told_nothing_of_leaders():
    assert tell(resigned()) == ((), ListenerProgress())
    knows = ListenerProgress(0, EPOCH, 1)
    assert tell(resigned(), listener=knows) == ((), knows)


def test_s71_a_leader_that_was_not_told_that_it_leads_is_not_told_either_when_it_resigns():
    role = leader(epoch_start=4)
    effects, knows = tell(role, high_watermark=None)
    assert effects == ()
    assert tell(resigned(), listener=knows)[0] == ()


def test_s71_every_other_role_tells_the_epoch_and_who_is_known_to_lead_it():
    for role, who in (
        (unattached(), None),
        (unattached(leader=3), 3),
        (prospective(), None),
        (prospective(leader=3), 3),
        (candidate(), None),
        (follower(), 2),
    ):
        assert tell(role)[0] == (HandleLeaderChange(EPOCH, who),)


def test_s71_epoch_zero_without_a_leader_is_no_news():
    assert tell(unattached(0))[0] == ()
    assert tell(unattached(0, leader=2))[0] == (HandleLeaderChange(0, 2),)


def test_s71_one_epoch_and_leader_is_told_once_and_a_known_leader_is_not_taken_back():
    knows = ListenerProgress(-1, EPOCH, 2)
    assert tell(follower(), listener=knows)[0] == ()
    assert tell(unattached(), listener=knows)[0] == ()
    assert tell(unattached(EPOCH - 1), listener=knows)[0] == ()
    unled = ListenerProgress(-1, EPOCH, None)
    assert tell(unattached(), listener=unled)[0] == ()
    assert tell(follower(), listener=unled)[0] == (HandleLeaderChange(EPOCH, 2),)
    assert tell(unattached(EPOCH + 1), listener=knows)[0] == (HandleLeaderChange(EPOCH + 1, None),)


def test_s71_a_follower_that_hears_of_a_higher_epoch_tells_of_it_last():
    driven = following(log_of(1), high_watermark=1)
    driven.request(vote(EPOCH + 1, sender=3, end=(1, 1)))
    assert told(driven) == [HandleLeaderChange(EPOCH + 1, None)]
    assert driven.order() == ["WriteQuorumState", "SendResponse", "HandleLeaderChange"]
    driven.request(begin(EPOCH + 1, leader=3), sender=3)
    assert told(driven) == [HandleLeaderChange(EPOCH + 1, 3)]


def test_s72_who_stands_for_election_tells_what_it_knows_to_be_committed():
    log = log_of(1, 1, 1)
    for role in (prospective(), candidate(), unattached(voted=None)):
        effects, _ = tell(role, log=log, high_watermark=2)
        assert effects[0] == HandleCommit(batches(log, 0, 2))


def test_s72_a_follower_that_stands_keeps_what_it_has_told():
    driven = following(log_of(1, 1), high_watermark=1, asks=False)
    driven.wait(TIMEOUTS.fetch)
    driven.poll()
    assert isinstance(driven.role, Prospective)
    assert told(driven) == []
    assert driven.state.listener.next_offset == driven.state.high_watermark == 1


def test_s85_a_state_machine_that_is_new_or_behind_the_log_loads_the_latest_snapshot_first():
    log = log_from(snapshot(3, 1), 3, 3).with_snapshot(snapshot(4, 3))
    for listener in (None, ListenerProgress(0, EPOCH, 2), ListenerProgress(2, EPOCH, 2)):
        effects, knows = tell(follower(), log=log, high_watermark=5, listener=listener)
        assert effects[:2] == (HandleLoadSnapshot(at(4, 3)), HandleCommit(batches(log, 4)))
        assert knows.next_offset == 5


def test_s85_a_state_machine_that_reads_where_the_log_begins_loads_no_snapshot():
    log = log_from(snapshot(3, 1), 3, 3).with_snapshot(snapshot(4, 3))
    knows = ListenerProgress(3, EPOCH, 2)
    effects, _ = tell(follower(), log=log, high_watermark=5, listener=knows)
    assert effects == (HandleCommit(batches(log, 3)),)


def test_s85_a_state_machine_loads_a_snapshot_that_is_ahead_of_the_high_watermark():
    log = log_from(snapshot(3, 1))
    effects, knows = tell(follower(), log=log, high_watermark=2)
    assert effects[0] == HandleLoadSnapshot(at(3, 1))
    assert knows.next_offset == 3


def test_s85_a_leader_that_was_told_so_never_loads_a_snapshot():
    log = log_of(EPOCH, EPOCH, EPOCH)
    driven = leading(log, high_watermark=1, voters=(1, 2))
    driven.state = replace(driven.state, log=log.with_snapshot(snapshot(1, EPOCH)))
    driven.request(fetch(2))
    assert told(driven) == [HandleCommit(batches(log, 1, 2))]
    driven.state = replace(
        driven.state, log=driven.state.log.with_snapshot(snapshot(2, EPOCH)).clean_to(at(2, EPOCH))
    )
    driven.request(fetch(3))
    assert told(driven) == [HandleCommit(batches(log, 2))]


def test_s85_a_leader_that_was_not_told_yet_loads_what_its_log_lacks():
    log = log_from(snapshot(3, 1), EPOCH)
    effects, _ = tell(leader(epoch_start=3), log=log, high_watermark=4)
    assert effects == (
        HandleLoadSnapshot(at(3, 1)),
        HandleCommit(batches(log)),
        HandleLeaderChange(EPOCH, 1),
    )


def test_s71_a_leader_that_has_read_up_to_its_epoch_and_not_into_it_is_not_told_that_it_leads():
    read = ListenerProgress(2, EPOCH - 1, 2)
    assert tell(leader(epoch_start=2), log=log_of(1, 1, EPOCH), listener=read)[0] == ()
