"""Findings: oddities of a log on disk that are no error in its bytes."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import printable

if TYPE_CHECKING:
    from pathlib import Path


class FindingKind(enum.Enum):
    """What kind of thing was noticed; the value is how it is printed."""

    TORN_TAIL = "torn tail"
    ZERO_TAIL = "preallocated tail"
    EMPTY_SEGMENT = "empty segment"
    FILE_CHANGED = "file changed while it was read"
    IGNORED_FILE = "ignored file"
    LINK_NOT_FOLLOWED = "link not followed"
    UNREADABLE_IDENTITY = "unreadable identity"
    SEVERAL_CLUSTERS = "several clusters"
    DUPLICATE_NODE_ID = "duplicate node id"
    DUPLICATE_DIRECTORY_ID = "duplicate directory id"
    STALE_EPOCHS = "epochs after the end of the log"
    BEHIND_SNAPSHOT = "log ends before its newest snapshot"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was noticed, and where: `position` is a byte in the file at `path`."""

    kind: FindingKind
    path: Path
    detail: str
    position: int | None = None

    def __str__(self) -> str:
        place = "" if self.position is None else f" (byte {self.position})"
        return f"{printable(str(self.path))}: {self.kind.value}: {self.detail}{place}"
