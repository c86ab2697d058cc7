"""Kafka's tools read what the storage writes, and the storage goes on with what Kafka wrote."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.kraft.kafka_tools import dump, dumped_batches, shell
from tests.kraft.log.log_samples import (
    CLUSTER,
    DIRECTORY,
    LOG,
    NODE,
    VOTERS,
    batch,
    leader_change_batch,
    value,
)

from kraft.ids import METADATA_DIRECTORY, OffsetAndEpoch, ReplicaKey, uuid_text
from kraft.log.directory import open_metadata_log, read_metadata_log
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.log.real_files import RealFiles
from kraft.log.text_files import read_meta_properties, read_quorum_state
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.voters import Voter, VoterSet
from kraft.records.value import encode_value
from kraft.rpc.endpoints import Endpoint

if TYPE_CHECKING:
    from kraft.log.image import LogImage

# One process fetches Kafka's jars; another would only wait for it.
pytestmark = pytest.mark.xdist_group("kafka-jars")

TRACES = Path(__file__).resolve().parents[2] / "traces" / "kafka-4.1"
LARGE = 4 * 1024 * 1024
"""Of longer files, Kafka dumps the batches only."""


def written(root: Path) -> tuple[RealFiles, LogImage]:
    """Return a directory with all that the storage writes: three epochs, segments, a snapshot."""
    files = RealFiles(root)
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    storage = RaftStorage(files, segment_bytes=900, voters=VOTERS)
    log = storage.open(CLUSTER, NODE, DIRECTORY).log
    for epoch in (1, 2, 4):
        added = [leader_change_batch(log.end_offset, epoch)]
        added += [batch(added[0].end_offset + 3 * n, epoch, 3) for n in range(4)]
        for each in added:
            storage.append((each,))
        log = log.append(tuple(added))
    storage.flush()
    storage.truncate(log.end_offset - 3)
    storage.write_quorum_state(4, NODE, ReplicaKey(NODE, DIRECTORY), 1)
    return files, log.truncate(log.end_offset - 3)


def test_kafka_dumps_every_segment_that_the_storage_wrote(tmp_path):
    files, log = written(tmp_path)
    segments = [files.place(name) for name in files.names(LOG) if name.endswith(".log")]
    assert len(segments) >= 3
    lines = dump(segments, "--cluster-metadata-decoder")
    seen = [each for segment in segments for each in dumped_batches(lines[segment])]
    assert [(b.base_offset, b.last_offset + 1, b.count, b.epoch, b.size) for b in seen] == [
        (b.base_offset, b.end_offset, b.count, b.epoch, len(b.raw)) for b in log.batches()
    ]
    assert all(each.is_valid for each in seen)
    assert [each.is_control for each in seen] == [bool(b.controls) for b in log.batches()]
    records = [line for segment in segments for line in lines[segment] if line.startswith("| ")]
    assert [line.split()[2] for line in records] == [str(o) for o in range(log.end_offset)]
    assert records[0].endswith(
        'LeaderChange: {"version":0,"leaderId":3000,"voters":[{"voterId":3000},{"voterId":3001},'
        '{"voterId":3002}],"grantingVoters":[{"voterId":3000},{"voterId":3001}]}'
    )
    assert json.loads(records[1].partition("payload: ")[2]) == {
        "type": "FEATURE_LEVEL_RECORD",
        "version": 0,
        "data": {"name": "feature.1001", "featureLevel": 1},
    }


def test_kafka_dumps_and_loads_a_snapshot_that_the_storage_wrote(tmp_path):
    files = RealFiles(tmp_path)
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    storage = RaftStorage(files)
    storage.open(CLUSTER, NODE)
    storage.append((batch(0, 3, 7),))
    storage.flush()
    values = [
        encode_value(12, 0, {"name": "metadata.version", "featureLevel": 27}),
        encode_value(2, 0, {"name": "flowers", "topicId": uuid_text(bytes(16 * [7]))}),
    ]
    voter = Voter(ReplicaKey(NODE, DIRECTORY), (Endpoint("CONTROLLER", "localhost", 9093),))
    snapshot_id = OffsetAndEpoch(7, 3)
    data = snapshot_bytes(snapshot_id, values, VoterSet.of([voter]), 1, 1_700_000_000_000)
    for position in range(0, len(data), 100):
        storage.write_snapshot_part(snapshot_id, position, data[position : position + 100])
    storage.freeze_snapshot(snapshot_id)
    (path,) = (files.place(n) for n in files.names(LOG) if n.endswith(".checkpoint"))
    lines = dump([path], "--cluster-metadata-decoder")[path]
    assert lines[0] == "Snapshot end offset: 7, epoch: 3"
    assert all(each.is_valid and each.epoch == 3 for each in dumped_batches(lines))
    text = "\n".join(lines)
    kinds = ("SnapshotHeader", "KRaftVersion", "KRaftVoters", "TOPIC_RECORD", "SnapshotFooter")
    assert sorted(kinds, key=text.index) == list(kinds)
    assert "flowers" in shell(path, "ls /image/topics/byName")


def test_a_flipped_bit_is_seen_by_kafkas_dump(tmp_path):
    files, _ = written(tmp_path)
    segment = files.place(f"{LOG}/00000000000000000000.log")
    data = bytearray(segment.read_bytes())
    data[-1] ^= 1
    segment.write_bytes(data)
    assert not all(each.is_valid for each in dumped_batches(dump([segment])[segment]))


def directories_of(root: Path) -> list[Path]:
    """Return the node directories below a path whose metadata log is there as a whole."""
    logs = sorted(root.rglob(METADATA_DIRECTORY))
    return [
        log.parent
        for log in logs
        if (log.parent / "meta.properties").is_file()
        and (log / "leader-epoch-checkpoint").is_file()
    ]


def copied(node: Path, target: Path) -> Path:
    """Copy what Kafka has in a node's directory; gzipped files are unpacked."""
    (target / METADATA_DIRECTORY).mkdir(parents=True)
    shutil.copy(node / "meta.properties", target)
    for source in sorted((node / METADATA_DIRECTORY).iterdir()):
        copy = target / METADATA_DIRECTORY / source.name.removesuffix(".gz")
        data = source.read_bytes()
        copy.write_bytes(gzip.decompress(data) if source.suffix == ".gz" else data)
    return target


def goes_on(node: Path) -> list[Path]:
    """Start on Kafka's files, compare with the reader, append; return the files to dump."""
    meta = read_meta_properties(node / "meta.properties")
    assert meta.cluster_id is not None
    before = open_metadata_log(node / METADATA_DIRECTORY)
    raws = {b.base_offset: b.raw for b in read_metadata_log(before)}
    storage = RaftStorage(RealFiles(node), voters=VOTERS)
    found = storage.open(meta.cluster_id, meta.node_id, meta.directory_id)
    log = found.log
    kept = {offset: raw for offset, raw in raws.items() if offset >= log.start_offset}
    assert {b.base_offset: b.raw for b in log.batches()} == kept
    assert log.end_offset == max(b.end_offset for b in log.batches())
    snapshots = [(s.snapshot_id, s.data) for s in log.snapshots]
    assert snapshots == [
        ((c.end_offset, c.epoch), c.path.read_bytes())
        for c in before.checkpoints
        if c.end_offset >= log.start_offset
    ]
    assert before.quorum_state is not None
    assert found.quorum_state == read_quorum_state(before.quorum_state)
    epoch = found.quorum_state.leader_epoch + 1
    added = (
        leader_change_batch(log.end_offset, epoch),
        batch(log.end_offset + 1, epoch, 5),
    )
    storage.write_quorum_state(epoch, NODE, None, found.quorum_state.version)
    storage.append(added)
    storage.flush()
    newest = log.latest_snapshot
    if newest is not None and newest.snapshot_id.end_offset > log.start_offset:
        storage.clean(newest.snapshot_id)
        log = log.clean_to(newest.snapshot_id)
    reopened = RaftStorage(RealFiles(node)).open(meta.cluster_id, meta.node_id, meta.directory_id)
    assert reopened.log == log.append(added)
    assert not reopened.findings
    end = log.end_offset
    storage.write_snapshot(
        (cut := OffsetAndEpoch(end + 6, epoch)), snapshot_bytes(cut, [value(1)], None, 0, 0)
    )
    suffixes = {".log", ".checkpoint"}
    return sorted(p for p in (node / METADATA_DIRECTORY).iterdir() if p.suffix in suffixes)


def check_all(nodes: list[Path], scratch: Path) -> None:
    """Go on with every one of these logs, and have Kafka dump them all."""
    small: list[Path] = []
    large: list[Path] = []
    for number, node in enumerate(nodes):
        for path in goes_on(copied(node, scratch / f"{number}-{node.name}")):
            (large if path.stat().st_size > LARGE else small).append(path)
    lines = dump(small, "--cluster-metadata-decoder")
    if large:
        lines.update(dump(large))
    for path, printed in lines.items():
        batches = dumped_batches(printed)
        assert all(each.is_valid for each in batches)
        assert sum(each.size for each in batches) == path.stat().st_size
    assert any("FEATURE_LEVEL_RECORD" in line for line in lines[small[-1]])


def test_the_storage_goes_on_with_kafkas_logs_of_this_repository(tmp_path):
    nodes = directories_of(TRACES)
    assert len(nodes) == 3
    check_all(nodes, tmp_path)


@pytest.mark.nightly
def test_the_storage_goes_on_with_kafkas_logs_of_the_corpus(corpus, tmp_path):
    nodes = directories_of(corpus)
    assert len(nodes) >= 20
    check_all(nodes, tmp_path)


@pytest.mark.parametrize("node", directories_of(TRACES), ids=lambda path: path.parent.name)
def test_a_quorum_state_of_kafka_is_written_again_byte_for_byte(node, tmp_path):
    state = read_quorum_state(node / METADATA_DIRECTORY / "quorum-state")
    files = RealFiles(copied(node, tmp_path / "copy"))
    meta = read_meta_properties(node / "meta.properties")
    storage = RaftStorage(files, voters=state.voters or ())
    assert meta.cluster_id is not None
    storage.open(meta.cluster_id, meta.node_id)
    leader = None if state.leader_id < 0 else state.leader_id
    voted = None if state.voted_id < 0 else ReplicaKey(state.voted_id, state.voted_directory_id)
    storage.write_quorum_state(state.leader_epoch, leader, voted, state.version)
    assert files.read(f"{LOG}/quorum-state") == state.path.read_bytes()
