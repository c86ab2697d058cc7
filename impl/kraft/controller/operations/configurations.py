"""Configurations of resources change: incrementally, or all of one resource at once.

The changes of one resource are atomic. A refused resource does not affect the others.

Kafka: ConfigurationControlManager.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.controller.operations.config_definitions import default_of_list
from kraft.controller.operations.config_validation import validate_configuration, validate_existence
from kraft.controller.operations.defaults import MIN_INSYNC_REPLICAS
from kraft.controller.operations.errors import (
    ControllerError,
    ControllerFaultError,
    validate_once,
)
from kraft.controller.operations.leader_eligibility import is_elr_enabled
from kraft.controller.operations.result import Result
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE, ClearElrRecord, ConfigRecord
from kraft.rpc.configurations import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    ConfigOperation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kraft.controller.operations.defaults import Defaults
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.configurations import (
        AlterableConfig,
        AlterConfigsRequest,
        IncrementalAlterConfigsRequest,
        ReplacedConfigs,
    )

_MAX_VALUE_UNITS: Final = MAX_STRING_BYTES
"""The longest value in units of UTF-16: Kafka counts those, though its message speaks of bytes."""


def incremental_alter_configs(
    image: MetadataImage, defaults: Defaults, request: IncrementalAlterConfigsRequest
) -> Result[AlterConfigsResponse]:
    """Return the changes of resources, one answer per resource.

    An unchanged value writes nothing, except for a broker: the record makes it reread its secret
    files (KAFKA-14136).

    Raises ControllerError (POLICY_VIOLATION) if the request needs too many records.
    Kafka: ConfigurationControlManager.incrementalAlterConfigs.
    """

    def changes(resource: AlterConfigsResource) -> list[ConfigRecord]:
        return altered_configuration(image, defaults, resource)

    return _alter(image, request.resources, changes, validate_only=request.validate_only)


def legacy_alter_configs(
    image: MetadataImage, defaults: Defaults, request: AlterConfigsRequest
) -> Result[AlterConfigsResponse]:
    """Return the changes that replace the whole configuration of each resource.

    Raises ControllerError (POLICY_VIOLATION) if the request needs too many records.
    Kafka: ConfigurationControlManager.legacyAlterConfigs.
    """

    def changes(resource: ReplacedConfigs) -> list[ConfigRecord]:
        return _replaced(image, defaults, resource)

    return _alter(image, request.resources, changes, validate_only=request.validate_only)


def _alter(
    image: MetadataImage,
    resources: Sequence[AlterConfigsResource] | Sequence[ReplacedConfigs],
    changes: Callable[..., list[ConfigRecord]],
    *,
    validate_only: bool,
) -> Result[AlterConfigsResponse]:
    times = Counter((one.resource_type, one.resource_name) for one in resources)
    batch, records, responses = UserBatch(), [], []
    for key, resource in {(one.resource_type, one.resource_name): one for one in resources}.items():
        try:
            validate_once(times[key], "a resource")
            changed = changes(resource)
        except ControllerError as error:
            responses.append(AlterConfigsResourceResponse(*key, error.code, error.reason))
            continue
        batch.add(changed)
        records += changed
        responses.append(AlterConfigsResourceResponse(*key))
    batch.add(clear_elr_records(image, records))
    return Result(() if validate_only else batch.records, AlterConfigsResponse(tuple(responses)))


def clear_elr_records(
    image: MetadataImage, records: Sequence[ConfigRecord]
) -> list[ClearElrRecord]:
    """Return the records that clear the eligible leader replicas after a change of the minimum ISR.

    They clear those of one topic, or of all topics if the cluster's minimum changes.

    Kafka: ConfigurationControlManager.createClearElrRecordsAsNeeded. KIP-966.
    """
    if not is_elr_enabled(image):
        return []
    return [
        ClearElrRecord(one.resource_name if one.resource_type == TOPIC_RESOURCE else "")
        for one in records
        if one.name == MIN_INSYNC_REPLICAS
    ]


def altered_configuration(
    image: MetadataImage,
    defaults: Defaults,
    resource: AlterConfigsResource,
    *,
    is_new: bool = False,
) -> list[ConfigRecord]:
    """Return the changes of one resource; it need not exist if it `is_new`.

    Raises ControllerError, also POLICY_VIOLATION from the operator's policy, and
    ControllerFaultError if a list is to be changed by no value.
    Kafka: ConfigurationControlManager.incrementalAlterConfigResource.
    """
    key = resource.resource_type, resource.resource_name
    present = image.configurations.get(key, Map())
    records = []
    # Of two changes of one setting the last counts: Kafka's controller puts them into a map.
    for config in {one.name: one for one in resource.configs}.values():
        value = _altered(resource.resource_type, present.get(config.name), config)
        if value != present.get(config.name) or resource.resource_type == BROKER_RESOURCE:
            records.append(ConfigRecord(*key, config.name, value))
    _validate(image, defaults, key, records, (), is_new=is_new)
    return records


def _altered(resource_type: int, present: str | None, config: AlterableConfig) -> str | None:
    """Return the new value of a configuration; None if it returns to its default.

    A list is not changed by no value: Kafka's broker refuses such a request, and its controller, to
    which it may be sent directly, fails.
    """
    if config.config_operation is ConfigOperation.SET:
        return config.value
    if config.config_operation is ConfigOperation.DELETE:
        return None
    default = default_of_list(resource_type, config.name)
    if default is None:
        reason = f"{config.config_operation.name} is for lists, but {config.name} is not a list"
        raise ControllerError(ErrorCode.INVALID_CONFIG, reason)
    if config.value is None:
        raise ControllerFaultError(f"{config.config_operation.name} to {config.name} has no value")
    parts = [one for one in (default if present is None else present).split(",") if one]
    for one in _java_split(config.value):
        if config.config_operation is ConfigOperation.APPEND:
            parts += [] if one in parts else [one]
        elif one in parts:
            parts.remove(one)
    return ",".join(parts)


def _java_split(text: str) -> list[str]:
    """Return the parts between commas, as Java's `String.split`: without trailing empty ones."""
    parts = text.split(",")
    while len(text) > 0 and parts and not parts[-1]:
        parts.pop()
    return parts


def _replaced(
    image: MetadataImage, defaults: Defaults, resource: ReplacedConfigs
) -> list[ConfigRecord]:
    """Return the changes that replace the whole configuration of one resource.

    Kafka: ConfigurationControlManager.legacyAlterConfigResource.
    """
    key = resource.resource_type, resource.resource_name
    present = image.configurations.get(key, Map())
    given = dict(resource.configs)
    explicit = [
        ConfigRecord(*key, name, value)
        for name, value in given.items()
        if value != present.get(name) or resource.resource_type == BROKER_RESOURCE
    ]
    implicit = [ConfigRecord(*key, name, None) for name in sorted(present) if name not in given]
    _validate(image, defaults, key, explicit, implicit, is_new=False)
    return [*explicit, *implicit]


def _validate(
    image: MetadataImage,
    defaults: Defaults,
    key: tuple[int, str],
    explicit: Sequence[ConfigRecord],
    implicit: Sequence[ConfigRecord],
    *,
    is_new: bool,
) -> None:
    """Check that a resource may change so; its policy sees only the requested changes.

    Kafka: ConfigurationControlManager.validateAlterConfig. KAFKA-14195.
    """
    values = dict(image.configurations.get(key, Map()))
    for record in (*explicit, *implicit):
        _validate_min_isr(image, record)
        if record.value is None:
            values.pop(record.name, None)
            continue
        if len(record.value.encode("utf-16-le", "surrogatepass")) // 2 > _MAX_VALUE_UNITS:
            reason = f"the value of {record.name} is longer than {_MAX_VALUE_UNITS}"
            raise ControllerError(ErrorCode.INVALID_CONFIG, reason)
        values[record.name] = record.value
    validate_configuration(*key, values)
    if not is_new:
        validate_existence(image, defaults, *key)
    if defaults.alter_config_policy is not None:
        reason_against = defaults.alter_config_policy(*key, {r.name: r.value for r in explicit})
        if reason_against is not None:
            raise ControllerError(ErrorCode.POLICY_VIOLATION, reason_against)


def _validate_min_isr(image: MetadataImage, record: ConfigRecord) -> None:
    """Check that, with ELR, the minimum ISR stays the same on all brokers.

    Kafka: ConfigurationControlManager.isDisallowedBrokerMinIsrTransition,
    .isDisallowedClusterMinIsrTransition.
    """
    if record.name != MIN_INSYNC_REPLICAS or record.resource_type != BROKER_RESOURCE:
        return
    if not is_elr_enabled(image):
        return
    if record.resource_name:
        reason = f"{MIN_INSYNC_REPLICAS} of one broker cannot change with eligible leader replicas"
        raise ControllerError(ErrorCode.INVALID_CONFIG, reason)
    if record.value is None:
        reason = f"{MIN_INSYNC_REPLICAS} of the cluster must be set with eligible leader replicas"
        raise ControllerError(ErrorCode.INVALID_CONFIG, reason)
