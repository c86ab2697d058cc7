"""Counts of a cluster's judged and explained lines and records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.audit.server_logs.candidate import TakenStep
    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.server_logs.sightings import Sighting, Streams


@dataclass(frozen=True, slots=True)
class Counts:
    """The judged lines of server logs and records of the metadata log.

    A line of the controller and its record count one each. ``folders`` have server logs;
    ``telling`` counts those with a judged line. Counts of several clusters add up.
    """

    lines: int = 0
    lines_explained: int = 0
    records: int = 0
    records_explained: int = 0
    folders: int = 0
    telling: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.lines + other.lines,
            self.lines_explained + other.lines_explained,
            self.records + other.records,
            self.records_explained + other.records_explained,
            self.folders + other.folders,
            self.telling + other.telling,
        )

    def __str__(self) -> str:
        return f"{self.whose}: {self.explained}"

    @property
    def explained(self) -> str:
        """The explained lines and records, in words."""
        lines = f"{self.lines_explained:,} of {_of(self.lines, 'line')}"
        records = f"{self.records_explained:,} of {_of(self.records, 'record')}"
        return f"{lines} and {records} explained"

    @property
    def whose(self) -> str:
        """The folders with judged lines, in words."""
        return f"lines in {self.telling} of {_of(self.folders, 'folder')}"


def counts_of(logs: Sequence[NodeLogs], streams: Streams, taken: TakenStep | None) -> Counts:
    """Return the counts of a cluster; ``taken`` is the last step of its explanation."""
    seen = [s for stream in streams.streams for s in stream if not s.hint]
    explained: dict[int, Sighting] = {}
    while taken is not None:
        if taken.sighting is not None:
            explained[id(taken.sighting)] = taken.sighting
        taken = taken.before
    files = {s.event.line.path for s in seen if s.event is not None}
    return Counts(
        lines=_lines(seen),
        lines_explained=_lines(explained.values()),
        records=_records(seen),
        records_explained=_records(explained.values()),
        folders=len(logs),
        telling=sum(not files.isdisjoint(node.files) for node in logs),
    )


def _lines(sightings: Iterable[Sighting]) -> int:
    return sum(s.event is not None for s in sightings)


def _records(sightings: Iterable[Sighting]) -> int:
    return sum(s.operation is not None for s in sightings)


def _of(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
