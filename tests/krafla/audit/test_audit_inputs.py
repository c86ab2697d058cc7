"""A bad input is one finding with its place; the exit status is right and the rest is judged."""

from __future__ import annotations

import errno
import gzip
import os

import pytest
from tests.krafla.audit.breaking import ELECTED_AGAIN
from tests.krafla.audit.editing import (
    LOG,
    METADATA,
    copied,
    edited,
    with_fields,
)
from tests.krafla.audit.old_logs import NEW_INCARNATION, OldLog
from tests.krafla.audit.test_broken_logs_written import acl
from tests.kraft.records.samples import leader_change, no_ops

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import ExitCode, KraflaError, Verdict
from kraft.log.segment import iter_batches
from kraft.records import codec
from kraft.records.builder import encode_batch, metadata_batch

QUORUM = "quorum-state"


@pytest.fixture
def node(tmp_path, real_logs):
    return copied(real_logs / "combined" / "n1", tmp_path / "n1")


def flipped(raw, position, bit=1):
    changed = bytearray(raw)
    changed[position] ^= bit
    return bytes(changed)


def middle(path):
    """Return the position of a batch in the middle of a log."""
    batches = list(iter_batches(path))
    return batches[len(batches) // 2].position


BAD_LOGS = {
    "a flipped bit in a record": lambda raw, at: flipped(raw, at + 70),
    "a flipped bit in the CRC": lambda raw, at: flipped(raw, at + 18),
    "magic 0": lambda raw, at: raw[: at + 16] + b"\x00" + raw[at + 17 :],
    "magic 3": lambda raw, at: raw[: at + 16] + b"\x03" + raw[at + 17 :],
    "a negative length": lambda raw, at: raw[: at + 8] + b"\xff" * 4 + raw[at + 12 :],
    "a length of two gigabytes": lambda raw, at: (
        raw[: at + 8] + b"\x7f\xff\xff\xff" + raw[at + 12 :]
    ),
    "garbage": lambda raw, at: raw[:at] + b"\x01garbage" * 20 + raw[at:],
}


@pytest.mark.parametrize("what", BAD_LOGS)
def test_a_broken_log_is_judged_up_to_the_broken_place(node, loading, what):
    log = node / METADATA / LOG
    raw = log.read_bytes()
    at = middle(log)
    before = next(b for b in iter_batches(log) if b.position == at).base_offset
    log.write_bytes(BAD_LOGS[what](raw, at))
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (directory,) = report.clusters[0].directories
    assert directory.verdict is Verdict.INCONCLUSIVE
    (found,) = [f for f in directory.findings if f.weight is Weight.UNREADABLE]
    assert found.path == log
    assert found.position is not None
    assert directory.judged_to <= before + 1
    assert directory.judged_to > 0


def test_a_violation_before_the_broken_place_still_counts(tmp_path, real_logs, loading):
    node = copied(real_logs / "crash" / "n3000", tmp_path / "n3000")
    log = node / METADATA / LOG
    raw = edited(log, {95: with_fields(brokerEpoch=16)})
    log.write_bytes(flipped(raw, len(raw) - 5))
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.VIOLATED
    weights = [f.weight for f in report.clusters[0].all_findings()]
    assert Weight.UNREADABLE in weights


def test_a_record_that_does_not_decode_is_unreadable_despite_a_valid_crc(node, loading):
    log = node / METADATA / LOG
    batches = list(iter_batches(log))
    bad = encode_batch(batches[-1].next_offset, batches[-1].leader_epoch, 1, [b"\x01\x11\x02"])
    log.write_bytes(log.read_bytes() + bad)
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (found,) = report.clusters[0].directories[0].findings
    assert (found.kind, found.offset) == ("corrupt", batches[-1].next_offset)


@pytest.mark.parametrize("missing", [1, 30, 71])
def test_a_torn_tail_is_a_note_and_the_rest_is_judged(node, loading, missing):
    log = node / METADATA / LOG
    last = list(iter_batches(log))[-1]
    log.write_bytes(log.read_bytes()[: -min(missing, last.size - 1)])
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.HELD
    (directory,) = report.clusters[0].directories
    assert directory.judged_to == last.base_offset
    assert [(f.weight, f.kind) for f in directory.findings] == [(Weight.NOTE, "torn tail")]


def test_a_preallocated_tail_is_a_note(node, loading):
    log = node / METADATA / LOG
    log.write_bytes(log.read_bytes() + bytes(100_000))
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert [f.kind for f in report.clusters[0].all_findings()] == ["preallocated tail"]


@pytest.mark.parametrize("content", [b"", bytes(10), bytes(100)], ids=["0", "10", "100"])
def test_an_empty_log_is_inconclusive(node, loading, content):
    (node / METADATA / LOG).write_bytes(content)
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert "empty log" in [f.kind for f in report.clusters[0].all_findings()]


def test_a_log_with_only_a_torn_batch_is_inconclusive(node, loading):
    log = node / METADATA / LOG
    log.write_bytes(log.read_bytes()[:40])
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert [f.kind for f in report.clusters[0].all_findings()] == ["torn tail", "empty log"]


def test_a_gzipped_log_is_audited_like_the_plain_one(node, loading):
    log = node / METADATA / LOG
    (node / METADATA / f"{LOG}.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert report.clusters[0].directories[0].judged_to == 117


def test_a_file_without_permission_is_unreadable(node, loading, monkeypatch):
    log = node / METADATA / LOG
    really_open = os.open

    def refuse(path, *arguments, **options):
        # Not by chmod: root may read every file.
        if path == log:
            raise PermissionError(errno.EACCES, "Permission denied", str(log))
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (found,) = report.clusters[0].all_findings()
    assert (found.kind, found.detail, found.path) == ("unreadable", "permission denied", log)


@pytest.mark.parametrize("kind", ["directory", "fifo", "dangling link"])
def test_a_log_that_is_not_a_regular_file_is_unreadable_at_once(node, loading, kind):
    log = node / METADATA / LOG
    log.unlink()
    if kind == "directory":
        log.mkdir()
    elif kind == "fifo":
        os.mkfifo(log)
    else:
        log.symlink_to(node / "nowhere")
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    found = [f for f in report.clusters[0].all_findings() if f.weight is Weight.UNREADABLE]
    assert [f.path for f in found] == [log]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("meta.properties", "cluster.id=a\ncluster.id=b\n"),
        ("meta.properties", "version=7\n"),
        (f"{METADATA}/{QUORUM}", "{}\n"),
        (f"{METADATA}/{QUORUM}", ""),
        (f"{METADATA}/leader-epoch-checkpoint", "0\n5\n1 0\n"),
    ],
)
def test_a_broken_small_file_is_unreadable_and_the_log_is_judged(node, loading, name, content):
    (node / name).write_text(content)
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (directory,) = report.clusters[0].directories
    assert [f.path for f in directory.findings] == [node / name]
    assert directory.judged_to == 117


def test_a_string_that_kafka_cannot_read_is_told_at_its_record(node, loading, monkeypatch):
    log = node / METADATA / LOG
    fields = {"resourceType": 4, "resourceName": "", "name": "foo.bar", "value": "é" * 20_001 + "x"}
    monkeypatch.setattr(codec, "MAX_STRING_BYTES", 65_536)
    last = list(iter_batches(log))[-1]
    added = metadata_batch(117, last.leader_epoch, last.max_timestamp, [(4, 0, fields)])
    monkeypatch.undo()
    log.write_bytes(log.read_bytes() + added)
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (finding,) = report.clusters[0].all_findings()
    assert (finding.weight, finding.path, finding.offset) == (Weight.UNREADABLE, log, 117)
    assert "a string of 40003 bytes, Kafka reads at most 32767 (field value)" in finding.detail


def test_an_epoch_file_as_kafka_creates_it_has_no_entries(node, loading):
    (node / METADATA / "leader-epoch-checkpoint").write_bytes(b"")
    report = audit([node], loading=loading)
    assert (report.exit_code, report.clusters[0].all_findings()) == (ExitCode.HELD, ())


def test_one_broken_node_does_not_hide_the_others(tmp_path, real_logs, node, loading):
    copied(real_logs / "crash", tmp_path / "crash")
    (node / METADATA / LOG).write_bytes(b"no log at all, but longer than a header would be" * 3)
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    verdicts = {d.path.parent.name: d.verdict for c in report.clusters for d in c.directories}
    assert verdicts == {"n1": Verdict.INCONCLUSIVE, "n3000": Verdict.HELD}


@pytest.mark.parametrize("kind", ["absent", "file", "empty directory"])
def test_a_path_with_nothing_to_audit_is_one_finding(tmp_path, loading, kind):
    path = tmp_path / "path"
    if kind == "file":
        path.write_text("x")
    elif kind == "empty directory":
        path.mkdir()
    report = audit([path], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert [f.path for f in report.findings] == [path]


def test_a_spec_that_does_not_load_is_an_error(node, tmp_path, monkeypatch):
    monkeypatch.setenv("KRAFLA_SPECS", str(tmp_path))
    with pytest.raises(KraflaError):
        audit([node])


FEATURES = ({"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 27},)


class TestNumbersBeyondTlcs:
    """TLC's integers have 32 bits, Kafka's offsets 64."""

    def log(self, tmp_path, name, *parts):
        directory = tmp_path / METADATA
        directory.mkdir(parents=True)
        (directory / name).write_bytes(b"".join(parts))
        return directory

    def registration(self, epoch, **fields):
        return {
            "brokerId": 1,
            "incarnationId": "ABEiM0RVZneImaq7zN3u_w",
            "brokerEpoch": epoch,
            "endPoints": ({"name": "P", "host": "h", "port": 1, "securityProtocol": 0},),
            "features": FEATURES,
            "rack": None,
            "fenced": True,
            "logDirs": ("EjM0RVZneImaq7zN3u8BAg",),
            **fields,
        }

    @pytest.mark.parametrize(
        ("epoch", "judged"), [(2**40, True), (2**63 - 1, True), (3, True), (-(2**40), False)]
    )
    def test_an_epoch_above_its_offset_is_refused_however_large_it_is(
        self, tmp_path, loading, epoch, judged
    ):
        version = (12, 0, {"name": "metadata.version", "featureLevel": 27})
        record = (0, 3, self.registration(epoch))
        directory = self.log(
            tmp_path, LOG, leader_change(), metadata_batch(1, 1, 1, [version, record])
        )
        report = audit([directory], loading=loading)
        assert report.exit_code is (ExitCode.VIOLATED if judged else ExitCode.INCONCLUSIVE)
        (found,) = report.clusters[0].all_findings()
        kind = "UntimedLease!RegisterBroker" if judged else "number too large for TLC"
        assert (found.kind, found.offset) == (kind, 2)
        if judged:
            assert found.evidence.invariants == ("B2",)
            assert [c.text for c in found.evidence.false] == ["epoch <= offset"]
            assert str(epoch) in str(found.evidence.false[0])

    def test_a_large_epoch_in_a_change_is_refused(self, tmp_path, loading):
        version = (12, 0, {"name": "metadata.version", "featureLevel": 27})
        fence = (17, 0, {"brokerId": 1, "brokerEpoch": 2**40, "fenced": -1})
        records = [version, (0, 3, self.registration(2)), fence]
        directory = self.log(tmp_path, LOG, leader_change(), metadata_batch(1, 1, 1, records))
        (found,) = audit([directory], loading=loading).clusters[0].all_findings()
        assert (found.kind, found.offset) == ("UntimedLease!UnfenceBroker", 3)
        assert found.evidence.invariants == ("B6",)

    def test_a_history_at_large_offsets_is_judged_relative_to_its_start(self, tmp_path, loading):
        start = 2**40
        checkpoint = f"{start:020}-0000000001.checkpoint"
        directory = self.log(tmp_path, checkpoint, *self.snapshot(start - 10))
        unfence = (17, 0, {"brokerId": 1, "brokerEpoch": start - 10, "fenced": -1})
        again = (17, 0, {"brokerId": 1, "brokerEpoch": start - 10, "fenced": -1})
        log = directory / f"{start:020}.log"
        log.write_bytes(metadata_batch(start, 1, 1, [unfence]) + no_ops(start + 1))
        report = audit([directory], loading=loading)
        assert report.exit_code is ExitCode.HELD
        assert report.steps > 0
        log.write_bytes(metadata_batch(start, 1, 1, [unfence, again]))
        report = audit([directory], loading=loading)
        (found,) = report.clusters[0].all_findings()
        assert found.offset == start + 1
        assert [c.text for c in found.evidence.false] == ["registrations[b].fenced"]
        state = dict(found.evidence.state)
        assert [one.epoch for one in state["registrations"]] == [start - 10]
        assert state["log_end"] == start + 1

    def snapshot(self, epoch):
        from kraft.records.builder import control_batch

        header = control_batch(0, 1, 1, [(3, {"version": 0, "lastContainedLogTimestamp": 1})])
        footer = control_batch(3, 1, 1, [(4, {"version": 0})])
        version = (12, 0, {"name": "metadata.version", "featureLevel": 27})
        registration = (0, 3, self.registration(epoch))
        return header, metadata_batch(1, 1, 1, [version, registration]), footer


def test_a_registration_inside_an_aborted_transaction_is_not_modelled(tmp_path, loading):
    # Brokers may register while a migration copies.
    log = OldLog(14, 14)
    log.add((21, 0, {"zkMigrationState": 2}), (23, 0, {"name": "ZK Migration"}))
    log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))
    log.batches.append(ELECTED_AGAIN)
    log.add((25, 0, {"reason": "Controller failover"}))
    log.write(tmp_path)
    report = audit([tmp_path], loading=loading)
    kinds = [f.kind for f in report.clusters[0].all_findings()]
    assert kinds == ["not modelled"]
    assert report.exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(
    ("last", "held"),
    [
        ([ELECTED_AGAIN, [(25, 0, {"reason": "Controller failover"})]], True),
        ([[(24, 0, {})]], False),
    ],
)
def test_an_aborted_transaction_leaves_the_image_unchanged(tmp_path, loading, last, held):
    log = OldLog(14, 14)
    log.add((21, 0, {"zkMigrationState": 2}), (23, 0, {"name": "ZK Migration"}))
    log.add(acl())
    log.batches += last
    offset = log.add(acl())
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("O4", offset)])
