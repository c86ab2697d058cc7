"""A judgement counts lines and records separately, and only the folders with a judged line."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.log_editing import edited, findings, judged, replaced

from krafla.audit.render import document
from krafla.audit.report_text import text_lines
from krafla.audit.server_logs.counts import Counts
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.report import AuditReport
    from krafla.audit.specs import LoadingSpec

STARTS = "is now STARTING"


def with_one_line(source: Path, target: Path, pattern: str, file: str) -> None:
    """Copy a cluster with only one line about the lease in its server logs."""
    shutil.copytree(source, target)
    for path in target.glob("*/logs/*.log"):
        lines = path.read_text().splitlines(keepends=True)
        kept = [line for line in lines if "Broker" not in line and "Controller id" not in line]
        if path == target / file:
            kept = [next(line for line in lines if pattern in line)]
        path.write_text("".join(kept or lines[:1]))


def counts(report: AuditReport) -> Counts:
    (cluster,) = report.clusters
    assert cluster.server_logs is not None
    return cluster.server_logs.counts


def test_one_line_counts_as_one_and_records_as_records(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    with_one_line(real_logs / "crash", tmp_path / "crash", STARTS, "n1/logs/server.log")
    report = judged(tmp_path, loading)
    assert report.verdict is Verdict.HELD, findings(report)
    assert counts(report) == Counts(1, 1, 43, 43, folders=4, telling=1)
    text = "\n".join(text_lines(report))
    told = "lines in 1 of 4 folders: 1 of 1 line and 43 of 43 records explained"
    assert f"server logs, {told} by " in text
    judgement = document(report)["clusters"][0]["server_logs"]
    numbers = {"telling_folders": 1, "lines": 1, "lines_explained": 1, "records": 43}
    assert judgement.items() >= {**numbers, "records_explained": 43}.items()
    assert len(judgement["folders"]) == 4


def test_a_line_about_a_record_counts_in_addition_to_it(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    file = "n3002/logs/controller.log"
    with_one_line(real_logs / "crash", tmp_path / "crash", "Fencing broker 2 at epoch 8 ", file)
    assert counts(judged(tmp_path, loading)) == Counts(1, 1, 43, 43, folders=4, telling=1)


def test_unexplained_lines_are_not_counted_as_explained(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    edit = replaced("epoch 8", "epoch 9")
    file, line = "n2/logs/server.log", "broker 2 with broker epoch 8"
    edited(real_logs / "crash", tmp_path / "crash", file, line, edit)
    found = counts(judged(tmp_path, loading))
    assert 0 < found.lines_explained < found.lines == 119
    assert 0 < found.records_explained < found.records == 43
    assert found.telling == 4


@pytest.mark.nightly
def test_records_without_lines_are_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    with_one_line(real_logs / "crash", tmp_path / "crash", STARTS, "n1/logs/server.log")
    path = tmp_path / "crash" / "n1" / "logs" / "server.log"
    path.write_text(path.read_text().replace("2026-11-21", "2026-11-22"))
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert [finding.kind for finding in findings(report)] == ["nothing to judge"]
    assert counts(report) == Counts(0, 0, 43, 43, folders=4, telling=0)


def test_lines_that_are_all_not_understood_are_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    with_one_line(real_logs / "crash", tmp_path / "crash", STARTS, "n1/logs/server.log")
    path = tmp_path / "crash" / "n1" / "logs" / "server.log"
    path.write_text(path.read_text().replace(STARTS, "is about to start"))
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(("lines", "words"), [(1, "1 of 1 line"), (1200, "1,200 of 1,200 lines")])
def test_counts_add_up_and_print_as_words(lines: int, words: str) -> None:
    one = Counts(lines, lines, 2, 1, folders=3, telling=1)
    assert str(one) == f"lines in 1 of 3 folders: {words} and 1 of 2 records explained"
    assert one + one == Counts(2 * lines, 2 * lines, 4, 2, folders=6, telling=2)
