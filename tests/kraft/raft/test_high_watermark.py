"""The high watermark: what a majority has, once a record of the leader's own epoch is among it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    candidate,
    directory,
    key,
    log_of,
    replica,
    voted_answer,
)
from tests.kraft.raft.replication import Driven, batch, fetch, fetched, following, leading

from kraft.raft.effects import AppendLog, FlushLog, HandleCommit
from kraft.raft.leader_log import append_batches
from kraft.raft.roles import Leader
from kraft.raft.turn import Turn


def high_watermark(driven):
    return driven.state.high_watermark


def test_s49_a_new_leader_knows_nothing_committed_until_a_follower_has_its_first_record():
    driven = Driven(replica(candidate(), log=log_of(1, 4)), NOW).asks(2)
    driven.answer(2, voted_answer())
    assert isinstance(driven.role, Leader)
    assert driven.role.epoch_start == 2
    driven.settle()
    driven.request(fetch(2, 4))
    assert high_watermark(driven) is None
    driven.request(fetch(3), sender=2)
    assert high_watermark(driven) == 3


def test_s49_records_of_older_epochs_on_a_majority_are_not_committed_by_that():
    driven = leading(log_of(1, 4, EPOCH), epoch_start=2)
    for node in (2, 3):
        driven.request(fetch(2, 4, sender=node), sender=node)
    assert high_watermark(driven) is None
    assert not driven.of(HandleCommit)


def test_s50_a_leader_of_two_waits_for_its_follower():
    driven = leading(log_of(EPOCH, EPOCH, EPOCH), voters=(1, 2), high_watermark=1)
    driven.request(fetch(2))
    assert high_watermark(driven) == 2
    driven.request(fetch(3))
    assert high_watermark(driven) == 3


def test_s50_a_sole_voter_has_committed_what_it_appends_before_it_is_flushed():
    driven = Driven.booted(voters=(1,))
    driven.settle()
    assert isinstance(driven.role, Leader)
    names = driven.order()
    assert names.index("WriteQuorumState") < names.index("AppendLog") < names.index("HandleCommit")
    assert names.index("HandleCommit") < names.index("FlushLog")
    assert high_watermark(driven) == driven.state.log.end_offset == 1


def test_s51_a_voter_that_lost_its_disk_is_heard_and_takes_nothing_back():
    driven = leading(log_of(*[EPOCH] * 4), high_watermark=4, ends={2: 4, 3: 2})
    driven.request(fetch(1))
    assert driven.role.progress[key(2)].end_offset == 1
    assert high_watermark(driven) == 4
    driven.request(fetch(3, sender=3), sender=3)
    assert high_watermark(driven) == 4


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(
            st.lists(st.none() | st.integers(0, 9), min_size=n - 1, max_size=n - 1),
            st.integers(1, 9),
            st.integers(0, 8),
        )
    )
)
def test_s52_the_high_watermark_is_the_largest_offset_that_more_than_half_have(case):
    others, end, start = case
    voters = tuple(range(1, len(others) + 2))
    ends = dict(zip(voters[1:], others, strict=True))
    driven = leading(log_of(*[EPOCH] * end), voters=voters, ends=ends, epoch_start=start)
    turn = Turn.begin(driven.state, NOW, 0)
    append_batches(turn, (batch(end),))
    known = [end + 1, *[-1 if each is None else each for each in others]]
    reached = [o for o in known if 2 * sum(each >= o for each in known) > len(voters)]
    assert turn.high_watermark == (max(reached) if max(reached) > start else None)


@pytest.mark.parametrize("sender", [4, 2])
def test_s53_who_is_no_voter_commits_nothing_not_even_another_disk_of_one(sender):
    driven = leading(log_of(*[EPOCH] * 3), high_watermark=1, ends={2: 1, 3: 1})
    driven.request(fetch(3, sender=sender, disk=directory(sender, 9)), sender=sender)
    assert high_watermark(driven) == 1
    assert driven.role.progress[key(sender, 9)].end_offset == 3
    assert driven.role.progress[key(2)].end_offset == 1


def test_s53_a_leader_that_is_no_voter_does_not_count_itself():
    driven = leading(log_of(*[EPOCH] * 3), voters=(2, 3, 4))
    driven.request(fetch(2))
    assert high_watermark(driven) is None
    driven.request(fetch(3, sender=3), sender=3)
    assert high_watermark(driven) == 2


def test_s53_a_leader_whose_other_disk_is_the_voter_does_not_count_itself():
    driven = leading(log_of(*[EPOCH] * 3))
    own = replace(driven.state.configuration, directory_id=directory(1, 9))
    driven.state = replace(driven.state, configuration=own)
    driven.request(fetch(3))
    assert high_watermark(driven) is None
    driven.request(fetch(2, sender=3), sender=3)
    assert high_watermark(driven) == 2


def test_s53_a_voter_that_is_known_by_its_node_alone_counts_with_any_disk():
    driven = leading(log_of(*[EPOCH] * 2), directories=False, high_watermark=1)
    driven.request(fetch(2, disk=directory(2, 9)))
    assert high_watermark(driven) == 2


def test_s62_a_follower_appends_and_flushes_before_it_knows_what_is_committed_and_tells_of_it():
    driven = following(log_of(EPOCH), high_watermark=1)
    effects = driven.answer(2, fetched([batch(1), batch(2)], high_watermark=9))
    assert effects == (
        AppendLog((batch(1), batch(2))),
        FlushLog(),
        HandleCommit((batch(1), batch(2))),
    )
    assert high_watermark(driven) == 3


@pytest.mark.parametrize(("said", "known"), [(-1, 2), (1, 2), (2, 2), (3, 3), (9, 3)])
def test_s62_a_follower_never_goes_back_nor_beyond_its_log(said, known):
    driven = following(log_of(*[EPOCH] * 3), high_watermark=2)
    driven.answer(2, fetched(high_watermark=said))
    assert high_watermark(driven) == known


def test_s62_a_follower_that_knows_nothing_takes_over_what_its_leader_knows():
    driven = following(log_of(*[EPOCH] * 3))
    driven.answer(2, fetched(high_watermark=-1))
    assert high_watermark(driven) is None
    driven.asks(2).answer(2, fetched(high_watermark=0))
    assert high_watermark(driven) == 0
