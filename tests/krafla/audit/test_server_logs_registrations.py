"""A registration request may arrive after its process has ended."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.audit.log_editing import findings, judged

from krafla.audit.server_logs import lease
from krafla.audit.server_logs.candidate import Candidate
from krafla.audit.server_logs.permissive_states import permissive_states
from krafla.audit.server_logs.settings import Settings
from krafla.values import function, record
from krafla.verdict import ExitCode, Verdict
from kraft.log.segment import iter_batches

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.specs import LoadingSpec
    from krafla.oracle import Spec, State

N0 = "n0/logs/server.log"
LATE = "eNi5vXWWQvy4jvAstK_49g"
LATE_RECORD = 267
NEXT = "AAAAAAAAAAAAAAAAAAAAAA"
STOPPED = (
    "[BrokerLifecycleManager id=0] Transitioning from STARTING to SHUTTING_DOWN."
    " (kafka.server.BrokerLifecycleManager)"
)


def started(process: str) -> str:
    return (
        f"[BrokerLifecycleManager id=0] Incarnation {process} of broker 0 in cluster"
        " WoW1dGiETNalGVhHhVOyHg is now STARTING. (kafka.server.BrokerLifecycleManager)"
    )


def ended_before_its_record(folder: Path, file: Path, last: str) -> None:
    """End a process, by its log, three seconds before the record that registers it.

    The metadata log ends with that record. The process's log ends with `last`, a second after its
    start.
    """
    log = folder / "n3000" / METADATA / LOG
    log.write_bytes(b"".join(b.raw for b in iter_batches(log) if b.base_offset <= LATE_RECORD))
    lines = file.read_text().splitlines()
    index = next(i for i, line in enumerate(lines) if started(LATE) in line)
    kept = [*lines[:index], f"[2026-11-21 12:38:32,490] INFO {started(LATE)}"]
    kept.append(f"[2026-11-21 12:38:33,490] INFO {last}")
    file.write_text("".join(f"{line}\n" for line in kept))


@pytest.mark.parametrize("last", [started(NEXT), STOPPED], ids=["another starts", "it stops"])
def test_a_process_may_be_registered_after_its_end(
    last: str, real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    copy = tmp_path / "crash"
    shutil.copytree(real_logs / "crash", copy)
    ended_before_its_record(copy, copy / N0, last)
    report = judged(tmp_path, loading)
    assert report.verdict is Verdict.HELD, findings(report)
    (found,) = report.clusters
    assert found.server_logs is not None
    assert found.server_logs.judged_to == LATE_RECORD + 1


def test_a_search_without_the_late_request_is_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "crash"
    shutil.copytree(real_logs / "crash", copy)
    ended_before_its_record(copy, copy / N0, started(NEXT))
    monkeypatch.setattr(
        "krafla.audit.server_logs.proposals.Proposals.after_registration_request",
        lambda _, c, __: c,
    )
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (finding,) = findings(report)
    assert finding.kind == "ObservedLease!WroteRegistration"


def late(registered: str, status: str) -> tuple[Spec, State]:
    """Return a state in which process a, of broker 1, has a status and no message is in flight."""
    spec = lease.load(lease.constants({"a": 1, "b": 1}, (), Settings(100, 4000)))
    (state,) = spec.initial_states()
    present = record(
        incarnation=registered, epoch=0, record_offset=0, fenced=True,
        in_controlled_shutdown=False,
    )  # fmt: skip
    statuses = function({"a": status, "b": "CRASHED"})
    return spec, state.replace(log_end=1, registrations=function({1: present}), status=statuses)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("action", "registered", "epoch"), [("WroteRegistration", "b", 1), ("WroteAmendment", "a", 0)]
)
@pytest.mark.parametrize(
    ("status", "allowed"),
    [("NOT_RUNNING", False), ("STARTING", True), ("SHUTTING_DOWN", True), ("CRASHED", True)],
)
def test_only_a_started_process_has_requests_in_flight(
    action: str, registered: str, epoch: int, status: str, allowed: bool
) -> None:
    spec, state = late(registered, status)
    request = record(type="RegistrationRequest", incarnation="a", awaited=status == "STARTING")
    asked = state.replace(messages=function({request: 1}))
    assert bool(spec.outcomes(asked, action, 1, "a", epoch)) is allowed
    # Permissive states have such a request, whether or not the search sent one.
    favourable = permissive_states(
        Candidate(state, 0, ()), 1, frozenset({"a"}), timeout_ms=4000, skew_ms=100, watched=True
    )
    assert any(spec.outcomes(s, action, 1, "a", epoch) for s in favourable) is allowed


@pytest.mark.parametrize("status", ["NOT_RUNNING", "SHUTTING_DOWN", "CRASHED"])
def test_messages_of_an_ended_process_may_still_have_its_epoch(status: str) -> None:
    _, state = late("a", status)
    favourable = permissive_states(
        Candidate(state, 0, ()), 1, frozenset({"a"}), timeout_ms=4000, skew_ms=100, watched=False
    )
    assert favourable
    for each in favourable:
        beats = [m for m in each["messages"] if m.type == "HeartbeatRequest"]
        assert bool(beats) is (status != "NOT_RUNNING")
        assert all((m.epoch, m.awaited) == (0, False) for m in beats)
