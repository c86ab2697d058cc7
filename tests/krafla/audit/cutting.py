"""Histories judged in pieces, to compare with the whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from krafla.audit import pieces
from krafla.audit.cluster_audit import audit_cluster
from krafla.audit.clusters import find_logs, group
from krafla.audit.inventory import take_inventory
from krafla.audit.render import document
from krafla.audit.run import report_of
from kraft.errors import CorruptRecordError
from kraft.log.directory import read_metadata_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from krafla.audit.cluster_audit import Judging
    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch


def everywhere(offsets: Sequence[int]) -> Sequence[int]:
    return offsets[1:-1]


class Reading:
    """The batches of a log from some offset on, read once; at the end the error of reading."""

    def __init__(self, log) -> None:
        self.batches: list[RecordBatch] = []
        self.error: Exception | None = None
        try:
            self.batches.extend(read_metadata_log(log, findings=[]))
        except CorruptRecordError as error:
            self.error = error
        self._places = {batch.base_offset: n for n, batch in enumerate(self.batches)}

    def start(self, offset: int) -> Iterator[RecordBatch]:
        yield from self.batches[self._places.get(offset, len(self.batches)) :]
        if self.error is not None:
            raise self.error


def in_pieces(where: Callable[[Sequence[int]], Sequence[int]], sizes: list[int]) -> Judging:
    """Return a judging in pieces, cut at the offsets chosen; `sizes` gets how many they were."""

    def judging(member, start, loading, expected):
        log = Reading(member.log)
        cuts = [offset for offset in where(member.offsets) if offset > start.offset]
        first = pieces.first_state(start, loading)
        found = [*pieces.cut(log.start(start.offset), first, cuts, loading, expected)]
        sizes.append(len(found))
        judged = [
            pieces.judge(one, log.start(one.start), loading, expected) for one in reversed(found)
        ]
        return pieces.join(judged)

    return judging


def report(folder: Path, loading: LoadingSpec, judging: Judging | None = None) -> str:
    """Return what `krafla audit --json` says about a folder."""
    clusters = group([take_inventory(log) for log in find_logs([folder])[0]])
    judged = [audit_cluster(cluster, loading, judging=judging) for cluster in clusters]
    return json.dumps(document(report_of([folder], judged, [])))
