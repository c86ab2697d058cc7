"""The loggers of this process: their levels are told, and changed.

Levels have Kafka's names; a logger has the name of a module here.

Kafka: RuntimeLoggerManager, Log4jController. KIP-412.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode
from kraft.rpc.configurations import (
    BROKER_LOGGER_RESOURCE,
    AlterConfigsResourceResponse,
    ConfigOperation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import NodeId
    from kraft.rpc.configurations import AlterConfigsResource, IncrementalAlterConfigsRequest

_ROOT_NAME: Final = "root"
_ROOT: Final = "kraft"
_LEVELS: Final[Mapping[str, int]] = {
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
}
"""Kafka: LogLevelConfig."""
_SET_OR_DELETE: Final = (ConfigOperation.SET, ConfigOperation.DELETE)


def logger_levels() -> dict[str, str]:
    """Return the level in effect of each logger by its name; `root` is that of all of them.

    Kafka: Log4jController.loggers.
    """
    names = (_ROOT, *logging.root.manager.loggerDict)
    own = sorted({name for name in names if name.startswith(f"{_ROOT}.")})
    found = {name: _level_name(logging.getLogger(name)) for name in own}
    return {_ROOT_NAME: _level_name(logging.getLogger(_ROOT)), **found}


def alter_loggers(
    node_id: NodeId, request: IncrementalAlterConfigsRequest
) -> tuple[tuple[AlterConfigsResourceResponse, ...], IncrementalAlterConfigsRequest]:
    """Change loggers of this node; return the answers, and the request without its loggers.

    The changes of one resource are all done or none. A logger whose level is deleted has that of
    all loggers again.

    Kafka: RuntimeLoggerManager.applyChangesForResource.
    """
    loggers = [one for one in request.resources if one.resource_type == BROKER_LOGGER_RESOURCE]
    told = tuple(_altered(node_id, one, request.validate_only) for one in loggers)
    rest = tuple(one for one in request.resources if one not in loggers)
    return told, replace(request, resources=rest)


def _altered(
    node_id: NodeId, resource: AlterConfigsResource, validate_only: bool
) -> AlterConfigsResourceResponse:
    kind, name = resource.resource_type, resource.resource_name
    try:
        changes = _changes(node_id, resource)
    except ControllerError as error:
        return AlterConfigsResourceResponse(kind, name, error.code, error.reason)
    if not validate_only:
        for logger, level in changes.items():
            logger.setLevel(level)
    return AlterConfigsResourceResponse(kind, name)


def _changes(node_id: NodeId, resource: AlterConfigsResource) -> dict[logging.Logger, int]:
    """Return the new level of each logger. Raises ControllerError for what is not valid.

    Kafka: RuntimeLoggerManager.validateResourceNameIsCurrentNodeId, .validateLogLevelConfigs.
    """
    named = resource.resource_name
    if not named.removeprefix("-").isdecimal() or int(named) != node_id:
        reason = f"{named!r} is not this node, {node_id}"
        raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
    known = logger_levels()
    changes = {}
    for one in resource.configs:
        if one.name not in known:
            raise ControllerError(ErrorCode.INVALID_CONFIG, f"there is no logger {one.name}")
        if one.config_operation not in _SET_OR_DELETE:
            reason = f"a level is set or deleted, not changed by {one.config_operation.name}"
            raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
        is_root = one.name == _ROOT_NAME
        level = logging.NOTSET
        if one.config_operation is ConfigOperation.SET:
            if one.value is None or one.value not in _LEVELS:
                reason = f"{one.value!r} is no level of {', '.join(_LEVELS)}"
                raise ControllerError(ErrorCode.INVALID_CONFIG, reason)
            level = _LEVELS[one.value]
        elif is_root:
            reason = "the level of all loggers cannot be deleted"
            raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
        changes[logging.getLogger(_ROOT if is_root else one.name)] = level
    return changes


def _level_name(logger: logging.Logger) -> str:
    level = logger.getEffectiveLevel()
    return next((name for name, least in _LEVELS.items() if level >= least), "TRACE")
