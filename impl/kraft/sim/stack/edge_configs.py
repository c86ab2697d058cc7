"""Requests of operators for configurations at the edges: of each type of resource, in each way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operations.config_definitions import (
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
)
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc.configurations import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
    ReplacedConfigs,
)

if TYPE_CHECKING:
    from kraft.sim.stack.requests import Ask

_NO_RESOURCE: Final = 3
"""A resource of this type has no configuration in the log."""
_SETTINGS: Final[tuple[tuple[str, str | None], ...]] = (
    ("retention.ms", "1000"),
    ("retention.ms", None),
    ("cleanup.policy", "compact,delete"),
    ("min.insync.replicas", "1"),
    ("min.insync.replicas", "0"),
    ("segment.bytes", "1048576"),
    ("segment.bytes", "1048575"),
    ("no.such.setting", "1"),
)
_TWICE: Final = (("segment.bytes", "1048576"), ("segment.bytes", "2097152"))
"""One setting with two values, of which the last counts."""
_OF_OTHERS: Final = {
    BROKER_RESOURCE: ("log.retention.ms", "7000"),
    CLIENT_METRICS_RESOURCE: ("interval.ms", "100"),
    GROUP_RESOURCE: ("consumer.session.timeout.ms", "45000"),
    _NO_RESOURCE: ("retention.ms", "1000"),
}


def topic_settings(ask: Ask) -> tuple[tuple[str, str | None], ...]:
    """Return the settings of a new topic: some are invalid, have no value, or occur twice."""
    chance = ask.chance
    settings = [chance.choice(_SETTINGS) for _ in range(chance.below(3))]
    return tuple(settings) + _TWICE if chance.below(6) == 0 else tuple(settings)


def _resource(ask: Ask) -> tuple[int, str]:
    chance, topic = ask.chance, ask.topic()
    if chance.below(3):
        return TOPIC_RESOURCE, "nothing" if topic is None else topic.name
    broker = str(chance.choice(ask.brokers))
    return chance.choice(
        (
            (TOPIC_RESOURCE, ""),
            (TOPIC_RESOURCE, "nothing"),
            (BROKER_RESOURCE, broker),
            (BROKER_RESOURCE, ""),
            (BROKER_RESOURCE, "one"),
            (CLIENT_METRICS_RESOURCE, "all"),
            (GROUP_RESOURCE, "workers"),
            (_NO_RESOURCE, "x"),
        )
    )


def _setting(ask: Ask, resource_type: int) -> tuple[str, str | None]:
    return _OF_OTHERS.get(resource_type) or ask.chance.choice(_SETTINGS)


def draw_alter_configs(ask: Ask) -> Any:
    """Ask to replace all settings of a resource, now and then by none."""
    chance = ask.chance
    resource_type, name = _resource(ask)
    settings = dict(_setting(ask, resource_type) for _ in range(chance.below(3)))
    one = ReplacedConfigs(resource_type, name, tuple(settings.items()))
    resources = (one, one) if chance.below(8) == 0 else (one,)
    return AlterConfigsRequest(resources, validate_only=chance.below(4) == 0)


def draw_incremental_alter_configs(ask: Ask) -> Any:
    """Ask to set, delete, append to or subtract from a setting, or to set it to no value."""
    chance = ask.chance
    resource_type, resource_name = _resource(ask)
    name, value = _setting(ask, resource_type)
    operation = chance.choice(
        (ConfigOperation.SET, ConfigOperation.SET, ConfigOperation.DELETE, ConfigOperation.APPEND)
    )
    if chance.below(3) == 0:
        name, value = "cleanup.policy", chance.choice(("compact", "delete"))
        operation = chance.choice((ConfigOperation.APPEND, ConfigOperation.SUBTRACT))
    one = AlterableConfig(name, value, operation)
    settings = (one, one) if chance.below(8) == 0 else (one,)
    first = AlterConfigsResource(resource_type, resource_name, settings)
    missing = AlterConfigsResource(TOPIC_RESOURCE, "nothing", (AlterableConfig("retention.ms"),))
    resources = (first, missing) if chance.below(4) == 0 else (first,)
    return IncrementalAlterConfigsRequest(resources, validate_only=chance.below(4) == 0)
