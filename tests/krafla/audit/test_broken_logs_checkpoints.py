"""Files that break each invariant of a log's shape and of its checkpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import google_crc32c
import pytest
from tests.krafla.audit.breaking import (
    ELECTED_AGAIN,
    NOTHING,
    REAL,
    TIME,
    change,
    checkpoint,
    checkpoint_name,
    feature,
    first_refusal,
    folded,
    from_start,
    leader_change,
    partition,
    prefix,
    register,
    topic,
)
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.audit.old_logs import OldLog, as_of_its_version

from krafla.audit.image import METADATA_VERSION
from krafla.audit.registry import REGISTRY
from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.records.builder import metadata_batch

if TYPE_CHECKING:
    from pathlib import Path

SETUP = [topic(), partition(), partition(1)]
BEGIN = (23, 0, {"name": "Bootstrap records"})
END_OF_IT = (24, 0, {})
ABORT = (25, 0, {"reason": "Controller failover"})
MOVED = [change(replicas=(1, 2), isr=(1, 2), leader=1)]
SAME = folded(
    topic(),
    partition(replicas=(1, 2), leaderEpoch=1, partitionEpoch=1),
    partition(1),
)
"""The records of a checkpoint after `SETUP` and `MOVED`."""


def node(folder: Path, start: int, batches: list[list], checkpoints: dict[int, list]) -> Path:
    """Write a node's directory whose log starts at an offset, at 0 with the real batches."""
    parts, offset = ([*prefix()[0]], prefix()[1]) if start == 0 else ([], start)
    for records in batches:
        parts.append(metadata_batch(offset, 1, TIME, records))
        offset += len(records)
    target = folder / METADATA
    target.mkdir(parents=True)
    (target / f"{start:020}.log").write_bytes(b"".join(parts))
    for end, records in checkpoints.items():
        (target / checkpoint_name(end)).write_bytes(checkpoint(records))
    return target


def without(api_key: int, number: int = 0) -> list:
    """Return `SAME` without the record of a type, the one of this number."""
    (place,) = [
        place for place, r in enumerate(SAME)
        if r[0] == api_key and sum(s[0] == api_key for s in SAME[:place]) == number
    ]  # fmt: skip
    return SAME[:place] + SAME[place + 1 :]


def instead(**fields: object) -> list:
    """Return `SAME` with other fields of partition 0."""
    return [(*r[:2], {**r[2], **fields}) if r[0] == 3 and not r[2]["partitionId"] else r
            for r in SAME]  # fmt: skip


END = prefix()[1] + len(SETUP) + len(MOVED)
IN_LOG = {
    "L4": without(4),
    "B1": [*SAME, register(0)],
    "T4": without(3, 1),
    "E2": instead(leaderEpoch=0),
    "E8": instead(leader=2),
    "S3": [*SAME, change(isr=(1,))],
}
"""Checkpoints at `END`, of a log from the start, by what they break."""


def changed_after(folder: Path, *ends: list[tuple]) -> int:
    """Write a log that changes a partition of a transaction that these batches end."""
    log = OldLog(14, 14)
    log.add((21, 0, {"zkMigrationState": 2}), (23, 0, {"name": "ZK Migration"}))
    log.topic()
    log.batches += ends
    offset = log.add(log.change(isr=(0, 1)))
    log.write(folder)
    return offset


def broken(name: str, folder: Path) -> int:
    """Write files below a folder that break an invariant; return the offset to blame."""
    if name == "L2":
        node(folder, 0, [], {})
        setting = {"resourceType": 4, "resourceName": "", "name": "a", "value": "b"}
        begun = leader_change(0, 1, 3000) + metadata_batch(1, 1, TIME, [(4, 0, setting)])
        (folder / METADATA / LOG).write_bytes(begun)
        return 1
    if name == "F1":
        node(folder, 0, [], {})
        features = [feature("eligible.leader.replicas.version", 1), feature(METADATA_VERSION, 22)]
        (folder / METADATA / LOG).write_bytes(
            leader_change(0, 1, 1, (1,)) + metadata_batch(1, 1, TIME, features)
        )
        return 1
    if name == "L8":
        log = node(folder, 0, [], {}) / LOG
        log.write_bytes(log.read_bytes() + metadata_batch(prefix()[1], 0, TIME, [NOTHING]))
        return prefix()[1]
    if name == "L12":
        return changed_after(folder, ELECTED_AGAIN, [ABORT])
    if name == "L13":
        log = node(folder, 0, [SETUP], {}) / LOG
        log.write_bytes(log.read_bytes() + metadata_batch(END, 1, TIME, [NOTHING]))
        return END
    if name == "L5":
        node(folder, 0, [SETUP], {prefix()[1] + 1: folded(topic())})
        return prefix()[1] + 1
    if name == "L6":
        node(folder / "n1", END, [[NOTHING]], {END: SAME})
        node(folder / "n2", END, [[NOTHING]], {END: without(4)})
        return END
    if name == "L7":
        node(folder, END, [[NOTHING]], {END: SAME, END + 1: without(4)})
        return END + 1
    if name in ("W1", "W2"):
        log = node(folder, 0, [SETUP], {}) / LOG
        raw = bytearray(metadata_batch(END - 1, 1, TIME, [NOTHING]))
        raw[42 if name == "W1" else 63] ^= 2  # the greatest timestamp, or a timestamp delta
        raw[17:21] = google_crc32c.value(bytes(raw[21:])).to_bytes(4, "big")
        log.write_bytes(log.read_bytes() + raw)
        return END - 1
    if name == "S1":
        target = node(folder, 0, [SETUP, MOVED], {})
        (target / f"{END:020}-0000000002.checkpoint").write_bytes(checkpoint(SAME, 2))
        return END
    if name == "S2":
        node(folder, END + 2, [[NOTHING]], {END: SAME})
        return END + 2
    node(folder, 0, [SETUP, MOVED], {END: IN_LOG[name]})
    return END


NAMES = ("L2", "L5", "L6", "L7", "L8", "L12", "L13", "S1", "S2", "F1", "W1", "W2", *IN_LOG)


@pytest.mark.parametrize("invariant", NAMES)
def test_files_that_break_an_invariant_are_rejected_by_it_at_the_offset(
    tmp_path, loading, invariant
):
    offset = broken(invariant, tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    if invariant == "L2":
        (first,) = found
        assert first.weight is Weight.INCONCLUSIVE
    else:
        first = first_refusal(found, invariant)
    assert (first.kind, first.offset) in {(kind, offset) for kind in REGISTRY[invariant].kinds}, (
        found
    )
    assert first.path is not None
    assert first.path.is_relative_to(tmp_path)


def test_the_unedited_checkpoint_breaks_no_invariant(tmp_path, loading):
    node(tmp_path / "n1", 0, [SETUP, MOVED], {END: SAME})
    node(tmp_path / "n2", END, [[NOTHING]], {END: SAME, END + 1: SAME})
    assert audit([tmp_path], loading=loading).clusters[0].all_findings() == ()


def test_a_checkpoint_that_ends_in_a_transaction_is_rejected(tmp_path, loading):
    version = feature(METADATA_VERSION, 27)
    target = from_start(tmp_path, [BEGIN, version], [END_OF_IT])
    for end in (3, 4):
        (target / checkpoint_name(end)).write_bytes(checkpoint([version]))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert {(one.kind, one.offset) for one in found} == {
        ("L5", 3), ("RaftLog!ReadCheckpoint", 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("records", "kind"), [([*SAME, (24, 0, {})], "L3"), (without(12), "L2")], ids=["L3", "L2"]
)
def test_a_checkpoint_that_contradicts_itself_is_rejected(tmp_path, loading, records, kind):
    node(tmp_path, 0, [SETUP, MOVED], {END: records})
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert (found[0].kind, found[0].offset) == (kind, END)


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        ([NOTHING], "L1"),
        ([BEGIN, NOTHING], "L1"),
        ([BEGIN], None),
        ([feature("group.version", 1)], None),
    ],
)
def test_a_log_is_at_the_least_version_until_it_names_one(tmp_path, loading, begin, kind):
    node(tmp_path, 0, [], {})
    parts = [leader_change(0, 1, 3000), metadata_batch(1, 1, TIME, begin)]
    end = 1 + len(begin)
    named = [feature(METADATA_VERSION, 27), *([END_OF_IT] if BEGIN in begin else [])]
    parts.append(metadata_batch(end, 1, TIME, named))
    parts.append(metadata_batch(end + len(named), 1, TIME, [NOTHING]))
    (tmp_path / METADATA / LOG).write_bytes(b"".join(parts))
    cluster = audit([tmp_path], loading=loading).clusters[0]
    found = [(f.kind, f.offset) for f in cluster.all_findings() if f.kind != "L2"]
    assert found == ([] if kind is None else [(kind, end - 1)])
    assert cluster.directories[0].judged_to == (end + len(named) + 1 if kind is None else end)


def test_a_checkpoint_of_a_log_that_names_no_version_is_judged_by_the_least(tmp_path, loading):
    target = tmp_path / METADATA
    target.mkdir()
    old = [
        (2, 0, SETUP[0][2]),
        (3, 0, {k: v for k, v in SETUP[1][2].items() if k != "directories"}),
    ]
    (target / checkpoint_name(50)).write_bytes(checkpoint(old))
    (target / checkpoint_name(51)).write_bytes(checkpoint([*old, NOTHING]))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    kinds = {(f.kind, f.offset): f.weight for f in found}
    assert kinds["L2", 50] is kinds["L2", 51] is Weight.INCONCLUSIVE
    assert kinds["L1", 51] is Weight.VIOLATION
    assert ("L1", 50) not in kinds


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("quorum-state", '"leaderEpoch":0', ("QuorumEpoch", prefix()[1])),
        ("leader-epoch-checkpoint", "0\n2\n0 0\n1 8\n", ("EpochStarts", 8)),
    ],
)
def test_a_node_whose_own_file_contradicts_its_log_is_rejected(
    tmp_path, loading, name, content, expected
):
    folder = node(tmp_path, 0, [SETUP], {})
    if name == "quorum-state":
        kept = (REAL.parent / name).read_text()
        content = re.sub('"leaderEpoch":[0-9]+', content, kept)
        assert content != kept
    (folder / name).write_text(content)
    (found,) = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert (found.kind, found.offset, found.path) == (*expected, folder / name)


def test_a_checkpoint_with_changes_of_an_aborted_transaction_is_rejected(tmp_path, loading):
    log = OldLog(14, 14)
    log.add((21, 0, {"zkMigrationState": 2}))
    log.add((23, 0, {"name": "ZK Migration"}))
    log.topic()
    made = log.batches[-1]
    log.batches.append(ELECTED_AGAIN)
    log.add(ABORT)
    brokers = [log.register(b, epoch=e, fenced=False) for b, e in sorted(log.epochs.items())]
    described = checkpoint([*log.batches[0], (21, 0, {"zkMigrationState": 2}), *(
        as_of_its_version(*broker) for broker in brokers
    ), *made], epoch=2)  # fmt: skip
    (log.write(tmp_path) / checkpoint_name(log.end, 2)).write_bytes(described)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert (found[0].kind, found[0].offset) == ("L12", log.end)


def test_a_partition_of_a_transaction_that_ended_may_change(tmp_path, loading):
    changed_after(tmp_path, [END_OF_IT])
    assert audit([tmp_path], loading=loading).clusters[0].all_findings() == ()


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lambda raw: raw, None),
        (lambda raw: raw[:-1], "corrupt"),
        (lambda raw: raw[:150] + bytes([raw[150] ^ 1]) + raw[151:], "corrupt"),
        (lambda _: b"", "corrupt"),
        (lambda _: checkpoint([feature("group.version", 1), NOTHING]), "corrupt"),
    ],
    ids=["whole", "cut off", "a flipped bit", "empty", "no metadata version"],
)
def test_bootstrap_records_that_kafka_cannot_read_are_unreadable(
    tmp_path, loading, damage, kind, above
):
    folder = node(tmp_path, 0, [SETUP], {})
    path = (tmp_path if above else folder) / "bootstrap.checkpoint"
    path.write_bytes(damage(checkpoint([feature(METADATA_VERSION, 27)])))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    expected = [] if kind is None else [(Weight.UNREADABLE, kind, path)]
    assert [(one.weight, one.kind, one.path) for one in found] == expected
