"""A process registers again while it holds an epoch: Kafka does this, BrokerLease does not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.editing import LOG, METADATA, REGISTER, no_op_after, records, spoiled, to
from tests.krafla.audit.log_editing import doubled, edited, findings, followed_by, judged

from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.krafla.audit.log_editing import Edit

    from krafla.audit.specs import LoadingSpec

N0 = "n0/logs/server.log"
LEARNT = "Successfully registered broker 0 with broker epoch"
LAST_RECORD = 267

AGAIN = f"[BrokerLifecycleManager id=0] {LEARNT} 17 (kafka.server.BrokerLifecycleManager)"


def preceded_by(text: str) -> Edit:
    """Add another line before it, and set both to 15 ms after its time."""

    def edit(lines: list[str], index: int) -> None:
        lines[index] = lines[index].replace("39:49,984", "39:49,999")
        followed_by(text)(lines, index)
        lines[index], lines[index + 1] = lines[index + 1], lines[index]

    return edit


@pytest.mark.parametrize(
    ("pattern", "edit", "below"),
    [
        (f"{LEARNT} 17", doubled, 1),
        ("The broker has been unfenced", followed_by(AGAIN), 1),
        # Sightings within the skew are stuck behind it, and must not be blamed in its place.
        ("Beginning controlled shutdown", preceded_by(AGAIN.replace("17", "442")), 0),
    ],
    ids=["while it starts", "while it runs", "before it stops"],
)
def test_a_process_that_logs_its_epoch_again_is_inconclusive(
    pattern: str, edit: Edit, below: int, real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    number = edited(real_logs / "crash", tmp_path / "crash", N0, pattern, edit)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE, findings(report)
    (finding,) = findings(report)
    assert (finding.line, finding.kind) == (number + below, "ObservedLease!SawRegistered")
    assert "registers again" in finding.detail


@pytest.mark.parametrize("epoch", [8, 16, 18, 112])
def test_a_process_that_logs_another_epoch_is_a_violation(
    epoch: int, real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    edit = followed_by(AGAIN.replace("17", str(epoch)))
    number = edited(real_logs / "crash", tmp_path / "crash", N0, "has been unfenced", edit)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.VIOLATED
    (finding,) = findings(report)
    assert (finding.line, finding.kind) == (number + 1, "ObservedLease!SawRegistered")
    assert finding.evidence is not None
    assert any("broker_epoch[i]" in false.text for false in finding.evidence.false)


def test_the_record_of_a_running_broker_that_registers_again_is_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    source = real_logs / "crash"
    shutil.copytree(source, tmp_path / "crash")
    log = source / "n3000" / METADATA / LOG
    first = next(r for r in records(log, REGISTER) if r.offset == LAST_RECORD)
    place = no_op_after(log, LAST_RECORD + 20)
    amended = {**first.fields, "fenced": False}
    shutil.rmtree(tmp_path / "crash" / "n3000")
    edits = {place: to(REGISTER, first.version, **amended)}
    spoiled(source / "n3000", tmp_path / "crash" / "n3000", edits)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE, findings(report)
    (finding,) = findings(report)
    assert (finding.offset, finding.kind) == (place, "ObservedLease!WroteAmendment")
    assert "registers again" in finding.detail
