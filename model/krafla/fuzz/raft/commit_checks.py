"""Checks of high watermarks and of the records below them.

Spec: KRaftProperties, "What is committed"; KRaftVotersProperties!CommittedByVotersProp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of, order_of
from krafla.fuzz.raft.log_checks import batches_between
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import History, Replica
    from kraft.ids import ReplicaKey
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet

__all__ = ["check_high_watermark", "check_new_leader", "check_noted"]


def check_high_watermark(
    history: History, replica: Replica, before: RaftState | None, after: RaftState
) -> None:
    """Check a high watermark that is new or has changed."""
    name, known = name_of(replica.key), after.high_watermark
    role = after.role
    leads = isinstance(role, Leader)
    old = None if before is None else before.high_watermark
    begins = leads and before is not None and not isinstance(before.role, Leader)
    if begins:
        if known is not None and not replica.is_sole_voter(after):
            raise Violated(
                "NewLeaderForgetsHighWatermarkProp",
                f"{name} begins to lead epoch {role.epoch} with high watermark {known}",
            )
    elif old is not None and (known is None or known < old):
        raise Violated("HighWatermarkMonotonicProp", f"{name} goes back from {old} to {known}")
    if known is None:
        return
    if not after.log.start_offset <= known <= after.log.end_offset:
        raise Violated(
            "HighWatermarkWithinLogInv",
            f"{name} has high watermark {known} and a log from {after.log.start_offset} to "
            f"{after.log.end_offset}",
        )
    if history.suspended:
        return
    if leads and (old is None or known > old):
        _check_leaders(history, replica, before, after, known)
    _compare(history, replica, after, known)


def _check_leaders(
    history: History, replica: Replica, before: RaftState | None, after: RaftState, known: int
) -> None:
    """Check that a leader commits records of its own epoch, which a majority has on disk."""
    name, role = name_of(replica.key), after.role
    epoch = after.log.epoch_before(known)
    if epoch != role.epoch:
        raise Violated(
            "NeverCommitOldEpochDirectlyProp",
            f"{name} leads epoch {role.epoch} and commits up to {known}, a record of epoch {epoch}",
        )
    voters = after.controls.voters
    having = _having(history, replica, voters, known, epoch)
    # Do not ask the judged code what a majority is: `VoterSet.majority`.
    if 2 * having > len(voters.voters):
        return
    if before is not None and _appends_voters_behind(before, after, known):
        # Before the new voters were appended, the former ones may have committed this.
        former = before.controls.voters
        if 2 * _having(history, replica, former, known, epoch) > len(former.voters):
            return
    raise Violated(
        "CommittedOnMajorityInv",
        f"{name} commits up to {known}; {having} of {len(voters)} voters have that on disk",
    )


def _having(history: History, replica: Replica, voters: VoterSet, known: int, epoch: int) -> int:
    """Return how many voters have the records up to the leader's high watermark on disk."""
    having = 0
    for voter in voters.voters:
        other = history.of_voter(voter.key)
        if other is replica:
            # A sole voter commits what it appends and flushes afterwards: known, and argued in the
            # spec.
            having += other.flushed >= known or other.damaged or len(voters) == 1
        elif other is not None:
            having += other.has_durably(known, epoch)
    return having


def _appends_voters_behind(before: RaftState, after: RaftState, known: int) -> bool:
    """Return whether an event appends voters at or above the high watermark that it reaches.

    A leader appends its prepared batches first, and a sole voter commits them at once.
    Spec: KRaft!AppendEntry, then KRaftVoters!AppendVoters.
    """
    offset = after.controls.last_voters_offset
    return offset is not None and offset >= max(known, before.log.end_offset)


def _compare(history: History, replica: Replica, after: RaftState, known: int) -> None:
    """Check that a replica's records below its high watermark are the committed ones."""
    committed, log, name = history.committed, after.log, name_of(replica.key)
    start = max(replica.verified, log.start_offset)
    if known <= start:
        return
    batches = batches_between(log, start, known)
    other = committed.differs_from(batches)
    if other is not None:
        raise Violated(
            "StateMachineSafetyInv",
            f"{name} has, below its high watermark at offset {other.base_offset}, a batch of epoch "
            f"{other.epoch}; another was committed there",
        )
    if known > committed.end:
        if not isinstance(after.role, Leader):
            raise Violated(
                "StateMachineSafetyInv",
                f"{name} has high watermark {known}; no leader has committed beyond "
                f"{committed.end}",
            )
        if start > committed.end and batches[0].base_offset > committed.end:
            raise Violated(
                "CommittedOnlyGrowsProp",
                f"{name} commits from {start} on, what is committed ends at {committed.end}",
            )
        committed.extend(batches)
    replica.verified = known


def check_new_leader(history: History, replica: Replica, after: RaftState) -> None:
    """Check that a new leader has all that was ever committed."""
    committed, log = history.committed, after.log
    if history.suspended or after.role.epoch < committed.last_epoch:
        return
    name, end = name_of(replica.key), committed.end
    if log.end_offset < end:
        raise Violated(
            "LeaderCompletenessInv",
            f"{name} leads epoch {after.role.epoch} with a log up to {log.end_offset}; "
            f"committed is {end}",
        )
    start = max(replica.verified, log.start_offset)
    other = committed.differs_from(batches_between(log, start, end))
    if other is not None:
        raise Violated(
            "LeaderCompletenessInv",
            f"{name} leads epoch {after.role.epoch} and has at offset {other.base_offset} a batch "
            f"of epoch {other.epoch}; another is committed there",
        )
    replica.verified = max(replica.verified, end)


def check_noted(history: History, before: RaftState | None, after: RaftState) -> None:
    """Check what a leader newly notes of a replica: it is flushed there, and the same.

    A broker may have lost it in a crash since it asked.
    """
    role = after.role
    if not isinstance(role, Leader):
        return
    old = None
    if before is not None and isinstance(before.role, Leader) and before.role.epoch == role.epoch:
        old = before.role.progress
        if old is role.progress:
            return
    for key, progress in sorted(role.progress.items(), key=lambda entry: order_of(entry[0])):
        noted = progress.end_offset
        if noted is None:
            continue
        if old is not None:
            same = old.get(key)
            if same is progress or (same is not None and same.end_offset == noted):
                continue
        _check_progress(history, after, progress.key, noted)


def _check_progress(history: History, after: RaftState, key: ReplicaKey, noted: int) -> None:
    other = history.of_voter(key)
    if other is None or other.damaged or other.file.epoch != after.role.epoch:
        return
    log = after.log
    if not other.owes_flush and other.end < noted <= log.end_offset:
        return
    if noted > log.end_offset or (other.owes_flush and noted > other.flushed):
        raise Violated(
            "NotedIsDurableInv",
            f"leader {name_of(after.configuration.key)} notes that {name_of(other.key)} has all "
            f"up to {noted}; it has flushed up to {other.flushed}, the leader's log ends at "
            f"{log.end_offset}",
        )
    if (
        other.log is not None
        and noted > max(log.start_offset, other.start)
        and other.log.epoch_before(noted) != log.epoch_before(noted)
    ):
        raise Violated(
            "NotedIsDurableInv",
            f"leader {name_of(after.configuration.key)} notes that {name_of(other.key)} has all "
            f"up to {noted}, but the records there differ",
        )
