"""The partition changes of a history as PartitionLog is asked about them.

A change is noted where it first occurs, and queued when its operation has ended: only then are the
changes of brokers known that may have caused it.

Spec: PartitionChangeElr!ElectedElr.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Protocol

from krafla.audit.directories import directory_online
from krafla.audit.invariants import MINIMUM_METADATA_VERSION
from krafla.audit.invariants_partitions import MV_3_6_IV0
from krafla.audit.partition_state import NO_CHANGE
from krafla.audit.releases import bug_of_completion
from kraft.records.batch import RecordBatch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from kraft.records.record import MetadataRecord

    Registrations = Mapping[int, BrokerRegistration]

ELIGIBLE: Final = "eligible leader replicas"
DIRECTORIES: Final = "directories"
ORDER: Final = "the order of a list"
OLD: Final = "a metadata version before 3.6-IV0"
MIGRATING: Final = "a migration from ZooKeeper"
OF_ITS_RELEASE: Final = "a known bug of its release"
UNFINISHED: Final = "an operation that has not ended"
UNREACHED: Final = "a violation before them"
SHUTS_DOWN: Final = "BeginControlledShutdown"
BEHIND: Final = {"UnfenceBroker": "Unfence", SHUTS_DOWN: "ShutDown"}
"""Changes of a broker that stand before the partition changes they cause."""
AHEAD: Final = {
    "FenceBroker": "Fence", "UnregisterBroker": "Unregister", "RegisterBroker": "Fence",
}  # fmt: skip
"""Changes of a broker that stand after them. A replaced broker counts as fenced first."""
FAILS: Final = "ChangeDirectories"
DIGEST_BYTES: Final = 16
_NO_EXTRAS: Final = (((), ()), ((), ()))


class PlacedBatch(Protocol):
    """What the finding about a queued change needs of its batch."""

    @property
    def path(self) -> Path | None:
        """The file of the batch."""

    def metadata_records(self, wanted: frozenset[int] | None = None) -> list[MetadataRecord]:
        """Return the records with a wanted api key."""


@dataclass(slots=True)
class NotedChange:
    """A partition change that occurred `times` times, with the registrations at that time.

    `events` counts the broker changes before it in its operation. `passed` is the reason why it was
    skipped, None if it was judged. `like` is the earlier change with an equal step, which is judged
    for both.
    """

    offset: int
    key: bytes
    before: PartitionState
    after: PartitionState
    change: PartitionChange
    registered: Registrations
    events: int
    passed: str | None = UNFINISHED
    times: int = 0
    like: NotedChange | None = None


@dataclass(frozen=True, slots=True)
class BrokerEvent:
    """A change of a broker: its action of the lease, and the registrations before it."""

    action: str
    broker: int
    registered: Registrations


@dataclass(frozen=True, slots=True)
class QueuedChange:
    """A partition change whose operation has ended with a batch, and what `around` may cause it.

    Changes with equal keys have equal answers.
    """

    noted: NotedChange
    around: list[BrokerEvent]
    batch: PlacedBatch
    key: tuple[object, ...]

    @property
    def digest(self) -> bytes:
        """A digest of the key, the same in every process."""
        return digest_of(self.key)

    @property
    def remembered(self) -> RememberedBatch:
        """What a finding about the change needs of its batch."""
        batch = self.batch
        if isinstance(batch, RememberedBatch):
            return batch
        assert isinstance(batch, RecordBatch), "a change is queued with its batch"
        at = self.noted.offset
        is_here = batch.base_offset <= at < batch.next_offset
        return RememberedBatch(batch.path, (batch.metadata_record_at(at),) if is_here else ())


@dataclass(frozen=True, slots=True)
class RememberedBatch:
    """The path of a batch that is no longer at hand, and the record of it that was queued."""

    path: Path | None
    records: tuple[MetadataRecord, ...]

    def metadata_records(self, wanted: frozenset[int] | None = None) -> list[MetadataRecord]:
        """Return the remembered record, if its api key is wanted."""
        return [one for one in self.records if wanted is None or one.api_key in wanted]


def digest_of(key: object) -> bytes:
    """Return a digest of a step's key, which has numbers, words and truth values only."""
    return blake2b(repr(key).encode(), digest_size=DIGEST_BYTES).digest()


def queued_change(
    noted: NotedChange, around: list[BrokerEvent], batch: PlacedBatch
) -> QueuedChange:
    """Return the queued change, with those broker changes that could cause it."""
    ids = concerned(noted)
    around = [e for e in around if e.broker in noted.before.isr or e.action == "UnfenceBroker"]
    signs = tuple((e.action, e.broker, _activity(e.registered, {*ids, e.broker})) for e in around)
    leads_on = noted.change.leader == NO_CHANGE
    key = (noted.before, noted.after, leads_on, _activity(noted.registered, ids), signs)
    return QueuedChange(noted, around, batch, key)


def around_of(noted: NotedChange, events: list[BrokerEvent]) -> list[BrokerEvent]:
    """Return the broker changes that may have caused a partition change."""
    ahead = [event for event in events[noted.events :] if event.action in AHEAD][:1]
    behind = [event for event in events[: noted.events] if event.action in BEHIND][-1:]
    return [event for event in (*ahead, *behind) if event.broker in event.registered]


def beyond(noted: NotedChange, image: Image) -> str | None:
    """Return why the spec does not model a change, None if it does.

    Eligible leader replicas matter to a change only if the requested ISR is empty: then no member
    of the old ISR stays. Spec: PartitionChangeElr!ElectedElr.
    """
    before, after = noted.before, noted.after
    if (image.metadata_version or MINIMUM_METADATA_VERSION) < MV_3_6_IV0:
        return OLD
    if image.may_migrate:
        return MIGRATING
    if image.left_over & set(before.isr):
        return UNFINISHED
    if bug_of_completion(image, before, after) is not None:
        return OF_ITS_RELEASE
    extras = (before.elr, before.last_known_elr), (after.elr, after.last_known_elr)
    kept = set(before.isr) & set(after.isr)
    if not before.isr or not after.isr or (extras != _NO_EXTRAS and not kept):
        return ELIGIBLE
    if _projected(before) == _projected(after) and noted.change.leader == NO_CHANGE:
        if extras[0] != extras[1]:
            return ELIGIBLE
        return ORDER if before.directories == after.directories else DIRECTORIES
    offline = (
        not directory_online(state, broker, image.registrations)
        for state in (before, after)
        for broker in state.replicas
    )
    return DIRECTORIES if any(offline) else None


def _projected(state: PartitionState) -> tuple[object, ...]:
    sets = (frozenset(state.isr), frozenset(state.adding), frozenset(state.removing))
    return (state.replicas, state.leader, state.recovery, *sets)


def concerned(noted: NotedChange) -> frozenset[int]:
    """Return the replicas of a partition before and after its change."""
    return frozenset({*noted.before.replicas, *noted.after.replicas})


def _activity(registered: Registrations, brokers: frozenset[int] | set[int]) -> tuple[object, ...]:
    """Return the parts of brokers' registrations that the spec reads."""
    return tuple(
        (b, registered[b].fenced, registered[b].in_controlled_shutdown)
        if b in registered
        else (b, None, None)
        for b in sorted(brokers)
    )
