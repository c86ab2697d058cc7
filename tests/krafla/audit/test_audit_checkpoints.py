"""A history may start from a checkpoint, and must agree with every later one."""

from __future__ import annotations

import pytest
from tests.krafla.audit.editing import (
    CHANGE_BROKER,
    METADATA,
    REGISTER,
    copied,
    edited,
    no_op_after,
    records,
    to,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import ExitCode, Verdict
from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.log.checkpoint import read_checkpoint
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.voters import Voter, VoterSet
from kraft.records.builder import metadata_batch

FIRST, SECOND = (
    "00000000000000000523-0000000008.checkpoint",
    ("00000000000000001326-0000000012.checkpoint"),
)
SEGMENT = "00000000000000000504.log"


@pytest.fixture
def failover(tmp_path, real_logs):
    return copied(real_logs / "failover" / "n3002", tmp_path / "n3002")


def violations(report):
    found = [f for c in report.clusters for f in c.all_findings()]
    return [f for f in found if f.weight is Weight.VIOLATION]


def rewrite(path, api_key, change):
    """Change the first record of a type in a checkpoint; `change` gives its new fields."""
    left = [change]
    parts = []
    for batch in read_checkpoint(path):
        plain = batch.metadata_records()
        if not any(record.api_key == api_key for record in plain):
            parts.append(batch.raw)
            continue
        changed = [
            (r.api_key, r.version, left.pop()(r.fields))
            if left and r.api_key == api_key
            else (r.api_key, r.version, r.fields)
            for r in plain
        ]
        parts.append(
            metadata_batch(batch.base_offset, batch.leader_epoch, batch.base_timestamp, changed)
        )
    assert not left
    path.write_bytes(b"".join(parts))


def test_a_log_without_its_beginning_is_judged_from_its_oldest_checkpoint(failover, loading):
    report = audit([failover], loading=loading)
    (directory,) = report.clusters[0].directories
    assert report.exit_code is ExitCode.HELD
    assert (directory.first_offset, directory.judged_from, directory.judged_to) == (504, 523, 1552)
    assert [f.kind for f in directory.findings] == ["not judged"]
    assert report.steps > 0


def test_a_checkpoint_that_differs_from_the_fold_of_the_log_is_reported(failover, loading):
    path = failover / METADATA / SECOND
    rewrite(path, REGISTER, lambda fields: dict(fields, brokerEpoch=1))
    (found,) = violations(audit([failover], loading=loading))
    assert (found.kind, found.path, found.offset) == ("L7", path, 1326)
    assert "epoch=1" in found.detail


def test_a_checkpoint_with_another_leader_is_reported(failover, loading):
    path = failover / METADATA / SECOND
    rewrite(path, 3, lambda fields: dict(fields, leader=99))
    (found,) = violations(audit([failover], loading=loading))
    assert (found.kind, found.path) == ("E8", path)
    assert "leader=99" in found.detail


def test_a_checkpoint_that_differs_does_not_stop_the_history(failover, loading):
    rewrite(failover / METADATA / SECOND, 12, lambda fields: dict(fields, featureLevel=99))
    report = audit([failover], loading=loading)
    assert [f.kind for f in violations(report)] == ["L7"]
    assert report.clusters[0].directories[0].judged_to == 1552


def test_a_start_where_two_brokers_share_an_epoch_breaks_an_invariant(failover, loading):
    path = failover / METADATA / FIRST
    (one, other, *_) = records_of(path)
    rewrite(path, REGISTER, lambda _: dict(one, brokerEpoch=other["brokerEpoch"]))
    (found, *_) = violations(audit([failover], loading=loading))
    assert found.kind == "UntimedLease!EpochUniqueInv"
    assert found.path == path
    assert found.evidence.false


def test_a_start_with_an_epoch_beyond_its_offset_breaks_an_invariant(failover, loading):
    path = failover / METADATA / FIRST
    rewrite(path, REGISTER, lambda fields: dict(fields, brokerEpoch=523))
    (found, *_) = violations(audit([failover], loading=loading))
    assert found.kind == "UntimedLease!EpochWithinLogInv"
    assert "registrations[b].epoch < log_end" in found.evidence.false[0].text


def test_a_checkpoint_inside_a_batch_is_a_violation(failover, loading):
    batches = list(records_batches(failover / METADATA / SEGMENT))
    inside = next(b.base_offset + 1 for b in batches if b.count > 1 and b.base_offset > 600)
    path = failover / METADATA / FIRST
    moved = path.with_name(f"{inside:020}-0000000008.checkpoint")
    moved.write_bytes(path.read_bytes())
    found = violations(audit([failover], loading=loading))
    assert [(f.kind, f.path, f.offset) for f in found] == [("L5", moved, inside)]


def test_a_log_without_its_beginning_and_without_a_checkpoint_cannot_start(failover, loading):
    for name in (FIRST, SECOND):
        (failover / METADATA / name).unlink()
    report = audit([failover], loading=loading)
    assert report.exit_code is ExitCode.VIOLATED
    (found,) = report.clusters[0].directories[0].findings
    assert (found.kind, found.offset) == ("S2", 504)
    assert found.detail.endswith("offsets 0 to 503 are missing")


def test_a_hole_between_the_newest_checkpoint_and_the_log_is_named(failover, loading):
    directory = failover / METADATA
    (directory / SECOND).unlink()
    (directory / FIRST).rename(directory / FIRST.replace("523", "423"))
    report = audit([failover], loading=loading)
    (found,) = violations(report)
    assert (found.kind, found.offset) == ("S2", 504)
    assert "ends at offset 423; the records of offsets 423 to 503 are missing" in found.detail


def test_a_node_whose_log_ends_before_its_newest_checkpoint_can_start(failover, loading):
    directory = failover / METADATA
    (directory / FIRST).unlink()
    (directory / "00000000000000001016.log").unlink()
    path = directory / SEGMENT
    path.write_bytes(b"".join(b.raw for b in records_batches(path) if b.next_offset < 900))
    report = audit([failover], loading=loading)
    assert report.exit_code is ExitCode.HELD
    (found,) = report.clusters[0].directories[0].findings
    assert report.clusters[0].directories[0].images == 1
    assert "ends before the newest checkpoint" in found.detail


@pytest.mark.parametrize("epoch", [7, 9, 12])
def test_an_id_with_another_epoch_than_the_log_is_refused(failover, loading, epoch):
    path = failover / METADATA / FIRST
    moved = path.with_name(f"{523:020}-{epoch:010}.checkpoint")
    moved.write_bytes(under_epoch(path, epoch))
    path.unlink()
    # No record of the log follows in the epoch that the checkpoint says, either.
    (found,) = [
        one
        for one in violations(audit([failover], loading=loading))
        if one.kind != "RaftLog!OtherRecord"
    ]
    assert (found.kind, found.path, found.offset) == ("S1", moved, 523)
    assert "the record at offset 522 has epoch 8" in found.detail


def test_an_id_beyond_the_logs_is_refused_if_its_epoch_is_earlier(failover, loading):
    path = failover / METADATA / SECOND
    moved = path.with_name(f"{2000:020}-{11:010}.checkpoint")
    moved.write_bytes(under_epoch(path, 11))
    (found,) = violations(audit([failover], loading=loading))
    assert (found.kind, found.path) == ("S1", moved)


def under_epoch(path, epoch):
    """Return the bytes of a checkpoint whose batches have another epoch, which no CRC covers."""
    number = epoch.to_bytes(4, "big")
    return b"".join(b.raw[:12] + number + b.raw[16:] for b in read_checkpoint(path))


def test_a_corrupt_checkpoint_is_unreadable_and_the_next_one_is_the_start(failover, loading):
    path = failover / METADATA / FIRST
    raw = bytearray(path.read_bytes())
    raw[200] ^= 1
    path.write_bytes(bytes(raw))
    report = audit([failover], loading=loading)
    (directory,) = report.clusters[0].directories
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert directory.judged_from == 1326
    unreadable = [f for f in directory.findings if f.weight is Weight.UNREADABLE]
    assert [(f.path, f.kind) for f in unreadable] == [(path, "corrupt")]


def test_a_corrupt_later_checkpoint_is_unreadable_and_the_history_goes_on(failover, loading):
    path = failover / METADATA / SECOND
    path.write_bytes(path.read_bytes()[:-1])
    report = audit([failover], loading=loading)
    (directory,) = report.clusters[0].directories
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert directory.judged_to == 1552
    assert [f.path for f in directory.findings if f.weight is Weight.UNREADABLE] == [path]


def test_a_node_whose_checkpoint_follows_a_violation_is_judged_separately(
    tmp_path, failover, loading
):
    log = failover / METADATA / SEGMENT
    offset = no_op_after(log, 600)
    stranger = to(CHANGE_BROKER, 0, brokerId=77, brokerEpoch=12, fenced=-1)
    log.write_bytes(edited(log, {offset: stranger}))
    other = copied(failover, tmp_path / "n3001")
    (other / METADATA / FIRST).unlink()
    properties = other / "meta.properties"
    text = properties.read_text().replace("node.id=3002", "node.id=3001")
    properties.write_text("\n".join(x for x in text.splitlines() if "directory.id" not in x))
    report = audit([tmp_path], loading=loading)
    judged = {d.node_id: (d.verdict, d.judged_from) for d in report.clusters[0].directories}
    assert judged == {3001: (Verdict.HELD, 1326), 3002: (Verdict.VIOLATED, 523)}
    assert report.histories == 2


def without_log(node):
    for log in (node / METADATA).glob("*.log"):
        log.unlink()
    return node


def test_checkpoints_without_a_log_are_judged_as_images(failover, loading):
    report = audit([without_log(failover)], loading=loading)
    (directory,) = report.clusters[0].directories
    assert report.exit_code is ExitCode.HELD
    assert (directory.images, directory.judged_records, directory.end_offset) == (2, 0, 1326)


IMAGES = {
    "a leader that is no replica": ("P3", 3, {"leader": 99}),
    "a leader out of the ISR": ("P2", 3, {"isr": (3,)}),
    "a replica twice": ("T8", 3, {"replicas": (0, 0)}),
    "a replica without a directory": ("T9", 3, {"directories": ()}),
    "a leader epoch above the partition epoch": ("E3", 3, {"leaderEpoch": 99}),
    "a partition of no topic": ("T5", 3, {"topicId": "D" * 21 + "A"}),
    "a name that is not valid": ("T2", 2, {"name": "not valid"}),
    "a reserved directory": ("B9", REGISTER, {"logDirs": ("A" * 21 + "w",)}),
    "a broker without an endpoint": ("B15", REGISTER, {"endPoints": ()}),
    "a broker without features": ("B8", REGISTER, {"features": ()}),
    "a leader that is fenced": ("P11", REGISTER, {"fenced": True}),
    "a controller without features": ("O3", 27, {"features": ()}),
}


@pytest.mark.parametrize("what", IMAGES)
def test_an_image_that_breaks_an_invariant_is_refused_at_its_record(failover, loading, what):
    invariant, api_key, fields = IMAGES[what]
    path = without_log(failover) / METADATA / SECOND
    rewrite(path, api_key, lambda kept: {**kept, **fields})
    found = violations(audit([failover], loading=loading))
    assert (found[0].path, found[0].offset) == (path, 1326)
    assert invariant in {one.kind for one in found}
    assert all(one.position is not None for one in found if one.kind == invariant)


def records_of(checkpoint):
    batches = read_checkpoint(checkpoint)
    found = [r.fields for b in batches for r in b.metadata_records(frozenset({REGISTER}))]
    assert len(found) > 1
    return found


def records_batches(path):
    from kraft.log.segment import iter_batches

    assert records(path)
    return iter_batches(path)


def test_the_checkpoint_that_formats_a_dynamic_quorum_needs_no_metadata_version(
    tmp_path, real_logs
):
    node = copied(real_logs / "combined" / "n1", tmp_path / "n1")
    voters = VoterSet.of([Voter(ReplicaKey(1, "D" * 21 + "A"), ())])
    formatted = snapshot_bytes(OffsetAndEpoch(0, 0), (), voters, 1, 0)
    (node / METADATA / f"{0:020d}-{0:010d}.checkpoint").write_bytes(formatted)
    assert violations(audit([node])) == []
