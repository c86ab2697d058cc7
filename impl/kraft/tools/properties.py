"""The part of a node's server.properties that its tools need.

Kafka: KafkaConfig, Utils.loadProps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.node.java_properties import read_properties
from kraft.tools.guard import ExitCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LISTENER = re.compile(r"([A-Za-z0-9_]+)://\[?([^\]]*?)\]?:(-?\d{1,5})")


@dataclass(frozen=True, slots=True)
class NodeConfiguration:
    """A node's id and log directories; `listener` is name, host and port of a controller's.

    `directories` are as written, sorted, and include the `metadata_directory`.
    """

    node_id: int
    roles: frozenset[str]
    directories: tuple[str, ...]
    metadata_directory: str
    has_static_voters: bool
    listener: tuple[str, str, int] | None


def read_configuration(path: Path) -> NodeConfiguration:
    """Return the configuration in a server.properties.

    Raises ToolError for a missing key or an invalid number, and as `read_properties`.
    """
    values = {key: value.strip() for key, value in read_properties(path).items()}
    roles = frozenset(_words(values.get("process.roles", "")))
    node = values.get("node.id", values.get("broker.id"))
    if node is None:
        raise _refused(path, "node.id is not set")
    if not node.isascii() or not node.isdigit():
        raise _refused(path, f"node.id is not a number from 0 on: {node[:40]!r}")
    if not roles or not roles <= {"broker", "controller"}:
        raise ToolError(f"{path}: process.roles is neither broker nor controller nor both")
    # An empty list is no absent one: Kafka then takes neither log.dir nor the default.
    data = _words(values.get("log.dirs", values.get("log.dir", "/tmp/kafka-logs")))  # noqa: S108  # Kafka's default
    if not data:
        raise _refused(path, "At least one log directory must be defined via log.dirs or log.dir.")
    metadata = values.get("metadata.log.dir") or data[0]
    return NodeConfiguration(
        int(node[:10]),
        roles,
        tuple(sorted({*data, metadata})),
        metadata,
        bool(values.get("controller.quorum.voters")),
        _listener(values),
    )


def _refused(path: Path, reason: str) -> ToolError:
    """Return the error of a configuration that Kafka's tools refuse, too."""
    return ToolError(f"{path}: {reason}", ExitCode.REFUSED)


def listeners_in(values: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Return host and port of each listener by its name, as others are told.

    Kafka: SocketServerConfigs.listenerListToEndPoints.
    """
    return {
        match[1].upper(): (match[2] or "localhost", int(match[3]))
        for key in ("listeners", "advertised.listeners")
        for text in _words(values.get(key, ""))
        if (match := _LISTENER.fullmatch(text))
    }


def _listener(values: Mapping[str, str]) -> tuple[str, str, int] | None:
    names = _words(values.get("controller.listener.names", ""))
    known = listeners_in(values)
    name = names[0].upper() if names else ""
    return (name, *known[name]) if name in known else None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
