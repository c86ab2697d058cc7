"""Whether a resource may have a configuration: its name, its values, and their combination.

Kafka: ControllerConfigurationValidator, ConfigResourceExistenceChecker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.config_definitions import (
    CLIENT_METRICS_CONFIGS,
    CLIENT_METRICS_RESOURCE,
    GROUP_CONFIGS,
    GROUP_RESOURCE,
    TOPIC_CONFIGS,
    split_value,
    validate_values,
)
from kraft.controller.operations.defaults import MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.topic_names import validate_topic_name
from kraft.errors import ErrorCode
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.controller.operations.defaults import Defaults
    from kraft.image.metadata_image import MetadataImage

READ_BY_CONTROLLER: Final = (MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION)
"""The broker configurations that the controller itself reads."""
_NODE_ID: Final = re.compile(r"[+-]?0*\d{1,10}")
_MAX_NODE_ID: Final = 2**31 - 1
_CLIENT_SELECTORS: Final = frozenset(
    {
        "client_id",
        "client_instance_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)
"""The client attributes that a metrics subscription may match. Kafka: ClientMetricsConfigs."""


def validate_configuration(resource_type: int, name: str, values: Mapping[str, str]) -> None:
    """Check that a resource of this name may have these values, which are all that it will have.

    Raises ControllerError: INVALID_REQUEST or INVALID_TOPIC_EXCEPTION for the resource,
    INVALID_CONFIG for a value.
    Kafka: ControllerConfigurationValidator.validate.
    """
    match resource_type:
        case _ if resource_type == TOPIC_RESOURCE:
            if not name:
                _refuse("there is no configuration of all topics")
            validate_topic_name(name)
            validate_values(TOPIC_CONFIGS, values)
            _validate_topic(values)
        case _ if resource_type == BROKER_RESOURCE:
            _validate_node_id(name)
            # Brokers check their other settings. In Kafka they check these, too: a request sent
            # directly to the controller can set a value that it cannot read. The next controller
            # to become active then ends.
            read_here = {one: values[one] for one in READ_BY_CONTROLLER if one in values}
            validate_values(TOPIC_CONFIGS, read_here)
        case _ if resource_type == CLIENT_METRICS_RESOURCE:
            _validate_client_metrics(name, values)
        case _ if resource_type == GROUP_RESOURCE:
            if not name:
                _refuse("there is no configuration of all groups")
            validate_values(GROUP_CONFIGS, values)
        case _:
            _refuse(f"resources of type {resource_type} have no configuration in the log")


def validate_existence(
    image: MetadataImage, defaults: Defaults, resource_type: int, name: str
) -> None:
    """Check that a topic or a node exists; groups and other resources need not exist.

    Raises ControllerError (UNKNOWN_TOPIC_OR_PARTITION, BROKER_ID_NOT_REGISTERED).
    Kafka: ConfigResourceExistenceChecker.accept.
    """
    if resource_type == TOPIC_RESOURCE and name not in image.topic_ids:
        reason = f"no such topic as {name}"
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    if resource_type != BROKER_RESOURCE or not name:
        return
    known = {*image.brokers, *defaults.quorum_node_ids}
    if int(name) not in known:
        reason = f"no node {int(name)} is registered"
        raise ControllerError(ErrorCode.BROKER_ID_NOT_REGISTERED, reason)


def _validate_node_id(name: str) -> None:
    if not name:
        return
    if not _NODE_ID.fullmatch(name) or int(name) > _MAX_NODE_ID:
        _refuse(f"{name!r} is not a node id")
    if int(name) < 0:
        _refuse(f"a node id is not negative, as {name} is")


def _validate_topic(values: Mapping[str, str]) -> None:
    """Check that the values of a topic are consistent.

    Kafka: LogConfig.validateTopicLogConfigValues, without tiered storage: it is off by default.
    """
    given = {one: TOPIC_CONFIGS[one].default for one in _COMPACTION_LAGS} | dict(values)
    least, most = (int(given[one]) for one in _COMPACTION_LAGS)
    if least > most:
        reason = f"min.compaction.lag.ms is {least}, above max.compaction.lag.ms, {most}"
        raise ControllerError(ErrorCode.INVALID_CONFIG, reason)
    if values.get("remote.storage.enable", "").strip().lower() == "true":
        raise ControllerError(ErrorCode.INVALID_CONFIG, "tiered storage is off on the brokers")


_COMPACTION_LAGS: Final = ("min.compaction.lag.ms", "max.compaction.lag.ms")


def _validate_client_metrics(name: str, values: Mapping[str, str]) -> None:
    """Check that a metrics subscription is valid. Kafka: ClientMetricsConfigs.validate."""
    if not name:
        _refuse("a metrics subscription needs a name")
    for key in sorted(values):
        if key not in CLIENT_METRICS_CONFIGS:
            _refuse(f"unknown configuration {key} of client metrics")
    try:
        validate_values(CLIENT_METRICS_CONFIGS, {k: v for k, v in values.items() if k != "match"})
    except ControllerError as error:
        _refuse(error.reason)
    for one in split_value(values.get("match", "")):
        selector, equals, pattern = one.partition("=")
        if not equals or selector.strip() not in _CLIENT_SELECTORS or not _is_pattern(pattern):
            raise ControllerError(ErrorCode.INVALID_CONFIG, f"{one!r} matches no client")


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text.strip())
    except re.error:
        return False
    return True


def _refuse(reason: str) -> None:
    raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
