"""What a history's judging comes to, from what its pieces found and from where it ended.

A piece of a history adds to counters and lists: its `Tally`. The rest of an outcome is known at the
end of the last piece: its `Ending`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from krafla.audit.change_tally import ChangeTally
from krafla.audit.check_counts import CheckCounts, SpecCounts
from krafla.audit.known_bugs import KnownChange, findings_about
from krafla.audit.releases import ReleaseSigns, in_doubt
from krafla.audit.specs import LEASE, PARTITIONS, RAFT, REGISTRATIONS

if TYPE_CHECKING:
    from krafla.audit.result import Finding


@dataclass(frozen=True, slots=True)
class HistoryOutcome:
    """The findings about a history, and how much of it was judged.

    `stopped_at` is the offset of the finding that stopped the judging, None if there is none;
    `judged_to` is the end offset of the last batch read. `check_counts` counts what the
    invariants checked, `spec_counts` the steps of the specs; `releases` is what the history shows
    of its releases.
    """

    findings: tuple[Finding, ...]
    stopped_at: int | None
    judged_to: int
    records: int
    check_counts: CheckCounts
    spec_counts: dict[str, SpecCounts]
    releases: ReleaseSigns


@dataclass(slots=True)
class Tally:
    """What a piece of a history adds to its outcome.

    `lease`, `raft` and `registrations` count steps of these specs, `changes` partition changes.
    `refused` are the steps of the lease that a known bug explains, `known` the partition changes;
    `taken_back` are offsets of those that none explains after all. `of_raft` and `aside` are
    findings that stop nothing.
    """

    checks: CheckCounts = field(default_factory=CheckCounts)
    lease: SpecCounts = field(default_factory=lambda: SpecCounts(0, 0))
    raft: SpecCounts = field(default_factory=lambda: SpecCounts(0, 0))
    registrations: SpecCounts = field(default_factory=lambda: SpecCounts(0, 0))
    changes: ChangeTally = field(default_factory=ChangeTally)
    refused: list[Finding] = field(default_factory=list)
    known: list[KnownChange] = field(default_factory=list)
    taken_back: list[int] = field(default_factory=list)
    of_raft: list[Finding] = field(default_factory=list)
    aside: list[Finding] = field(default_factory=list)

    def then(self, later: Tally) -> Tally:
        """Return the tally of this piece and the next one together."""
        again, gone = later.changes.again, frozenset(later.taken_back)
        known = [
            one._replace(times=one.times + again.get(-1 if one.noted is None else one.noted, 0))
            for one in self.known
            if one.finding.offset not in gone
        ]
        return Tally(
            self.checks.then(later.checks),
            _sum(self.lease, later.lease),
            _sum(self.raft, later.raft),
            _sum(self.registrations, later.registrations),
            self.changes.then(later.changes),
            [*self.refused, *later.refused],
            [*known, *later.known],
            [*self.taken_back, *later.taken_back],
            [*self.of_raft, *later.of_raft],
            [*self.aside, *later.aside],
        )

    def spec_counts(self) -> dict[str, SpecCounts]:
        """Return what UntimedLease, RaftLog, RegistrationLog and PartitionLog judged."""
        return {
            LEASE: self.lease,
            RAFT: self.raft,
            REGISTRATIONS: self.registrations,
            PARTITIONS: self.changes.counts(),
        }


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a history ended: `findings` stopped it, `doubts` and `unknown` limit what it shows.

    `judged_to` and `records` count from the history's start.
    """

    findings: tuple[Finding, ...]
    doubts: tuple[Finding, ...]
    unknown: Finding | None
    judged_to: int
    records: int
    signs: ReleaseSigns


def outcome_of(tally: Tally, ending: Ending) -> HistoryOutcome:
    """Return the outcome of a history by what its pieces add up to, and by its end."""
    found, unknown = ending.findings, ending.unknown
    stop = min((f.offset for f in found if f.offset is not None), default=None)
    doubts = [*ending.doubts, *([] if unknown is None else [unknown])]
    aside = (*findings_about(tally.refused, tally.known), *tally.of_raft, *tally.aside)
    before = (f for f in aside if stop is None or f.offset is None or f.offset <= stop)
    return HistoryOutcome(
        (*in_doubt((*found, *before), unknown), *doubts),
        stop,
        ending.judged_to,
        ending.records,
        tally.checks,
        tally.spec_counts(),
        ending.signs,
    )


def _sum(one: SpecCounts, other: SpecCounts) -> SpecCounts:
    """Return the sum of counts, the reasons in the order in which they came."""
    passed = dict(one.passed_over)
    for reason, times in other.passed_over.items():
        passed[reason] = passed.get(reason, 0) + times
    return replace(one, steps=one.steps + other.steps, judged=one.judged + other.judged,
                   passed_over=passed)  # fmt: skip
