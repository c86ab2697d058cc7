"""Checks of logs and snapshots, effect by effect, in the order in which a disk gets them.

Spec: KRaftProperties!LogMatchingInv, KRaftProperties!SnapshotAtLogStartInv.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of
from kraft.errors import ErrorCode
from kraft.ids import ReplicaKey
from kraft.log.image import LogImage, Snapshot
from kraft.raft.effects import AppendLog, CleanLog, Fatal, TruncateLog, TruncateToSnapshot
from kraft.raft.roles import Follower, Leader
from kraft.raft.snapshot_file import read_snapshot
from kraft.rpc.fetch import FetchResponse

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import History, Replica
    from kraft.ids import OffsetAndEpoch
    from kraft.log.batches import LogBatch
    from kraft.raft.effects import Effect
    from kraft.raft.events import ResponseReceived
    from kraft.raft.state import RaftState
    from kraft.sim.raft.steps import SimStep

__all__ = [
    "batches_between",
    "check_append",
    "check_clean",
    "check_cut_short",
    "check_diverged",
    "check_flushed",
    "check_loaded",
    "check_log",
    "check_start_log",
    "check_truncate",
    "log_after",
    "note_snapshot",
]

_LEADER_CHANGE: Final = 2
_VOTERS: Final = 6
_EMPTY: Final = LogImage()


def check_append(
    history: History, replica: Replica, effect: AppendLog, before: RaftState | None
) -> None:
    """Check what is written at the end of a log."""
    name = name_of(replica.key)
    role = None if before is None else before.role
    last = replica.last_epoch
    for batch in effect.batches:
        if batch.base_offset != replica.end:
            raise Violated(
                "PermittedLogChangesProp",
                f"{name} writes offset {batch.base_offset} where its log ends at {replica.end}",
            )
        if batch.epoch < last:
            raise Violated(
                "EpochsAscendInv", f"{name} writes epoch {batch.epoch} after epoch {last}"
            )
        if batch.epoch > replica.file.epoch:
            raise Violated(
                "EpochsAscendInv",
                f"{name} writes epoch {batch.epoch} and is in epoch {replica.file.epoch}",
            )
        leads = replica.file.leader_id == replica.key.node_id
        if leads and batch.epoch != replica.file.epoch:
            raise Violated(
                "PermittedLogChangesProp",
                f"{name} leads epoch {replica.file.epoch} and appends to epoch {batch.epoch}",
            )
        if not leads and (batch.epoch, batch.base_offset) not in history.written:
            raise Violated(
                "PermittedLogChangesProp",
                f"{name} is no leader and writes what no leader wrote at "
                f"offset {batch.base_offset}",
            )
        if not leads and not isinstance(role, Follower) and before is not None:
            _refuse_unless_follows(replica, name)
        history.write(batch, last, replica.key)
        for control, fields in batch.controls:
            if control == _LEADER_CHANGE:
                history.elections.begins(batch.epoch, fields["leaderId"], batch.base_offset)
            elif control == _VOTERS:
                offset = batch.end_offset - 1
                replica.voters.append((offset, keys_in(fields["voters"])))
                if batch.controls[0][0] == _LEADER_CHANGE:
                    history.begun_with_voters.add(offset)
        last = replica.last_epoch = batch.epoch
        replica.end = batch.end_offset


def _refuse_unless_follows(replica: Replica, name: str) -> None:
    """Check that a writer began to follow a leader in the same step: its file says so."""
    if replica.file.leader_id is None:
        raise Violated("PermittedLogChangesProp", f"{name} writes to its log and follows no leader")


def keys_in(voters: list[dict[str, object]]) -> frozenset[ReplicaKey]:
    """Return the keys of the voters that a record names."""
    return frozenset(
        ReplicaKey(each["voterId"], each["voterDirectoryId"])  # type: ignore[arg-type] # of a schema
        for each in voters
    )


def check_truncate(replica: Replica, effect: TruncateLog, before: RaftState | None) -> None:
    """Check that no committed record is truncated, and that no leader truncates."""
    _refuse_cut(replica, effect, before)
    _cut(replica, effect.end_offset)


def check_diverged(replica: Replica, event: ResponseReceived, step: SimStep) -> None:
    """Check that a replica keeps nothing after the end of an epoch that its leader names.

    It must not keep anything of a later epoch either; about what it has of an earlier one it asks
    next. If truncating would remove committed records, the process ends instead.
    Spec: KRaft!TruncateDiverging.
    """
    answer, after, before = event.response, step.after, step.before
    if not isinstance(answer, FetchResponse) or answer.diverging is None:
        return
    if after is None or before is None or any(type(each) is Fatal for each in step.effects):
        return
    told = answer.diverging
    role, waited = before.role, before.connections.get(event.sender)
    if (
        not (isinstance(role, Follower) and isinstance(after.role, Follower))
        or (answer.epoch, answer.error_code) != (role.epoch, ErrorCode.NONE)
        or waited is None
        or waited.correlation_id != event.correlation_id
    ):
        return
    if (replica.last_epoch, replica.end) > (told.epoch, told.end_offset):
        raise Violated(
            "PermittedLogChangesProp",
            f"{name_of(replica.key)} is told that the leader's log ends epoch {told.epoch} at "
            f"{told.end_offset}; its own ends at {replica.end}, in epoch {replica.last_epoch}",
        )


def check_cut_short(replica: Replica, effect: Effect, before: RaftState | None) -> None:
    """Check that the effect in which a crash came was allowed, whether it was done or not."""
    if isinstance(effect, TruncateLog):
        _refuse_cut(replica, effect, before)
        replica.may_end_at = effect.end_offset
    elif isinstance(effect, TruncateToSnapshot):
        _refuse_load(replica, effect, before)
        replica.may_end_at = effect.snapshot_id.end_offset


def _refuse_cut(replica: Replica, effect: TruncateLog, before: RaftState | None) -> None:
    name, end = name_of(replica.key), effect.end_offset
    if before is not None:
        if isinstance(before.role, Leader) and before.role.epoch == replica.file.epoch:
            raise Violated("LeaderAppendOnlyProp", f"{name} leads and truncates its log at {end}")
        known = before.high_watermark
        if known is not None and end < known:
            raise Violated(
                "NoTruncationBelowHighWatermarkProp",
                f"{name} truncates its log at {end}, its high watermark is {known}",
            )
    if not replica.start <= end <= replica.end:
        raise Violated(
            "PermittedLogChangesProp",
            f"{name} truncates at {end} a log from {replica.start} to {replica.end}",
        )


def _cut(replica: Replica, end: int) -> None:
    replica.end = end
    replica.flushed = end
    replica.verified = min(replica.verified, end)
    replica.last_epoch = 0 if replica.log is None else replica.log.epoch_before(end)
    while replica.voters and replica.voters[-1][0] >= end:
        replica.voters.pop()


def check_loaded(replica: Replica, effect: TruncateToSnapshot, before: RaftState | None) -> None:
    """Check that only a snapshot that goes further replaces a log, and never a leader's."""
    _refuse_load(replica, effect, before)
    replica.start = replica.end = replica.flushed = effect.snapshot_id.end_offset
    replica.last_epoch = effect.snapshot_id.epoch
    replica.verified = 0
    replica.voters.clear()


def _refuse_load(replica: Replica, effect: TruncateToSnapshot, before: RaftState | None) -> None:
    name, end = name_of(replica.key), effect.snapshot_id.end_offset
    if before is not None and isinstance(before.role, Leader):
        raise Violated("LeaderNeverLoadsSnapshotProp", f"{name} leads and loads snapshot {end}")
    known = None if before is None else before.high_watermark
    if known is not None and end < known:
        raise Violated(
            "NoTruncationBelowHighWatermarkProp",
            f"{name} loads a snapshot that ends at {end}, its high watermark is {known}",
        )


def check_clean(replica: Replica, effect: CleanLog) -> None:
    """Check that a log is cleaned up to a snapshot that lies within it."""
    start = effect.snapshot_id.end_offset
    if not replica.start <= start <= replica.end:
        raise Violated(
            "SnapshotAtLogStartInv",
            f"{name_of(replica.key)} cleans up to {start} a log from {replica.start} "
            f"to {replica.end}",
        )
    replica.start = start
    # The last set before the start is still in force: the snapshot has it.
    while len(replica.voters) > 1 and replica.voters[1][0] < start:
        del replica.voters[0]


def note_snapshot(
    history: History, replica: Replica, snapshot_id: OffsetAndEpoch, data: bytes
) -> None:
    """Check a snapshot by its id: it ends where a committed batch of its epoch ends.

    Snapshots with one id hold the same values, whichever replica writes them. Comparing the
    contents is left to a caller that can read them.
    """
    end, epoch = snapshot_id
    if end == 0 or history.suspended:
        return
    name = name_of(replica.key)
    committed = history.committed
    if end > committed.end:
        raise Violated(
            "SnapshotCommittedInv",
            f"{name} writes a snapshot up to {end}; committed is only up to {committed.end}",
        )
    if end > committed.start:
        known = committed.epoch_before(end)
        if known != epoch:
            raise Violated(
                "SnapshotCommittedInv",
                f"{name} writes snapshot {end} of epoch {epoch}; "
                f"the committed epoch there is {known}",
            )
    digest = _values_digest(data)
    if history.snapshots.setdefault((end, epoch), digest) != digest:
        raise Violated(
            "SnapshotCommittedInv", f"{name} writes another snapshot {end} than was written before"
        )


def _values_digest(data: bytes) -> int:
    """Return a digest of what a snapshot says, without the time of writing."""
    content = read_snapshot(data)
    return hash((content.values, content.voters, content.version))


def check_flushed(replica: Replica, after: RaftState) -> None:
    """Check that of the replicas that may vote only a leader leaves a step without a flush."""
    if replica.owes_flush and replica.flushed != replica.end:
        role = after.role
        if not (isinstance(role, Leader) and role.must_flush):
            raise Violated(
                "OnlyLeaderOwesFlushInv",
                f"{name_of(replica.key)}, {type(role).__name__}, has flushed up to "
                f"{replica.flushed} of {replica.end}",
            )


def check_log(replica: Replica, after: RaftState) -> None:
    """Check that memory and disk have the same log, and that it begins where a snapshot ends."""
    log, name = after.log, name_of(replica.key)
    if (log.start_offset, log.end_offset) != (replica.start, replica.end):
        raise Violated(
            "PermittedLogChangesProp",
            f"{name} has a log from {log.start_offset} to {log.end_offset} in memory, and one from "
            f"{replica.start} to {replica.end} on its disk",
        )
    check_snapshot_at_start(name, log)
    replica.log = log


def check_snapshot_at_start(name: str, log: LogImage) -> None:
    """Check that a log that does not begin at 0 begins at its oldest snapshot."""
    earliest = log.earliest_snapshot
    start = log.start_offset
    if start > 0 and (earliest is None or earliest.snapshot_id.end_offset != start):
        raise Violated(
            "SnapshotAtLogStartInv", f"{name} has a log from {start} and no snapshot there"
        )


def check_start_log(history: History, replica: Replica, after: RaftState) -> None:
    """Check that a start finds on disk all that was flushed and nothing that was not written.

    The write that a crash interrupted may be there, whole, so the tail is noted as written. The
    interrupted truncation may be there as well, or a part of it.
    """
    log, name = after.log, name_of(replica.key)
    if not replica.damaged and replica.log is not None:
        old = replica.log
        least = replica.flushed
        if replica.may_end_at is not None:
            least = min(least, replica.may_end_at)
        if log.end_offset < least:
            raise Violated(
                "FlushedSurvivesInv",
                f"{name} starts with a log up to {log.end_offset}, it had flushed up to {least}",
            )
        shared = min(log.end_offset, replica.end)
        if shared > max(log.start_offset, old.start_offset) and (
            log.epoch_before(shared) != old.epoch_before(shared)
        ):
            raise Violated(
                "FlushedSurvivesInv", f"{name} starts with other records before {shared}"
            )
    check_snapshot_at_start(name, log)
    if log.end_offset < replica.end or log.start_offset > replica.end:
        _cut(replica, max(log.end_offset, log.start_offset))
    tail = max(log.start_offset, min(replica.flushed, log.end_offset))
    found = batches_between(log, tail, log.end_offset)
    if not replica.damaged and replica.log is not None:
        _check_tail(replica, found, tail)
    for batch in found:
        history.write(batch, log.epoch_before(batch.base_offset), replica.key)
    replica.log = log
    replica.start, replica.end = log.start_offset, log.end_offset
    replica.flushed, replica.last_epoch = log.end_offset, log.last_epoch
    replica.verified = min(replica.verified, log.end_offset)


def _check_tail(replica: Replica, found: tuple[LogBatch, ...], tail: int) -> None:
    """Check that records not known to be flushed were written, if only by the interrupted write."""
    assert replica.log is not None
    written = {
        batch.base_offset: batch.raw
        for batch in batches_between(replica.log, tail, replica.log.end_offset)
    }
    for batch in found:
        if written.get(batch.base_offset) == batch.raw:
            continue
        if not (replica.interrupted and batch.base_offset >= replica.log.end_offset):
            raise Violated(
                "PermittedLogChangesProp",
                f"{name_of(replica.key)} starts with records at offset {batch.base_offset} that "
                "it has not written",
            )


def log_after(log: LogImage | None, effects: tuple[Effect, ...]) -> LogImage:
    """Return what a crash after these effects leaves of a log, flushed or not."""
    log = _EMPTY if log is None else log
    for effect in effects:
        if isinstance(effect, AppendLog):
            log = log.append(effect.batches)
        elif isinstance(effect, TruncateLog):
            log = log.truncate(effect.end_offset)
        elif isinstance(effect, CleanLog) and log.snapshot(effect.snapshot_id):
            log = log.clean_to(effect.snapshot_id)
        elif isinstance(effect, TruncateToSnapshot):
            log = log.begin_at(Snapshot(effect.snapshot_id, b""))
    return log


def batches_between(log: LogImage, start: int, end: int) -> tuple[LogBatch, ...]:
    """Return the batches of a log from one offset to another."""
    return log.read(start, 2**62, end) if start < end else ()
