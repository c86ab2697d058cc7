"""The server logs of a node: its files in the order they were written, and their events.

A node's logs lie in one directory: `server.log`, `controller.log` and their rotated files, gzipped
or not, by the names of Kafka's log4j2.yaml. Their lines name the cluster.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.result import Finding, Weight
from krafla.audit.server_logs.events import Event, UnintelligibleLineError, event_of
from krafla.audit.server_logs.lines import Extent, LogLine, read_lines
from kraft.errors import UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SERVER_LOG_NAME: Final = re.compile(r"(?:server|controller)\.log(?:[.-][\w.-]+)?")
_CLUSTER: Final = re.compile(r"Creating new QuorumController with clusterId ([\w-]{22})")
_SHOWN_UNKNOWN: Final = 5


class UnknownLine(NamedTuple):
    """A line that should be about the lease and is not understood, and the reason."""

    line: LogLine
    reason: str


@dataclass(frozen=True, slots=True)
class NodeLogs:
    """The server logs of one directory.

    `events` are in the order in which they were written. The times are of the first and the last
    line of any logger, in milliseconds of the node's clock; `lines` counts all lines.
    """

    folder: Path
    files: tuple[Path, ...]
    events: tuple[Event, ...]
    unknown: tuple[UnknownLine, ...]
    cluster_ids: frozenset[str]
    first_ms: int
    last_ms: int
    lines: int


class _File(NamedTuple):
    path: Path
    extent: Extent
    events: list[Event]
    unknown: list[UnknownLine]
    cluster_ids: set[str]


def find_server_logs(
    paths: Iterable[Path], progress: Callable[[str], None] = lambda _: None
) -> tuple[list[NodeLogs], list[Finding]]:
    """Return the server logs at or below paths by directory, and findings about files."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        for found in _log_files(path):
            folders.setdefault(found.resolve().parent, []).append(found)
    logs, findings = [], []
    for folder in sorted(folders):
        progress(f"reading server logs of {folder}")
        read = []
        for path in sorted(set(folders[folder])):
            try:
                read.append(_read(path))
            except UnreadableFileError as error:
                findings.append(Finding(Weight.UNREADABLE, "unreadable", error.reason, path))
        if any(file.extent.first_ms is not None for file in read):
            logs.append(_node(read))
    return logs, findings


def unknown_line_notes(logs: NodeLogs) -> list[Finding]:
    """Return a note for each of the first lines not understood, and one for the rest."""
    notes = [
        Finding(
            Weight.NOTE,
            "line not understood",
            f"{unknown.reason}: {unknown.line.text[:160]!r}",
            unknown.line.path,
            line=unknown.line.number,
        )
        for unknown in logs.unknown[:_SHOWN_UNKNOWN]
    ]
    rest = len(logs.unknown) - len(notes)
    if rest > 0:
        notes.append(
            Finding(Weight.NOTE, "line not understood", f"and {rest} more lines", logs.folder)
        )
    return notes


def _log_files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path] if SERVER_LOG_NAME.fullmatch(path.name) else []
    return [
        Path(folder) / name
        for folder, _, names in os.walk(path)
        for name in names
        if SERVER_LOG_NAME.fullmatch(name)
    ]


def _read(path: Path) -> _File:
    extent = Extent()
    file = _File(path, extent, [], [], set())
    for line in read_lines(path, extent):
        cluster = _CLUSTER.search(line.text)
        if cluster is not None:
            file.cluster_ids.add(cluster[1])
        try:
            event = event_of(line)
        except UnintelligibleLineError as error:
            file.unknown.append(UnknownLine(line, str(error)))
            continue
        if event is not None:
            file.events.append(event)
            if event.cluster_id is not None:
                file.cluster_ids.add(event.cluster_id)
    return file


def _node(read: list[_File]) -> NodeLogs:
    """Return the logs of a directory, files in order of time; a duplicate file counts once."""
    files: list[_File] = []
    for file in sorted(read, key=lambda f: (f.extent.first_ms or 0, f.path.name)):
        said = [(event.time_ms, event.line.text) for event in file.events]
        if not said or all(said != [(e.time_ms, e.line.text) for e in f.events] for f in files):
            files.append(file)
    times = [
        time
        for file in files
        for time in (file.extent.first_ms, file.extent.last_ms)
        if time is not None
    ]
    return NodeLogs(
        folder=files[0].path.parent,
        files=tuple(file.path for file in files),
        events=tuple(event for file in files for event in file.events),
        unknown=tuple(unknown for file in files for unknown in file.unknown),
        cluster_ids=frozenset().union(*(file.cluster_ids for file in files)),
        first_ms=min(times),
        last_ms=max(times),
        lines=sum(file.extent.lines for file in files),
    )
