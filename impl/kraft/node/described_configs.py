"""What a node tells of configurations: values in effect, their sources, and what is withheld.

Kafka: ConfigHelper.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.config_definitions import (
    CLIENT_METRICS_CONFIGS,
    CLIENT_METRICS_RESOURCE,
    GROUP_CONFIGS,
    GROUP_RESOURCE,
    TOPIC_CONFIGS,
    ConfigType,
)
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.topic_names import validate_topic_name
from kraft.errors import ErrorCode
from kraft.node.configuration_keys import KEYS
from kraft.node.effective_keys import NO_DEFAULT, EffectiveKeys, type_of
from kraft.node.keys.node_key import NODE_KEYS, canonical, is_sensitive
from kraft.node.loggers import logger_levels
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc.configurations import BROKER_LOGGER_RESOURCE
from kraft.rpc.describe_configs import (
    ConfigSource,
    ConfigSynonym,
    DescribeConfigsResult,
    DescribedConfig,
    ValueType,
)
from kraft.rpc.topics import CreatedTopicConfig, CreateTopicsResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kraft.controller.operations.config_definitions import ConfigDefinition
    from kraft.ids import NodeId
    from kraft.image.metadata_image import MetadataImage
    from kraft.node.configuration import NodeConfiguration
    from kraft.rpc.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
    from kraft.rpc.topics import CreatedTopic, CreateTopicsRequest

_NOT_TOLD_UNSET: Final = "internal.segment.bytes"
"""A topic's key that is told only where it is set.

Kafka: LogConfig.INTERNAL_SEGMENT_BYTES_CONFIG.
"""
_TYPES: Final = {kind: ValueType[kind.name] for kind in ConfigType}
_DESCRIBED: Final = frozenset(
    (TOPIC_RESOURCE, BROKER_RESOURCE, BROKER_LOGGER_RESOURCE, CLIENT_METRICS_RESOURCE,
     GROUP_RESOURCE)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What a node was started with: its id, its server.properties, its own defaults."""

    node_id: NodeId
    written: Mapping[str, str] = field(default_factory=dict)
    own_defaults: Mapping[str, str] = field(default_factory=dict)


def settings_of(configuration: NodeConfiguration) -> NodeSettings:
    """Return what a node tells of its own configuration."""
    own = {_MAX_REQUEST: KEYS[_MAX_REQUEST].default or ""}
    return NodeSettings(configuration.node_id, configuration.texts, own)


_MAX_REQUEST: Final = "socket.request.max.bytes"
"""The key with another default here than in Kafka."""


def describe_configs(
    image: MetadataImage, settings: NodeSettings, request: DescribeConfigsRequest
) -> tuple[DescribeConfigsResult, ...]:
    """Return the configuration of each resource, or why it is not told.

    A node tells only its own keys and loggers. Secrets are withheld; there is no documentation.

    Raises ControllerError (INVALID_REQUEST) for the whole request if a type is not known.
    Kafka: ConfigHelper.handleDescribeConfigsRequest, .describeConfigs.
    """
    for one in request.resources:
        if one.resource_type not in _DESCRIBED:
            reason = f"resources of type {one.resource_type} have no configuration"
            raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
    keys = EffectiveKeys(image, settings.node_id, settings.written, settings.own_defaults)
    description = _Description(image, settings.node_id, keys, request.include_synonyms)
    return tuple(description.result(one) for one in request.resources)


def with_effective_configs(
    image: MetadataImage,
    settings: NodeSettings,
    request: CreateTopicsRequest,
    response: CreateTopicsResponse,
) -> CreateTopicsResponse:
    """Return a response that tells the configuration in effect of each new topic.

    Kafka: ConfigurationControlManager.computeEffectiveTopicConfigs. KIP-525.
    """
    keys = EffectiveKeys(image, settings.node_id, settings.written, settings.own_defaults)
    names = sorted(TOPIC_CONFIGS.keys() - {_NOT_TOLD_UNSET})
    of_all = {name: _by_default(keys, name) for name in names}
    asked = {one.name: dict(one.configs) for one in request.topics}

    def told(topic: CreatedTopic) -> CreatedTopic:
        if topic.error_code is not ErrorCode.NONE:
            return topic
        own = {
            name: _as_asked(name, value)
            for name, value in asked[topic.name].items()
            if value is not None
        }
        return replace(topic, configs=tuple((of_all | own).values()))

    return CreateTopicsResponse(tuple(map(told, response.topics)))


def _by_default(keys: EffectiveKeys, name: str) -> CreatedTopicConfig:
    definition = TOPIC_CONFIGS[name]
    value, _, source = keys.topic_defaults.get(name, NO_DEFAULT)
    told = canonical(_TYPES[definition.type], definition.default if value is None else value)
    return CreatedTopicConfig(name, told, config_source=source)


def _as_asked(name: str, value: str) -> CreatedTopicConfig:
    told = canonical(_TYPES[TOPIC_CONFIGS[name].type], value)
    return CreatedTopicConfig(name, told, config_source=ConfigSource.DYNAMIC_TOPIC)


class _Description:
    """The answers to one request."""

    def __init__(
        self, image: MetadataImage, node_id: NodeId, keys: EffectiveKeys, with_synonyms: bool
    ) -> None:
        self._image = image
        self._node_id = node_id
        self._keys = keys
        self._with_synonyms = with_synonyms

    def result(self, resource: DescribeConfigsResource) -> DescribeConfigsResult:
        kind, name = resource.resource_type, resource.resource_name
        wanted = resource.configuration_keys
        try:
            configs = self._configs(kind, name)
        except ControllerError as error:
            return DescribeConfigsResult(kind, name, error.code, error.reason)
        told = sorted((one for one in configs if not wanted or one.name in wanted), key=_by_name)
        return DescribeConfigsResult(kind, name, error_message="", configs=tuple(told))

    def _configs(self, kind: int, name: str) -> Iterable[DescribedConfig]:
        own: Mapping[str, str] = self._image.configurations.get((kind, name), {})
        if kind == TOPIC_RESOURCE:
            validate_topic_name(name)
            if name not in self._image.topic_ids:
                raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
            return self._of_topic(own)
        if kind == BROKER_RESOURCE:
            return self._of_all_nodes() if not name else self._of_node(name)
        if not name:
            raise ControllerError(ErrorCode.INVALID_REQUEST, "the resource has no name")
        if kind == BROKER_LOGGER_RESOURCE:
            self._check_own(name)
            return _of_loggers()
        if kind == GROUP_RESOURCE:
            return self._of_group(own)
        return self._of_client_metrics(own)

    def _of_topic(self, own: Mapping[str, str]) -> Iterable[DescribedConfig]:
        for name, definition in TOPIC_CONFIGS.items():
            if name not in own and name == _NOT_TOLD_UNSET:
                continue
            value, behind, _ = self._keys.topic_defaults.get(name, NO_DEFAULT)
            yield self._defined(name, definition, own, value, ConfigSource.DYNAMIC_TOPIC, behind)

    def _of_group(self, own: Mapping[str, str]) -> Iterable[DescribedConfig]:
        for name, definition in GROUP_CONFIGS.items():
            default = self._keys.group_default(name)
            value = definition.default if default is None else default
            behind = ConfigSynonym(name, value, ConfigSource.DEFAULT)
            # A group shows one source alone.
            synonyms = () if name in own else (behind,)
            yield self._defined(name, definition, own, value, ConfigSource.GROUP, synonyms)

    def _of_client_metrics(self, own: Mapping[str, str]) -> Iterable[DescribedConfig]:
        for name, definition in CLIENT_METRICS_CONFIGS.items():
            yield self._defined(name, definition, own, None, ConfigSource.CLIENT_METRICS, ())

    def _defined(
        self,
        name: str,
        definition: ConfigDefinition,
        own: Mapping[str, str],
        default: str | None,
        source: ConfigSource,
        behind: tuple[ConfigSynonym, ...],
    ) -> DescribedConfig:
        """Return a value of a topic, a group, or client metrics: its own, or the default."""
        value = own.get(name, definition.default if default is None else default)
        kind = _TYPES[definition.type]
        told = canonical(kind, value)
        synonyms = (ConfigSynonym(name, told, source), *behind) if name in own else behind
        return DescribedConfig(
            name,
            told,
            config_source=_first_source(synonyms),
            synonyms=synonyms if self._with_synonyms else (),
            config_type=kind,
        )

    def _of_all_nodes(self) -> Iterable[DescribedConfig]:
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER
        for name, value in self._keys.for_all_nodes.items():
            secret = is_sensitive(type_of(name))
            synonyms = (ConfigSynonym(name, None if secret else value, source),)
            yield self._of_key(name, value, synonyms)

    def _of_node(self, name: str) -> Iterable[DescribedConfig]:
        self._check_own(name)
        told = {one.name for one in NODE_KEYS.values() if not one.is_internal}
        for key in told | set(self._keys.set_keys):
            secret = is_sensitive(type_of(key))
            yield self._of_key(key, self._keys.value(key), self._keys.synonyms(key, secret=secret))

    def _of_key(
        self, name: str, value: str | None, synonyms: tuple[ConfigSynonym, ...]
    ) -> DescribedConfig:
        kind = type_of(name)
        key = NODE_KEYS.get(name)
        return DescribedConfig(
            name,
            None if is_sensitive(kind) else value,
            read_only=key is None or not key.is_dynamic,
            config_source=_first_source(synonyms),
            is_sensitive=is_sensitive(kind),
            synonyms=synonyms if self._with_synonyms else (),
            config_type=kind,
        )

    def _check_own(self, name: str) -> None:
        """Check that a name is this node's id. Raises ControllerError (INVALID_REQUEST)."""
        try:
            node_id = int(name)
        except ValueError:
            reason = f"{name!r} is not a node id"
            raise ControllerError(ErrorCode.INVALID_REQUEST, reason) from None
        if node_id != self._node_id:
            reason = f"this is node {self._node_id}, which cannot tell about node {node_id}"
            raise ControllerError(ErrorCode.INVALID_REQUEST, reason)


def _of_loggers() -> Iterable[DescribedConfig]:
    return (
        DescribedConfig(
            name, level, config_source=ConfigSource.DYNAMIC_BROKER_LOGGER, documentation=""
        )
        for name, level in logger_levels().items()
    )


def _first_source(synonyms: tuple[ConfigSynonym, ...]) -> int:
    return synonyms[0].source if synonyms else ConfigSource.DEFAULT


def _by_name(config: DescribedConfig) -> str:
    return config.name
