"""Sets of voters: who is in one, and how one is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.raft.majorities import overlap

from kraft.ids import ReplicaKey
from kraft.raft.voters import Voter, VoterSet
from kraft.rpc.endpoints import Endpoint

DISKS = ("disk-of-one-AAAAAAAAAA", "disk-of-two-AAAAAAAAAA")

KEYS = st.builds(ReplicaKey, st.integers(0, 4), st.sampled_from(DISKS))
VOTERS = st.builds(Voter, KEYS)
SETS = st.lists(VOTERS, max_size=5, unique_by=lambda voter: voter.key.node_id).map(VoterSet.of)


def voter(node, disk=DISKS[0], port=9093, **versions):
    return Voter(ReplicaKey(node, disk), (Endpoint("CONTROLLER", "host", port),), **versions)


def test_a_set_orders_its_voters_by_node_and_has_each_node_once():
    assert VoterSet.of([voter(3), voter(1), voter(2)]).node_ids == (1, 2, 3)
    with pytest.raises(ValueError, match="two voters have the same node id"):
        VoterSet.of([voter(1), voter(1, DISKS[1])])


def test_a_voter_of_a_known_disk_is_that_disk_alone_and_one_of_an_unknown_disk_is_any():
    known, unknown = VoterSet.of([voter(1)]), VoterSet.of([voter(1, None)])
    assert known.is_voter(ReplicaKey(1, DISKS[0]))
    assert not known.is_voter(ReplicaKey(1, DISKS[1]))
    assert not known.is_voter(ReplicaKey(1, None))
    assert unknown.is_voter(ReplicaKey(1, DISKS[1]))
    assert not unknown.is_voter(ReplicaKey(2, DISKS[1]))


def test_a_node_is_added_once_whatever_its_disk():
    two = VoterSet.of([voter(1), voter(2)])
    assert two.add(voter(3)) == VoterSet.of([voter(1), voter(2), voter(3)])
    assert two.add(voter(2)) is None
    assert two.add(voter(2, DISKS[1])) is None


def test_s95_nobody_is_removed_who_is_no_voter_has_another_disk_or_is_the_last():
    two = VoterSet.of([voter(1), voter(2)])
    assert two.remove(ReplicaKey(2, DISKS[0])) == VoterSet.of([voter(1)])
    assert two.remove(ReplicaKey(3, DISKS[0])) is None
    assert two.remove(ReplicaKey(2, DISKS[1])) is None
    assert two.remove(ReplicaKey(2, None)) is None
    assert VoterSet.of([voter(1)]).remove(ReplicaKey(1, DISKS[0])) is None


def test_s99_what_is_new_of_a_voter_is_taken_over_of_the_same_disk_only():
    two = VoterSet.of([voter(1), voter(2)])
    assert two.update(voter(2, port=9999)) == VoterSet.of([voter(1), voter(2, port=9999)])
    assert two.update(voter(2, DISKS[1])) is None
    assert two.update(voter(3)) is None


def test_a_voter_without_a_known_disk_takes_the_disk_that_it_says_it_has():
    unknown = VoterSet.of([voter(1, None), voter(2, None)])
    assert unknown.update(voter(2)) == VoterSet.of([voter(1, None), voter(2)])


def test_s100_a_voter_needs_an_update_if_it_is_one_and_anything_else_of_it_differs():
    two = VoterSet.of([voter(1), voter(2)])
    assert not two.needs_update(voter(2))
    assert two.needs_update(voter(2, port=9999))
    assert two.needs_update(voter(2, maximum_version=2))
    assert not two.needs_update(voter(2, DISKS[1], port=9999))
    assert not two.needs_update(voter(3))


def test_s98_majorities_meet_if_one_left_and_one_came_at_most():
    three = VoterSet.of([voter(1), voter(2), voter(3)])
    assert overlap(three, three)
    assert overlap(three, VoterSet.of([voter(1), voter(2)]))
    assert overlap(three, VoterSet.of([voter(n) for n in (1, 2, 3, 4)]))
    assert not overlap(three, VoterSet.of([voter(1)]))
    assert not overlap(VoterSet.of([voter(1)]), three)


def test_s98_kafkas_check_lets_one_voter_be_replaced_although_majorities_need_not_meet():
    two = VoterSet.of([voter(1), voter(2)])
    replaced = VoterSet.of([voter(1), voter(3)])
    assert overlap(two, replaced)
    disk = VoterSet.of([voter(1), voter(2, DISKS[1])])
    assert overlap(two, disk)


@given(SETS, VOTERS)
def test_s98_one_voter_added_or_removed_leaves_majorities_that_meet(voters, changed):
    for after in (voters.add(changed), voters.remove(changed.key)):
        if after is None:
            continue
        assert abs(len(after) - len(voters)) == 1
        assert overlap(voters, after)
        assert overlap(after, voters)
        # Two majorities have more members, together, than there are voters in either set.
        assert voters.majority + after.majority > max(len(voters), len(after))


@given(SETS, VOTERS)
def test_a_change_leaves_all_others_as_they_were_and_can_be_taken_back(voters, changed):
    added = voters.add(changed)
    if added is None:
        assert changed.key.node_id in voters.node_ids
    else:
        assert added.get(changed.key.node_id) == changed
        assert added.remove(changed.key) == (voters if len(voters) else None)
    updated = voters.update(changed)
    assert (updated is not None) == voters.is_voter(changed.key)
    if updated is not None:
        assert updated.node_ids == voters.node_ids
        assert not updated.needs_update(changed)
