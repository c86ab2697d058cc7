"""The releases that a log comes from, rules that changed between releases, and their known bugs.

A node registers with the metadata versions that it supports; each release of Kafka has a range of
its own. A metadata version shows the first release that has it. Most rules change with the metadata
version and stand where they are checked; `RULES` lists all changes with their sources.

Kafka: MetadataVersion.MINIMUM_VERSION, MetadataVersion.LATEST_PRODUCTION of each release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from krafla.audit.directories import directory_online
from krafla.audit.image import ELR_FEATURE, METADATA_VERSION
from krafla.audit.invariants_partitions import MV_3_6_IV0
from krafla.audit.partition_state import NO_LEADER, RECOVERING
from krafla.audit.result import Finding, Weight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.image import Image
    from krafla.audit.invariants_partitions import Transition
    from krafla.audit.partition_state import PartitionState
    from krafla.audit.result import Invariant


Bugs: TypeAlias = "tuple[tuple[Invariant, str, str], ...]"
"""Invariants that a change breaks, each with a sentence and the known bug that explains it."""


class Release(NamedTuple):
    """A release, and the metadata versions that its nodes support."""

    name: str
    least: int
    most: int


RELEASES: Final = (
    Release("3.3", 1, 7), Release("3.4", 1, 8), Release("3.5", 1, 11), Release("3.6", 1, 14),
    Release("3.7", 1, 19), Release("3.8", 1, 20), Release("3.9", 1, 21), Release("4.0", 7, 25),
    Release("4.1", 7, 27),
)  # fmt: skip
NEWEST: Final = RELEASES[-1]
MV_3_7_IV2: Final = 17
"""The first metadata version with directories."""
_KNOWN_LEVELS: Final = {
    METADATA_VERSION: NEWEST.most,
    ELR_FEATURE: 1,
    "group.version": 1,
    "transaction.version": 2,
    "share.version": 1,
    "kraft.version": 1,
}
"""The highest level of each feature whose rules are known, those of Kafka 4.1."""


class Rule(NamedTuple):
    """A rule of the log that changed: `invariants` name it, `until` is the last release before.

    `bug` says that Kafka's old behaviour is a fault, which began with the release `since`: the
    audit reports it and goes on. Else the old behaviour is right in its time.
    """

    id: str
    invariants: tuple[str, ...]
    until: str
    bug: bool
    before: str
    since: str = "3.3"

    @property
    def span(self) -> str:
        """The releases from `since` to `until`."""
        return self.until if self.since == self.until else f"{self.since} to {self.until}"


EPOCH_OF_AMENDMENT: Final = Rule(
    "KAFKA-16952", ("B4",), "3.8", bug=True,
    before="an incarnation that registers again gets a new epoch",
)  # fmt: skip
STATE_OF_AMENDMENT: Final = Rule(
    "KAFKA-16757", ("B4", "B7"), "3.8", bug=True,
    before="an incarnation that registers again is fenced, and not in controlled shutdown",
)  # fmt: skip
EARLY_COMPLETION: Final = Rule(
    "KAFKA-15665", ("X5", "X8"), "3.7", bug=True,
    before="a reassignment completes when the added replicas are in sync and one replica stays",
)  # fmt: skip
NO_EFFECT: Final = Rule(
    "KAFKA-16624", ("E7",), "3.7", bug=True,
    before="before 3.6-IV0, a record may have no effect but a leader epoch",
)  # fmt: skip
ELECTED_BEFORE_ASSIGNED: Final = Rule(
    "KIP-858", ("P14",), "4.1", bug=True, since="3.7",
    before="a record may elect a leader and move it from an online directory into one that is not",
)  # fmt: skip
REPEATED: Final = Rule(
    "KIP-858", ("E7", "W4"), "4.1", bug=True, since="3.7",
    before="a heartbeat that fences, unfences or shuts down its broker, and reports a lost"
    " directory, changes partitions twice",
)  # fmt: skip
ELECTED_BY_HEARTBEAT: Final = Rule(
    "KIP-858", ("P14",), "4.1", bug=True, since="3.7",
    before="a heartbeat that unfences its broker, and reports a lost directory, may elect a leader"
    " in that directory",
)  # fmt: skip
LAST_KNOWN_INACTIVE: Final = Rule(
    "KAFKA-19522", ("P10", "P11", "P13", "P14"), "4.0", bug=True, since="4.0",
    before="a last known leader is elected, though it is not active, or its directory not online",
)  # fmt: skip
REPLACED_LEADER: Final = Rule(
    "KAFKA-18106", ("P11", "P12", "P13"), "3.9", bug=False,
    before="without eligible leader replicas, a replaced broker leads until it is fenced",
)  # fmt: skip
RULES: Final = (
    EPOCH_OF_AMENDMENT, STATE_OF_AMENDMENT, EARLY_COMPLETION, NO_EFFECT, ELECTED_BEFORE_ASSIGNED,
    REPEATED, ELECTED_BY_HEARTBEAT, LAST_KNOWN_INACTIVE,
    Rule("KAFKA-15021", ("E6",), "3.5", bug=False,
         before="before metadata version 3.6-IV0, an ISR shrink raises the leader epoch"),
    Rule("KAFKA-15109", ("E6",), "3.9", bug=False,
         before="in and after a migration from ZooKeeper, an ISR shrink raises the leader epoch"),
    REPLACED_LEADER,
    Rule("KIP-704", ("P10", "P15"), "3.2", bug=False,
         before="before metadata version 3.2-IV0, an unclean leader needs no recovery"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReleaseSigns:
    """What a log shows of its releases: metadata versions, and the ranges that nodes support."""

    versions: frozenset[int] = frozenset()
    supported: frozenset[tuple[int, int]] = frozenset()

    def __or__(self, other: ReleaseSigns) -> ReleaseSigns:
        return ReleaseSigns(self.versions | other.versions, self.supported | other.supported)

    def __str__(self) -> str:
        """Return the range of releases, and what shows it."""
        if not self.versions and not self.supported:
            return "unknown: the log names no metadata version"
        signs = []
        if self.versions:
            signs.append(f"{METADATA_VERSION} {_span(self.versions)}")
        if self.supported:
            ranges = ", ".join(f"{low} to {high}" for low, high in sorted(self.supported))
            signs.append(f"nodes support {ranges}")
        return f"{self._names()} ({'; '.join(signs)})"

    def reach_back_to(self, release: str) -> bool:
        """Return whether a node may be of a release, or of an earlier one."""
        shown = {high for _, high in self.supported} or self.versions
        return not shown or _is_up_to(_first_with(min(shown)), release)

    def _names(self) -> str:
        if not self.supported:
            return f"Kafka {_first_with(max(self.versions))} or later"
        highest = [high for _, high in self.supported]
        first, last = _first_with(min(highest)), _first_with(max(highest))
        return f"Kafka {first}" if first == last else f"Kafka {first} to {last}"


def signs_of(image: Image) -> ReleaseSigns:
    """Return what an image shows of its releases."""
    version = image.metadata_version
    versions = frozenset() if version is None else frozenset({version})
    return ReleaseSigns(versions, frozenset(_ranges(image)))


def known_bug(rule: Rule, image: Image) -> str | None:
    """Return the id of a bug, and its releases, if a node may be of one; None otherwise.

    A bug without an issue has the id of the KIP that describes what it is in.
    """
    if not rule.bug or not _is_up_to(_earliest(image), rule.until):
        return None
    if rule.id.startswith("KIP-"):
        return f"a bug of Kafka {rule.span} that has no issue, in {rule.id}"
    return f"{rule.id}, a known bug of Kafka {rule.span}"


def is_changed(rule: Rule, image: Image) -> bool:
    """Return whether every voter is known, and of a release with the change."""
    controllers, voters = image.entities.controllers, image.voters
    if not voters or not voters <= controllers.keys():
        return False
    ranges = (one for voter in voters for one in controllers[voter][1])
    highest = [high for name, _, high in ranges if name == METADATA_VERSION]
    return bool(highest) and not _is_up_to(_first_with(min(highest)), rule.until)


def _is_up_to(release: str | None, last: str) -> bool:
    names = [one.name for one in RELEASES]
    return release in names[: names.index(last) + 1]


def bug_of_amendment(
    image: Image, before: BrokerRegistration, after: BrokerRegistration, offset: int
) -> str | None:
    """Return the known bug that gives an incarnation a new epoch, None if it is none."""
    kept = before.fenced, before.in_controlled_shutdown
    state = after.fenced, after.in_controlled_shutdown
    if not before.epoch < after.epoch <= offset or state not in (kept, (True, False)):
        return None
    return known_bug(EPOCH_OF_AMENDMENT if state == kept else STATE_OF_AMENDMENT, image)


def bug_of_completion(image: Image, before: PartitionState, after: PartitionState) -> str | None:
    """Return the known bug that completes a reassignment too early, None if it is none."""
    in_sync, new = set(after.isr), set(after.replicas) - set(before.replicas)
    if before.in_progress:
        new = set(before.adding)
    elif set(before.replicas) == set(after.replicas):
        return None
    if after.in_progress or set(after.replicas) <= in_sync or not in_sync or not new <= in_sync:
        return None
    return known_bug(EARLY_COMPLETION, image)


def bug_of_election(image: Image, before: PartitionState, after: PartitionState) -> str | None:
    """Return the known bug that elects by a directory that the record replaces, None if it is none.

    A broker assigns its replica of a partition without a leader to a directory that is not online.
    Kafka elects by the directories before that, so this broker may become the leader. The next
    record, which would take its leadership away, is made from the partition before, and is not
    written since there was no leader.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs, LeaderAcceptor.test.
    """
    leader = after.leader
    if before.directories == after.directories or leader in (before.leader, NO_LEADER):
        return None
    registered = image.registrations
    if directory_online(after, leader, registered):
        return None
    if not directory_online(before, leader, registered):
        return None
    moved = [
        replica
        for replica, old, new in zip(
            after.replicas, before.directories, after.directories, strict=False
        )
        if old != new
    ]
    if before.replicas != after.replicas or moved != [leader]:
        return None
    return known_bug(ELECTED_BEFORE_ASSIGNED, image)


def bug_of_last_known(image: Image, before: PartitionState, after: PartitionState) -> str | None:
    """Return the known bug that elects a last known leader that cannot lead, None if it is none.

    Kafka: PartitionChangeBuilder.canElectLastKnownLeader.
    """
    leader = after.leader
    if not image.elr_enabled or leader == before.leader or before.last_known_elr != (leader,):
        return None
    if leader in image.active() and directory_online(before, leader, image.registrations):
        return None
    return known_bug(LAST_KNOWN_INACTIVE, image)


def bug_of_repetition(image: Image, before: PartitionState, after: PartitionState) -> str | None:
    """Return the known bug that may write a change a second time, None if it is none.

    A heartbeat may fence, unfence or shut down its broker, and report a lost directory. Kafka makes
    the records for either from the state before both. `Heartbeats` asks whether the operation has
    both.

    Kafka: ReplicationControlManager.processBrokerHeartbeat, .handleDirectoriesOffline.
    """
    brokers = (image.registrations.get(replica) for replica in after.replicas)
    may_lose = any(broker is not None and broker.directories for broker in brokers)
    is_old = (image.metadata_version or 0) < MV_3_7_IV2
    return known_bug(REPEATED, image) if may_lose and before == after and not is_old else None


def bug_of_state(invariant: Invariant, image: Image, state: PartitionState) -> str | None:
    """Return the known bug that may have left a partition in a state that breaks an invariant."""
    if invariant.id in ELECTED_BEFORE_ASSIGNED.invariants:
        return known_bug(ELECTED_BEFORE_ASSIGNED, image)
    recovers = state.recovery == RECOVERING and state.isr == (state.leader,)
    if invariant.id in LAST_KNOWN_INACTIVE.invariants and recovers and image.elr_enabled:
        return known_bug(LAST_KNOWN_INACTIVE, image)
    return None


def excuse(image: Image, state: PartitionState, broken: Iterable[Invariant]) -> None:
    """Let partitions stay in a state in which a known bug leaves them, and that breaks invariants.

    A leader in a lost directory stays until its partition changes, one that is not active until it
    is fenced or unfenced.
    """
    ids = {invariant.id for invariant in broken}
    if ids.intersection(ELECTED_BEFORE_ASSIGNED.invariants):
        image.astray.add(state)
    elif ids.intersection(LAST_KNOWN_INACTIVE.invariants):
        image.led_by_inactive.add(state)


def bug_of_change(invariant: Invariant, t: Transition) -> str | None:
    """Return the known bug by which a change breaks an invariant, None if it is none."""
    if invariant.id in EARLY_COMPLETION.invariants:
        return bug_of_completion(t.image, t.before, t.after)
    last_known = bug_of_last_known(t.image, t.before, t.after)
    if invariant.id in LAST_KNOWN_INACTIVE.invariants and last_known is not None:
        return last_known
    repeated = bug_of_repetition(t.image, t.before, t.after)
    if invariant.id in REPEATED.invariants and repeated is not None:
        return repeated
    same = t.change.leader == t.before.leader and t.version < MV_3_6_IV0
    return known_bug(NO_EFFECT, t.image) if invariant.id in NO_EFFECT.invariants and same else None


def unknown_level(name: str, level: int) -> str | None:
    """Return why a level of a feature is beyond what the audit knows, None if it is known."""
    known = _KNOWN_LEVELS.get(name)
    if level < 1 or (known is not None and level <= known):
        return None
    what = "an unknown feature" if known is None else f"above {known}, the last that is known"
    return (
        f"{name} {level} is {what}: the log comes from a release after Kafka {NEWEST.name}, and is"
        f" judged from here on by the rules of {NEWEST.name}, which may have changed"
    )


def in_doubt(findings: Iterable[Finding], unknown: Finding | None) -> list[Finding]:
    """Return findings, those after an unknown level as inconclusive."""
    if unknown is None:
        return list(findings)
    assert unknown.offset is not None, "an unknown level stands at an offset"
    return [
        replace(finding, weight=Weight.INCONCLUSIVE)
        if _is_behind(finding, unknown.offset)
        else finding
        for finding in findings
    ]


def _is_behind(finding: Finding, offset: int) -> bool:
    broken = finding.weight is Weight.VIOLATION
    return broken and finding.offset is not None and finding.offset > offset


def _earliest(image: Image) -> str | None:
    """Return the earliest release that a registered node may be of, else that has the version."""
    highest = [high for _, high in _ranges(image)]
    if highest:
        return _first_with(min(highest))
    version = image.metadata_version
    return None if version is None else _first_with(version)


def _ranges(image: Image) -> list[tuple[int, int]]:
    nodes = [registered.features for registered in image.registrations.values()]
    nodes += [ranges for _, ranges in image.entities.controllers.values()]
    return [
        (low, high) for ranges in nodes for name, low, high in ranges if name == METADATA_VERSION
    ]


def _first_with(version: int) -> str:
    """Return the first release with a metadata version."""
    return next((r.name for r in RELEASES if version <= r.most), f"after {NEWEST.name}")


def _span(numbers: frozenset[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
