"""Seeded bugs of elections: votes, epochs, and how a start reads the quorum-state file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.raft import quorum
from kraft.raft.effects import SendRequest, SendResponse
from kraft.raft.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from kraft.raft.state import Step

__all__ = ["ELECTION"]

ELECTION: Final[list[Mutant]] = []


@seed_bug(
    ELECTION,
    "boots-as-leader",
    "KAFKA-10527",
    "kraft.raft.boot:_role_at_boot",
    "A leader that restarts continues to lead its epoch.",
)
def _boots_as_leader(right: Any, probe: Probe) -> Any:
    def role_at_boot(turn: Any, file: Any) -> Any:
        role = right(turn, file)
        led = isinstance(role, Resigned)
        probe.trigger(different=led)
        if not led:
            return role
        due = turn.now + turn.configuration.timeouts.check_quorum
        return Leader(role.epoch, role.leader_id, turn.log.end_offset, due)

    return role_at_boot


@seed_bug(
    ELECTION,
    "boots-unattached",
    "KAFKA-10661",
    "kraft.raft.boot:_role_at_boot",
    "A leader that restarts may vote in the epoch that it led.",
)
def _boots_unattached(right: Any, probe: Probe) -> Any:
    def role_at_boot(turn: Any, file: Any) -> Any:
        role = right(turn, file)
        led = isinstance(role, Resigned)
        probe.trigger(different=led)
        return Unattached(role.epoch, None, None, role.election_deadline) if led else role

    return role_at_boot


@seed_bug(
    ELECTION,
    "boots-without-vote",
    "KAFKA-15412",
    "kraft.raft.boot:_election",
    "A start ignores the file and begins in epoch 0.",
)
def _boots_without_vote(right: Any, probe: Probe) -> Any:
    def election(file: Any) -> Any:
        return probe.choose(right(file), (0, None, None))

    return election


@seed_bug(
    ELECTION,
    "boots-without-leader",
    "KAFKA-16529",
    "kraft.raft.boot:_election",
    "A start forgets the leader of the file's epoch.",
)
def _boots_without_leader(right: Any, probe: Probe) -> Any:
    def election(file: Any) -> Any:
        epoch, leader, voted = right(file)
        own = leader is not None and file.voted_id < 0
        return probe.choose((epoch, leader, voted), (epoch, None if own else leader, voted))

    return election


@seed_bug(
    ELECTION,
    "second-vote",
    "redpanda 14",
    "kraft.raft.votes:can_grant_vote",
    "A voter grants its vote to a second candidate of one epoch.",
)
def _second_vote(right: Any, probe: Probe) -> Any:
    def can_grant_vote(turn: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> Any:
        granted = right(turn, candidate, up_to_date, pre_vote)
        voted = isinstance(turn.role, Unattached | Prospective) and turn.role.voted is not None
        return probe.choose(granted, granted or (not pre_vote and voted and up_to_date))

    return can_grant_vote


@seed_bug(
    ELECTION,
    "vote-before-write",
    "any Raft",
    "kraft.raft.votes:on_vote_request",
    "A vote is answered before it is written.",
)
def _vote_before_write(right: Any, probe: Probe) -> Any:
    def on_vote_request(state: Any, event: Any, request: Any) -> Any:
        step = right(state, event, request)
        said = [one for one in step.effects if isinstance(one, SendResponse)]
        rest = [one for one in step.effects if not isinstance(one, SendResponse)]
        return probe.choose(step, Step(step.state, tuple(said + rest)))

    return on_vote_request


@seed_bug(
    ELECTION,
    "asks-before-write",
    "any Raft",
    "kraft.raft.quorum:become_candidate",
    "A candidate asks for votes before its own vote is written.",
)
def _asks_before_write(right: Any, probe: Probe) -> Any:
    def become_candidate(turn: Any) -> None:
        count = len(turn.effects)
        right(turn)
        new = turn.effects[count:]
        asks = [one for one in new if isinstance(one, SendRequest)]
        turn.effects[count:] = asks + [one for one in new if not isinstance(one, SendRequest)]
        probe.trigger(different=turn.effects[count:] != new)

    return become_candidate


@seed_bug(
    ELECTION,
    "vote-not-written",
    "any Raft",
    "kraft.raft.quorum:write_quorum_state",
    "A vote for another candidate is kept in memory only.",
)
def _vote_not_written(right: Any, probe: Probe) -> Any:
    def write_quorum_state(turn: Any, role: Any) -> None:
        voted = isinstance(role, Unattached) and role.voted is not None
        probe.trigger(different=voted)
        if not voted:
            right(turn, role)

    return write_quorum_state


@seed_bug(
    ELECTION,
    "epoch-not-written",
    "KAFKA-15412",
    "kraft.raft.quorum:write_quorum_state",
    "A higher epoch without a vote is kept in memory only.",
)
def _epoch_not_written(right: Any, probe: Probe) -> Any:
    def write_quorum_state(turn: Any, role: Any) -> None:
        bare = isinstance(role, Unattached) and role.voted is None and role.epoch > 0
        probe.trigger(different=bare)
        if not bare:
            right(turn, role)

    return write_quorum_state


@seed_bug(
    ELECTION,
    "pre-vote-drops-vote",
    "KAFKA-17642",
    "kraft.raft.poll:_lose_pre_vote",
    "A replica that loses a pre-vote forgets its vote of the epoch.",
)
def _pre_vote_drops_vote(right: Any, probe: Probe) -> Any:
    def lose_pre_vote(turn: Any, role: Any) -> None:
        probe.trigger(different=role.voted is not None)
        right(turn, replace(role, voted=None))

    return lose_pre_vote


@seed_bug(
    ELECTION,
    "pre-vote-drops-leader",
    "KAFKA-16529",
    "kraft.raft.poll:_lose_pre_vote",
    "A replica that loses a pre-vote forgets the leader of the epoch.",
)
def _pre_vote_drops_leader(right: Any, probe: Probe) -> Any:
    def lose_pre_vote(turn: Any, role: Any) -> None:
        probe.trigger(different=role.leader_id is not None)
        right(turn, replace(role, leader_id=None))

    return lose_pre_vote


@seed_bug(
    ELECTION,
    "votes-knowing-leader",
    "KAFKA-16529",
    "kraft.raft.votes:can_grant_vote",
    "A follower votes in the epoch of its leader.",
)
def _votes_knowing_leader(right: Any, probe: Probe) -> Any:
    def can_grant_vote(turn: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> Any:
        granted = right(turn, candidate, up_to_date, pre_vote)
        role = turn.role
        free = isinstance(role, Follower | Prospective | Unattached) and role.voted is None
        return probe.choose(granted, granted or (not pre_vote and free and up_to_date))

    return can_grant_vote


@seed_bug(
    ELECTION,
    "half-majority",
    "any Raft",
    "kraft.raft.quorum:is_majority",
    "Half of the voters are enough to elect a leader.",
)
def _half_majority(right: Any, probe: Probe) -> Any:
    def is_majority(voters: Any, some: Any) -> Any:
        votes = sum(node in some for node in voters.node_ids)
        return probe.choose(right(voters, some), votes >= max(1, len(voters.voters) // 2))

    return is_majority


@seed_bug(
    ELECTION,
    "majority-is-half",
    "any Raft",
    "kraft.raft.voters:VoterSet.majority",
    "Half of the voters count as a majority for every purpose.",
)
def _majority_is_half(right: Any, probe: Probe) -> Any:
    def majority(voters: Any) -> Any:
        return probe.choose(right.fget(voters), max(1, len(voters.voters) // 2))

    return property(majority)


@seed_bug(
    ELECTION,
    "refusals-count",
    "any Raft",
    "kraft.raft.votes:_record",
    "A rejection counts as a granted vote.",
)
def _refusals_count(right: Any, probe: Probe) -> Any:
    def record(turn: Any, role: Any, sender: Any, granted: bool) -> None:
        real = isinstance(role, Candidate)
        probe.trigger(different=real and not granted)
        right(turn, role, sender, granted or real)

    return record


@seed_bug(
    ELECTION,
    "any-log-wins",
    "any Raft",
    "kraft.raft.votes:is_up_to_date",
    "A voter grants its vote whatever the candidate's log is.",
)
def _any_log_wins(right: Any, probe: Probe) -> Any:
    def is_up_to_date(turn: Any, end: Any) -> Any:
        return probe.choose(right(turn, end), True)

    return is_up_to_date


@seed_bug(
    ELECTION,
    "longest-log-wins",
    "any Raft",
    "kraft.raft.votes:is_up_to_date",
    "Logs are compared by their length alone.",
)
def _longest_log_wins(right: Any, probe: Probe) -> Any:
    def is_up_to_date(turn: Any, end: Any) -> Any:
        return probe.choose(right(turn, end), end.end_offset >= turn.log.end_offset)

    return is_up_to_date


@seed_bug(
    ELECTION,
    "observer-stands",
    "KAFKA-17067",
    "kraft.raft.follower:poll_follower",
    "A replica that is no voter becomes a candidate when its leader is silent.",
)
def _observer_stands(right: Any, probe: Probe) -> Any:
    def poll_follower(turn: Any) -> Any:
        role = turn.role
        stands = (
            isinstance(role, Follower) and not turn.is_voter and turn.now >= role.fetch_deadline
        )
        probe.trigger(different=stands)
        if not stands:
            return right(turn)
        quorum.become_prospective(turn)
        return True

    return poll_follower


@seed_bug(
    ELECTION,
    "resigned-stays",
    "S43",
    "kraft.raft.poll:_poll_resigned",
    "A resigned replica stays in the epoch that it led.",
)
def _resigned_stays(_right: Any, probe: Probe) -> Any:
    def poll_resigned(turn: Any, role: Any) -> None:
        over = turn.shutdown_deadline is None and turn.now >= role.election_deadline
        probe.trigger(different=over)
        if over:
            quorum.become_unattached(turn, role.epoch)

    return poll_resigned


@seed_bug(
    ELECTION,
    "candidate-without-pre-vote",
    "S107",
    "kraft.raft.follower:become_prospective",
    "A follower whose leader is silent becomes a candidate at once and raises every epoch.",
)
def _candidate_without_pre_vote(right: Any, probe: Probe) -> Any:
    def become_prospective(turn: Any) -> None:
        alone = quorum.is_only_voter(turn)
        probe.trigger(different=not alone)
        if alone:
            right(turn)
        else:
            quorum.become_candidate(turn)

    return become_prospective


@seed_bug(
    ELECTION,
    "sole-voter-resigns",
    "KAFKA-16144",
    "kraft.raft.leader:poll_leader",
    "A sole voter resigns because no voter fetches from it.",
)
def _sole_voter_resigns(right: Any, probe: Probe) -> Any:
    def poll_leader(turn: Any) -> Any:
        role = turn.role
        due = isinstance(role, Leader) and not role.must_flush
        due = due and len(turn.voters) == 1 and turn.now >= role.check_quorum_deadline
        probe.trigger(different=due)
        if not due:
            return right(turn)
        quorum.become_resigned(turn)
        return True

    return poll_leader
