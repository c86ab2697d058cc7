"""`krafla audit` and `krafla dump` as their users see them: output, exit status, no traceback."""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

import pytest
from tests.krafla.audit.editing import LOG, METADATA, copied, spoiled, with_fields
from typer.testing import CliRunner

from krafla.audit.specs import LoadingSpec
from krafla.cli import application
from krafla.cli import audit as audit_command

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"


def krafla(*arguments):
    """Return (exit status, standard output, standard error) of a command."""
    result = CliRunner().invoke(application(arguments[0]), [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


@functools.cache
def loaded_once():
    """Return the specs of the audit, for all these tests; test_cli_audit_process loads its own."""
    return LoadingSpec(brief=True)


@pytest.fixture(autouse=True)
def _specs(monkeypatch):
    monkeypatch.setattr(audit_command, "_loading", loaded_once)


@pytest.fixture
def violated(tmp_path):
    source = REAL_LOGS / "crash" / "n3000"
    return spoiled(source, tmp_path / "n3000", {95: with_fields(brokerEpoch=16)})


def test_a_held_audit_says_what_was_judged_and_how_to_repeat_it():
    status, out, err = krafla("audit", REAL_LOGS / "crash")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("HELD")
    assert "587 records" in out
    assert lines[-4].startswith("HELD  1 cluster, 1 directory, 1 distinct history, 587")
    assert lines[-1].strip().startswith("reproduce: krafla audit")


def test_a_node_behind_a_link_is_noted_even_with_quiet(tmp_path):
    copied(REAL_LOGS / "crash", tmp_path / "crash")
    link = tmp_path / "crash" / "n3009"
    link.symlink_to(REAL_LOGS / "combined" / "n1")
    status, out, err = krafla("audit", tmp_path / "crash", "--quiet")
    assert (status, err) == (0, "")
    said = " ".join(out.split())
    assert str(link) in said
    assert "a symbolic link to a directory is not followed: name it as a PATH of its own" in said
    shutil.rmtree(tmp_path / "crash" / "n3000")
    status, out, err = krafla("audit", tmp_path / "crash")
    assert (status, out) == (2, "")
    assert f"the link {link} is not followed" in err


def test_what_cannot_be_read_is_placed_and_counted_with_a_command_to_go_on_with(tmp_path):
    node = copied(REAL_LOGS / "combined" / "n1", tmp_path / "n1")
    log = node / METADATA / LOG
    log.write_bytes(log.read_bytes()[:4464] + b"?" + log.read_bytes()[4465:])
    later = log.with_name(f"{1000:020}.log")
    later.write_bytes(b"")
    status, out, _ = krafla("audit", node)
    assert status == 3
    left = len(log.read_bytes()) - 4457
    rest = f"nothing from there on is judged: {left:,} bytes of the file and 1 later segment"
    assert f"; {rest} (byte 4457, offset 57)" in out
    assert f"krafla dump {log} | tail   # the last whole records before the fault" in out


def test_a_file_is_refused_with_what_an_audit_takes():
    log = REAL_LOGS / "combined" / "n1" / METADATA / LOG
    status, out, err = krafla("audit", log)
    assert (status, out) == (2, "")
    assert err.strip() == f"krafla: {log}: is a file: an audit takes the directory that has it"


def test_every_spec_says_how_much_it_judged():
    _, out, _ = krafla("audit", REAL_LOGS / "combined", "--json")
    (cluster,) = json.loads(out)["clusters"]
    assert cluster["stepped"]["UntimedLease"] == {"steps": 24, "records": 11, "passed_over": {}}
    steps = [one["steps"] for one in cluster["stepped"].values()]
    assert (len(steps), sum(steps)) == (4, json.loads(out)["counts"]["steps"])


FAILURE = """\
VIOLATED  NODE  cluster WoW1dGiETNalGVhHhVOyHg
  A record that changes a broker names its current broker epoch.
  LOG: UntimedLease!FenceBroker (B6): FenceBroker is not allowed: registrations[b].epoch = epoch is false (byte 8003, offset 95)
    UntimedLease.tla:114: Names(b, epoch)
    UntimedLease.tla:104
        registrations[b].epoch = epoch
      is false
      registrations[b].epoch = 17
      b = 0
      epoch = 16

  the record
    {"type":"BROKER_REGISTRATION_CHANGE_RECORD","version":0,"data":{"brokerId":0,"brokerEpoch":16,"fenced":1}}
    read as FenceBroker(b = 0, epoch = 16, offset = 95)

  the state before it
    registrations[0] = [epoch 17, fenced FALSE, in_controlled_shutdown FALSE, incarnation "jLP6oYqqSP-q-5-po9ED0w"]
    registrations[1] = [epoch 13, fenced FALSE, in_controlled_shutdown FALSE, incarnation "ThUO6c-dReKs9MbYFJKqQg"]
    registrations[2] = [epoch 8, fenced FALSE, in_controlled_shutdown FALSE, incarnation pRihoxJ_TbyRKrqafoCV1Q]
    log_end = 95
    epoch_floor = 86

  what the spec allows here
    FenceBroker, BeginControlledShutdown, ChangeDirectories, UnregisterBroker with epoch 17; or a new incarnation, fenced, with an epoch from 86 to 95

    violated     __cluster_metadata-0, node 3000: 587 records in 326 batches, offsets 0 to 586
    release      Kafka 4.1 (metadata.version 27; nodes support 7 to 27)
    stepped      6 records by 15 steps of UntimedLease
    stepped      587 records by 5 steps of RaftLog
    stepped      3 records by 3 steps of RegistrationLog
    stepped      102 records by 77 steps of PartitionLog
                 139 records are beyond this spec: 46 for directories, 93 for eligible leader replicas;
                 that is no fault, the invariants below judged them
    checked      70 of 83 invariants, 12,084 times; the log has nothing for the other 13 (--coverage lists them)
VIOLATED  1 cluster, 1 directory, 1 distinct history, 587 records, 100 steps of four specs
    judged by UntimedLease.tla, RaftLog.tla, RegistrationLog.tla, PartitionLog.tla and 83 invariants of the log
    by the rules of Kafka 3.3 to 4.1, as the metadata version and the releases have them

  go on with
    krafla dump LOG | grep -C 5 'offset: 95 '   # the record among its neighbours
    krafla audit NODE   # the same audit
"""  # noqa: E501 - as it is printed on a very wide terminal


def test_a_violation_is_sentence_conjunct_record_state_and_commands(violated):
    status, out, _ = krafla("audit", violated)
    assert status == 1
    out = out.replace(str(violated / METADATA / LOG), "LOG").replace(str(violated), "NODE")
    # Where a line is broken depends on the length of the path.
    assert out.split() == FAILURE.split()


def test_quiet_says_only_what_did_not_hold_what_was_not_judged_and_the_verdict(violated, tmp_path):
    status, out, _ = krafla("audit", "-q", REAL_LOGS)
    lines = out.splitlines()
    assert (status, len(lines)) == (0, 3)
    assert "note" in lines[1]
    assert "not judged: offsets 504 to 522 precede the oldest checkpoint" in lines[1]
    status, out, _ = krafla("audit", violated, REAL_LOGS / "combined", "-q")
    assert status == 1
    assert "combined" not in out
    assert "offset 95" in out
    torn = copied(REAL_LOGS / "combined" / "n1", tmp_path / "n1") / METADATA / LOG
    torn.write_bytes(torn.read_bytes()[:-3])
    assert "torn tail" in krafla("audit", "-q", tmp_path / "n1")[1]


def test_coverage_says_what_each_invariant_means_and_how_often_it_was_checked():
    plain, covered = (
        krafla("audit", REAL_LOGS / "crash", *more)[1] for more in ((), ("--coverage",))
    )
    assert " L12 " not in plain
    assert "--coverage lists them" in plain
    (line,) = (line for line in covered.splitlines() if " L12 " in line)
    assert line.split(maxsplit=2) == [
        "262",
        "L12",
        "the changes of an aborted transaction are gone",
    ]


def test_json_is_one_document_with_the_promised_fields(violated):
    status, out, _ = krafla("audit", "--json", violated)
    assert status == 1
    report = json.loads(out)
    assert (report["schema"], report["verdict"], report["exit_code"]) == (1, "violated", 1)
    assert list(report) == [
        "schema", "verdict", "exit_code", "paths", "clusters", "findings", "counts",
    ]  # fmt: skip
    (cluster,) = report["clusters"]
    assert list(cluster) == [
        "cluster_id", "folder", "releases", "asked", "stepped", "verdict", "findings",
        "directories", "server_logs",
    ]  # fmt: skip
    assert cluster["server_logs"] is None
    (directory,) = cluster["directories"]
    assert list(directory) == [
        "path", "node_id", "verdict", "batches", "records", "first_offset", "end_offset",
        "judged_from", "judged_to", "judged_records", "judged_on", "torn_at", "checkpoints",
        "images", "same_history_as", "findings",
    ]  # fmt: skip
    finding = directory["findings"][0]
    assert list(finding) == [
        "weight", "kind", "detail", "path", "line", "byte", "offset", "known_bug", "evidence",
    ]  # fmt: skip
    assert (finding["weight"], finding["offset"]) == ("violation", 95)
    evidence = finding["evidence"]
    assert list(evidence) == [
        "rule", "invariants", "statement", "source", "record", "said", "action", "parameters",
        "false", "state", "expected",
    ]  # fmt: skip
    assert evidence["parameters"] == {"b": 0, "epoch": 16, "offset": 95}
    assert evidence["record"]["data"]["brokerEpoch"] == 16
    assert evidence["false"][0]["values"]["registrations[b].epoch"] == "17"


@pytest.mark.parametrize(
    ("spoil", "status", "said"),
    [
        (lambda log: log.write_bytes(log.read_bytes()[:-3]), 0, "torn tail"),
        (lambda log: log.write_bytes(b""), 3, "the log was never written"),
        (lambda log: log.write_bytes(b"\x00" * 16 + b"\x01" + bytes(80)), 3, "magic 1"),
        (lambda log: log.unlink() or log.mkdir(), 3, "not a regular file"),
        (
            lambda log: (log.parent.parent / "meta.properties").write_text("cluster.id\n"),
            3,
            "is not `key=value`",
        ),
    ],
)
def test_bad_input_is_one_line_and_an_exit_status(tmp_path, spoil, status, said):
    node = copied(REAL_LOGS / "combined" / "n1", tmp_path / "n1")
    spoil(node / METADATA / LOG)
    found, out, err = krafla("audit", node)
    assert found == status, err
    line = next(line for line in out.splitlines() if said in line)
    assert str(tmp_path) in line
    assert "Traceback" not in out + err


def test_a_path_that_is_not_there_is_one_line(tmp_path):
    status, out, err = krafla("audit", REAL_LOGS / "combined", tmp_path / "absent")
    assert (status, out) == (2, "")
    assert err == f"krafla: {tmp_path / 'absent'}: there is no such file or folder\n"


def test_a_path_without_a_log_is_one_line(tmp_path):
    status, out, err = krafla("audit", tmp_path)
    assert (status, out) == (2, "")
    assert err == f"krafla: {tmp_path}: no __cluster_metadata-0 directory here or below\n"


def test_a_path_cannot_steer_the_terminal(tmp_path):
    node = copied(REAL_LOGS / "combined" / "n1", tmp_path / "n\x1b[31m1")
    _, out, _ = krafla("audit", node)
    assert "\x1b[31m" not in out
    assert r"n\x1b[31m1" in out


def test_dump_prints_a_log_and_withholds_secrets():
    status, out, _ = krafla("dump", REAL_LOGS / "combined" / "n1" / METADATA / LOG)
    assert status == 0
    assert out.splitlines()[0].startswith("Dumping ")
    assert '"type":"REGISTER_BROKER_RECORD"' in out


def test_dump_ends_with_one_line_where_the_log_is_broken(tmp_path):
    node = copied(REAL_LOGS / "combined" / "n1", tmp_path / "n1")
    log = node / METADATA / LOG
    log.write_bytes(log.read_bytes()[:-3])
    status, out, err = krafla("dump", node)
    assert status == 3
    assert "baseOffset: 0" in out
    assert len(err.splitlines()) == 1
    assert str(log) in err
    assert "byte" in err
