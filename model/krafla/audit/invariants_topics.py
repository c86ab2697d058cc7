"""The invariants of topics and new partitions, in a record and in a batch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from krafla.audit.directories import foreign_directory
from krafla.audit.entities import BROKER_RESOURCE, MIN_INSYNC_REPLICAS, TOPIC_RESOURCE, folded_name
from krafla.audit.image import ELR_FEATURE
from krafla.audit.invariants import RecordInvariant, Subject
from krafla.audit.invariants_migration import MV_3_5_IV0
from krafla.audit.partition_state import RECOVERED, epochs_of, state_of
from krafla.audit.partitions import key_of, key_text
from krafla.audit.result import Invariant
from kraft.ids import uuid_bytes
from kraft.records.metadata_schemas import (
    CLEAR_ELR,
    CONFIG,
    FEATURE_LEVEL,
    PARTITION,
    REMOVE_TOPIC,
    TOPIC,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.image import Image
    from kraft.records.record import MetadataRecord

_PARTITION: Final = frozenset({PARTITION.api_key})
_TOPIC: Final = frozenset({TOPIC.api_key})
_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_CREATE: Final = "Kafka: ReplicationControlManager.createTopic"
_REPLAY: Final = "Kafka: ReplicationControlManager.replay"
RESERVED_IDS: Final = (bytes(16), bytes(15) + b"\x01")
"""The zero id and the metadata topic's; no other topic has them. Kafka: Uuid.RESERVED."""


_METADATA_TOPIC: Final = "__cluster_metadata"
MV_4_1_IV0: Final = 26
"""The first metadata version that needs Kafka 4.1; from it on, entries name principals by type."""


@dataclass(slots=True)
class Creations:
    """The records of a batch that create a topic, and the last new partition of each topic.

    `minimums` are the last records of min.insync.replicas, `cleared` those that clear the eligible
    leader replicas, each by topic, "" for all. `features` are the last records of features.
    """

    topics: dict[bytes, MetadataRecord] = field(default_factory=dict)
    partitions: dict[bytes, MetadataRecord] = field(default_factory=dict)
    minimums: dict[str, MetadataRecord] = field(default_factory=dict)
    cleared: dict[str, MetadataRecord] = field(default_factory=dict)
    features: dict[str, MetadataRecord] = field(default_factory=dict)

    def note(self, record: MetadataRecord) -> None:
        """Note a record of the batch."""
        if record.api_key == TOPIC.api_key:
            self.topics[uuid_bytes(record.fields["topicId"])] = record
        elif record.api_key == PARTITION.api_key:
            self.partitions[uuid_bytes(record.fields["topicId"])] = record
        elif record.api_key == CONFIG.api_key and record.fields["name"] == MIN_INSYNC_REPLICAS:
            is_of_a_topic = record.fields["resourceType"] == TOPIC_RESOURCE
            self.minimums[record.fields["resourceName"] if is_of_a_topic else ""] = record
        elif record.api_key == CLEAR_ELR.api_key:
            self.cleared[record.fields["topicName"]] = record
        elif record.api_key == FEATURE_LEVEL.api_key:
            self.features[record.fields["name"]] = record


@dataclass(frozen=True, slots=True)
class BatchInvariant(Invariant):
    """An invariant of a batch's creations; `objection` returns the record to blame, a sentence."""

    objection: Callable[[Creations, Image], tuple[MetadataRecord, str] | None]


def _names_and_ids(subject: Subject) -> str | None:
    entities, fields = subject.image.entities, subject.record.fields
    topic = uuid_bytes(fields["topicId"])
    if topic in RESERVED_IDS:
        return f"topic id {fields['topicId']} is reserved"
    if fields["name"] in entities.topics:
        return f"topic {fields['name']} exists already"
    if topic in entities.topic_names or topic in entities.removed_topics:
        return f"topic id {fields['topicId']} was used before"
    return None


def _name_is_valid(subject: Subject) -> str | None:
    name = subject.record.fields["name"]
    if name in (".", "..") or not _NAME.fullmatch(name):
        return f"{name!r} is not a valid topic name"
    alike = subject.image.entities.folded.get(folded_name(name), ())
    others = sorted(other for other in alike if other != name)
    return f"topic {name} collides with topic {others[0]}" if others else None


def _name_is_free(subject: Subject) -> str | None:
    """Return an objection to a topic with the name of the metadata log.

    Kafka 3.3 creates one (KAFKA-14358), and a migration copies it.
    """
    image, name = subject.image, subject.record.fields["name"]
    is_old = (image.metadata_version or 0) < MV_3_5_IV0
    if name != _METADATA_TOPIC or image.is_copying or is_old:
        return None
    return f"a topic has the name of the metadata log, {name}"


def _topic_removed(subject: Subject) -> str | None:
    fields = subject.record.fields
    if uuid_bytes(fields["topicId"]) in subject.image.entities.removed_topics:
        return f"topic {fields['topicId']} was removed before"
    return None


def _topic_aborted(subject: Subject) -> str | None:
    fields, entities = subject.record.fields, subject.image.entities
    topic = uuid_bytes(fields["topicId"])
    if topic in entities.aborted_topics and topic not in entities.topic_names:
        return f"topic {fields['topicId']} was created in an aborted transaction"
    return None


def _topic_lives(subject: Subject) -> str | None:
    fields, entities = subject.record.fields, subject.image.entities
    topic = uuid_bytes(fields["topicId"])
    if topic in entities.topic_names or topic in (
        *entities.removed_topics, *entities.aborted_topics
    ):  # fmt: skip
        return None
    return f"there is no topic {fields['topicId']}"


def _epochs_in_order(subject: Subject) -> str | None:
    epochs = epochs_of(subject.record.fields)
    if epochs.leader <= epochs.partition:
        return None
    return f"leader epoch {epochs.leader} is above partition epoch {epochs.partition}"


def _leader_under_one_epoch(subject: Subject) -> str | None:
    key, partitions = key_of(subject.record.fields), subject.image.partitions
    before = partitions.states.get(key)
    if before is None or before.leader == subject.record.fields["leader"]:
        return None
    if epochs_of(subject.record.fields).leader > partitions.epochs(key).leader:
        return None
    return f"partition {key_text(key)} has another leader, but no greater leader epoch"


def _written_once(subject: Subject) -> str | None:
    key = key_of(subject.record.fields)
    if key not in subject.image.partitions.states:
        return None
    return f"partition {key_text(key)} exists, and a PartitionRecord replaces it"


def _begins_plainly(subject: Subject) -> str | None:
    if subject.image.is_copying:
        return None
    state, epochs = state_of(subject.record.fields), epochs_of(subject.record.fields)
    if state.leader != next(iter(state.isr), None):
        return f"leader {state.leader} is not the first of ISR {list(state.isr)}"
    active = _active_replicas(subject.image, state.replicas)
    if active is not None and {*state.isr} <= {*active} and state.isr != active:
        return f"ISR {list(state.isr)} is not the active replicas {list(active)}"
    if epochs != (0, 0):
        return f"the epochs of a new partition are {epochs.leader} and {epochs.partition}"
    if state.recovery != RECOVERED or state.in_progress or state.elr or state.last_known_elr:
        return "a new partition is in recovery, in a reassignment, or has eligible leader replicas"
    return foreign_directory(subject.image.registrations, state.replicas, state.directories)


def _active_replicas(image: Image, replicas: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the active ones of a new partition's replicas, in order; None if that is not known.

    Before a log names a metadata version, Kafka 3.2 or before may write it, which chose otherwise.
    """
    known = image.registrations
    if image.metadata_version is None or not known.keys() >= set(replicas):
        return None
    return tuple(replica for replica in replicas if known[replica].active)


def _begins_with_active_brokers(subject: Subject) -> str | None:
    if subject.image.is_copying:
        return None
    found = subject.image.excused_among(subject.record.fields["isr"])
    return f"broker {found[0]} is in the ISR of a new partition, and not active" if found else None


def _directories_from_version_1(subject: Subject) -> str | None:
    if subject.record.version >= 1 and not subject.record.fields["directories"]:
        return "no replica has a directory"
    return None


def _replication_factor(subject: Subject) -> str | None:
    if subject.image.is_copying:
        return None
    fields, partitions = subject.record.fields, subject.image.partitions
    keys = partitions.topics.get(uuid_bytes(fields["topicId"]), ())
    known = {len(partitions.states[key].replicas) for key in keys}
    if not known or len(fields["replicas"]) in known:
        return None
    count = len(fields["replicas"])
    return f"the partition has {count} replicas, the topic's others have {min(known)}"


def _contiguous(created: Creations, image: Image) -> tuple[MetadataRecord, str] | None:
    for topic, record in created.partitions.items():
        keys = image.partitions.topics.get(topic, ())
        numbers = sorted(int.from_bytes(key[:4], "big", signed=True) for key in keys)
        if numbers != list(range(len(numbers))):
            return record, f"partitions of a topic are {_few(numbers)}, not 0 to {len(numbers) - 1}"
    return None


def _created_whole(created: Creations, image: Image) -> tuple[MetadataRecord, str] | None:
    for topic, record in created.topics.items():
        if topic in image.entities.topic_names and topic not in created.partitions:
            return record, "a topic is created without a partition in its batch"
    return None


def _cleared_topic_lives(subject: Subject) -> str | None:
    name, image = subject.record.fields["topicName"], subject.image
    if not name or name in image.entities.topics or (image.metadata_version or 0) < MV_4_1_IV0:
        return None
    return f"there is no topic {name} whose eligible leader replicas to clear"


def _cleared_with_the_minimum(
    created: Creations, image: Image
) -> tuple[MetadataRecord, str] | None:
    """Return the first record that clears without or before a new minimum, or the reverse.

    What a batch with a new level of the feature wrote before it is not known. A transaction is one
    of a beginning or of a migration.
    """
    is_old = (image.metadata_version or 0) < MV_4_1_IV0
    if is_old or ELR_FEATURE in created.features or image.before_transaction() is not None:
        return None
    for name, record in created.cleared.items():
        if not image.elr_enabled:
            return record, "eligible leader replicas are cleared, and not enabled"
        if name not in created.minimums:
            return record, "eligible leader replicas are cleared without a new min.insync.replicas"
        if record.offset < created.minimums[name].offset:
            return record, "eligible leader replicas are cleared before the new min.insync.replicas"
    if image.elr_enabled:
        for name, record in created.minimums.items():
            if name not in created.cleared:
                return record, "min.insync.replicas changes, and clears no eligible leader replicas"
    return None


def _enabled_with_a_minimum(created: Creations, image: Image) -> tuple[MetadataRecord, str] | None:
    """Return the record that enables eligible leader replicas, if that misses its one minimum.

    That is the cluster-wide default; Kafka removes those of single nodes.
    """
    record = created.features.get(ELR_FEATURE)
    if record is None or (image.metadata_version or 0) < MV_4_1_IV0:
        return None
    if not image.elr_enabled or image.before_transaction() is not None:
        return None
    named = {name for kind, name, what in image.entities.configs
             if kind == BROKER_RESOURCE and what == MIN_INSYNC_REPLICAS}  # fmt: skip
    if named == {""}:
        return None
    enabled = "eligible leader replicas are enabled"
    if max(named, default=""):
        return record, f"{enabled} while node {max(named)} has its own min.insync.replicas"
    return record, f"{enabled} without the cluster-wide default min.insync.replicas"


def _few(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return shown if len(numbers) <= 8 else f"{shown}, ..."


_REMOVAL: Final = frozenset({PARTITION.api_key, REMOVE_TOPIC.api_key})
TOPIC_ABORTED: Final = RecordInvariant(
    "L12",
    "KIP-868; Kafka: QuorumController.replay",
    _topic_aborted,
    _REMOVAL,
)
TOPIC_REMOVED: Final = RecordInvariant("T6", _REPLAY, _topic_removed, _REMOVAL)
NAME_FREE: Final = RecordInvariant(
    "T2",
    "KAFKA-14358; Kafka: ControllerApis.createTopics",
    _name_is_free,
    _TOPIC,
)
"""A checkpoint may have a topic that Kafka 3.3 created, or that a migration copied."""
TOPIC_INVARIANTS: Final = (
    RecordInvariant("T1", _CREATE, _names_and_ids, _TOPIC),
    RecordInvariant("T2", _CREATE, _name_is_valid, _TOPIC),
    NAME_FREE,
    TOPIC_ABORTED,
    TOPIC_REMOVED,
    RecordInvariant("T5", _REPLAY, _topic_lives, _PARTITION),
    RecordInvariant(
        "T5",
        "KIP-966; Kafka: ReplicationControlManager.replayClearTopicElrs",
        _cleared_topic_lives,
        frozenset({CLEAR_ELR.api_key}),
    ),
    RecordInvariant("L9", _REPLAY, _topic_lives, frozenset({REMOVE_TOPIC.api_key})),
    RecordInvariant("E3", _REPLAY, _epochs_in_order, _PARTITION),
    RecordInvariant("E4", _REPLAY, _leader_under_one_epoch, _PARTITION),
    RecordInvariant("E1", _REPLAY, _written_once, _PARTITION),
    RecordInvariant("T10", _CREATE, _replication_factor, _PARTITION),
    RecordInvariant("T9", "KIP-858; " + _CREATE, _directories_from_version_1, _PARTITION),
    RecordInvariant("T7", _CREATE, _begins_plainly, _PARTITION),
    RecordInvariant("P12", _CREATE, _begins_with_active_brokers, _PARTITION),
)
BATCH_INVARIANTS: Final = (
    BatchInvariant("L11", _CREATE, _created_whole),
    BatchInvariant("T3", _CREATE, _contiguous),
    BatchInvariant(
        "W4",
        "KIP-966; Kafka: ConfigurationControlManager.createClearElrRecordsAsNeeded",
        _cleared_with_the_minimum,
    ),
    BatchInvariant(
        "W3",
        "KIP-966; Kafka: ConfigurationControlManager.maybeGenerateElrSafetyRecords, "
        "ActivationRecordsGenerator.recordsForEmptyLog",
        _enabled_with_a_minimum,
    ),
)
