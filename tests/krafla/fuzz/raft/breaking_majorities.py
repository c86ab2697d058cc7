"""Histories in which one vote, copy or fetch too few counts as a majority."""

from __future__ import annotations

from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.breaking_leading import check_quorum, fetch, poll
from tests.krafla.fuzz.raft.breaking_voters import changing
from tests.krafla.fuzz.raft.by_hand import A, B, C, D, E, Hand, voters


@breaks("CommittedOnMajorityInv")
def two_copies_of_four_are_taken_for_a_majority():
    hand = Hand(A, B, C, D)
    hand.elect(A, 1, B, C)
    hand.follow(B, A, 1)
    hand.append(A)
    hand.copy(B, A)
    hand.note(A, 2, b=2)
    return hand


@breaks("CommittedOnMajorityInv")
def a_copy_of_another_epoch_is_counted():
    hand = Hand()
    hand.elect(B, 1, C)
    hand.append(B)
    hand.elect(A, 2, C)
    hand.append(A)
    hand.note(A, 2, b=2)
    return hand


@breaks("OverlappingMajoritiesInv")
def two_voters_are_added_to_three_at_once():
    return changing(voters(A, B, C), voters(A, B, C, D, E), b=2, c=2, d=2, e=2)


@breaks("CheckQuorumProp")
def a_leader_of_four_stays_by_the_fetches_of_one_voter():
    hand = Hand(A, B, C, D)
    hand.elect(A, 1, B, C)
    for time in range(1, 40):
        fetch(hand, B, time * check_quorum(hand))
        poll(hand, time * check_quorum(hand))
    return hand
