"""One edited line of a real server log is located, with its false conjunct."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.log_editing import (
    doubled,
    edited,
    exchanged_with_next,
    findings,
    followed_by,
    judged,
    removed,
    replaced,
)

from krafla.audit.report_text import text_lines
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from tests.krafla.audit.log_editing import Edit

    from krafla.audit.specs import LoadingSpec

N0, N1, N2 = "n0/logs/server.log", "n1/logs/server.log", "n2/logs/server.log"
CONTROLLER = "n3002/logs/controller.log"
UNFENCED = (
    "[BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to"
    " RUNNING. (kafka.server.BrokerLifecycleManager)"
)

# The edit: a file, a line, a change of it. The finding: how many lines further down, the action of
# ObservedLease, and the conjunct (or a piece of it) with its place.
EDITS = {
    "another epoch": (
        N0, "broker 0 with broker epoch 17", replaced("epoch 17", "epoch 18"),
        0, "SawRegistered", "m.epoch = epoch",
    ),
    "a registration whose line is missing": (
        N0, "broker 0 with broker epoch 17", removed,
        0, "SawAnswer", 'm.type = "HeartbeatResponse"',
    ),
    "caught up before it was registered": (
        N0, "broker 0 with broker epoch 17", exchanged_with_next,
        0, "SawAnswer", 'm.type = "HeartbeatResponse"',
    ),
    "in recovery without having caught up": (
        N1, "has caught up", removed,
        0, "SawAnswer", "status[i] = before",
    ),
    "a process that never started": (
        N0, "8HkzfJHzSwS9yiR1aOGefA of broker 0", removed,
        0, "WroteRegistration", 'status[i] # "NOT_RUNNING"',
    ),
    "another incarnation": (
        N0, "jLP6oYqqSP-q-5-po9ED0w of broker 0", replaced("jLP6", "jLP7"),
        0, "WroteRegistration", 'status[i] # "NOT_RUNNING"',
    ),
    "unfenced from another state": (
        N2, "has been unfenced", replaced("from RECOVERY", "from STARTING"),
        0, "SawAnswer", "status[i] = before",
    ),
    "unfenced twice": (
        N2, "has been unfenced", doubled,
        1, "SawAnswer", "status[i] = before",
    ),
    "unfenced before it was registered": (
        N1, "is now STARTING", followed_by(UNFENCED),
        1, "SawAnswer", "status[i] = before",
    ),
    "unfenced too early": (
        N2, "38:21,902", replaced("38:21,902", "38:21,560"),
        0, "SawAnswer", "StatusAfter(before, m) = after",
    ),
    "refused though it was accepted": (
        N0, "broker 0 with broker epoch 112",
        replaced(
            "Successfully registered broker 0 with broker epoch 112",
            "Unable to register broker 0 because the controller returned error"
            " DUPLICATE_BROKER_REGISTRATION",
        ),
        0, "SawRefused", 'm.error = "DUPLICATE_BROKER_REGISTRATION"',
    ),
    "told to wait without a request to stop": (
        N2, "Beginning controlled shutdown", removed,
        0, "WroteShutdownBegun", "NextBrokerState(b, m) = next",
    ),
    "stopped from another state": (
        N2, "from PENDING_CONTROLLED_SHUTDOWN to SHUTTING_DOWN", replaced("from PENDING_", "from "),
        0, "SawStopping", 'before = "PENDING_CONTROLLED_SHUTDOWN"',
    ),
    "fenced with another epoch": (
        CONTROLLER, "Fencing broker 2 at epoch 8", replaced("epoch 8", "epoch 9"),
        0, "SaysSilent", "registrations[b].epoch = epoch",
    ),
    "fenced before the timeout": (
        CONTROLLER, "Fencing broker 2 at epoch 8", replaced("38:18,196", "38:16,196"),
        0, "WroteFenceOfSilent", "contact_age[b] > SessionTimeout",
    ),
    "another broker fenced": (
        CONTROLLER, "Fencing broker 2 at epoch 8", replaced("broker 2", "broker 1"),
        0, "WroteFenceOfSilent", "registrations[b].epoch = epoch",
    ),
    "fenced without a record": (
        CONTROLLER, "Fencing broker 0 at epoch 17", replaced("37:59,069", "37:54,069"),
        0, "line-has-its-record", "a record of the line's operation",
    ),
    "caught up with another offset": (
        CONTROLLER, "register broker record 115", replaced("record 115", "record 112"),
        0, "SaysUnfence", "registrations[b].record_offset = record_offset",
    ),
    "another broker unfenced": (
        CONTROLLER, "broker 0 to unfence has been granted", replaced("broker 0", "broker 2"),
        0, "WroteUnfence", "registrations[b].fenced",
    ),
    "controlled shutdown of a broker without a request": (
        CONTROLLER, "Unfenced broker 2 has requested", replaced("broker 2", "broker 1"),
        0, "WroteShutdownBegun", "NextBrokerState(b, m) = next",
    ),
    "shutdown granted at another offset": (
        CONTROLLER, "controlled shutdown offset 162", replaced("offset 162", "offset 163"),
        0, "SaysLeave", "controlled_shutdown_offset[b] = offset",
    ),
    "registered with another epoch": (
        CONTROLLER, "epoch will become 112", replaced("become 112", "become 113"),
        0, "SaysRegistered", "registrations[b].epoch = epoch",
    ),
    "another incarnation registered": (
        CONTROLLER, "epoch will become 112", replaced("8HkzfJHzSwS9", "8HkzfJHzSwS8"),
        0, "SaysRegistered", "registrations[b].incarnation = i",
    ),
    "active in another epoch": (
        CONTROLLER, "Becoming the active", replaced("epoch 1,", "epoch 2,"),
        0, "leader-change-is-logged", "LeaderChange of this controller",
    ),
}  # fmt: skip


@pytest.mark.by_day(5)
@pytest.mark.parametrize("name", sorted(EDITS))
def test_an_edited_line_is_located(
    name: str, real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    file, pattern, edit, below, action, conjunct = EDITS[name]
    number = edited(real_logs / "crash", tmp_path / "crash", file, pattern, edit)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.VIOLATED
    (finding,) = findings(report)
    assert finding.path == (tmp_path / "crash" / file).resolve()
    assert finding.line == number + below
    assert finding.kind.endswith(action)
    assert finding.evidence is not None
    assert finding.evidence.said is not None
    assert any(conjunct in false.text for false in finding.evidence.false)


def test_a_refusal_turned_into_an_epoch_is_located(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    number = edited(
        real_logs / "combined", tmp_path / "combined", "n1/logs/server.log", "DUPLICATE_BROKER",
        replaced(
            "Unable to register broker 1 because the controller returned error"
            " DUPLICATE_BROKER_REGISTRATION",
            "Successfully registered broker 1 with broker epoch 65",
        ),
    )  # fmt: skip
    (finding,) = findings(judged(tmp_path, loading))
    assert (finding.line, finding.kind) == (number, "ObservedLease!SawRegistered")


def test_a_line_without_a_record_is_reported_as_found_by_the_join(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    file, pattern, edit, *_ = EDITS["fenced without a record"]
    edited(real_logs / "crash", tmp_path / "crash", file, pattern, edit)
    report = judged(tmp_path, loading)
    (finding,) = findings(report)
    evidence = finding.evidence
    assert evidence is not None
    (false,) = evidence.false
    says = "the join of server log and metadata log, not the spec"
    assert (evidence.source, false.place) == (says, says)
    # This is no action or property of the spec, which allows what the line says.
    assert evidence.action is None
    assert "!" not in evidence.rule
    assert "WroteFenceOfSilent is allowed, but the metadata log has no such record" in (
        finding.detail
    )
    assert [line.strip() for line in text_lines(report)].count(says) == 1


def test_values_in_a_finding_are_those_of_the_logs(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    file, pattern, edit, *_ = EDITS["registered with another epoch"]
    edited(real_logs / "crash", tmp_path / "crash", file, pattern, edit)
    (finding,) = findings(judged(tmp_path, loading))
    assert finding.offset == 115
    assert finding.evidence is not None
    assert ("epoch", 113) in finding.evidence.parameters
    values = [value for false in finding.evidence.false for value in false.values]
    assert ("registrations[b].epoch", "112", "112") in values
    _, registered = finding.evidence.state[0]
    assert (registered["epoch"], registered["record_offset"]) == (112, 115)


# Facts in one line that nothing else depends on, or that another line has too.
INVISIBLE: dict[str, tuple[str, str, Edit]] = {
    "the end of a controlled shutdown": (N2, "asked us to exit", removed),
    "a broker still waits": (N2, "still waiting for the active", removed),
    "a broker is in recovery": (N1, "is in RECOVERY", removed),
    "the offsets of the other brokers": (
        CONTROLLER, "lowest active offset 164", replaced("offset 164", "offset 165")
    ),
    "a shift within the skew": (
        CONTROLLER, "Fencing broker 2 at epoch 8", replaced("18,196", "18,170")
    ),
    "the reason for an unfencing": (CONTROLLER, "register broker record 115", removed),
}  # fmt: skip


@pytest.mark.by_day(2)
@pytest.mark.parametrize("name", sorted(INVISIBLE))
def test_an_edit_that_no_other_line_depends_on_is_not_noticed(
    name: str, real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    file, pattern, edit = INVISIBLE[name]
    edited(real_logs / "crash", tmp_path / "crash", file, pattern, edit)
    report = judged(tmp_path, loading)
    assert report.verdict is Verdict.HELD, findings(report)


def test_a_fencing_without_a_line_of_its_controller_is_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    pattern = "Fencing broker 0 at epoch 17"
    edited(real_logs / "crash", tmp_path / "crash", CONTROLLER, pattern, removed)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (finding,) = findings(report)
    assert finding.offset == 95
    assert "no line of controller 3002 gives the reason" in finding.detail


def test_a_line_that_is_not_understood_makes_a_violation_inconclusive(
    real_logs: Path, tmp_path: Path, loading: LoadingSpec
) -> None:
    edit = replaced("has been unfenced", "has been unfnced")
    number = edited(real_logs / "crash", tmp_path / "crash", N2, "has been unfenced", edit)
    report = judged(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (finding,) = findings(report)
    assert "a line of this node was not understood" in finding.detail
    (cluster,) = report.clusters
    assert cluster.server_logs is not None
    assert cluster.server_logs.not_understood == 1
    places = [(f.line, f.kind) for f in cluster.all_findings()]
    assert (number, "line not understood") in places
