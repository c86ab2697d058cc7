"""The observer that checks every property of Raft after each step of a simulation.

It looks only at the replica that took the step, and there only at what changed. What was true of
other replicas and of the past is in the history. Properties have the names that KRaftProperties and
KRaftVotersProperties give them. Those of the implementation alone, which no spec models, are listed
with their sentences in docs/internals/raft-fuzzing.md.
"""

from __future__ import annotations

import errno
from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated, Violation
from krafla.fuzz.raft import (
    commit_checks,
    election_checks,
    hosting_checks,
    leader_checks,
    listener_checks,
    log_checks,
    membership_checks,
    message_checks,
)
from krafla.fuzz.raft.history import NO_FILE, History, Replica, name_of
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    Fatal,
    FlushLog,
    FreezeSnapshot,
    HandleCommit,
    HandleLeaderChange,
    HandleLoadSnapshot,
    SendRequest,
    SendResponse,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
)
from kraft.raft.events import ResponseReceived
from kraft.raft.roles import Follower, Leader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.ids import ReplicaKey
    from kraft.log.image import LogImage
    from kraft.raft.state import RaftState
    from kraft.sim.raft.steps import SimStep
    from kraft.sim.raft.workload import Acknowledged

__all__ = ["PROPERTIES", "Checks"]

PROPERTIES: Final = (
    "AcknowledgedStaysProp", "AddedHasFetchedProp", "AlwaysRestartsInv", "ChangeAnsweredProp",
    "ChangeOnlyAfterOwnEpochCommitProp", "CheckQuorumProp",
    "CommittedOnMajorityInv", "CommittedOnlyGrowsProp", "DueFirstProp", "ElectionSafetyInv",
    "EpochsAscendInv",
    "FlushedSurvivesInv", "HeardLeaderStaysProp", "HighWatermarkMonotonicProp",
    "HighWatermarkWithinLogInv",
    "LatestVotersCountInv", "LeaderAppendOnlyProp", "LeaderCompletenessInv",
    "LeaderNeverLoadsSnapshotProp", "LeaderRememberedProp", "ListenerInOrderInv",
    "ListenerLeaderProp", "LogMatchingInv", "MonotonicEpochProp",
    "NeverCommitOldEpochDirectlyProp", "NewLeaderForgetsHighWatermarkProp", "NoIllegalStateInv",
    "NoTruncationBelowHighWatermarkProp", "NotedIsDurableInv", "OldAnswerProp",
    "OneLeaderPerEpochInv",
    "OneRequestPerConnectionInv", "OneUncommittedChangeInv", "OnlyLeaderOwesFlushInv",
    "OnlyVotersStandInv", "OverlappingMajoritiesInv", "OwnVoteProp", "PermittedLogChangesProp",
    "RestartProp", "RoleMatchesStateInv", "SentInOrderProp", "SnapshotAtLogStartInv",
    "SnapshotCommittedInv",
    "StableLeadershipProp", "StateMachineSafetyInv", "StateTransitionsProp", "VoteOncePerEpochProp",
    "VoteWrittenBeforeAnsweredInv", "VoterSetInv",
)  # fmt: skip
"""The name of every property that is checked in each step.

ProgressProp is checked at the end of a run, and a step that fails breaks HandlersReturnInv.
"""


class Checks:
    """Checks every property in each step of a simulation, and keeps the first violation.

    ``stable``: the run has no faults, so a leader that is followed must stay. ``hears``: replicas
    have a state machine, which is told what is committed and who leads. ``hosted``: the steps are
    of processes that do what is due first, and send what their effects say. Once a fault has
    changed what a disk kept (`DAMAGING`), Raft promises nothing any more, and a broken property
    only counts as a hazard. A lost disk is an exception: its replica is gone with it.
    ``unpromised`` counts the steps after such a fault, and those after which it is unknown what is
    committed.
    """

    def __init__(self, *, stable: bool = False, hears: bool = True, hosted: bool = False) -> None:
        self.history = History()
        self.violation: Violation | None = None
        self.hazards: Counter[str] = Counter()
        self.unpromised = 0
        self._stable = stable
        self.hears = hears
        self._hosted = hosted
        self._followed: set[tuple[ReplicaKey, int]] = set()

    def observe(self, step: SimStep) -> None:
        """Check a step, unless a property is broken already."""
        if self.violation is not None:
            return
        if self.history.unsafe or self.history.suspended:
            self.unpromised += 1
        try:
            if self._hosted:
                hosting_checks.check(step)
            if step.kind == "event":
                self._event(step)
            elif step.kind == "start":
                self._start(step)
            elif step.kind == "crash":
                self.history.replica(step.replica).state = None
            elif step.kind == "fault":
                self._fault(step)
        except Violated as broken:
            if self.history.unsafe:
                self.hazards[broken.name] += 1
                _take_over(self.history.replica(step.replica), step)
                return
            self.violation = Violation(
                broken.name, broken.text, step.number, step.time, name_of(step.replica)
            )

    __call__ = observe

    def finish(self, acknowledged: Iterable[Acknowledged]) -> None:
        """Check at the end that every value that a client was told is committed still is.

        It is in the history of what was committed, and in the log of the newest leader.
        """
        committed = self.history.committed
        if self.history.suspended or self.history.unsafe:
            return
        log = self._newest_log()
        for value in acknowledged:
            epoch = committed.epoch_at(value.offset)
            if epoch == value.epoch and log is not None and value.offset >= log.start_offset:
                is_there = value.offset < log.end_offset
                epoch = log.epoch_before(value.offset + 1) if is_there else None
            if epoch != value.epoch and value.offset >= committed.start:
                text = (
                    f"value {value.value} was acknowledged at offset {value.offset} of epoch "
                    f"{value.epoch}; now the record there is of epoch {epoch}"
                )
                self.violation = Violation(
                    "AcknowledgedStaysProp", text, 0, value.time, name_of(value.leader)
                )
                return

    def _newest_log(self) -> LogImage | None:
        """Return the log of the leader of the newest epoch, if that still runs and leads."""
        newest = max(self.history.elections.leading, default=None)
        for one in self.history.replicas.values():
            role = None if one.state is None else one.state.role
            if one.state is not None and isinstance(role, Leader) and role.epoch == newest:
                return one.state.log
        return None

    def _effects(self, replica: Replica, step: SimStep) -> None:
        """Check the effects of a step one by one, as the disk gets them."""
        for effect in step.effects:
            check = _EFFECTS.get(type(effect))
            if check is not None:
                check(self, replica, effect, step)

    def _event(self, step: SimStep) -> None:
        history = self.history
        replica = history.replicas.get(step.replica) or history.replica(step.replica)
        before, after = step.before, step.after
        assert before is not None, "a replica that takes an event runs"
        latest_voters = replica.voters[-1] if replica.voters else None
        if type(step.event) is ResponseReceived and after is not None:
            message_checks.check_awaited(replica, step.event, before, step)
        self._effects(replica, step)
        if type(step.event) is ResponseReceived:
            log_checks.check_diverged(replica, step.event, step)
        if after is None:
            replica.log = log_checks.log_after(before.log, step.effects)
            _cut_short(replica, step)
            return
        begins = after.role is not before.role and self._role(replica, before, after)
        if after.log is not before.log:
            log_checks.check_log(replica, after)
        if replica.flushed != replica.end:
            log_checks.check_flushed(replica, after)
        # The voters that the replica goes by and those in its log may change one without the other.
        if after.controls is not before.controls or latest_voters is not (
            replica.voters[-1] if replica.voters else None
        ):
            loaded = any(type(effect) is TruncateToSnapshot for effect in step.effects)
            membership_checks.check_voters(history, replica, before, after, loaded=loaded)
        if begins:
            commit_checks.check_new_leader(history, replica, after)
            self._check_stable(replica, after.role.epoch)
            assert step.event is not None
            leader_checks.restart_fetches(replica, step.event.now)
        elif isinstance(before.role, Leader):
            leader_checks.check_fetches(replica, step, before, after)
            leader_checks.check_pending(replica, step, before, after)
        if after.role is not before.role:
            commit_checks.check_noted(history, before, after)
        if begins or after.high_watermark != before.high_watermark:
            commit_checks.check_high_watermark(history, replica, before, after)
        if self.hears and after is not before:
            listener_checks.check_told(replica, after)
        replica.state = after

    def _role(self, replica: Replica, before: RaftState, after: RaftState) -> bool:
        """Check a new role; return whether the replica begins to lead."""
        election_checks.check_role(self.history, replica, before, after)
        election_checks.check_resigned(replica, before, after)
        if isinstance(after.role, Follower):
            self._followed.add((replica.key, after.role.epoch))
        return isinstance(after.role, Leader) and not isinstance(before.role, Leader)

    def _check_stable(self, replica: Replica, epoch: int) -> None:
        """Check that a new leader had not followed the one before.

        A replica that had not heard of that leader may take over, even if it voted for it.
        Spec: KRaftState!StandOn.
        """
        leading = self.history.elections.leading
        last = max((each for each in leading if each < epoch), default=None)
        if not self._stable or last is None:
            return
        if leading[last] == replica.key or (replica.key, last) in self._followed:
            raise Violated(
                "StableLeadershipProp",
                f"{name_of(replica.key)} becomes leader in epoch {epoch}, though it followed "
                f"{name_of(leading[last])} in epoch {last} and nothing was wrong with that",
            )

    def _start(self, step: SimStep) -> None:
        history, after = self.history, step.after
        replica = history.replica(step.replica)
        listener_checks.forget(replica)
        replica.last_correlation = -1
        if after is None and step.whole is None:
            if not replica.damaged and not _is_full_disk(step.error):
                raise Violated(
                    "AlwaysRestartsInv",
                    f"{name_of(replica.key)} does not start from its own disk: {step.detail}",
                )
            return
        if after is not None:
            if replica.damaged:
                replica.file, replica.log = NO_FILE, None
            replica.owes_flush = after.configuration.followers_always_flush
            log_checks.check_start_log(history, replica, after)
            if replica.has_file or after.role.epoch:
                election_checks.check_start(history, replica, after)
            membership_checks.adopt_voters(replica, after)
            membership_checks.check_adopted(replica, after)
            self._excuse_sole_voter(replica, after)
        self._effects(replica, step)
        if after is None:
            _cut_short(replica, step)
            return
        replica.interrupted, replica.may_end_at = False, None
        election_checks.check_matches(replica, after)
        if after.high_watermark is not None:
            commit_checks.check_high_watermark(history, replica, None, after)
        replica.state = after

    def _excuse_sole_voter(self, replica: Replica, after: RaftState) -> None:
        """Excuse a sole voter that lost what it said is committed.

        Kafka is built that way, and so is the spec. From then on it is unknown what is committed.
        """
        history = self.history
        voters = after.controls.voters
        alone = len(voters) == 1 and voters.is_voter(replica.key)
        if alone and replica.end < history.committed.end:
            history.suspended = "a sole voter lost what it had not flushed"

    def _fault(self, step: SimStep) -> None:
        """Excuse a replica from its obligations once a fault has changed what it had flushed."""
        kind = step.fault
        if kind == "heal":
            # Replicas outside the core are cut off, and the leader may be one of them.
            self._stable = False
        if kind in DAMAGING:
            self.history.replica(step.replica).damaged = True
            if kind != "lost-disk":
                self.history.unsafe = kind


DAMAGING: Final = frozenset(
    {"bit-rot", "cloned-disk", "lost-disk", "misdirected-write", "old-image"}
)
"""The faults after which a disk is no longer as its replica left it."""


def _is_full_disk(error: Exception | None) -> bool:
    return isinstance(error, OSError) and error.errno == errno.ENOSPC


def _cut_short(replica: Replica, step: SimStep) -> None:
    """Note that a process crashed in the middle of a step, and in which effect."""
    replica.state, replica.interrupted = None, True
    assert step.whole is not None, "a crash has cut it short"
    done = len(step.effects)
    if done < len(step.whole.effects):
        log_checks.check_cut_short(replica, step.whole.effects[done], step.before)


def _take_over(replica: Replica, step: SimStep) -> None:
    """Take over a replica's state as it is, once it cannot be checked any more."""
    after = step.after
    replica.damaged = True
    if after is not None:
        replica.state, replica.log = after, after.log
        replica.file = election_checks.file_of(after.role)
        replica.start, replica.end = after.log.start_offset, after.log.end_offset
        replica.flushed, replica.last_epoch = replica.end, after.log.last_epoch
        membership_checks.adopt_voters(replica, after)


def _on_flush(_checks: Checks, replica: Replica, _effect: FlushLog, _step: SimStep) -> None:
    replica.flushed = replica.end


def _on_fatal(checks: Checks, replica: Replica, effect: Fatal, step: SimStep) -> None:
    """Check that a process ends only if it is told that it leads, or its disk was damaged.

    A node with a new disk is told so. No other process has a reason to end.
    """
    history = checks.history
    disks = sum(key.node_id == replica.key.node_id for key in history.replicas)
    said = getattr(step.event, "request", None) or getattr(step.event, "response", None)
    is_told = disks > 1 and getattr(said, "leader_id", None) == replica.key.node_id
    if not is_told and not replica.damaged and not history.suspended:
        raise Violated("NoIllegalStateInv", f"{name_of(replica.key)} must end: {effect.reason}")


def _on_write_snapshot(checks: Checks, replica: Replica, effect: WriteSnapshot) -> None:
    log_checks.note_snapshot(checks.history, replica, effect.snapshot_id, effect.data)
    membership_checks.check_snapshot_voters(replica, effect)


def _on_freeze(checks: Checks, replica: Replica, effect: FreezeSnapshot, step: SimStep) -> None:
    after = step.after
    snapshot = None if after is None else after.log.snapshot(effect.snapshot_id)
    if snapshot is not None:
        log_checks.note_snapshot(checks.history, replica, snapshot.snapshot_id, snapshot.data)


# One entry for each effect that a property depends on.
_EFFECTS: Final[dict[type, Callable[..., None]]] = {
    WriteQuorumState: lambda c, r, e, _s: election_checks.check_write(c.history, r, e),
    AppendLog: lambda c, r, e, s: log_checks.check_append(c.history, r, e, s.before),
    FlushLog: _on_flush,
    TruncateLog: lambda _c, r, e, s: log_checks.check_truncate(r, e, s.before),
    TruncateToSnapshot: lambda _c, r, e, s: log_checks.check_loaded(r, e, s.before),
    CleanLog: lambda _c, r, e, _s: log_checks.check_clean(r, e),
    WriteSnapshot: lambda c, r, e, _s: _on_write_snapshot(c, r, e),
    FreezeSnapshot: _on_freeze,
    SendRequest: lambda _c, r, e, _s: message_checks.check_request(r, e),
    SendResponse: lambda _c, r, e, s: message_checks.check_response(r, e, s),
    HandleCommit: lambda _c, r, e, s: listener_checks.check_commit(r, e, s.after),
    HandleLoadSnapshot: lambda _c, r, e, s: listener_checks.check_load(r, e, s.after),
    HandleLeaderChange: lambda _c, r, e, s: listener_checks.check_leader_change(r, e, s.after),
    Fatal: _on_fatal,
}
