"""The settings for judging a cluster's server logs, from the caller or from server.properties.

The session timeout is broker.session.timeout.ms of the controllers; Kafka's default is 9000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.result import Finding, Weight
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NAMES: Final = ("server.properties", "config/server.properties", "controller.properties")
_TIMEOUT: Final = "broker.session.timeout.ms"
_ROLES: Final = "process.roles"
_MAX_BYTES: Final = 1 << 20
MAX_TIMEOUT_MS: Final = 10**9
"""TLC can represent twice as much."""
DEFAULT_TIMEOUT_MS: Final = 9000
DEFAULT_SKEW_MS: Final = 100


@dataclass(frozen=True, slots=True)
class ServerLogOptions:
    """The caller's options for server logs.

    `skew_ms` is how far timestamps may be off. A session timeout of None is read from
    server.properties.
    """

    skew_ms: int = DEFAULT_SKEW_MS
    session_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in use: how far timestamps may be off, and the session timeout."""

    skew_ms: int
    session_timeout_ms: int


class SessionTimeout(NamedTuple):
    """The session timeout of a node's properties file, Kafka's default if it names none."""

    path: Path
    timeout_ms: int
    is_controller: bool


def _session_timeouts(folders: Iterable[Path]) -> list[SessionTimeout]:
    """Return the session timeouts of properties files in or just above the folders of nodes.

    If there are files of controllers, only those count. A value that Kafka does not accept is left
    out.
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


def _read(path: Path) -> SessionTimeout | None:
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
    return SessionTimeout(path, int(timeout), "controller" in values[_ROLES])


def told_settings(content: bytes) -> bytes:
    """Return the lines of a properties file that settings are read from: others may be secret."""
    lines = content[:_MAX_BYTES].decode("utf-8", errors="replace").splitlines()
    told = [line for line in lines if line.strip().partition("=")[0].strip() in (_ROLES, _TIMEOUT)]
    return "".join(f"{line}\n" for line in told).encode()


def settings_of(
    folder: Path, nodes: Iterable[Path], options: ServerLogOptions
) -> tuple[Settings, list[Finding]]:
    """Return the settings of a cluster, and a finding if its session timeout is not certain."""
    if options.session_timeout_ms is not None:
        return Settings(options.skew_ms, options.session_timeout_ms), []
    configured = _session_timeouts(sorted(set(nodes)))
    timeouts = sorted({one.timeout_ms for one in configured})
    if not configured:
        detail = (
            "no usable server.properties was found: broker.session.timeout.ms is assumed to be"
            f" {DEFAULT_TIMEOUT_MS}"
        )
        note = Finding(Weight.NOTE, "session timeout", detail, folder)
        return Settings(options.skew_ms, DEFAULT_TIMEOUT_MS), [note]
    if len(timeouts) == 1:
        return Settings(options.skew_ms, timeouts[0]), []
    other = next(one for one in configured if one.timeout_ms != configured[0].timeout_ms)
    detail = (
        f"broker.session.timeout.ms is {configured[0].timeout_ms} in"
        f" {printable(str(configured[0].path))} and {other.timeout_ms} here; the former is used"
    )
    doubt = Finding(Weight.INCONCLUSIVE, "session timeout", detail, other.path)
    return Settings(options.skew_ms, configured[0].timeout_ms), [doubt]
