"""The log directories of a node as its tools find them: formatted, empty, or unreadable.

A tool reads as Kafka's does: more leniently than `kraft.log`, which checks who owns a directory.

Kafka: MetaPropertiesEnsemble, MetaProperties, PropertiesUtils.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.ids import uuid_bytes
from kraft.log.text_files import META_PROPERTIES, MetaProperties
from kraft.node.java_properties import read_properties
from kraft.tools.guard import ExitCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEGACY_VERSION: Final = 0
"""The version of a meta.properties from the time of ZooKeeper; it has broker.id for node.id."""
_KNOWN_VERSIONS: Final = (LEGACY_VERSION, 1)
_NUMBER: Final = re.compile(r"[+-]?\d{1,10}", re.ASCII)
_RESERVED_COUNT: Final = 100
"""Kafka keeps the first ids for itself: unassigned, lost, migrating, and more in times to come."""


@dataclass(frozen=True, slots=True)
class LogDirectories:
    """What is in each directory: the properties of a formatted one, by its name.

    `blank` have no meta.properties. Those of `unreadable` are not directories, or hold a
    meta.properties that cannot be read. All are in the order of their names.
    """

    formatted: Mapping[str, MetaProperties]
    blank: tuple[str, ...]
    unreadable: tuple[str, ...]


def find_directories(names: Iterable[str]) -> LogDirectories:
    """Return what is in each of these directories. Kafka: MetaPropertiesEnsemble.Loader.load."""
    formatted, blank, unreadable = {}, [], []
    for name in sorted(names):
        path = Path(name, META_PROPERTIES)
        try:
            path.stat()
            formatted[name] = load_properties(path)
        except FileNotFoundError:
            blank.append(name)
        except (OSError, UnreadableFileError, CorruptRecordError, ValueError):
            unreadable.append(name)
    return LogDirectories(formatted, tuple(blank), tuple(unreadable))


def load_properties(path: Path) -> MetaProperties:
    """Return what a meta.properties says of the owner of its directory.

    Raises ValueError with Kafka's words if it does not say enough, else as `read_properties`.
    Kafka: MetaProperties.Builder.
    """
    values = read_properties(path)
    version = _version(values.get("version", str(LEGACY_VERSION)))
    cluster_id = values.get("cluster.id")
    if version == LEGACY_VERSION:
        node_id = _number(values["broker.id"], "broker.id") if "broker.id" in values else None
    elif "node.id" not in values:
        raise ValueError("Failed to find node.id")
    else:
        node_id = _number(values["node.id"], "node.id")
    directory_id = values.get("directory.id")
    if directory_id is not None:
        try:
            uuid_bytes(directory_id)
        except ValueError as error:
            raise ValueError(f"Unable to read directory.id as a Uuid: {error}") from None
    if version != LEGACY_VERSION and cluster_id is None:
        raise ValueError("cluster.id was not found.")
    return MetaProperties(path, version, cluster_id, node_id, directory_id)


def properties_text(found: MetaProperties) -> str:
    """Return the properties as Kafka prints them. Kafka: MetaProperties.toString."""
    node = "broker.id" if found.version == LEGACY_VERSION else "node.id"
    known = {
        node: found.node_id,
        "cluster.id": found.cluster_id,
        "directory.id": found.directory_id,
        "version": found.version,
    }
    shown = (f"{key}={value}" for key, value in sorted(known.items()) if value is not None)
    return f"{{{', '.join(shown)}}}"


def verify_owner(formatted: Mapping[str, MetaProperties], cluster_id: str, node_id: int) -> None:
    """Check that all formatted directories belong to this node, and that their ids differ.

    Raises ToolError. Kafka: MetaPropertiesEnsemble.verify.
    """
    owners: dict[str, str] = {}
    for name, found in formatted.items():
        if found.cluster_id not in {None, cluster_id}:
            reason = f"Expected {cluster_id}, but read {found.cluster_id}"
            raise _refused(f"Invalid cluster.id in: {found.path}. {reason}")
        if found.node_id not in {None, node_id}:
            reason = f"Stored node id {found.node_id} doesn't match previous node id {node_id} in"
            raise _refused(f"{reason} {found.path}.{_MOVED}")
        if found.directory_id is None:
            continue
        if _is_reserved(found.directory_id):
            raise _refused(f"Invalid reserved directory ID {found.directory_id} found in {name}")
        other = owners.setdefault(found.directory_id, name)
        if other != name:
            reason = f"Duplicate directory ID {found.directory_id} found."
            raise _refused(f"{reason} It was the ID of {other}, but also of {name}")


_MOVED: Final = (
    " If you moved your data, make sure your configured node id matches. If you intend to create a"
    " new node, you should remove all data in your data directories."
)


def _version(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"Invalid meta.properties version string '{text[:40]}'")
    if int(text) not in _KNOWN_VERSIONS:
        raise ValueError(f"Unknown meta.properties version number {text}")
    return int(text)


def _number(text: str, key: str) -> int:
    if not _NUMBER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise ValueError(f"Unable to read {key} as a base-10 number.")
    return int(text)


def _is_reserved(directory_id: str) -> bool:
    """Return whether no directory can have this id. Kafka: DirectoryId.reserved."""
    raw = uuid_bytes(directory_id)
    half = len(raw) // 2
    low = int.from_bytes(raw[half:], signed=True)
    return not any(raw[:half]) and low < _RESERVED_COUNT


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)
