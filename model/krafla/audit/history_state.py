"""The state of a history under audit: the image, offsets and counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from krafla.audit.check_counts import CheckCounts
from krafla.audit.invariants_topics import Creations
from krafla.audit.releases import ReleaseSigns, signs_of, unknown_level
from krafla.audit.result import Finding, Weight
from kraft.records.control_schemas import KRAFT_VERSION, LEADER_CHANGE

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.image import Image
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord


UNKNOWN_LEVEL: Final = "unknown level"


@dataclass(slots=True)
class HistoryState:
    """The state of a history: `image` is what its records add up to, `end` the next offset.

    `created` is what the current batch has created so far. `metadata_version` is that of the
    last whole batch. `begins` is true until the log's first batch or transaction has ended.
    `epoch` is that of the last batch, `is_cut` is true if the last metadata batch may not end its
    operation: Kafka cuts a long one.
    `brokers_changed` is true if a broker changed since partitions were last judged. `features` has
    the last record of each feature since their dependencies were last judged. `unknown` is the
    finding that a feature has a level which the audit does not know; `signs` tell the releases.
    `kraft_version` is the level that the last KRaftVersionRecord names.
    """

    start: int
    end: int
    image: Image
    metadata_version: int | None
    begins: bool
    path: Path | None = None
    records: int = 0
    brokers_changed: bool = True
    epoch: int | None = None
    is_cut: bool = False
    created: Creations = field(default_factory=Creations)
    features: dict[str, MetadataRecord] = field(default_factory=dict)
    unknown: Finding | None = None
    kraft_version: int = 0
    signs: ReleaseSigns = field(default_factory=ReleaseSigns)
    counts: CheckCounts = field(default_factory=CheckCounts)

    @classmethod
    def at(cls, start: int, image: Image) -> HistoryState:
        """Return the state of a history that starts at an offset with an image."""
        state = cls(start, start, image, image.metadata_version, begins=start == 0)
        state.signs = signs_of(image)
        for name, level in sorted(image.features.items()):
            said = unknown_level(name, level)
            if said is not None:
                state.unknown = Finding(Weight.INCONCLUSIVE, UNKNOWN_LEVEL, said, offset=start)
        return state

    def note_feature(self, record: MetadataRecord) -> None:
        """Note a feature record, and whether its level is beyond what the audit knows."""
        name, level = record.fields["name"], record.fields["featureLevel"]
        self.features[name] = record
        said = unknown_level(name, level)
        if said is not None and self.unknown is None:
            self.unknown = Finding(
                Weight.INCONCLUSIVE, UNKNOWN_LEVEL, said, self.path, record.position, record.offset
            )

    @property
    def continued(self) -> bool:
        """Whether the history continues a checkpoint, instead of beginning the log."""
        return self.start > 0

    def begin_batch(self, batch: RecordBatch) -> None:
        """Note that a batch begins. Raises CorruptRecordError for a bad control record.

        A level of kraft.version counts from the next LeaderChangeMessage on, or from the one in its
        batch: within an epoch an upgrade may overtake a registration.
        """
        self.path = batch.path
        self.counts.batches += 1
        begins_epoch = False
        for record in batch.control_records():
            if record.control_type == KRAFT_VERSION.api_key:
                self.kraft_version = record.fields["kRaftVersion"]
            elif record.control_type == LEADER_CHANGE.api_key:
                self.image.leader = record.fields["leaderId"]
                self.image.voters = frozenset(v["voterId"] for v in record.fields["voters"])
                self.image.partitions.forget_transitions()
                begins_epoch = True
        if begins_epoch:
            self.image.kraft_version = self.kraft_version

    def end_batch(self) -> None:
        """Forget what the batch created; an open transaction keeps `begins` true."""
        self.created = Creations()
        self.begins = self.begins and self.image.before_transaction() is not None

    def abort_to(self, before: Image) -> None:
        """Go back to the image before an aborted transaction.

        It keeps the topic ids used in the transaction, and the leader that aborts it.
        """
        before.leader, before.voters = self.image.leader, self.image.voters
        before.kraft_version = self.image.kraft_version
        entities = self.image.entities
        fresh = entities.topic_names.keys() - before.entities.topic_names.keys()
        before.entities.aborted_topics |= entities.aborted_topics | fresh
        self.image = before
        self.created = Creations()
        self.features = {}
