"""Seeded bugs of staying leader: the check of the quorum, pre-votes, late answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.raft import responses
from kraft.raft.roles import Follower, Leader

__all__ = ["LEADING"]

LEADING: Final[list[Mutant]] = []
_CUT_OFF: Final = (("isolation", 4_000),)
_CHANGING: Final = (("add-voter", 60), ("isolation", 2_500), ("remove-voter", 60))


@seed_bug(
    LEADING,
    "leads-alone",
    "KAFKA-15489",
    "kraft.raft.leader:poll_leader",
    "A leader does not resign when no voter fetches from it any more.",
    _CUT_OFF,
)
def _leads_alone(right: Any, probe: Probe) -> Any:
    def poll_leader(turn: Any) -> Any:
        role = turn.role
        due = isinstance(role, Leader) and turn.now >= role.check_quorum_deadline
        probe.trigger(different=due and len(turn.voters) > 1)
        if due:
            later = turn.now + turn.configuration.timeouts.check_quorum
            turn.role = replace(role, check_quorum_deadline=later)
        return right(turn)

    return poll_leader


@seed_bug(
    LEADING,
    "check-quorum-short",
    "any Raft",
    "kraft.raft.contact:heard_of_voter",
    "One voter less than a majority is enough for a leader to stay.",
    (("kill", 1_500), ("bridge", 6_000), ("partition", 4_000)),
)
def _check_quorum_short(right: Any, probe: Probe) -> Any:
    def heard_of_voter(turn: Any, role: Any, node: Any) -> Any:
        answer = right(turn, role, node)
        enough = turn.voters.majority - 1
        heard = sum(node_id in answer[0] for node_id in turn.voters.node_ids) + turn.is_voter
        wrong = heard >= enough
        later = turn.now + turn.configuration.timeouts.check_quorum
        return probe.choose(answer, (frozenset(), later) if wrong else answer)

    return heard_of_voter


@seed_bug(
    LEADING,
    "pre-vote-against-leader",
    "KIP-996",
    "kraft.raft.votes:can_grant_vote",
    "A follower that hears its leader grants a pre-vote against it.",
    _CUT_OFF,
)
def _pre_vote_against_leader(right: Any, probe: Probe) -> Any:
    def can_grant_vote(turn: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> Any:
        granted = right(turn, candidate, up_to_date, pre_vote)
        hears = pre_vote and isinstance(turn.role, Follower) and up_to_date
        return probe.choose(granted, granted or hears)

    return can_grant_vote


@seed_bug(
    LEADING,
    "old-answer-names-leader",
    "any Raft",
    "kraft.raft.responses:handle_common",
    "The leader of an earlier epoch is taken for the leader of this one.",
    _CUT_OFF,
)
def _old_answer_names_leader(right: Any, probe: Probe) -> Any:
    def handle_common(turn: Any, error: Any, epoch: int, leader_id: Any) -> Any:
        known = turn.role.epoch
        misled = epoch < known and responses.learns_leader(turn, leader_id)
        probe.trigger(different=misled)
        if not misled:
            return right(turn, error, epoch, leader_id)
        responses.discover(turn, known, leader_id)
        return True

    return handle_common


@seed_bug(
    LEADING,
    "change-forgets-change",
    "KIP-853",
    "kraft.raft.voter_changes:_refusal",
    "A second change of the voters replaces the pending one.",
    _CHANGING,
)
def _change_forgets_change(right: Any, probe: Probe) -> Any:
    def refusal(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        return probe.choose(answer, right(turn, replace(leader, pending_change=None)))

    return refusal
