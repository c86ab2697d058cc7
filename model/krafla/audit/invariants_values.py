"""The invariants of configurations and quotas: valid values, and records that change something.

A migration from ZooKeeper copies what it finds there, so these are not asked while one is in
progress; the configurations of a cluster that was migrated are not judged at all.

Kafka: ControllerConfigurationValidator.validate, ConfigurationControlManager,
ClientQuotaControlManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.config_values import config_fault
from krafla.audit.entities import BROKER_RESOURCE, MIN_INSYNC_REPLICAS, is_same_number, quota_key
from krafla.audit.image import NO_MIGRATION
from krafla.audit.invariants import RecordInvariant
from krafla.audit.invariants_migration import MV_3_5_IV0
from krafla.audit.invariants_topics import MV_4_1_IV0
from kraft.records.metadata_schemas import CLIENT_QUOTA, CONFIG

if TYPE_CHECKING:
    from krafla.audit.invariants import Subject

_WITH_ELR: Final = "though eligible leader replicas are enabled"


def _config_is_valid(subject: Subject) -> str | None:
    fields, migration = subject.record.fields, subject.image.zk_migration
    if fields["value"] is None or migration not in (None, NO_MIGRATION):
        return None
    return config_fault(fields["resourceType"], fields["name"], fields["value"])


def _minimum_is_kept(subject: Subject) -> str | None:
    fields, image = subject.record.fields, subject.image
    if fields["name"] != MIN_INSYNC_REPLICAS or fields["resourceType"] != BROKER_RESOURCE:
        return None
    if not image.elr_enabled or (image.metadata_version or 0) < MV_4_1_IV0:
        return None
    node, is_removed = fields["resourceName"], fields["value"] is None
    # The update of the feature itself removes what nodes have.
    if node and not is_removed:
        return f"{MIN_INSYNC_REPLICAS} is set for node {node} alone, {_WITH_ELR}"
    if not node and is_removed:
        return f"the cluster-wide default {MIN_INSYNC_REPLICAS} is removed, {_WITH_ELR}"
    return None


def _quota_is_positive(subject: Subject) -> str | None:
    fields, image = subject.record.fields, subject.image
    if fields["remove"] or image.is_migrating or (image.metadata_version or 0) < MV_3_5_IV0:
        return None
    # Kafka takes NaN, which is not 0 or below.
    if not fields["value"] <= 0:
        return None
    return f"{fields['key']} is {fields['value']}, and a quota must be above 0"


def _config_was_set(subject: Subject) -> str | None:
    fields, known = subject.record.fields, _known_config(subject)
    if known is not None or fields["value"] is not None or not _compares(subject):
        return None
    return f"there is no {fields['name']} of {fields['resourceName']} to remove"


def _config_changes(subject: Subject) -> str | None:
    fields, known = subject.record.fields, _known_config(subject)
    if known is None or fields["value"] != known or not _compares(subject):
        return None
    return f"{fields['name']} of {fields['resourceName']} is set to the value that it has"


def _known_config(subject: Subject) -> str | None:
    fields = subject.record.fields
    key = fields["resourceType"], fields["resourceName"], fields["name"]
    return subject.image.entities.configs.get(key)


def _compares(subject: Subject) -> bool:
    """Return whether a controller writes a configuration only to change it.

    Those of nodes it writes again, so that the nodes read them again (KAFKA-14136).
    """
    is_of_a_node = subject.record.fields["resourceType"] == BROKER_RESOURCE
    return not is_of_a_node and not subject.image.is_migrating


def _quota_was_set(subject: Subject) -> str | None:
    fields, image = subject.record.fields, subject.image
    if image.is_migrating or not fields["remove"] or quota_key(fields) in image.entities.quotas:
        return None
    return f"there is no {fields['key']} of this entity to remove"


def _quota_changes(subject: Subject) -> str | None:
    fields, image = subject.record.fields, subject.image
    known = image.entities.quotas.get(quota_key(fields))
    if image.is_migrating or fields["remove"] or known is None:
        return None
    if not is_same_number(known, fields["value"]):
        return None
    return f"{fields['key']} of this entity is set to {known}, the value that it has"


_CONFIG: Final = frozenset({CONFIG.api_key})
_QUOTA: Final = frozenset({CLIENT_QUOTA.api_key})
_ALTER: Final = "Kafka: ConfigurationControlManager.incrementalAlterConfigResource"
_ALTER_QUOTA: Final = "Kafka: ClientQuotaControlManager.alterClientQuotaEntity"
CHANGED_VALUES: Final = (
    RecordInvariant(
        "W3",
        "KIP-966; Kafka: ConfigurationControlManager.validateAlterConfig",
        _minimum_is_kept,
        _CONFIG,
    ),
    RecordInvariant(
        "W3", "Kafka: ClientQuotaControlManager.validateQuotaKeyValue", _quota_is_positive, _QUOTA
    ),
)
"""The invariants of a value that a record sets. A checkpoint may have it from an older release."""
CONFIG_VALID: Final = RecordInvariant(
    "W3", "Kafka: ControllerConfigurationValidator.validate", _config_is_valid, _CONFIG
)
VALUE_INVARIANTS: Final = (
    CONFIG_VALID,
    *CHANGED_VALUES,
    RecordInvariant("L9", _ALTER, _config_was_set, _CONFIG),
    RecordInvariant("W4", _ALTER, _config_changes, _CONFIG),
    RecordInvariant("L9", _ALTER_QUOTA, _quota_was_set, _QUOTA),
    RecordInvariant("W4", _ALTER_QUOTA, _quota_changes, _QUOTA),
)
