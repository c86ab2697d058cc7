"""A controller that is to be a voter, from its server.properties and its directory.

Kafka: MetadataQuorumCommand.handleAddController.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kraft.log.text_files import META_PROPERTIES, read_meta_properties
from kraft.node.java_properties import read_properties
from kraft.tools.guard import ExitCode, ToolError
from kraft.tools.properties import listeners_in

if TYPE_CHECKING:
    from collections.abc import Mapping

_IS_THIS = "Is this a valid controller configuration file?"


@dataclass(frozen=True, slots=True)
class NewController:
    """A controller: its id, its directory, and name, host and port of each listener."""

    node_id: int
    directory_id: str
    listeners: tuple[tuple[str, str, int], ...]

    def __str__(self) -> str:
        places = ", ".join(
            f"{name}://[{host}]:{port}" if ":" in host else f"{name}://{host}:{port}"
            for name, host, port in self.listeners
        )
        return f"{self.node_id} with directory id {self.directory_id} and endpoints: {places}"


def read_new_controller(path: Path) -> NewController:
    """Return the controller of a server.properties.

    Raises ToolError for what is missing, and as `read_properties` and `read_meta_properties`.
    """
    values = {key: value.strip() for key, value in read_properties(path).items()}
    node_id = _node_id(values)
    directory = _metadata_directory(values)
    directory_id = read_meta_properties(directory / META_PROPERTIES).directory_id
    if directory_id is None:
        raise _refused(f"No directory id found in {directory}")
    return NewController(node_id, directory_id, _listeners(values))


def _node_id(values: Mapping[str, str]) -> int:
    text = values.get("node.id")
    if text is None:
        raise _refused(f"node.id not found in configuration file. {_IS_THIS}")
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise _refused(f"node.id is no number in configuration file. {_IS_THIS}")
    if text.startswith("-"):
        raise _refused(f"node.id was negative in configuration file. {_IS_THIS}")
    if "controller" not in values.get("process.roles", ""):
        reason = "process.roles did not contain 'controller' in configuration file."
        raise _refused(f"{reason} {_IS_THIS}")
    return int(text[:10])


def _metadata_directory(values: Mapping[str, str]) -> Path:
    found = values.get("metadata.log.dir") or values.get("log.dirs", "").split(",")[0]
    if not found:
        reason = "Neither metadata.log.dir nor log.dirs were found."
        raise _refused(f"{reason} {_IS_THIS}")
    return Path(found.strip())


def _listeners(values: Mapping[str, str]) -> tuple[tuple[str, str, int], ...]:
    names = values.get("controller.listener.names")
    if names is None:
        raise _refused(f"controller.listener.names was not found. {_IS_THIS}")
    known = listeners_in(values)
    found = []
    for name in dict.fromkeys(one.strip().upper() for one in names.split(",")):
        if name not in known:
            reason = f"Cannot find information about controller listener name: {name}"
            raise _refused(reason)
        found.append((name, *known[name]))
    return tuple(found)


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)
