"""A crash between any two operations of the disk: what was flushed is there, and a start succeeds.

Scripts of effects are drawn from a seed. Each is run once for every operation that it makes, and
ends there; the disk then loses all that was not flushed, nothing, or some of it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from tests.kraft.log.crashing_files import CrashError, CrashingFiles
from tests.kraft.log.log_samples import (
    CLUSTER,
    DIRECTORY,
    NODE,
    batch,
    formatted,
    leader_change_batch,
    opened,
    snapshot,
)

from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.log.findings import FindingKind
from kraft.log.image import LogImage, Snapshot
from kraft.log.raft_storage import RaftStorage
from kraft.raft.effect_storage import perform
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    Durable,
    FlushLog,
    FreezeSnapshot,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
    WriteSnapshotPart,
)

if TYPE_CHECKING:
    from kraft.log.recovery import Recovered


@dataclass(frozen=True)
class Expected:
    """What the disk should hold: the log, up to where it is flushed, and the quorum state."""

    log: LogImage = field(default_factory=LogImage)
    flushed: int = 0
    quorum_state: tuple[int, int, int] | None = None
    epoch: int = 1


def after(expected: Expected, effect: Durable) -> Expected:
    """Return what the disk should hold after an effect."""
    log = expected.log
    match effect:
        case WriteQuorumState(epoch, leader_id, voted, _):
            voted_id = -1 if voted is None else voted.node_id
            state = (epoch, -1 if leader_id is None else leader_id, voted_id)
            return replace(expected, quorum_state=state, epoch=epoch)
        case AppendLog(batches):
            return replace(expected, log=log.append(batches))
        case FlushLog():
            return replace(expected, flushed=log.end_offset)
        case TruncateLog(end_offset):
            log = log.truncate(end_offset)
            return replace(expected, log=log, flushed=log.end_offset)
        case WriteSnapshot(snapshot_id, data):
            return replace(expected, log=log.with_snapshot(Snapshot(snapshot_id, data)))
        case FreezeSnapshot(snapshot_id):
            data = snapshot(*snapshot_id)[1]
            return replace(expected, log=log.with_snapshot(Snapshot(snapshot_id, data)))
        case TruncateToSnapshot(snapshot_id):
            found = log.snapshot(snapshot_id)
            assert found is not None
            return replace(expected, log=log.begin_at(found), flushed=snapshot_id.end_offset)
        case CleanLog(snapshot_id):
            start = max(expected.flushed, snapshot_id.end_offset)
            return replace(expected, log=log.clean_to(snapshot_id), flushed=start)
        case _:
            return expected


def drawn(choose: random.Random, length: int = 14) -> list[Durable]:
    """Return effects that a replica could ask for, one after the other."""
    expected = Expected()
    script: list[Durable] = []
    while len(script) < length:
        for effect in _next(choose, expected):
            expected = after(expected, effect)
            script.append(effect)
    return script


def _next(choose: random.Random, expected: Expected) -> list[Durable]:
    log, end, epoch = expected.log, expected.log.end_offset, expected.epoch
    kind = choose.choice(
        ["append"] * 5
        + ["flush", "flush", "elect", "truncate"]
        + ["snapshot", "snapshot", "download", "clean", "clean"]
    )
    newest = max((s.snapshot_id.end_offset for s in log.snapshots), default=log.start_offset)
    if kind == "append":
        batches = [batch(end, epoch, choose.randint(1, 3))]
        if choose.random() < 0.5:
            batches.append(batch(batches[0].end_offset, epoch, choose.randint(1, 3)))
        return [AppendLog(tuple(batches))]
    if kind == "flush":
        return [FlushLog()]
    if kind == "elect":
        vote = WriteQuorumState(epoch + 1, None, ReplicaKey(NODE, DIRECTORY), choose.randint(0, 1))
        lead = WriteQuorumState(epoch + 1, NODE, None, vote.version)
        return [vote, lead, AppendLog((leader_change_batch(end, epoch + 1),))]
    if kind == "truncate" and end > newest:
        return [TruncateLog(choose.randint(newest, end))]
    if kind == "snapshot" and end > newest:
        cut = choose.choice([b.end_offset for b in log.batches() if b.end_offset > newest])
        return [WriteSnapshot(*snapshot(cut, log.epoch_before(cut)))]
    if kind == "download":
        snapshot_id, data = snapshot(end + choose.randint(1, 30), epoch + 1)
        half = len(data) // 2
        return [
            WriteQuorumState(epoch + 1, NODE, None, 1),
            WriteSnapshotPart(snapshot_id, 0, data[:half]),
            WriteSnapshotPart(snapshot_id, half, data[half:]),
            FreezeSnapshot(snapshot_id),
            TruncateToSnapshot(snapshot_id),
        ]
    later = [s.snapshot_id for s in log.snapshots if s.snapshot_id.end_offset > log.start_offset]
    return [CleanLog(choose.choice(later))] if kind == "clean" and later else []


def crashed(script: list[Durable], crash_at: int) -> tuple[CrashingFiles, Expected, Expected]:
    """Return the disk that crashed there, and what is expected before and after that effect."""
    files = formatted(crash_at)
    expected = upcoming = Expected()
    try:
        storage = opened(files)
        for effect in script:
            upcoming = after(expected, effect)
            perform(storage, effect)
            expected = upcoming
    except CrashError:
        return files, expected, upcoming
    raise AssertionError("the script is over before it crashes")


def operations_of(script: list[Durable]) -> int:
    files = formatted()
    storage = opened(files)
    for effect in script:
        perform(storage, effect)
    return files.operations


def recovered_from(disk: CrashingFiles) -> Recovered:
    return RaftStorage(disk, segment_bytes=400).open(CLUSTER, NODE, DIRECTORY)


def check(found: Recovered, before: Expected, upcoming: Expected) -> None:
    """Assert that what was found is of before or after the effect, and lacks nothing flushed."""
    state = found.quorum_state
    kept = None if state is None else (state.leader_epoch, state.leader_id, state.voted_id)
    assert kept in (before.quorum_state, upcoming.quorum_state)
    log = found.log
    starts = {before.log.start_offset, upcoming.log.start_offset}
    ahead = [s.snapshot_id.end_offset for s in (*before.log.snapshots, *upcoming.log.snapshots)]
    assert log.start_offset in starts or log.start_offset == log.end_offset in ahead
    assert log.end_offset >= min(before.flushed, upcoming.log.end_offset)
    raws = {b.base_offset: b.raw for b in upcoming.log.batches()}
    raws.update({b.base_offset: b.raw for b in before.log.batches()})
    assert all(b.raw == raws[b.base_offset] for b in log.batches())
    possible = {s.snapshot_id: s.data for s in (*before.log.snapshots, *upcoming.log.snapshots)}
    assert all(possible[s.snapshot_id] == s.data for s in log.snapshots)
    certain = set(before.log.snapshots) & set(upcoming.log.snapshots)
    assert {s for s in certain if s.snapshot_id.end_offset >= log.start_offset} <= set(
        log.snapshots
    )


@pytest.mark.parametrize("seed", range(16))
def test_after_a_crash_anywhere_a_start_finds_all_that_was_flushed(seed):
    choose = random.Random(seed)
    script = drawn(choose)
    for crash_at in range(operations_of(script)):
        files, before, upcoming = crashed(script, crash_at)
        for loses in ("all", "nothing", choose, choose):
            disk = files.after_crash(loses)
            found = recovered_from(disk)
            check(found, before, upcoming)
            again = recovered_from(disk.after_crash("all"))
            assert again.log == found.log, "what a start has put right stays right"
            assert {each.kind for each in again.findings} <= {FindingKind.IGNORED_FILE}


@pytest.mark.parametrize("seed", range(100, 106))
def test_a_start_may_crash_as_well(seed):
    choose = random.Random(seed)
    script = drawn(choose)
    for crash_at in range(0, operations_of(script), 3):
        files, before, upcoming = crashed(script, crash_at)
        torn = files.after_crash(choose).contents()
        whole = CrashingFiles.of(torn)
        first = recovered_from(whole)
        for start_crash_at in range(whole.operations):
            disk = CrashingFiles.of(torn)
            disk.crash_at = start_crash_at
            with pytest.raises(CrashError):
                recovered_from(disk)
            found = recovered_from(disk.after_crash(choose))
            check(found, before, upcoming)
            assert found.log == first.log


@pytest.mark.parametrize("seed", range(200, 212))
def test_without_a_crash_a_start_finds_the_log_as_it_was(seed):
    script = drawn(random.Random(seed), 40)
    files = formatted()
    storage = opened(files)
    expected = Expected()
    for effect in (*script, FlushLog()):
        perform(storage, effect)
        expected = after(expected, effect)
        if isinstance(effect, FreezeSnapshot):
            continue  # a start would begin anew from it
        found = recovered_from(CrashingFiles.of(files.contents()))
        assert found.log == expected.log
        assert found.log.start_epoch == expected.log.start_epoch
        assert storage.end_offset == expected.log.end_offset


def test_the_scripts_reach_what_they_are_for():
    kinds = {type(effect) for seed in range(16) for effect in drawn(random.Random(seed))}
    assert kinds >= {TruncateLog, TruncateToSnapshot, CleanLog, WriteSnapshot, FreezeSnapshot}
    segments = 0
    for seed in range(16):
        files = formatted()
        storage = opened(files)
        for effect in drawn(random.Random(seed)):
            perform(storage, effect)
            segments = max(segments, sum(name.endswith(".log") for name in files.contents()))
    assert segments >= 3


def test_a_truncation_over_segments_leaves_a_log_that_is_longer_never_shorter():
    whole = [AppendLog((batch(offset, 1, 2),)) for offset in range(0, 24, 2)]
    script: list[Durable] = [*whole, FlushLog(), TruncateLog(3)]
    ends = set()
    for crash_at in range(operations_of(script)):
        files, before, upcoming = crashed(script, crash_at)
        if before.log.end_offset == 24 and upcoming.log.end_offset == 2:
            ends.add(recovered_from(files.after_crash("nothing")).log.end_offset)
    assert min(ends) == 2
    assert max(ends) == 24
    assert len(ends) > 3


def test_a_log_that_was_cleaned_within_its_first_segment_begins_there_again():
    files = formatted()
    storage = opened(files, 100_000)
    for effect in (
        AppendLog((batch(0, 1, 5), batch(5, 1, 5))),
        FlushLog(),
        WriteSnapshot(*snapshot(5, 1)),
        CleanLog(OffsetAndEpoch(5, 1)),
    ):
        perform(storage, effect)
    log = recovered_from(files.after_crash("all")).log
    assert (log.start_offset, log.start_epoch, log.end_offset) == (5, 1, 10)
    assert [b.base_offset for b in log.batches()] == [5]
