"""The tools print what Kafka's print, and end in one line and the right status."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kraft.kafka_tools import run
from typer.testing import CliRunner

from kraft.ids import METADATA_DIRECTORY, uuid_bytes
from kraft.log.raft_storage import RaftStorage
from kraft.log.real_files import RealFiles
from kraft.raft.snapshot_file import read_snapshot
from kraft.records import codec
from kraft.records.builder import encode_batch
from kraft.records.value import encode_value
from kraft.tools import application
from kraft.tools.dump_log import file_lines
from kraft.tools.guard import run_guarded
from kraft.tools.scram import scram_fields

# One process fetches Kafka's jars; another would only wait for it.
pytestmark = pytest.mark.xdist_group("kafka-jars")

TRACES = Path(__file__).resolve().parents[3] / "traces" / "kafka-4.1"
LOGS = sorted(p for p in TRACES.rglob("*") if p.suffix in {".log", ".checkpoint"}
              and p.parent.name == METADATA_DIRECTORY)  # fmt: skip
NO_OP = b"\x01\x14\x00\x00"
CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"
DIRECTORY = "JEXY6aqzQY-32P5TStzaFg"


def kraft(*arguments: object):
    return CliRunner().invoke(application(), [str(one) for one in arguments])


def configuration(tmp_path: Path, *, static: bool = False) -> Path:
    voters = "controller.quorum.voters=1@h:9093" if static else ""
    path = tmp_path / "server.properties"
    path.write_text(
        f"process.roles=broker,controller\nnode.id=1\nlog.dirs={tmp_path}/d1,\\\n  {tmp_path}/d2\n"
        "listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n"
        "controller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
        f"{voters or 'controller.quorum.bootstrap.servers=localhost:9093'}\n"
    )
    return path


@pytest.mark.by_day(1)
@pytest.mark.parametrize("options", [("--cluster-metadata-decoder",), ("--deep-iteration",), (),
    ("--cluster-metadata-decoder", "--skip-record-metadata")])  # fmt: skip
def test_a_dump_is_that_of_kafka_byte_for_byte(options):
    files = ",".join(map(str, LOGS))
    expected = run("kafka.tools.DumpLogSegments", *options, "--files", files)
    assert kraft("dump-log", *options, "--files", files).stdout == expected


@pytest.mark.nightly
def test_kafka_cannot_deserialize_a_string_that_is_refused_here(tmp_path, monkeypatch):
    fields = [
        {"resourceType": 4, "resourceName": "", "name": "foo.bar", "value": "é" * half + "x"}
        for half in (16_383, 16_384)
    ]
    monkeypatch.setattr(codec, "MAX_STRING_BYTES", 65_536)
    values = [encode_value(4, 0, each) for each in fields]
    monkeypatch.undo()
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(encode_batch(0, 1, 1_700_000_000_000, values))
    options = ("--cluster-metadata-decoder", "--files", str(log))
    first, second = run("kafka.tools.DumpLogSegments", *options).splitlines()[-2:]
    assert '"value":"' + fields[0]["value"] in first
    assert second.endswith("Error at 1, skipping. Failed to deserialize record with type 4")
    refused = kraft("dump-log", *options)
    assert (refused.exit_code, "a string of 32769 bytes" in refused.stderr) == (2, True)


def test_a_dump_of_the_corpus_is_kafkas_text(corpus):
    texts = [p for p in sorted(corpus.rglob("*.dump.txt")) if p.stat().st_size < 500_000]
    assert texts
    for text in texts:
        path = text.with_name(text.name.removesuffix(".dump.txt"))
        path = path if path.exists() else path.with_name(path.name + ".gz")
        lines = list(file_lines(path, is_deep=True, is_decoded=True))
        assert lines[1:] == text.read_text().splitlines()[1:]


def test_what_is_formatted_is_read_by_kafka_and_by_the_storage(tmp_path):
    config = configuration(tmp_path)
    done = kraft("storage", "format", "-t", CLUSTER, "-c", config, "--standalone")
    assert done.exit_code == 0, done.output
    assert f"Formatting data directory {tmp_path}/d2 with metadata.version 4.1-IV1." in done.stdout
    info = kraft("storage", "info", "-c", config)
    assert info.stdout == run("kafka.tools.StorageTool", "info", "-c", str(config))
    found = RaftStorage(RealFiles(tmp_path / "d1")).open(CLUSTER, 1)
    (snapshot,) = found.log.snapshots
    assert read_snapshot(snapshot.data).voters.node_ids == (1,)


def payloads(path: Path) -> list[str]:
    lines = file_lines(path, is_deep=True, is_decoded=True)
    return [line.partition("[] ")[2] for line in lines if line.startswith("| ")]


def test_the_checkpoints_of_a_format_say_what_those_of_kafka_say(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    salted = 'SCRAM-SHA-256=[name=alice,password=alice-secret,iterations=4096,salt="N3E="]'
    options = ["-r", "4.0", "-f", "group.version=0", "-S", salted]
    options += ["-I", f"1@localhost:9093:{DIRECTORY},2@h2:9094:MvDxzVmcRsaTz33bUuRU6A"]
    for root in (ours, theirs):
        root.mkdir()
        arguments = ["format", "-t", CLUSTER, "-c", str(configuration(root)), *options]
        if root is ours:
            assert kraft("storage", *arguments).exit_code == 0
        else:
            run("kafka.tools.StorageTool", *arguments)
    snapshot = f"d1/{METADATA_DIRECTORY}/00000000000000000000-0000000000.checkpoint"
    for name in ("d1/bootstrap.checkpoint", "d2/bootstrap.checkpoint"):
        assert payloads(ours / name) == payloads(theirs / name)
    assert payloads(ours / snapshot)[1:] == payloads(theirs / snapshot)[1:]
    text = (theirs / "d1/meta.properties").read_text().splitlines()
    assert (ours / "d1/meta.properties").read_text().splitlines() == [text[0], *text[2:]]


def test_a_directory_is_formatted_once(tmp_path):
    config = configuration(tmp_path, static=True)
    assert kraft("storage", "format", "-t", CLUSTER, "-c", config).exit_code == 0
    again = kraft("storage", "format", "-t", CLUSTER, "-c", config)
    assert (again.exit_code, "already formatted. Use" in again.stderr) == (1, True)
    skipped = kraft("storage", "format", "-t", CLUSTER, "-c", config, "-g")
    assert skipped.stdout == "All of the log directories are already formatted.\n"
    other = kraft("storage", "format", "-t", DIRECTORY, "-c", config, "-g")
    assert (other.exit_code, "Invalid cluster.id" in other.stderr) == (1, True)
    (tmp_path / "d2" / "meta.properties").unlink()
    info = kraft("storage", "info", "-c", config)
    assert info.stdout.endswith(f"Found problem:\n  {tmp_path}/d2 is not formatted.\n\n")
    assert info.exit_code == 1
    assert kraft("cluster", "cluster-id", "-c", config).stdout == f"Cluster ID: {CLUSTER}\n"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "you must specify one of the following"),
        (["-s", "-N"], "at most one"),
        (["-s", "-r", "9.9"], "Version 9.9 is not a valid version"),
        (["-s", "-f", "bogus"], "Can't parse feature=level string bogus"),
        (["-s", "-f", "bogus=1"], "Unsupported feature: bogus"),
        (["-s", "-f", "group.version=9"], "No feature:group.version with feature level 9"),
        (["-s", "-r", "4.0", "-f", "metadata.version=20"], "Use --release-version"),
        (["-s", "-r", "3.8"], "because it depends on metadata.version level 21"),
        (["-s", "-f", "kraft.version=0"], "Cannot set kraft.version to 0 if"),
        (["-s", "-S", "BOGUS"], "Failed to find equals sign"),
        (["-s", "-S", "SCRAM-SHA-256=[name=a]"], "one of 'password' or 'saltedpassword'"),
        (["-I", "1@localhost"], "not id@host:port:directory"),
    ],
)
def test_a_format_that_cannot_be_is_refused_in_one_line(tmp_path, options, reason):
    arguments = ["-t", CLUSTER, "-c", configuration(tmp_path), *options]
    refused = kraft("storage", "format", *arguments)
    assert refused.exit_code == 1
    assert reason in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not (tmp_path / "d1").exists()


def test_scram_needs_a_release_that_has_it(tmp_path):
    config = configuration(tmp_path, static=True)
    options = ["-r", "3.4", "-S", "SCRAM-SHA-256=[name=a,password=x]"]
    refused = kraft("storage", "format", "-t", CLUSTER, "-c", config, *options)
    assert (refused.exit_code, "3.5-IV2 or later" in refused.stderr) == (1, True)


def test_a_random_uuid_is_one_that_kafka_would_draw():
    texts = {kraft("storage", "random-uuid").stdout.strip() for _ in range(20)}
    assert len(texts) == 20
    assert all(uuid_bytes(text)[6] >> 4 == 4 and text[0] != "-" for text in texts)


def test_a_salt_is_drawn_where_none_is_given():
    one, other = (scram_fields("SCRAM-SHA-512=[name=a,password=b]") for _ in range(2))
    assert one["salt"] != other["salt"]
    assert one["iterations"] == 4096


def test_a_cluster_id_needs_somewhere_to_be_read():
    refused = kraft("cluster", "cluster-id")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


def broken(path: Path, kind: str) -> None:
    data = LOGS[0].read_bytes()
    if kind == "a directory":
        path.mkdir()
    elif kind != "absent":
        parts = {"garbage": b"\x5a" * 400, "truncated": data[:-9],
                 "huge": data[:8] + b"\x7f\xff\xff\xff" + data[12:]}  # fmt: skip
        path.write_bytes(parts[kind])


@pytest.mark.parametrize("kind", ["garbage", "truncated", "huge", "a directory", "absent"])
def test_a_file_that_is_none_ends_in_one_line(tmp_path, kind):
    path = tmp_path / "00000000000000000000.log"
    broken(path, kind)
    refused = kraft("dump-log", "--cluster-metadata-decoder", "--files", path)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert str(path) in refused.stderr


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\x01\x78\x00\x00", "unknown record type with api key 120"),
        (b"\x01\x14\x4d\x00", "NO_OP_RECORD version 77, the newest known is 0"),
        (b"\x02\x14\x00\x00", "frame version 2"),
        (b"\x01\x14\x00\x01\x63\x02\x07", "record at offset 7"),
    ],
)
def test_a_record_that_is_not_known_is_named_by_its_offset(tmp_path, value, reason):
    path = tmp_path / "00000000000000000006.log"
    path.write_bytes(encode_batch(6, 1, 0, [NO_OP]) + encode_batch(7, 1, 0, [value]))
    refused = kraft("dump-log", "--cluster-metadata-decoder", "--files", path)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "| offset: 6 " in refused.stdout
    assert reason in refused.stderr
    assert "record at offset 7" in refused.stderr


def test_tagged_fields_that_are_not_known_are_passed_over(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(encode_batch(0, 1, 0, [b"\x01\x14\x00\x02\x05\x00\x63\x01\x07"]))
    done = kraft("dump-log", "--cluster-metadata-decoder", "--files", path)
    assert done.stdout.endswith('payload: {"type":"NO_OP_RECORD","version":0,"data":{}}\n')
    assert done.exit_code == 0


def test_a_path_that_is_no_file_is_named_and_the_others_are_dumped(tmp_path):
    pipe = tmp_path / "00000000000000000000.log"
    os.mkfifo(pipe)
    long = tmp_path / ("0" * 300)
    done = kraft("dump-log", "--files", f"{pipe},{long},{LOGS[0]},")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert str(pipe) in done.stderr
    assert str(long) in done.stderr
    assert f"Dumping {LOGS[0]}" in done.stdout


def test_a_gzipped_log_and_an_unknown_name_are_told_apart(tmp_path):
    (tmp_path / "00000000000000000000.log.gz").write_bytes(gzip.compress(LOGS[0].read_bytes()))
    assert kraft("dump-log", "--files", tmp_path / "00000000000000000000.log.gz").exit_code == 0
    assert "not the name" in kraft("dump-log", "--files", tmp_path / "x").stderr


def test_an_interrupt_and_a_fault_have_their_own_status(capsys):
    def raises(error: BaseException):
        raise error

    assert run_guarded(lambda: raises(KeyboardInterrupt())) == 130
    assert run_guarded(lambda: raises(ZeroDivisionError("x"))) == 4
    assert capsys.readouterr().err.count("\n") == 2


def test_a_reader_that_has_left_is_no_fault():
    command = [sys.executable, "-c", "import kraft.tools; kraft.tools.main()", "dump-log"]
    command += ["--cluster-metadata-decoder", "--files", ",".join(map(str, LOGS * 3))]
    path = os.pathsep.join(one for one in sys.path if one)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 128 + signal.SIGPIPE
