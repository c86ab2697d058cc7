"""One cluster in one trigger: its directories, and what they must agree in."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.compare import divergence_text, leader_text
from krafla.audit.invariants import LEADER_OF_EPOCH, LOGS_MATCH
from krafla.audit.inventory import leaders_of
from krafla.audit.result import Finding, Weight, evidence_of
from krafla.pipeline.carry import place_below
from krafla.pipeline.layout import bench
from krafla.pipeline.watch.arrivals import BatchCame, CheckpointCame, arrivals_of
from krafla.pipeline.watch.beginning import LaidCheckpoint
from krafla.pipeline.watch.cells import DirectoryState, begun_by_another, label_of
from krafla.pipeline.watch.directory import Directory, Means
from krafla.pipeline.watch.findings import not_compared
from krafla.pipeline.watch.marks import Marks, Sighting
from krafla.pipeline.watch.standing import KEY, STANDING, finding_row, verdict_word
from kraft.log.checkpoint import checkpoint_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.audit.result import Invariant
    from krafla.audit.specs import LoadingSpec
    from krafla.pipeline.layout import Bench
    from krafla.pipeline.watch.arrivals import Arrival
    from krafla.pipeline.watch.cells import Cells
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = ["Cluster"]

_KNOWN: Final = "cluster"
_FIRST: Final = "first"
_FORM: Final = 2
"""Of all that the cells hold but saved histories: it changes with them."""


class Cluster:
    """A cluster in one trigger; `key` is its id, or the path of its only directory.

    All that it knows lies in its cells: `take` reads and writes them.
    """

    def __init__(self, key: str, cells: Cells, loading: LoadingSpec, limits: Limits) -> None:
        self._key, self._cells = key, cells
        self._loading, self._limits = loading, limits
        known = cells.get(_KNOWN)
        facts: dict[str, Any] = {"form": _FORM} if known is None else json.loads(known)
        if facts.get("form") != _FORM:
            raise begun_by_another("what is kept of this cluster has another form")
        self._turn: int = facts.get("turn", 0)
        self._states = {
            path: DirectoryState.of_json(value)
            for path, value in facts.get("directories", {}).items()
        }
        self._leaders: dict[str, list[Any]] = facts.get("leaders", {})
        self._findings: list[dict[str, Any]] = facts.get("findings", [])
        self._shown: dict[str, list[str]] = facts.get("shown", {})
        self._first: str | None = facts.get("first")
        self._marks = Marks(cells, facts.get("newest", 0))

    def take(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Judge the rows of one trigger; yield a row of ``STANDING`` for each directory in them.

        The last row is that of the cluster as a whole.
        """
        self._turn += 1
        ordered = sorted(rows, key=lambda row: _folder(row["path"]))
        with bench() as own:
            parts = [
                (folder, list(arrivals_of(found, self._limits)))
                for folder, found in groupby(ordered, key=lambda row: _folder(row["path"]))
            ]
            for _, arrivals in parts:
                self._look_for_first(arrivals)
            first = self._laid_first(own)
            means = Means(self._cells, self._loading, self._limits, own, first)
            for folder, arrivals in parts:
                yield self._judged(folder, arrivals, means)
        yield self._row(None, self._findings)
        self._put()

    def _judged(self, folder: str, arrivals: list[Arrival], means: Means) -> dict[str, Any]:
        state = self._states.setdefault(folder, DirectoryState(len(self._states)))
        seen = {
            number: self._seen(folder, state, came.batch)
            for number, came in enumerate(arrivals)
            if isinstance(came, BatchCame)
        }
        directory = Directory(folder, state, means)
        directory.take(arrivals, seen)
        return self._row(
            folder, directory.findings(), phase=state.phase, judged_from=state.start,
            judged_on=state.judged_on, judged_to=state.reached, stopped_at=state.stopped_at,
            batches=state.batches, records=state.records, waiting=directory.waiting,
            repeated=state.repeated, unjudged=state.unjudged, uncompared=state.uncompared,
        )  # fmt: skip

    def _seen(self, folder: str, state: DirectoryState, batch: RecordBatch) -> Sighting:
        """Note a batch, and what it shows of the cluster as a whole."""
        seen = self._marks.note(batch, state.number)
        if seen.other is not None:
            number, epoch = seen.other.directory, batch.leader_epoch
            other = next(path for path, one in self._states.items() if one.number == number)
            offset = max(batch.base_offset, seen.other.first)
            differ = divergence_text(other, folder, offset, (epoch, epoch))
            self._find(LOGS_MATCH, "divergence", f"{differ}, which are equal", folder, offset)
        if seen.is_forgotten:
            self._note(not_compared(batch, folder))
        if seen.is_new and batch.is_control:
            self._note_leaders(folder, batch)
        return seen

    def _note_leaders(self, folder: str, batch: RecordBatch) -> None:
        for leader in leaders_of(batch):
            told = self._leaders.setdefault(str(leader.epoch), [leader.node_id, folder])
            if told[0] != leader.node_id:
                detail = leader_text(leader.node_id, leader.epoch, *told)
                rule = LEADER_OF_EPOCH
                self._find(rule, rule.id, detail, folder, leader.offset)

    def _find(self, rule: Invariant, kind: str, detail: str, folder: str, offset: int) -> None:
        """Note a violation of the cluster."""
        evidence = evidence_of(rule)
        self._note(
            Finding(Weight.VIOLATION, kind, detail, label_of(folder), None, offset, evidence)
        )

    def _note(self, finding: Finding) -> None:
        """Note a finding about the cluster; of the same kind, only the first in a directory."""
        found = finding_row(finding)
        known = {(one["kind"], one["path"]) for one in self._findings}
        if (found["kind"], found["path"]) not in known:
            self._findings.append(found)

    def _look_for_first(self, arrivals: list[Arrival]) -> None:
        """Keep the checkpoint before the whole log of the first node that has one."""
        for came in arrivals:
            if isinstance(came, CheckpointCame) and self._first is None:
                found = checkpoint_at(label_of(came.path))
                if found is not None and found.end_offset == 0:
                    self._first = came.path
                    self._cells.put(_FIRST, came.content)

    def _laid_first(self, own: Bench) -> LaidCheckpoint | None:
        if self._first is None:
            return None
        content = self._cells.get(_FIRST)
        assert content is not None, "the first checkpoint has its cell"
        place = place_below(own.root, self._first)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return LaidCheckpoint(self._first, 0, place)

    def _row(
        self, folder: str | None, findings: list[dict[str, Any]], **known: Any
    ) -> dict[str, Any]:
        """Return a row with only some columns, and how many of its findings are new."""
        keys = [_key(one) for one in findings]
        shown = self._shown.get(folder or "", [])
        self._shown[folder or ""] = keys
        row: dict[str, Any] = dict.fromkeys(STANDING.names)
        return row | known | {
            "cluster": self._key, "directory": folder, "turn": self._turn,
            "verdict": verdict_word(findings), "findings": findings,
            "news": len(set(keys) - set(shown)),
        }  # fmt: skip

    def _put(self) -> None:
        self._marks.put()
        facts = {
            "form": _FORM, "turn": self._turn, "leaders": self._leaders, "findings": self._findings,
            "shown": self._shown, "first": self._first, "newest": self._marks.newest,
            "directories": {path: one.as_json() for path, one in self._states.items()},
        }  # fmt: skip
        self._cells.put(_KNOWN, json.dumps(facts).encode())


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _key(finding: dict[str, Any]) -> str:
    return " ".join(str(finding[name]) for name in KEY)
