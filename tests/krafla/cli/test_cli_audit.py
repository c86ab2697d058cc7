"""`krafla audit` and `krafla dump` as their users see them: output, exit status, no traceback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.krafla.audit.editing import LOG, METADATA, copied, spoiled, with_fields
from typer.testing import CliRunner

from krafla.cli import application

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"


def krafla(*arguments):
    """Return (exit status, standard output, standard error) of a command."""
    result = CliRunner().invoke(application(arguments[0]), [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def violated(tmp_path):
    source = REAL_LOGS / "crash" / "n3000"
    return spoiled(source, tmp_path / "n3000", {95: with_fields(brokerEpoch=16)})


def test_a_held_audit_says_what_was_judged_and_how_to_repeat_it():
    status, out, err = krafla("audit", REAL_LOGS / "crash")
    assert status == 0
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("HELD")
    assert "587 records" in out
    assert lines[-3].startswith("HELD  1 cluster, 1 directory, 1 distinct history, 587")
    assert lines[-1].strip().startswith("reproduce: krafla audit")


def test_a_violation_names_file_offset_record_action_conjunct_state_and_what_was_legal(violated):
    status, out, _ = krafla("audit", violated)
    assert status == 1
    words = [re.sub(r"\s+", " ", line).strip() for line in out.splitlines()]
    (violation,) = [
        line for line in words if line.startswith("violation ") and "UntimedLease!" in line
    ]
    assert str(violated / METADATA / LOG) in out
    assert "offset 95" in violation
    assert re.search(r"byte \d+", violation)
    assert any(
        line.startswith('record {"type":"BROKER_REGISTRATION_CHANGE_RECORD"') for line in words
    )
    assert "action FenceBroker(b = 0, epoch = 16, offset = 95)" in words
    (false,) = [line for line in words if line.startswith("false ")]
    assert re.fullmatch(r"false registrations\[b\]\.epoch = epoch \[.*UntimedLease.*:\d+\]", false)
    assert "registrations[b].epoch = 17" in words
    assert any(line.startswith("before registrations = ") for line in words)
    assert any(line.startswith("legal FenceBroker, ") for line in words)
    assert "Traceback" not in out


def test_quiet_says_only_what_did_not_hold_and_the_verdict(violated):
    status, out, _ = krafla("audit", "-q", REAL_LOGS)
    assert (status, len(out.splitlines())) == (0, 1)
    status, out, _ = krafla("audit", violated, REAL_LOGS / "combined", "-q")
    assert status == 1
    assert "combined" not in out
    assert "offset 95" in out


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
        "cluster_id", "folder", "asked", "stepped", "verdict", "findings", "directories",
        "server_logs",
    ]  # fmt: skip
    assert cluster["server_logs"] is None
    (directory,) = cluster["directories"]
    assert list(directory) == [
        "path", "node_id", "verdict", "batches", "records", "first_offset", "end_offset",
        "judged_from", "judged_to", "checkpoints", "same_history_as", "findings",
    ]  # fmt: skip
    finding = directory["findings"][0]
    assert list(finding) == [
        "weight", "kind", "detail", "path", "line", "byte", "offset", "evidence",
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
    assert found == status
    (line,) = [line for line in out.splitlines() if said in line]
    assert str(tmp_path) in line
    assert "Traceback" not in out + err


def test_a_path_that_is_not_there_is_one_line(tmp_path):
    status, out, err = krafla("audit", REAL_LOGS / "combined", tmp_path / "absent")
    assert (status, out) == (2, "")
    assert err == f"krafla: {tmp_path / 'absent'}: no such file or directory\n"


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
