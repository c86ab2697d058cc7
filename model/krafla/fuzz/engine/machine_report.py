"""What a campaign says at its end, as text and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.manifest import on_these_specs
from kraft.sim.raft.faults import whom
from kraft.sim.raft.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.fuzz.engine.machine_campaign import Campaign, Finding, Report
    from krafla.fuzz.engine.machine_run import Played

__all__ = ["coverage_lines", "document", "fault_lines", "options", "summary", "text_lines"]

_SECOND: Final = 1_000_000_000


def text_lines(report: Report, saved: str = "") -> Iterator[str]:
    """Yield the report line by line; ``saved`` is the file that the finding was written to."""
    yield from coverage_lines(report)
    if report.finding is not None:
        yield from _finding_lines(report.finding)
    yield f"{report.verdict.name}  {_counts(report)}"
    for doubt in report.doubts if report.finding is None else ():
        yield f"  {doubt}"
    yield f"  digest     {report.digest}"
    if saved:
        command = f"krafla fuzz {report.campaign.system} --replay {saved}"
        yield f"  replay     {_on_specs(report, command)}"
    elif report.examples:
        yield f"  reproduce  {reproduce(report)}"


def coverage_lines(report: Report) -> Iterator[str]:
    """Yield what was covered: actions of the spec, effects of faults, what broke unpromised."""
    if report.all_actions:
        yield "steps by the action of the spec that each of them is:"
    for name in sorted(report.all_actions, key=lambda name: (-report.actions[name], name)):
        yield f"  {report.actions[name]:>11,}  {name}"
    if report.faults:
        yield "effects of faults, by kind:"
    for name, count in sorted(report.faults.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count:>11,}  {name}{'' if name in KINDS else ' (an effect of faults)'}"
    if report.unpromised:
        yield f"  {report.unpromised:>11,}  steps that promise less: a disk was damaged, or a"
        yield f"  {'':>11}  sole voter lost what only it had"
    for name, count in sorted(report.hazards.items()):
        yield f"  {count:>11,}  times {name} broke where it was promised no more"


def reproduce(report: Report) -> str:
    """Return the command that runs the same examples again."""
    campaign = report.campaign
    command = f"krafla fuzz {campaign.system} --seed {campaign.seed} --examples {report.examples}"
    return _on_specs(report, command + options(campaign))


def options(campaign: Campaign) -> str:
    """Return the options that decide the runs of a campaign, each after a blank."""
    given = ""
    if campaign.kinds != SYSTEMS[campaign.system].kinds:
        given += f" --faults {','.join(campaign.kinds) or 'none'}"
    if campaign.chaos is not None:
        given += f" --chaos {campaign.chaos:g}"
    return f"{given} --lockstep" if campaign.lockstep else given


def _on_specs(report: Report, command: str) -> str:
    """Return a command that asks the same specs, if any was asked."""
    return on_these_specs(command) if report.campaign.lockstep else command


def _counts(report: Report) -> str:
    seconds = max(report.seconds, 1e-9)
    rates = (
        f" ({report.events / seconds:,.0f}/s)",
        f" ({_simulated(report) / seconds:,.0f} a second)",
    )
    return f"{report.examples:,} runs, {summary(report, *rates)}"


def summary(report: Report, events_rate: str = "", simulated_rate: str = "") -> str:
    """Return in a line how much was played and asked, and how the runs came to their ends."""
    ends = ", ".join(f"{count:,} {name}" for name, count in sorted(report.liveness.items()))
    judged = f", {report.judged:,} judged by the spec" if report.all_actions else ""
    asked = len(SYSTEMS[report.campaign.system].properties)
    return (
        f"{report.events:,} events{events_rate}{judged}, "
        f"{_simulated(report):,.0f} simulated s{simulated_rate}, "
        f"{sum(report.faults.values()):,} effects of faults, {report.acknowledged:,} values "
        f"acknowledged, {asked} properties; at the end {ends or 'nothing'}"
    )


def _simulated(report: Report) -> float:
    return report.simulated / _SECOND


def _finding_lines(finding: Finding) -> Iterator[str]:
    shrunk = finding.shrunk
    yield (
        f"run {finding.example}: {len(finding.played.case.plan or ())} faults planned, "
        f"{len(shrunk.case.plan or ())} are left"
    )
    yield from fault_lines(shrunk)
    yield f"  {shrunk.violation}"


def fault_lines(played: Played) -> Iterator[str]:
    """Yield the size of a run's quorum, and each fault of its plan."""
    configuration = played.case.configuration
    yield (
        f"  {configuration.voters} voters, {configuration.observers} observers, kraft.version "
        f"{configuration.kraft_version}, seed {played.case.seed}"
    )
    above = played.case.above
    if above is not None:
        elr = ", eligible leader replicas" if above.eligible_leader_replicas else ""
        yield f"  a cluster of metadata version {above.metadata_version}{elr}"
    for fault in played.case.plan or ():
        lasts = f" for {fault.duration / _SECOND:.3f} s" if fault.duration else ""
        yield f"  {fault.time / _SECOND:>9.3f} s  {fault.kind} of {whom(fault)}{lasts}"


def document(report: Report, saved: str = "") -> dict[str, Any]:
    """Return the report as JSON data."""
    finding = report.finding
    return {
        "schema": 1,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "seed": report.campaign.seed,
        "runs": report.examples,
        "events": report.events,
        "judged": report.judged,
        "unpromised": report.unpromised,
        "simulated_seconds": report.simulated / _SECOND,
        "seconds": round(report.seconds, 3),
        "acknowledged": report.acknowledged,
        "faults": dict(sorted(report.faults.items())),
        "hazards": dict(sorted(report.hazards.items())),
        "liveness": dict(sorted(report.liveness.items())),
        "actions": {name: report.actions[name] for name in report.all_actions},
        "doubts": list(report.doubts) if finding is None else [],
        "digest": report.digest,
        "failure": None if finding is None else _failure(finding),
        "saved": saved or None,
        "reproduce": reproduce(report),
    }


def _failure(finding: Finding) -> dict[str, Any]:
    violation = finding.shrunk.violation
    assert violation is not None
    return {
        "run": finding.example,
        "property": violation.property,
        "text": str(violation),
        "faults": len(finding.played.case.plan or ()),
        "faults_left": len(finding.shrunk.case.plan or ()),
    }
