"""The judgement on a cluster's server logs: joined with its metadata log, explained by the spec.

Spec: ObservedLease!SawAnswer, BrokerLeaseProperties!EpochIsRegistrationOffsetInv,
BrokerLeaseProperties!EpochUniqueInv, BrokerLeaseProperties!OneLiveIncarnationInv,
BrokerLeaseProperties!EpochBelongsToIncarnationInv, BrokerLeaseProperties!UnfencedHasSessionInv,
BrokerLeaseProperties!OnlyActiveBrokersLeadInv, BrokerLeaseProperties!ShuttingDownIsUnfencedInv.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.result import Finding, Weight, verdict_of
from krafla.audit.server_logs import lease
from krafla.audit.server_logs.candidate import Candidate, StepTaker
from krafla.audit.server_logs.counts import Counts, counts_of
from krafla.audit.server_logs.explain import Explainer
from krafla.audit.server_logs.files import unknown_line_notes
from krafla.audit.server_logs.hints import add_hints
from krafla.audit.server_logs.numbers import Numbers
from krafla.audit.server_logs.operations import Act
from krafla.audit.server_logs.search import search_order
from krafla.audit.server_logs.sightings import align_clocks, coverage_of, sightings_of
from krafla.audit.server_logs.verdict import Judge
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.audit.server_logs.candidate import TakenStep
    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.server_logs.operations import Operations
    from krafla.audit.server_logs.search import SearchOutcome
    from krafla.audit.server_logs.settings import Settings
    from krafla.audit.server_logs.sightings import Streams
    from krafla.testing import Spec
INVARIANTS: Final = (
    "EpochIsRegistrationOffsetInv",
    "EpochUniqueInv",
    "OneLiveIncarnationInv",
    "EpochBelongsToIncarnationInv",
    "OnlyActiveBrokersLeadInv",
    "UnfencedHasSessionInv",
    "ShuttingDownIsUnfencedInv",
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement on the server logs of a cluster.

    `log` is the metadata log that they were joined with. `folders` hold server logs, with
    `lines_read` lines of all loggers. `counts` has the judged lines and records, and those that
    `steps` of the spec explain. `not_understood` and `clipped` count lines that were not understood
    or lie outside the time of the metadata log. `taken` is the last step of the behaviour found.
    """

    log: Path
    folders: tuple[Path, ...]
    lines_read: int
    counts: Counts
    steps: int
    not_understood: int
    clipped: int
    judged_from: int
    judged_to: int
    settings: Settings
    findings: tuple[Finding, ...]
    streams: Streams
    brokers: frozenset[int]
    taken: TakenStep | None

    @property
    def verdict(self) -> Verdict:
        """The verdict on the findings."""
        return verdict_of(self.findings)


def judge(
    logs: Sequence[NodeLogs],
    log: Operations,
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
) -> Judgement:
    """Return the judgement on the server logs and a metadata log of one cluster.

    Raises KraflaError if the spec cannot be loaded.
    """
    shifted, _ = align_clocks(sorted(logs, key=lambda node: (node.first_ms, node.folder)), log)
    streams = sightings_of(shifted, log, settings.skew_ms)
    timeout_ms, skew_ms = settings.session_timeout_ms, settings.skew_ms
    brokers = streams.brokers | _brokers(log)
    spec = lease.load(lease.constants(streams.incarnations, brokers, settings))
    taker = StepTaker(spec, timeout_ms)
    explainer = Explainer(taker, coverage_of(shifted), Numbers(), skew_ms)
    hinted = add_hints(streams.streams, log, timeout_ms)
    count = sum(map(len, hinted))
    start = _start(spec, streams, log, timeout_ms)
    found = search_order(
        hinted, start, explainer, skew_ms, lease.NO_NUMBER,
        lambda done: progress(f"server logs: {done} of {count} sightings explained"),
    )  # fmt: skip
    findings = [note for node in shifted for note in unknown_line_notes(node)]
    findings += streams.findings
    if found.next_up:
        gaps = frozenset(_nodes_with_gaps(shifted))
        findings.append(Judge(explainer, timeout_ms, skew_ms, gaps=gaps).finding(found))
    else:
        findings += _broken_invariants(spec, found)
    counts = counts_of(shifted, streams, found.candidate.taken)
    # A line that contradicts the metadata log by itself is a finding, not a sighting.
    if not counts.lines and verdict_of(findings) is not Verdict.VIOLATED:
        detail = "no line that could be judged lies within the time of the metadata log"
        findings.append(Finding(Weight.INCONCLUSIVE, "nothing to judge", detail, log.path))
    return Judgement(
        log=log.path,
        folders=tuple(node.folder for node in logs),
        lines_read=sum(node.lines for node in logs),
        counts=counts,
        steps=_length(found.candidate.taken),
        not_understood=sum(len(node.unknown) for node in logs),
        clipped=streams.clipped,
        judged_from=log.start,
        judged_to=log.end,
        settings=settings,
        findings=tuple(findings),
        streams=streams,
        brokers=brokers,
        taken=found.candidate.taken,
    )


def _brokers(log: Operations) -> set[int]:
    """Return the ids of the brokers in a log."""
    named = {op.broker for op in log.operations if op.incarnation is not None}
    return {*named, *log.registrations}


def _start(spec: Spec, streams: Streams, log: Operations, timeout_ms: int) -> Candidate:
    times = [s.time_ms for stream in streams.streams for s in stream]
    clock = min([*times, log.end_ms] if log.start_ms is None else [*times, log.start_ms])
    begun = lease.start_of_lease(spec, streams, log, _last_contacts(log, clock, timeout_ms))
    latest = {broker: lease.latest_process(streams, broker) for broker in streams.before_start}
    running = tuple((b, process) for b, process in sorted(latest.items()) if process is not None)
    facts = {
        (fact, r.incarnation)
        for r in log.registrations.values()
        for fact in ("registered", "ready", "unfenced", "asked", "left")
    }
    facts |= {("started", process) for _, process in running}
    return Candidate(begun.state, clock, begun.ranks, facts=frozenset(facts), running=running)


def _last_contacts(log: Operations, clock_ms: int, timeout_ms: int) -> dict[int, int]:
    """Return, for brokers fenced soon after the start, how long before it they were heard from."""
    found: dict[int, int] = {}
    done: set[int] = set()
    for op in log.operations:
        if op.act is Act.LEADER_CHANGE:
            break
        if op.act is Act.FENCE and op.broker not in done:
            found[op.broker] = max(0, timeout_ms + 1 - (op.time_ms - clock_ms))
        done.add(op.broker)
    return found


def _nodes_with_gaps(logs: Sequence[NodeLogs]) -> set[int]:
    return {event.node for node in logs if node.unknown for event in node.events}


def _length(taken: TakenStep | None) -> int:
    count = 0
    while taken is not None:
        count += 1
        taken = taken.before
    return count


def _broken_invariants(spec: Spec, found: SearchOutcome) -> list[Finding]:
    """Return a finding if an explanation leads through a state that breaks an invariant."""
    taken = found.candidate.taken
    broken: list[Finding] = []
    while taken is not None:
        if taken.sighting is not None:
            broken += [
                _broken(name, taken)
                for name in INVARIANTS
                if not spec.check_invariant(name, taken.state)
            ]
        taken = taken.before
    return broken[-1:]


def _broken(name: str, taken: TakenStep) -> Finding:
    from krafla.audit.server_logs.verdict import finding_at

    assert taken.sighting is not None, "only sightings are reported"
    kind = f"BrokerLeaseProperties!{name}"
    return finding_at(
        Weight.VIOLATION, kind, f"{name} is false", taken.sighting, None, by_line=True
    )
