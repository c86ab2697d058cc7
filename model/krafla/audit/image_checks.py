"""The checks of a checkpoint's image by itself, without the log that it replays.

The records of a checkpoint describe a state, one record for each thing, so most invariants of a
record or of a state can be asked of them; those of a change cannot.

Kafka: MetadataImage.write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.entities import quota_key
from krafla.audit.image import METADATA_VERSION, MV_3_4_IV0
from krafla.audit.invariants import (
    DIRECTORIES_NAMED,
    REPLICAS_REGISTERED,
    SUPPORTS_WITHOUT,
    Subject,
    partition_objections,
)
from krafla.audit.invariants_features import DEPENDENCIES_MET, dependency_objection
from krafla.audit.invariants_log import VERSIONS_DICTATED, version_objection
from krafla.audit.invariants_migration import MV_3_5_IV0
from krafla.audit.invariants_states import state_objections
from krafla.audit.invariants_topics import BATCH_INVARIANTS, NAME_FREE, Creations
from krafla.audit.invariants_values import CHANGED_VALUES, CONFIG_VALID
from krafla.audit.invariants_written import (
    CHANGED_FIELDS,
    FRAMES_WRITTEN,
    HEADER_WRITTEN,
    frame_objection,
    header_objection,
)
from krafla.audit.partition_state import state_of
from krafla.audit.partitions import key_of, key_text
from krafla.audit.registry import RECORD_INVARIANTS
from krafla.audit.releases import bug_of_state, excuse
from krafla.audit.result import Invariant
from kraft.records import metadata_schemas as schemas
from kraft.records.metadata_schemas import METADATA_SCHEMAS, PARTITION
from kraft.records.record import MetadataRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.audit.image import Image
    from krafla.audit.invariants import RecordInvariant
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord


_OF_STATES: Final = frozenset({
    "T1", "T2", "T5", "T9", "E1", "E3", "B8", "B9", "B15", "F3", "O3", "O4", "W3",
})  # fmt: skip
"""The invariants of a record that hold of the records of a checkpoint as well.

The others are about changes (T7: a new partition), or about a time that a checkpoint forgets: a
node that was configured may have been unregistered since, Kafka 3.3 may have configured a topic
that it then did not create (KAFKA-14612), and a block of producer ids has no owner.
"""

_OF_CHANGES: Final = (
    *CHANGED_VALUES, *CHANGED_FIELDS, SUPPORTS_WITHOUT, DIRECTORIES_NAMED, NAME_FREE,
)  # fmt: skip
"""Those of these ids that a checkpoint may break: what they judge may be older than its state."""

STATE_ONLY: Final = Invariant(
    "S3",
    "KIP-630; Kafka: MetadataImage.write",
)
UNOWNED: Final = Invariant(
    "W3",
    "Kafka: ProducerIdsImage.write",
)
CHANGE_API_KEYS: Final = frozenset(
    schema.api_key
    for schema in (
        schemas.UNREGISTER_BROKER, schemas.FENCE_BROKER, schemas.UNFENCE_BROKER,
        schemas.BROKER_REGISTRATION_CHANGE, schemas.PARTITION_CHANGE, schemas.REMOVE_TOPIC,
        schemas.REMOVE_ACCESS_CONTROL_ENTRY, schemas.REMOVE_USER_SCRAM_CREDENTIAL,
        schemas.REMOVE_DELEGATION_TOKEN, schemas.NO_OP, schemas.CLEAR_ELR,
    )
)  # fmt: skip
"""The records that change or remove something; transactions are L3's."""

_REMOVAL: Final[dict[int, tuple[str, object]]] = {
    schemas.CONFIG.api_key: ("value", None),
    schemas.CLIENT_QUOTA.api_key: ("remove", True),
    schemas.FEATURE_LEVEL.api_key: ("featureLevel", 0),
}
"""By api key, the field and its value by which a record of a thing removes it."""
_NAMES: Final[dict[int, tuple[str, ...]]] = {
    schemas.TOPIC.api_key: ("topicId",),
    schemas.PARTITION.api_key: ("topicId", "partitionId"),
    schemas.CONFIG.api_key: ("resourceType", "resourceName", "name"),
    schemas.ACCESS_CONTROL_ENTRY.api_key: ("id",),
    schemas.USER_SCRAM_CREDENTIAL.api_key: ("name", "mechanism"),
    schemas.DELEGATION_TOKEN.api_key: ("tokenId",),
    schemas.FEATURE_LEVEL.api_key: ("name",),
    schemas.REGISTER_CONTROLLER.api_key: ("controllerId",),
    schemas.PRODUCER_IDS.api_key: (),
    schemas.ZK_MIGRATION_STATE.api_key: (),
}
"""By api key, the fields that tell what a record is about. Kafka: MetadataImage, a map of each."""


class Fault(NamedTuple):
    """An invariant that a checkpoint breaks by itself, and the record to blame, if one is.

    `known_bug` is that of a release which may explain it.
    """

    invariant: Invariant
    said: str
    record: MetadataRecord | None = None
    known_bug: str | None = None


def record_faults(
    image: Image, record: MetadataRecord, lease: LeaseRecord | None
) -> Iterator[Fault]:
    """Yield the invariants that a record of a checkpoint breaks, on the image before it."""
    subject = Subject(image, record, lease)
    for invariant in RECORD_INVARIANTS.get(record.api_key, ()):
        # From 3.4-IV0 on a checkpoint has the state of the migration, but not since Kafka 4.0.
        in_doubt = image.zk_migration is None and (image.metadata_version or 0) >= MV_3_4_IV0
        is_asked = _of_a_state(invariant) and not (in_doubt and invariant is CONFIG_VALID)
        said = invariant.objection(subject) if is_asked else None
        if said is not None:
            yield Fault(invariant, said, record)
    yield from _version_faults(image, record)
    if record.api_key == PARTITION.api_key:
        yield from _partition_faults(image, record)


def dictated(image: Image, record: MetadataRecord) -> Iterator[Fault]:
    """Yield the fault, if any, of a type or version that the named metadata version forbids."""
    if image.metadata_version is not None:  # else L2 doubts the whole checkpoint
        yield from _version_faults(image, record)


def _version_faults(image: Image, record: MetadataRecord) -> Iterator[Fault]:
    """Yield the fault, if any, of a type or version that the metadata version does not dictate."""
    said = version_objection(record.api_key, record.version, image.metadata_version)
    if said is not None:
        yield Fault(VERSIONS_DICTATED, said, record)


def written_faults(batch: RecordBatch) -> Iterator[Fault]:
    """Yield what is wrong with the header or the frames of a batch of a checkpoint.

    Kafka: RecordsSnapshotWriter.
    """
    said = header_objection(batch)
    if said is not None:
        yield Fault(HEADER_WRITTEN, said)
        return
    framed = frame_objection(batch)
    if framed is not None:
        record = framed[0] if isinstance(framed[0], MetadataRecord) else None
        yield Fault(FRAMES_WRITTEN, framed[1], record)


def described(
    image: Image, record: MetadataRecord, named: set[tuple[object, ...]]
) -> Iterator[Fault]:
    """Yield what a record of a checkpoint describes in another way than Kafka does.

    `named` are the things described before, to which it adds this one. B1 is about brokers. Kafka
    3.3 writes the owner of producer ids.
    """
    fields = record.fields
    if record.api_key == schemas.CLIENT_QUOTA.api_key:
        key: tuple[object, ...] = quota_key(fields)
    elif record.api_key in _NAMES:
        key = tuple(fields[name] for name in _NAMES[record.api_key])
    else:
        return
    if (record.api_key, key) in named:
        name = METADATA_SCHEMAS[record.api_key].name
        yield Fault(STATE_ONLY, f"the checkpoint has two of {name} about one thing", record)
    named.add((record.api_key, key))
    is_of_ids = record.api_key == schemas.PRODUCER_IDS.api_key
    if is_of_ids and fields["brokerId"] != -1 and (image.metadata_version or 0) >= MV_3_5_IV0:
        yield Fault(UNOWNED, f"the producer ids belong to broker {fields['brokerId']}", record)


_SECTIONS: Final = (
    (schemas.FEATURE_LEVEL, schemas.ZK_MIGRATION_STATE), (schemas.REGISTER_BROKER,),
    (schemas.REGISTER_CONTROLLER,), (schemas.TOPIC, schemas.PARTITION), (schemas.CONFIG,),
    (schemas.CLIENT_QUOTA,), (schemas.PRODUCER_IDS,), (schemas.ACCESS_CONTROL_ENTRY,),
    (schemas.USER_SCRAM_CREDENTIAL,), (schemas.DELEGATION_TOKEN,),
)  # fmt: skip
_RANKS: Final = {
    schema.api_key: rank for rank, section in enumerate(_SECTIONS) for schema in section
}
"""By api key, where the records of a type stand in a checkpoint, in all releases from 3.3 to 4.1.

Kafka: MetadataImage.write, ClusterImage.write; before 3.4, SnapshotGenerator.
"""


def order_faults(record: MetadataRecord, before: MetadataRecord | None) -> Iterator[Fault]:
    """Yield the fault, if any, that a record stands where Kafka does not write it.

    `before` is the record that it follows, None at the beginning.

    Kafka: FeaturesImage.writeFeatureLevels, TopicImage.write.
    """
    if record.api_key == PARTITION.api_key:
        is_behind = before is not None and before.api_key in _OF_TOPICS
        topic = before.fields["topicId"] if before is not None and is_behind else None
        if topic == record.fields["topicId"]:
            return
        said = f"a {_name(record)} that follows neither its topic nor another partition of it"
        yield Fault(STATE_ONLY, f"the checkpoint has {said}", record)
    elif before is not None:
        rank, last = _rank(record), _rank(before)
        if rank is not None and last is not None and rank < last:
            said = f"a {_name(record)} behind a {_name(before)}"
            yield Fault(STATE_ONLY, f"the checkpoint has {said}", record)


_OF_TOPICS: Final = frozenset({schemas.TOPIC.api_key, PARTITION.api_key})


def _rank(record: MetadataRecord) -> tuple[int, int] | None:
    """Return where a record stands in a checkpoint, None if Kafka writes it in none."""
    section = _RANKS.get(record.api_key)
    if section is None:
        return None
    if record.api_key == schemas.FEATURE_LEVEL.api_key:
        return section, int(record.fields["name"] != METADATA_VERSION)
    return section, 2 if record.api_key == schemas.ZK_MIGRATION_STATE.api_key else 0


def _name(record: MetadataRecord) -> str:
    """Return the name of a record's type, that of a feature with the feature's."""
    name = METADATA_SCHEMAS[record.api_key].name
    is_feature = record.api_key == schemas.FEATURE_LEVEL.api_key
    return f"{name} of {record.fields['name']}" if is_feature else name


def changing_fault(record: MetadataRecord) -> Fault | None:
    """Return the fault that a record of a change stands in a checkpoint, None if it is none.

    Kafka: ConfigurationDelta.apply, ClientQuotaDelta.apply, FeaturesDelta.apply keep nothing of
    what a record removes.
    """
    name = METADATA_SCHEMAS[record.api_key].name
    if record.api_key in CHANGE_API_KEYS:
        return Fault(STATE_ONLY, f"the checkpoint has a {name}", record)
    if record.api_key in _REMOVAL:
        field, removed = _REMOVAL[record.api_key]
        if record.fields[field] == removed:
            return Fault(STATE_ONLY, f"the checkpoint has a {name} that removes something", record)
    return None


def image_faults(image: Image, last: dict[bytes, MetadataRecord]) -> Iterator[Fault]:
    """Yield the invariants that the whole image of a checkpoint breaks, each once.

    `last` has the PartitionRecord of each partition. A partition that a known bug may have left in
    its state is excused in the image, so that judging goes on behind the checkpoint.
    """
    created = Creations(partitions={key[4:]: record for key, record in last.items()})
    for batch_invariant in BATCH_INVARIANTS:
        found = batch_invariant.objection(created, image)
        if found is not None:
            yield Fault(batch_invariant, found[1], found[0])
    for name in sorted(image.features):
        said = dependency_objection(image, name)
        if said is not None:
            yield Fault(DEPENDENCIES_MET, said)
    broken: dict[str, Fault] = {}
    active = image.active()
    for state in sorted(image.partitions.present()):
        for invariant, said in partition_objections(image, state, active):
            key = image.partitions.holder(state)
            if key is None:
                continue
            bug = bug_of_state(invariant, image, state)
            if bug is not None:
                excuse(image, state, (invariant,))
            if invariant.id not in broken or (bug is None and broken[invariant.id].known_bug):
                place = f"partition {key_text(key)}"
                broken[invariant.id] = Fault(invariant, f"{place}: {said}", last.get(key), bug)
    yield from broken.values()


def _of_a_state(invariant: RecordInvariant) -> bool:
    return invariant.id in _OF_STATES and invariant not in _OF_CHANGES


def _partition_faults(image: Image, record: MetadataRecord) -> Iterator[Fault]:
    """Yield what a partition breaks; its replicas may have been unregistered since."""
    state, key = state_of(record.fields), key_text(key_of(record.fields))
    if not state.replicas or len(set(state.replicas)) != len(state.replicas):
        said = f"the list of replicas is empty or names a broker twice: {list(state.replicas)}"
        yield Fault(REPLICAS_REGISTERED, f"partition {key}: {said}", record)
    for invariant, said in state_objections(state, image):
        yield Fault(invariant, f"partition {key}: {said}", record)
