"""The dump prints what Kafka prints, hides secrets, and lets no byte control a terminal."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest
from tests.kraft.records.samples import leader_change, no_ops, small_log

from krafla.audit.dump import dump_lines
from krafla.audit.redact import REDACTED, is_sensitive_config
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, TornTailError, UnreadableFileError
from kraft.records.builder import control_batch, metadata_batch
from kraft.records.json_text import java_double

FIRST = "00000000000000000000.log"
CORPUS = os.environ.get("KRAFLA_CORPUS")


def dump(tmp_path: Path, *parts: bytes, name: str = FIRST, show_secrets: bool = False) -> list[str]:
    (tmp_path / name).write_bytes(b"".join(parts))
    return list(dump_lines(tmp_path / name, show_secrets=show_secrets))


def payload(line: str) -> dict:
    return json.loads(line.partition(" payload: ")[2])["data"]


def test_a_log_reads_like_the_output_of_kafkas_tool(tmp_path):
    change = {"partitionId": 1, "topicId": "ABEiM0RVZneImaq7zN3u_w", "isr": (1, 2), "leader": 2}
    quota = {"entity": ({"entityType": "ip", "entityName": None},), "key": "k", "value": 1e7}
    records = [(5, 2, change), (14, 0, quota), (11, 0, {"salt": b"\xfb\xff", "iterations": 4096})]
    batch = metadata_batch(1, 1, 1700000000000, records)
    lines = dump(tmp_path, leader_change(), batch, show_secrets=True)
    time = "CreateTime: 1700000000000"
    assert lines[0] == f"Dumping {tmp_path / FIRST}"
    assert lines[1] == "Log starting offset: 0"
    assert re.sub(r"crc: \d+", "crc: 0", lines[2]) == (
        "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1"
        " producerEpoch: -1 partitionLeaderEpoch: 1 isTransactional: false isControl: true"
        f" deleteHorizonMs: OptionalLong.empty position: 0 {time} size: 91 magic: 2"
        " compresscodec: none crc: 0 isvalid: true"
    )
    assert lines[3] == (
        f"| offset: 0 {time} keySize: 4 valueSize: 19 sequence: -1 headerKeys: [] LeaderChange:"
        ' {"version":0,"leaderId":3000,"voters":[{"voterId":3000}],'
        '"grantingVoters":[{"voterId":3000}]}'
    )
    assert lines[4].startswith("baseOffset: 1 lastOffset: 3 count: 3 ")
    assert lines[5] == (
        f"| offset: 1 {time} keySize: -1 valueSize: 41 sequence: -1 headerKeys: [] payload:"
        ' {"type":"PARTITION_CHANGE_RECORD","version":2,"data":{"partitionId":1,'
        '"topicId":"ABEiM0RVZneImaq7zN3u_w","isr":[1,2],"leader":2}}'
    )
    assert lines[6].endswith(
        '{"type":"CLIENT_QUOTA_RECORD","version":0,"data":{"entity":[{"entityType":"ip",'
        '"entityName":null}],"key":"k","value":1.0E7,"remove":false}}'
    )
    assert '"salt":"+/8=","storedKey":""' in lines[7]
    assert len(lines) == 8


def test_checkpoints_are_dumped_with_their_names(tmp_path):
    header, footer = (3, {"lastContainedLogTimestamp": 7}), (4, {})
    parts = (control_batch(0, 1, 5, [header]), no_ops(1), control_batch(2, 1, 5, [footer]))
    lines = dump(tmp_path, *parts, name="00000000000000000040-0000000001.checkpoint")
    assert lines[1] == "Snapshot end offset: 40, epoch: 1"
    assert lines[3].endswith('[] SnapshotHeader {"version":0,"lastContainedLogTimestamp":7}')
    assert lines[-1].endswith('[] SnapshotFooter {"version":0}')
    lines = dump(tmp_path, *parts, name="bootstrap.checkpoint")
    assert lines[1] == "KRaft bootstrap snapshot"


def test_a_directory_is_dumped_log_by_log(tmp_path):
    for node in ("n2", "n1"):
        log = tmp_path / node / "__cluster_metadata-0"
        log.mkdir(parents=True)
        (log / FIRST).write_bytes(leader_change())
    dumped = [line for line in dump_lines(tmp_path) if line.startswith("Dumping")]
    assert dumped == [
        f"Dumping {tmp_path / node / '__cluster_metadata-0' / FIRST}" for node in ("n1", "n2")
    ]


SECRET_RECORDS = [
    (11, 0, {"name": "bob", "salt": b"SECRET", "storedKey": b"SECRET", "serverKey": b"SECRET"}),
    (10, 0, {"owner": "User:bob", "tokenId": "SECRET"}),
    (26, 0, {"tokenId": "SECRET"}),
    (4, 0, {"name": "ssl.keystore.password", "value": "SECRET"}),
    (4, 0, {"name": "listener.name.x.plain.sasl.jaas.config", "value": "SECRET"}),
    (4, 0, {"name": "ssl.keystore.key", "value": "SECRET"}),
]


@pytest.mark.parametrize("record", SECRET_RECORDS, ids=lambda record: record[2].get("name"))
def test_secrets_are_hidden_by_default(tmp_path, record):
    batch = metadata_batch(0, 1, 0, [record])
    hidden = dump(tmp_path, batch)[-1]
    assert "SECRET" not in hidden.replace(payload_type(hidden), "")
    assert "U0VDUkVU" not in hidden
    assert REDACTED in hidden
    shown = dump(tmp_path, batch, show_secrets=True)[-1]
    assert "SECRET" in shown or "U0VDUkVU" in shown
    assert REDACTED not in shown


def payload_type(line: str) -> str:
    return re.search(r'"type":"[^"]*"', line)[0]


def test_a_deleted_config_and_an_ordinary_one_are_shown(tmp_path):
    records = [
        (4, 0, {"name": "ssl.key.password", "value": None}),
        (4, 0, {"name": "cleanup.policy", "value": "compact"}),
    ]
    *_, deleted, ordinary = dump(tmp_path, metadata_batch(0, 1, 0, records))
    assert payload(deleted)["value"] is None
    assert payload(ordinary)["value"] == "compact"
    assert not is_sensitive_config("min.insync.replicas")


def test_control_characters_are_escaped_and_the_json_stays_json(tmp_path):
    name = 'a\x1b[31m\n"\\u001b\x7f\x9b\u202e\u2028é漢\U000e0001'
    lines = dump(tmp_path, metadata_batch(0, 1, 0, [(28, 0, {"topicName": name})]))
    assert all(line.isprintable() for line in lines)
    assert payload(lines[-1])["topicName"] == name
    assert r'"a\u001B[31m\n\"\\u001b\u007F\u009B\u202E\u2028é漢\uDB40\uDC01"' in lines[-1]


def test_every_record_type_can_be_dumped(tmp_path):
    lines = dump(tmp_path, *small_log(), show_secrets=True)
    assert len(lines) == 2 + 3 + 1 + 35 + 3
    assert len({payload_type(line) for line in lines if "payload" in line}) == 26
    assert all(payload(line) is not None for line in lines if "payload" in line)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (2048.0, "2048.0"),
        (0.001, "0.001"),
        (1e-4, "1.0E-4"),
        (-1.25e-5, "-1.25E-5"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.0, "1.23456789E8"),
        (123456789012345680.0, "1.2345678901234568E17"),
        (1e22, "1.0E22"),
        (1e300, "1.0E300"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_numbers_are_written_as_java_writes_them(value, text):
    assert java_double(value) == text


def test_a_broken_log_is_dumped_up_to_the_fault(tmp_path):
    path = tmp_path / FIRST
    path.write_bytes(leader_change() + no_ops(1)[:-1])
    lines = []
    with pytest.raises(TornTailError):
        lines.extend(dump_lines(path))
    assert lines[-1].startswith("| offset: 0")
    path.write_bytes(no_ops(0)[:-1] + b"\x01")
    with pytest.raises(CorruptRecordError, match="CRC"):
        list(dump_lines(path))


def test_a_path_that_is_not_a_log_is_one_error(tmp_path):
    with pytest.raises(UnreadableFileError, match="no such file"):
        list(dump_lines(tmp_path / FIRST))
    (tmp_path / "other.txt").touch()
    with pytest.raises(CorruptRecordError, match="not the name of"):
        list(dump_lines(tmp_path / "other.txt"))


@pytest.mark.skipif(CORPUS is None, reason="KRAFLA_CORPUS names no directory of real logs")
def test_real_logs_are_dumped_line_for_line_like_kafkas_tool():
    """Secrets are shown. The first line is left out: it has the path that Kafka was given.

    No string in these logs needs an escape that Kafka would not write.
    """
    references = sorted(Path(CORPUS or "").rglob("*.dump.txt*"))
    assert references
    for reference in references:
        opener = gzip.open if reference.suffix == ".gz" else open
        log = reference.with_name(reference.name.replace(".dump.txt", ""))
        lines = dump_lines(log, show_secrets=True)
        assert next(lines) == f"Dumping {log}"
        with opener(reference, "rt", encoding="utf-8") as expected:
            next(expected)
            for number, (line, kafka) in enumerate(zip(lines, expected, strict=True), 2):
                assert line == kafka.rstrip("\n"), f"{reference} line {number}"


def test_a_directory_without_a_log_is_rejected(tmp_path):
    (tmp_path / "notes.txt").write_text("no log")
    with pytest.raises(KraflaError, match="no metadata log"):
        list(dump_lines(tmp_path))
