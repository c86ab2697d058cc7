"""The session timeout of a cluster, from the server.properties of its controllers.

It is broker.session.timeout.ms, by which the active controller goes; 9000 if nobody sets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NAMES: Final = ("server.properties", "config/server.properties", "controller.properties")
_TIMEOUT: Final = "broker.session.timeout.ms"
_ROLES: Final = "process.roles"
_MAX_BYTES: Final = 1 << 20
MAX_TIMEOUT_MS: Final = 10**9
"""Twice as much is still a number of TLC."""
DEFAULT_TIMEOUT_MS: Final = 9000


class Configured(NamedTuple):
    """What a properties file says of the session timeout; the default where it says nothing."""

    path: Path
    timeout_ms: int
    is_controller: bool


def session_timeouts(folders: Iterable[Path]) -> list[Configured]:
    """Return what the properties files in or above the folders of nodes say, controllers first.

    If any of them is a controller's, only those of controllers. What is no number, or none that
    Kafka takes, is left out.
    """
    found = {}
    for folder in folders:
        for place in (folder, folder.parent):
            for name in _NAMES:
                path = place / name
                configured = _read(path) if path.is_file() else None
                if configured is not None:
                    found[path.resolve()] = configured
    everything = [found[path] for path in sorted(found)]
    controllers = [one for one in everything if one.is_controller]
    return controllers or everything


def _read(path: Path) -> Configured | None:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None
    values = {}
    for line in text.splitlines():
        name, separator, value = line.strip().partition("=")
        if separator and not name.startswith(("#", "!")):
            values[name.strip()] = value.strip()
    if _ROLES not in values:
        return None
    timeout = values.get(_TIMEOUT, str(DEFAULT_TIMEOUT_MS))
    if (
        not timeout.isascii()
        or not timeout.isdigit()
        or not 0 < int(timeout[:19]) <= MAX_TIMEOUT_MS
    ):
        return None
    return Configured(path, int(timeout), "controller" in values[_ROLES])
