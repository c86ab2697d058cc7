"""The clusters of an audit, judged in stages: long histories in pieces, which tasks judge at once.

In the first stage each cluster has a task, or two if it is cut (`audit_plan`): one replays its
histories and hands out their pieces, the other judges the first of these. The second stage judges
the other pieces, the third joins them. What does not fit is judged as a whole after all.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from krafla.audit.pieces import REPLAY_SHARE
from krafla.counted import counted
from krafla.pipeline.asking import (
    STATE_ROW,
    FilePart,
    Inquiry,
    LogFile,
    answers_to,
    ask,
    whole,
)
from krafla.pipeline.audit_plan import judged_records, plan
from krafla.pipeline.audit_tasks import (
    ClusterQuestion,
    PieceOfLog,
    Refused,
    begin_clusters,
    join_pieces,
    judge_pieces,
)
from krafla.pipeline.carry import packed, place_below, told_path, unpacked
from krafla.pipeline.sources import FileKind
from kraft.log.files import GZIP_SUFFIX
from kraft.log.segment import segment_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.pieces import JudgedPiece
    from krafla.pipeline.audit_plan import Division
    from krafla.pipeline.session import Session
    from krafla.pipeline.store import Store

    Judged = dict[int, dict[Path, list[JudgedPiece]]]

__all__ = ["ClusterFiles", "ClusterJudge"]


@dataclass(frozen=True, slots=True)
class ClusterFiles:
    """A cluster that is to be judged, and all files that this needs."""

    question: ClusterQuestion
    files: Sequence[LogFile]


@dataclass(frozen=True, slots=True)
class _Task:
    """A task of the first stage, for a cluster by its number. ``cost`` is about how long it is."""

    number: int
    cost: float
    inquiry: Inquiry


@dataclass(frozen=True, slots=True)
class _Handed:
    """A piece of a cluster's history, handed out by the task of a slot as its n-th."""

    number: int
    slot: int
    place: int
    piece: PieceOfLog


class ClusterJudge:
    """Judges the clusters of a store; ``root`` is where their files lie in this process."""

    def __init__(self, session: Session, store: Store, root: Path) -> None:
        self._session, self._store, self._root = session, store, root

    def judge(self, clusters: Sequence[ClusterFiles]) -> list[ClusterAudit]:
        """Return the audits of clusters, in their order."""
        records = [judged_records(one.question.cluster.members) for one in clusters]
        divisions = plan(records, self._session.parallelism)
        words = f"judging {counted(len(clusters), 'cluster')}"
        self._session.phase(words + (f", {len(divisions)} in pieces" if divisions else ""))
        tasks: list[_Task] = []
        for number, one in enumerate(clusters):
            if number in divisions:
                tasks += self._divided(number, one, records[number], divisions[number])
            else:
                tasks.append(self._undivided(number, one, records[number]))
        # The first questions begin first, and the longest one decides when all are done.
        tasks.sort(key=lambda task: -task.cost)
        audits: dict[int, ClusterAudit] = {}
        if divisions:
            audits = self._in_stages(clusters, tasks)
            left = sorted({*range(len(clusters))} - audits.keys())
            tasks = [self._undivided(number, clusters[number], 0) for number in left]
        answers = ask(self._session, self._store, [task.inquiry for task in tasks], begin_clusters)
        for task, answer in zip(tasks, answers, strict=True):
            audits[task.number] = unpacked(answer, self._root)
        return [audits[number] for number in range(len(clusters))]

    def _undivided(self, number: int, one: ClusterFiles, records: int) -> _Task:
        value = packed(one.question, self._root)
        return _Task(number, records, Inquiry("/", value, whole(one.files)))

    def _divided(
        self, number: int, one: ClusterFiles, records: int, division: Division
    ) -> Iterator[_Task]:
        """Yield the two tasks of a cluster that is judged in pieces."""
        cuts = {log.path: division.cuts(log) for log in one.question.cluster.members}
        rest = 1 - (1 - division.first) / division.pieces
        for replays, share in ((True, rest * REPLAY_SHARE), (False, division.first)):
            question = replace(one.question, cuts=cuts, replays=replays)
            parts = []
            for part in whole(one.files):
                its_cuts = cuts.get(place_below(self._root, part.file.folder))
                if its_cuts is None or not _has_content(part.file):
                    parts.append(part)
                elif its_cuts:
                    # Replay looks at the batch at the last cut.
                    before = its_cuts[-1] + 1 if replays else its_cuts[0]
                    parts.append(replace(part, before=before))
            yield _Task(number, records * share, Inquiry("/", packed(question, self._root), parts))

    def _in_stages(
        self, clusters: Sequence[ClusterFiles], tasks: Sequence[_Task]
    ) -> dict[int, ClusterAudit]:
        """Return the audits of clusters by their numbers, but of those judged in vain."""
        audits: dict[int, ClusterAudit] = {}
        judged: Judged = defaultdict(lambda: defaultdict(list))
        handed: list[_Handed] = []
        refused: dict[int, str] = {}
        questions = [task.inquiry for task in tasks]
        with _kept(answers_to(self._session, self._store, questions, begin_clusters)) as answers:
            for row in answers.select("slot", "number", "answer").collect():
                number = tasks[row["slot"]].number
                answer: Any = unpacked(bytes(row["answer"]), self._root)
                if isinstance(answer, Refused):
                    refused[number] = answer.reason
                elif isinstance(answer, PieceOfLog):
                    handed.append(_Handed(number, row["slot"], row["number"], answer))
                elif isinstance(answer, dict):
                    for folder, piece in answer.items():
                        judged[number][folder].append(piece)
                else:
                    audits[number] = answer
            wanted = [one for one in handed if one.number not in refused]
            self._judge_pieces(clusters, wanted, answers, judged, refused)
        self._join(clusters, judged, audits, refused)
        for number, reason in sorted(refused.items()):
            folder = clusters[number].question.cluster.folder
            words = f"{folder}: judged as a whole after all, since {reason}"
            self._session.show(told_path(words, self._root))
        return audits

    def _judge_pieces(
        self,
        clusters: Sequence[ClusterFiles],
        handed: Sequence[_Handed],
        answers: DataFrame,
        judged: Judged,
        refused: dict[int, str],
    ) -> None:
        """Judge the pieces that were handed out, whose states are among the answers."""
        if not handed:
            return
        self._session.phase(f"judging {counted(len(handed), 'piece')} of histories")
        questions, slots = [], []
        for slot, one in enumerate(handed):
            parts = [*self._parts(one.piece, clusters[one.number].files)]
            questions.append(Inquiry("/", packed(one.piece, self._root), parts))
            slots.append((one.slot, one.place, slot))
        named = self._store.spark.createDataFrame(slots, "slot int, number int, piece int")
        states = answers.join(named.hint("broadcast"), ["slot", "number"]).selectExpr(
            "piece AS slot", "'' AS kind", "'/' AS path", f"{STATE_ROW}L AS position",
            "state AS content",
        )  # fmt: skip
        frame = answers_to(self._session, self._store, questions, judge_pieces, states)
        for row in frame.select("slot", "answer").collect():
            number = handed[row["slot"]].number
            answer: Any = unpacked(bytes(row["answer"]), self._root)
            if isinstance(answer, Refused):
                refused[number] = answer.reason
            else:
                folder, piece = answer
                judged[number][folder].append(piece)

    def _parts(self, piece: PieceOfLog, files: Sequence[LogFile]) -> Iterator[FilePart]:
        """Yield what is laid out for a piece: its part of the log, and its checkpoints."""
        checkpoints = {path for paths in piece.expected.values() for path in paths}
        place, end = piece.piece.place, piece.piece.end
        begin = None if place is None else segment_at(place.path)
        for part in whole(files):
            path = place_below(self._root, part.file.path)
            segment = segment_at(path)
            if path in checkpoints:
                yield part
            if segment is None or path.parent != piece.log.directory:
                continue
            is_behind = begin is None or segment.base_offset >= begin.base_offset
            if is_behind and (end is None or segment.base_offset < end):
                # The pieces of a compressed file are not cut where batches end.
                is_cut = place is not None and path == place.path and path.suffix != GZIP_SUFFIX
                after = place.position if place is not None and is_cut else -1
                yield replace(part, after=after, before=end)

    def _join(
        self,
        clusters: Sequence[ClusterFiles],
        judged: Judged,
        audits: dict[int, ClusterAudit],
        refused: dict[int, str],
    ) -> None:
        """Join the pieces of each cluster to its audit."""
        numbers = sorted(judged.keys() - refused.keys())
        self._session.phase(f"joining the pieces of {counted(len(numbers), 'cluster')}")
        questions = []
        for number in numbers:
            one = clusters[number]
            found = {folder: [*pieces] for folder, pieces in judged[number].items()}
            # Server logs are compared with all records; the join itself asks for sizes alone.
            reads = any(node.events for node in one.question.logs)
            parts = [
                part if reads else replace(part, is_hollow=_has_content(part.file))
                for part in whole(one.files)
            ]
            questions.append(Inquiry("/", packed((one.question, found), self._root), parts))
        for number, data in zip(
            numbers, ask(self._session, self._store, questions, join_pieces), strict=True
        ):
            answer: Any = unpacked(data, self._root)
            if isinstance(answer, Refused):
                refused[number] = answer.reason
            else:
                audits[number] = answer


def _has_content(file: LogFile) -> bool:
    """Return whether a file is a segment whose bytes were read."""
    return file.kind == FileKind.SEGMENT.value and file.file_id is not None


@contextmanager
def _kept(frame: DataFrame) -> Iterator[DataFrame]:
    """Yield a frame that is made once, and kept on the executors' disks meanwhile."""
    from pyspark import StorageLevel

    kept = frame.persist(StorageLevel.DISK_ONLY)
    try:
        yield kept
    finally:
        kept.unpersist()
