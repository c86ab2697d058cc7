"""What records add up to about topics, configurations, ACLs, credentials, tokens and controllers.

Like the image that holds it, the replay is total: the invariants report records that make no sense.

Kafka: ReplicationControlManager, ConfigurationControlManager, AclControlManager,
ScramControlManager, DelegationTokenControlManager, ProducerIdControlManager, each its replay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Final, TypeAlias

from kraft.ids import uuid_bytes
from kraft.records import metadata_schemas as schemas

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Fields

Ranges: TypeAlias = tuple[tuple[str, int, int], ...]
TOPIC_RESOURCE: Final = 2
BROKER_RESOURCE: Final = 4
CLIENT_METRICS_RESOURCE: Final = 16
GROUP_RESOURCE: Final = 32
"""Types of resources that have configurations in the log. Kafka: ConfigResource.Type."""
MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
_DIGITS: Final = 10
"""Those of the greatest number in 32 bits. Python reads no number of more than 4,300."""


@dataclass(slots=True)
class Entities:
    """What the records add up to that are not about brokers, partitions or features.

    `folded` has, by topic name with dots as underscores, the names of topics that are alike in
    that. `removed_topics` are the ids of removed topics, `aborted_topics` those of topics created
    in an aborted transaction. `endpoints` has the name, host, port and security protocol of each
    endpoint of a controller, by name. `set_to_migrate` are the controllers whose last registration
    says that they are ready to migrate from ZooKeeper. `next_producer_id` is None until a block is
    given out. `greatest_minimum` is the greatest min.insync.replicas that any resource ever had.
    """

    topics: dict[str, bytes] = field(default_factory=dict)
    topic_names: dict[bytes, str] = field(default_factory=dict)
    removed_topics: set[bytes] = field(default_factory=set)
    aborted_topics: set[bytes] = field(default_factory=set)
    configs: dict[tuple[int, str, str], str] = field(default_factory=dict)
    acls: dict[str, tuple[object, ...]] = field(default_factory=dict)
    scram: dict[tuple[str, int], Fields] = field(default_factory=dict)
    tokens: dict[str, Fields] = field(default_factory=dict)
    removed_tokens: set[str] = field(default_factory=set)
    quotas: dict[tuple[object, ...], float] = field(default_factory=dict)
    controllers: dict[int, tuple[str, Ranges]] = field(default_factory=dict)
    endpoints: dict[int, tuple[tuple[str, str, int, int], ...]] = field(default_factory=dict)
    set_to_migrate: set[int] = field(default_factory=set)
    next_producer_id: int | None = None
    folded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    greatest_minimum: int = 0

    def apply(self, api_key: int, record: Fields) -> None:
        """Replay a record of one of `ENTITY_API_KEYS`."""
        _APPLY[api_key](self, record)

    def copy(self) -> Entities:
        """Return an independent copy."""
        twin = Entities()
        for name in (each.name for each in fields(self)):
            value = getattr(self, name)
            setattr(twin, name, value.copy() if isinstance(value, dict | set) else value)
        return twin

    def difference(self, other: Entities) -> str | None:
        """Return the first difference from a checkpoint's entities, in a sentence; None if none."""
        for name in (
            "topics", "configs", "acls", "scram", "tokens", "quotas", "controllers", "endpoints",
        ):  # fmt: skip
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                key = min((ours.keys() | theirs.keys()) - _equal(ours, theirs), key=repr)
                where = "the log" if key in ours else "the checkpoint"
                both = "differ" if key in ours and key in theirs else f"are only in {where}"
                return f"the {name} of {_plain(key)} {both}"
        if self.next_producer_id != other.next_producer_id:
            ids = self.next_producer_id, other.next_producer_id
            return f"the next producer id is {ids[0]} by the log, {ids[1]} in the checkpoint"
        return None


def _topic(entities: Entities, record: Fields) -> None:
    topic = uuid_bytes(record["topicId"])
    entities.topics[record["name"]] = topic
    entities.topic_names[topic] = record["name"]
    same = folded_name(record["name"])
    others = (one for one in entities.folded.get(same, ()) if one != record["name"])
    entities.folded[same] = (*others, record["name"])


def _remove_topic(entities: Entities, record: Fields) -> None:
    topic = uuid_bytes(record["topicId"])
    name = entities.topic_names.pop(topic, None)
    if name is None:
        return
    entities.removed_topics.add(topic)
    if entities.topics.get(name) == topic:
        del entities.topics[name]
        same = folded_name(name)
        entities.folded[same] = tuple(one for one in entities.folded[same] if one != name)
    for key in [k for k in entities.configs if k[:2] == (TOPIC_RESOURCE, name)]:
        del entities.configs[key]


def _config(entities: Entities, record: Fields) -> None:
    key = (record["resourceType"], record["resourceName"], record["name"])
    if record["value"] is None:
        entities.configs.pop(key, None)
    else:
        entities.configs[key] = record["value"]
    if record["name"] == MIN_INSYNC_REPLICAS:
        minimum = number_of(record["value"]) or 0
        entities.greatest_minimum = max(entities.greatest_minimum, minimum)


def number_of(value: str | None) -> int | None:
    """Return the number that a configuration is; None if Kafka's 32 bits do not hold it."""
    is_number = value is not None and value.isdecimal() and len(value) <= _DIGITS
    return int(value) if value is not None and is_number else None


def _acl(entities: Entities, record: Fields) -> None:
    entities.acls[record["id"]] = acl_of(record)


def _remove_acl(entities: Entities, record: Fields) -> None:
    entities.acls.pop(record["id"], None)


def _scram(entities: Entities, record: Fields) -> None:
    entities.scram[record["name"], record["mechanism"]] = record


def _remove_scram(entities: Entities, record: Fields) -> None:
    entities.scram.pop((record["name"], record["mechanism"]), None)


def _token(entities: Entities, record: Fields) -> None:
    entities.tokens[record["tokenId"]] = record


def _remove_token(entities: Entities, record: Fields) -> None:
    if entities.tokens.pop(record["tokenId"], None) is not None:
        entities.removed_tokens.add(record["tokenId"])


def _quota(entities: Entities, record: Fields) -> None:
    key = quota_key(record)
    if record["remove"]:
        entities.quotas.pop(key, None)
    else:
        value = record["value"]
        entities.quotas[key] = math.nan if math.isnan(value) else value


def _producer_ids(entities: Entities, record: Fields) -> None:
    entities.next_producer_id = record["nextProducerId"]


def _controller(entities: Entities, record: Fields) -> None:
    controller = record["controllerId"]
    entities.controllers[controller] = (record["incarnationId"], ranges_of(record))
    entities.endpoints[controller] = tuple(sorted(
        (e["name"], e["host"], e["port"], e["securityProtocol"]) for e in record["endPoints"]
    ))  # fmt: skip
    entities.set_to_migrate.discard(controller)
    if record["zkMigrationReady"]:
        entities.set_to_migrate.add(controller)


_APPLY: Final[dict[int, Callable[[Entities, Fields], None]]] = {
    schemas.TOPIC.api_key: _topic,
    schemas.REMOVE_TOPIC.api_key: _remove_topic,
    schemas.CONFIG.api_key: _config,
    schemas.ACCESS_CONTROL_ENTRY.api_key: _acl,
    schemas.REMOVE_ACCESS_CONTROL_ENTRY.api_key: _remove_acl,
    schemas.USER_SCRAM_CREDENTIAL.api_key: _scram,
    schemas.REMOVE_USER_SCRAM_CREDENTIAL.api_key: _remove_scram,
    schemas.DELEGATION_TOKEN.api_key: _token,
    schemas.REMOVE_DELEGATION_TOKEN.api_key: _remove_token,
    schemas.CLIENT_QUOTA.api_key: _quota,
    schemas.PRODUCER_IDS.api_key: _producer_ids,
    schemas.REGISTER_CONTROLLER.api_key: _controller,
}
ENTITY_API_KEYS: Final = frozenset(_APPLY)


def folded_name(topic: str) -> str:
    """Return a topic's name as metrics have it: topics that are alike in that collide."""
    return topic.replace(".", "_")


def quota_key(record: Fields) -> tuple[object, ...]:
    """Return what a ClientQuotaRecord is about: an entity, and one of its quotas."""
    entity = sorted((e["entityType"], e["entityName"] or "") for e in record["entity"])
    return (tuple(entity), record["key"])


def is_same_number(one: float, other: float) -> bool:
    """Return whether two numbers are the same to Java: so is NaN, and 0.0 is not -0.0.

    Kafka: Objects.equals of two Double.
    """
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def acl_of(record: Fields) -> tuple[object, ...]:
    """Return the content of an AccessControlEntryRecord, without its id."""
    return tuple(value for name, value in sorted(record.items()) if name != "id")


def ranges_of(record: Fields) -> Ranges:
    """Return the feature ranges of a registration, sorted by feature."""
    return tuple(
        sorted((f["name"], f["minSupportedVersion"], f["maxSupportedVersion"])
               for f in record["features"])
    )  # fmt: skip


def _equal(ours: dict[object, object], theirs: dict[object, object]) -> set[object]:
    """Return the keys of equal values. All NaN are one object, as dictionaries compare them."""
    both = ours.keys() & theirs.keys()
    return {key for key in both if ours[key] is theirs[key] or ours[key] == theirs[key]}


def _plain(key: object) -> str:
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
