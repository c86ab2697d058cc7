"""Verdicts on server logs that the search alone does not decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.log_editing import edited, findings, judged, replaced

from krafla.audit.server_logs import judge, search
from krafla.audit.server_logs.explain import Explainer
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.specs import LoadingSpec

CONTROLLER = "n3002/logs/controller.log"


@pytest.mark.parametrize(
    ("line", "tries"),
    [
        # Before the first explanation, where all would hold; and when stuck, where it would not.
        ("", -1),
        ("Fencing broker 2 at epoch 8", 0),
    ],
)
def test_a_search_that_gave_up_is_inconclusive(
    line: str, tries: int, real_logs: Path, tmp_path: Path, loading: LoadingSpec,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    edit = replaced("38:18,196", "38:16,196") if line else replaced("INFO", "INFO")
    edited(real_logs / "crash", tmp_path / "crash", CONTROLLER, line, edit)
    whole = Verdict.VIOLATED if line else Verdict.HELD
    assert judged(tmp_path, loading).verdict is whole
    monkeypatch.setattr(search, "MAX_TRIES", tries)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (finding,) = findings(report)
    assert finding.kind == "not explained"
    assert "not all were tried" in finding.detail


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("invariant", "file", "line"),
    [
        # Kafka as built: a process that was fenced because its session expired may keep running.
        ("NoOverlapInv", CONTROLLER, "Fencing broker 0 at epoch 17"),
        # False in the initial state, and no invariant.
        ("DuplicateRefusedReach", "n1/logs/server.log", "is now STARTING"),
    ],
)
def test_an_explanation_that_breaks_an_invariant_is_a_violation_at_its_first_broken_state(
    invariant: str, file: str, line: str, real_logs: Path, loading: LoadingSpec,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder = real_logs / "crash"
    monkeypatch.setattr(judge, "INVARIANTS", (*judge.INVARIANTS, invariant))
    report = judged(folder, loading)
    assert report.exit_code is ExitCode.VIOLATED
    (finding,) = findings(report)
    assert finding.kind == f"BrokerLeaseProperties!{invariant}"
    assert finding.path == (folder / file).resolve()
    lines = (folder / file).read_text().splitlines()
    assert finding.line == 1 + next(i for i, text in enumerate(lines) if line in text)


@pytest.mark.parametrize(
    ("skew_ms", "expected"), [(100, Verdict.VIOLATED), (400, Verdict.INCONCLUSIVE)]
)
def test_a_session_may_be_older_by_the_skew_than_in_the_search(
    skew_ms: int, expected: Verdict, real_logs: Path, tmp_path: Path, loading: LoadingSpec,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    line, edit = "Fencing broker 2 at epoch 8", replaced("38:18,196", "38:17,896")
    number = edited(real_logs / "crash", tmp_path / "crash", CONTROLLER, line, edit)
    # The search does not try it, and an untried explanation is not forbidden.
    monkeypatch.setattr(Explainer, "_late", lambda *_: None)
    report = judged(tmp_path, loading, skew_ms=skew_ms)
    assert report.verdict is expected, findings(report)
    (finding,) = findings(report)
    assert finding.kind == "ObservedLease!WroteFenceOfSilent"
    assert f"{CONTROLLER}:{number}" in finding.detail
