"""The tree of an image: its directories and leaves, under the names that Kafka gives them.

Kafka: RootShellNode, LocalShellNode, MetadataImageNode, and the other node classes of
org.apache.kafka.image.node.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.json_text import java_double
from kraft.tools.features import VERSION_NAMES
from kraft.tools.shell.nodes import Directory, Leaf
from kraft.tools.shell.texts import (
    access_control_text,
    broker_text,
    controller_text,
    partition_text,
    provenance_text,
    scram_text,
    token_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import TopicId
    from kraft.image.metadata_image import MetadataImage, QuotaKey
    from kraft.tools.shell.image_loader import Loaded
    from kraft.tools.shell.nodes import Node

_LOCAL: Final = {"commitId": Leaf("13f70256db3c994c"), "version": Leaf("4.1.0")}
"""The release of Kafka whose tree this is: Kafka shows the version of the running shell there."""
_RESOURCE_TYPES: Final = {
    2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP",
}  # fmt: skip
_MECHANISMS: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_ENTITIES: Final = {"client-id": "clientId", "ip": "ip", "user": "user"}
"""In the order in which they are in the name of a quota."""


def root_of(loaded: Loaded) -> Directory:
    """Return the root of the tree of a loaded image."""
    image = loaded.image
    children: dict[str, Node | None] = {
        "provenance": Leaf(provenance_text(loaded.provenance)),
        "features": Directory(partial(_features, image)),
        "cluster": _fixed(
            brokers=Directory(partial(_brokers, image)),
            controllers=Directory(partial(_controllers, image)),
        ),
        "topics": _fixed(
            byId=Directory(partial(_topics_by_id, image)),
            byName=Directory(partial(_topics_by_name, image)),
        ),
        "configs": Directory(partial(_configurations, image)),
        "clientQuotas": Directory(partial(_client_quotas, image)),
        "producerIds": _fixed(nextProducerId=Leaf(str(image.next_producer_id))),
        "acls": _fixed(byId=Directory(partial(_access_control, image))),
        "scram": _fixed(
            **{name: Directory(partial(_scram, image, number))
               for number, name in _MECHANISMS.items()}
        ),
        "delegationToken": Directory(partial(_tokens, image)),
    }  # fmt: skip
    return _fixed(image=Directory(lambda: children), local=_fixed(**_LOCAL))


def _fixed(**children: Node) -> Directory:
    return Directory(lambda: children)


def _features(image: MetadataImage) -> dict[str, Node | None]:
    level = image.metadata_version
    name = "Optional.empty"
    if level is not None:
        name = f"Optional[{VERSION_NAMES.get(level, level)}]"
    # Kafka 4 lists the state of a migration from ZooKeeper, though it supports none any more.
    found: dict[str, Node | None] = {"metadataVersion": Leaf(name), "zkMigrationState": None}
    for feature, value in image.features.items():
        if feature != METADATA_VERSION:
            found[f"finalized_{feature}"] = Leaf(str(value))
    return found


def _brokers(image: MetadataImage) -> Mapping[str, Node | None]:
    return {str(key): Leaf(broker_text(key, one)) for key, one in image.brokers.items()}


def _controllers(image: MetadataImage) -> Mapping[str, Node | None]:
    return {str(key): Leaf(controller_text(key, one)) for key, one in image.controllers.items()}


def _topics_by_id(image: MetadataImage) -> Mapping[str, Node | None]:
    return {topic_id: Directory(partial(_topic, image, topic_id)) for topic_id in image.topics}


def _topics_by_name(image: MetadataImage) -> Mapping[str, Node | None]:
    return {
        name: Directory(partial(_topic, image, topic_id))
        for name, topic_id in image.topic_ids.items()
    }


def _topic(image: MetadataImage, topic_id: TopicId) -> Mapping[str, Node | None]:
    topic = image.topics[topic_id]
    return {
        "name": Leaf(topic.name),
        "id": Leaf(topic_id),
        **{
            str(partition_id): Leaf(partition_text(image.partitions[topic_id, partition_id]))
            for partition_id in topic.partition_ids
        },
    }


def _configurations(image: MetadataImage) -> Mapping[str, Node | None]:
    found: dict[str, Node | None] = {}
    for (number, resource), values in image.configurations.items():
        kind = _RESOURCE_TYPES.get(number, "UNKNOWN")
        name = f"{kind}:{resource}" if resource else kind
        found[name] = Directory(partial(_values, values))
    return found


def _values(values: Mapping[str, str]) -> Mapping[str, Node | None]:
    return {name: Leaf(value) for name, value in values.items()}


def _client_quotas(image: MetadataImage) -> Mapping[str, Node | None]:
    return {
        _quota_name(who): Directory(partial(_quotas, values))
        for who, values in image.client_quotas.items()
    }


def _quota_name(who: QuotaKey) -> str:
    """Return the name of a quota's entity; the default of a type has an empty name, `user()`.

    Kafka leaves the default out. Kafka: ClientQuotasImageNode.clientQuotaEntityToString.
    """
    names = dict(who)
    kinds = [kind for kind in _ENTITIES if kind in names]
    kinds += [kind for kind in names if kind not in _ENTITIES]
    return "_".join(f"{_ENTITIES.get(kind, kind)}({_escaped(names[kind] or '')})" for kind in kinds)


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _quotas(values: Mapping[str, float]) -> Mapping[str, Node | None]:
    return {name: Leaf(java_double(value).strip('"')) for name, value in values.items()}


def _access_control(image: MetadataImage) -> Mapping[str, Node | None]:
    entries = image.access_control_entries
    return {entry_id: Leaf(access_control_text(entry)) for entry_id, entry in entries.items()}


def _scram(image: MetadataImage, mechanism: int) -> Mapping[str, Node | None]:
    return {
        name: Leaf(scram_text(credential))
        for (number, name), credential in image.scram_credentials.items()
        if number == mechanism
    }


def _tokens(image: MetadataImage) -> Mapping[str, Node | None]:
    tokens = image.delegation_tokens
    return {token_id: Leaf(token_text(token_id, token)) for token_id, token in tokens.items()}
