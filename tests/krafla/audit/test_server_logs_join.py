"""Server logs are joined with their cluster's metadata log: which logs, and over what time."""

from __future__ import annotations

import functools
import json
import re
import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.log_editing import edited, findings, judged, notes, replaced
from typer.testing import CliRunner

from krafla.audit.render import document
from krafla.audit.report_text import text_lines
from krafla.cli import application
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.audit.report import AuditReport
    from krafla.audit.specs import LoadingSpec

STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),", re.MULTILINE)


@pytest.fixture(scope="module")
def as_it_is(real_logs: Path, loading: LoadingSpec) -> Callable[[str], AuditReport]:
    """Return what is judged of a real cluster as it is, once for each."""
    return functools.cache(lambda name: judged(real_logs / name, loading))


def cluster(real_logs: Path, tmp_path: Path, name: str, *left_out: str) -> Path:
    """Copy a cluster without some of its files; return the copy."""
    copy = tmp_path / name
    shutil.copytree(real_logs / name, copy)
    for pattern in left_out:
        for path in list(copy.glob(pattern)):
            path.unlink()
    return copy


@pytest.mark.parametrize("name", ["combined", "crash", "failover"])
def test_real_server_logs_hold(name: str, as_it_is: Callable[[str], AuditReport]) -> None:
    report = as_it_is(name)
    assert report.verdict is Verdict.HELD, findings(report)
    (found,) = report.clusters
    assert found.server_logs is not None
    counts = found.server_logs.counts
    assert counts.lines_explained == counts.lines > 20
    assert counts.records_explained == counts.records > 9


def test_another_time_zone_is_recognized(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "combined")
    for path in copy.glob("*/logs/*.log"):
        path.write_text(STAMP.sub(_later, path.read_text()))
    report = judged(copy, loading)
    assert report.verdict is Verdict.HELD, findings(report)


def _later(match: re.Match[str]) -> str:
    moment = datetime.fromisoformat(match[1]) + timedelta(hours=5, minutes=30)
    return f"[{moment:%Y-%m-%d %H:%M:%S},"


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    "left_out", ["n[0-2]/logs/server.log", "n3002/logs/controller.log", "n1/logs/server.log"]
)
def test_logs_of_some_nodes_are_enough(
    left_out: str, real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    report = judged(cluster(real_logs, tmp_path, "crash", left_out), loading)
    assert report.verdict is Verdict.HELD, findings(report)
    (found,) = report.clusters
    assert found.server_logs is not None
    counts = found.server_logs.counts
    assert counts.lines_explained == counts.lines > 30
    assert counts.records_explained == counts.records == 43


def test_a_cluster_without_server_logs_is_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    report = judged(cluster(real_logs, tmp_path, "crash", "*/logs/*.log"), loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert [f.kind for f in findings(report)] == ["no server logs"]
    asked = f"reproduce: krafla audit --server-logs --clock-skew-ms 100 {tmp_path}"
    assert list(text_lines(report))[-1].strip().startswith(asked)


def test_logs_of_another_cluster_are_noted(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    cluster(real_logs, tmp_path, "combined")
    shutil.copytree(real_logs / "crash" / "n0", tmp_path / "other" / "n0")
    report = judged(tmp_path, loading)
    assert report.verdict is Verdict.HELD, findings(report)
    assert any("without a metadata log" in note.detail for note in notes(report))


def test_a_deposed_controller_is_not_judged(as_it_is: Callable[[str], AuditReport]) -> None:
    report = as_it_is("failover")
    (note,) = (n for n in notes(report) if "no longer the leader" in n.detail)
    assert note.path is not None
    assert note.path.match("n3000/logs/controller.log")


def test_lines_before_the_checkpoint_are_left_out(
    as_it_is: Callable[[str], AuditReport],
) -> None:
    (found,) = as_it_is("failover").clusters
    assert found.server_logs is not None
    assert found.server_logs.judged_from == 523
    assert found.server_logs.clipped > 0


@pytest.mark.nightly
def test_the_session_timeout_is_that_of_the_controllers(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "crash")
    properties = copy / "n3000" / "server.properties"
    properties.write_text(properties.read_text().replace("timeout.ms=4000", "timeout.ms=5000"))
    (finding,) = findings(judged(copy, loading))
    assert finding.kind == "ObservedLease!WroteFenceOfSilent"
    assert finding.evidence is not None
    assert finding.evidence.false[0].text == "contact_age[b] > SessionTimeout"
    report = judged(copy, loading, session_timeout_ms=4000)
    assert report.verdict is Verdict.HELD
    assert " --session-timeout-ms 4000 " in list(text_lines(report))[-1]


@pytest.mark.nightly
def test_controllers_that_disagree_about_the_timeout_are_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "crash")
    other = (copy / "n3000" / "server.properties").read_text().replace("=4000", "=3999")
    (copy / "n3002" / "server.properties").write_text(other)
    report = judged(copy, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert [f.kind for f in findings(report)] == ["session timeout"]


@pytest.mark.nightly
def test_a_larger_skew_accepts_more(real_logs: Path, tmp_path: Path, loading: LoadingSpec) -> None:
    line, edit = "Fencing broker 2 at epoch 8", replaced("38:18,196", "38:17,896")
    edited(real_logs / "crash", tmp_path / "crash", "n3002/logs/controller.log", line, edit)
    assert judged(tmp_path, loading).verdict is Verdict.VIOLATED
    assert judged(tmp_path, loading, skew_ms=400).verdict is Verdict.HELD


def test_a_report_counts_what_was_judged(as_it_is: Callable[[str], AuditReport]) -> None:
    report = as_it_is("combined")
    (found,) = document(report)["clusters"]
    judgement = found["server_logs"]
    assert judgement["verdict"] == "held"
    assert judgement["lines_explained"] == judgement["lines"] == 39
    assert judgement["session_timeout_ms"] == 9000
    assert json.loads(json.dumps(judgement)) == judgement
    text = "\n".join(text_lines(report))
    assert "39 of 39 lines and 14 of 14 records explained" in text
    assert "reproduce: krafla audit --server-logs" in text


def test_the_command_saves_a_trace_that_validates(real_logs: Path, tmp_path: Path) -> None:
    saved = tmp_path / "combined.ndjson"
    arguments = ["audit", "--server-logs", "--save-trace", str(saved), str(real_logs / "combined")]
    result = CliRunner().invoke(application("audit"), arguments)
    assert result.exit_code == ExitCode.HELD, result.output
    result = CliRunner().invoke(application("validate"), ["validate", str(saved)])
    assert result.exit_code == ExitCode.HELD, result.output


def test_a_trace_that_begins_at_a_checkpoint_is_not_saved(real_logs: Path, tmp_path: Path) -> None:
    saved = tmp_path / "failover.ndjson"
    arguments = ["audit", "--server-logs", "--save-trace", str(saved), str(real_logs / "failover")]
    result = CliRunner().invoke(application("audit"), arguments)
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert not saved.exists()


@pytest.mark.nightly
def test_a_log_that_begins_late_is_enough(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "crash")
    for node, keep_from in (("n0", 9), ("n1", 7), ("n2", 12)):
        path = copy / node / "logs" / "server.log"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[keep_from:]))
    report = judged(copy, loading)
    assert report.verdict is Verdict.HELD, findings(report)


@pytest.mark.nightly
def test_a_log_that_ends_early_is_enough(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "crash")
    for path in copy.glob("n[0-2]/logs/server.log"):
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:20]))
    report = judged(copy, loading)
    assert report.verdict is Verdict.HELD, findings(report)


def test_a_copy_of_a_log_elsewhere_counts_once(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "combined")
    shutil.copytree(copy / "n1" / "logs", copy / "n1" / "old" / "logs")
    report = judged(copy, loading)
    assert report.verdict is Verdict.HELD, findings(report)


def test_a_clock_that_is_off_by_more_than_the_skew_is_reported(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    line, edit = "broker 0 with broker epoch 17", replaced("37:41,948", "37:41,448")
    edited(real_logs / "crash", tmp_path / "crash", "n0/logs/server.log", line, edit)
    (finding,) = findings(judged(tmp_path, loading))
    assert "unless clocks differ by more than 100 ms" in finding.detail
    assert judged(tmp_path, loading, skew_ms=600).verdict is Verdict.HELD


def test_lines_of_an_unknown_broker_are_a_finding(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = cluster(real_logs, tmp_path, "combined")
    path = copy / "n1" / "logs" / "server.log"
    path.write_text(path.read_text().replace("Manager id=1]", "Manager id=7]"))
    (finding,) = findings(judged(copy, loading))
    assert finding.kind == "ObservedLease!SawAnswer"
    assert '"unknown process of broker 7"' in finding.detail
