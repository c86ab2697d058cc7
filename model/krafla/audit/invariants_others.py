"""The invariants of producer ids, features, ACLs, configurations, credentials and controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.entities import BROKER_RESOURCE, TOPIC_RESOURCE, acl_of, ranges_of
from krafla.audit.image import MV_3_4_IV0
from krafla.audit.invariants import RecordInvariant, supports
from kraft.records import metadata_schemas as schemas

if TYPE_CHECKING:
    from krafla.audit.invariants import Subject

PRODUCER_ID_BLOCK: Final = 1000
"""Kafka: ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE."""


def _next_block(subject: Subject) -> str | None:
    if subject.image.is_copying:
        return None
    before = subject.image.entities.next_producer_id or 0
    after = subject.record.fields["nextProducerId"]
    end = before + PRODUCER_ID_BLOCK
    if after == end:
        return None
    return f"the next producer id is {after}, but the block from {before} ends at {end}"


def _controllers_support(subject: Subject) -> str | None:
    fields, image = subject.record.fields, subject.image
    if subject.record.api_key == schemas.FEATURE_LEVEL.api_key:
        name, level = fields["name"], fields["featureLevel"]
        for controller, (_, ranges) in sorted(image.entities.controllers.items()):
            if not supports(name, level, ranges):
                return f"controller {controller} does not support {name} at level {level}"
        return None
    for name, level in sorted(image.features.items()):
        if not supports(name, level, ranges_of(fields)):
            return f"controller {fields['controllerId']} does not support {name} at level {level}"
    return None


def _acl_is_new(subject: Subject) -> str | None:
    fields, acls = subject.record.fields, subject.image.entities.acls
    if subject.record.api_key == schemas.REMOVE_ACCESS_CONTROL_ENTRY.api_key:
        return None if fields["id"] in acls else f"there is no ACL {fields['id']} to remove"
    if fields["id"] in acls:
        return f"there is an ACL {fields['id']} already"
    said = acl_of(fields)
    for other, known in sorted(acls.items()):
        if known == said:
            return f"ACL {fields['id']} equals ACL {other}"
    return None


def _configured_exists(subject: Subject) -> str | None:
    fields, entities = subject.record.fields, subject.image.entities
    kind, name = fields["resourceType"], fields["resourceName"]
    if fields["value"] is None or not name:
        return None
    # Kafka 3.3 writes a topic's configurations before the topic, and keeps them if that fails.
    is_asked = (subject.image.metadata_version or 0) >= MV_3_4_IV0
    if kind == TOPIC_RESOURCE and is_asked and name not in entities.topics:
        return f"there is no topic {name} to configure"
    is_copied = subject.image.is_copying  # ZooKeeper keeps configurations of brokers that are gone
    if kind == BROKER_RESOURCE and subject.image.voters is not None and not is_copied:
        # Below metadata version 3.7-IV0 no controller registers; the voters are known without.
        nodes = (*subject.image.registrations, *entities.controllers, *subject.image.voters)
        if name not in map(str, nodes):
            return f"node {name} is configured, but is neither registered nor a voter"
    return None


def _credential_exists(subject: Subject) -> str | None:
    fields = subject.record.fields
    if (fields["name"], fields["mechanism"]) in subject.image.entities.scram:
        return None
    return f"user {fields['name']} has no credential of mechanism {fields['mechanism']} to remove"


def _token_exists(subject: Subject) -> str | None:
    """Return an objection, unless the token was known: a controller may remove it twice.

    It asks a cache, which a publisher updates only after the commit.
    """
    token, entities = subject.record.fields["tokenId"], subject.image.entities
    is_known = token in entities.tokens or token in entities.removed_tokens
    return None if is_known else "there is no such token to remove"


OTHER_INVARIANTS: Final = (
    RecordInvariant(
        "O1",
        "Kafka: ProducerIdControlManager.generateNextProducerId",
        _next_block,
        frozenset({schemas.PRODUCER_IDS.api_key}),
    ),
    RecordInvariant(
        "O3",
        "KIP-919; Kafka: FeatureControlManager.updateFeatures",
        _controllers_support,
        frozenset({schemas.FEATURE_LEVEL.api_key, schemas.REGISTER_CONTROLLER.api_key}),
    ),
    RecordInvariant(
        "O4",
        "Kafka: AclControlManager.replay",
        _acl_is_new,
        frozenset(
            {schemas.ACCESS_CONTROL_ENTRY.api_key, schemas.REMOVE_ACCESS_CONTROL_ENTRY.api_key}
        ),
    ),
    RecordInvariant(
        "O5",
        "Kafka: ConfigurationControlManager.incrementalAlterConfigs",
        _configured_exists,
        frozenset({schemas.CONFIG.api_key}),
    ),
    RecordInvariant(
        "O6",
        "KIP-900; Kafka: ScramControlManager.replay",
        _credential_exists,
        frozenset({schemas.REMOVE_USER_SCRAM_CREDENTIAL.api_key}),
    ),
    RecordInvariant(
        "L9",
        "Kafka: DelegationTokenControlManager.expireDelegationToken",
        _token_exists,
        frozenset({schemas.REMOVE_DELEGATION_TOKEN.api_key}),
    ),
)
