"""The tasks of an audit: the audit's own code, on files that are laid out for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from krafla.audit import pieces
from krafla.audit.check_counts import CheckCounts
from krafla.audit.cluster_audit import audit_cluster
from krafla.audit.clusters import find_logs
from krafla.audit.history_outcome import HistoryOutcome
from krafla.audit.inventory import take_inventory
from krafla.audit.pieces import PiecesError
from krafla.audit.releases import ReleaseSigns
from krafla.audit.saved_values import SavedStateError
from krafla.audit.server_log_audit import judged_with
from krafla.audit.server_logs.files import find_server_logs
from krafla.audit.specs import LoadingSpec
from krafla.pipeline.asking import answer_row
from krafla.pipeline.carry import packed, place_below, unpacked
from krafla.pipeline.layout import bench, grouped
from kraft.log.directory import read_metadata_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

    from krafla.audit.cluster_audit import ClusterAudit, Judging
    from krafla.audit.clusters import Cluster
    from krafla.audit.inventory import Inventory
    from krafla.audit.pieces import JudgedPiece, Piece
    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.audit.starts import Start
    from krafla.pipeline.layout import Bench
    from kraft.errors import CorruptRecordError, UnreadableFileError
    from kraft.log.directory import MetadataLog

    _History = tuple[Inventory, Start, Mapping[int, tuple[Path, ...]]]

__all__ = [
    *("ClusterQuestion", "PieceOfLog", "Refused"),
    *("begin_clusters", "join_pieces", "judge_pieces", "read_server_logs", "take_inventories"),
]

_loading: LoadingSpec | None = None


@dataclass(frozen=True, slots=True)
class ClusterQuestion:
    """A cluster, with its server logs and the options for them, or None; and what to do with it.

    ``cuts`` are the offsets at which the history of each log is cut, None for a cluster that is
    judged as a whole. Of a cluster in pieces, one task judges the first piece of each history, and
    the one that ``replays`` hands out the others.
    """

    cluster: Cluster
    logs: Sequence[NodeLogs]
    options: ServerLogOptions | None
    cuts: Mapping[Path, Sequence[int]] | None = None
    replays: bool = False


@dataclass(frozen=True, slots=True)
class PieceOfLog:
    """A piece of a log's history, and the checkpoints that are compared in it."""

    log: MetadataLog
    piece: Piece
    expected: Mapping[int, tuple[Path, ...]]


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer that a cluster cannot be judged in pieces, with the reason."""

    reason: str


def take_inventories(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, about the folder of a log, with its ``Inventory``."""
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            place_below(own.root, next(rows)["path"]).mkdir(parents=True, exist_ok=True)
            _lay(own, rows)
            (log,) = find_logs([own.root])[0]
            yield answer_row(slot, packed(take_inventory(log), own.root))


def read_server_logs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, about a folder, with its ``NodeLogs`` and findings about its files."""
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            folder = place_below(own.root, next(rows)["path"])
            _lay(own, rows)
            yield answer_row(slot, packed(find_server_logs([folder]), own.root))


def begin_clusters(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each ``ClusterQuestion`` with a ``ClusterAudit``, or with the pieces of its histories.

    The task that replays answers with a ``PieceOfLog`` for each piece but the first of each
    history, whose state goes on to another task. The other one answers with the ``JudgedPiece`` of
    each first piece, by the folder of its log. Either may be ``Refused``.
    """
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            question = next(rows)["content"]
            _lay(own, rows)
            asked: ClusterQuestion = unpacked(question, own.root)
            _make_folders(asked.cluster)
            if asked.cuts is None:
                answer: Any = _with_server_logs(audit_cluster(asked.cluster, _loaded()), asked)
                yield answer_row(slot, packed(answer, own.root))
                continue
            try:
                if asked.replays:
                    for number, one in enumerate(_replayed(asked, asked.cuts, own.root)):
                        plain = replace(one, piece=replace(one.piece, state=b""))
                        answer = packed(plain, own.root)
                        yield answer_row(slot, answer, number, one.piece.state)
                    continue
                answer = _first_pieces(asked, asked.cuts, own.root)
            except (PiecesError, SavedStateError) as error:
                answer = Refused(str(error))
            yield answer_row(slot, packed(answer, own.root), -1)


def judge_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each ``PieceOfLog`` with the folder of its log and its ``JudgedPiece``.

    The row after a question has the state that the piece begins with. Or the answer is ``Refused``.
    """
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            question, state = next(rows)["content"], next(rows)["content"]
            _lay(own, rows)
            asked: PieceOfLog = unpacked(question, own.root)
            piece = replace(asked.piece, state=state)
            read = read_metadata_log(asked.log, findings=[], start=piece.place)
            try:
                judged = pieces.judge(piece, read, _loaded(), asked.expected, own.root)
                answer: Any = (asked.log.directory, judged)
            except (PiecesError, SavedStateError) as error:
                answer = Refused(str(error))
            yield answer_row(slot, packed(answer, own.root))


def join_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, a ``ClusterQuestion`` with judged pieces, with its ``ClusterAudit``.

    The pieces are listed by the folder of their log. ``Refused`` if they do not fit, or if another
    history must be judged: a finding stopped the one that was to cover it.
    """
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            question = next(rows)["content"]
            _lay(own, rows)
            asked, judged = unpacked(question, own.root)
            _make_folders(asked.cluster)
            try:
                judging = _joining(judged, own.root)
                audited = audit_cluster(asked.cluster, LoadingSpec(needed=False), judging=judging)
                answer: Any = _with_server_logs(audited, asked)
            except (PiecesError, SavedStateError) as error:
                answer = Refused(str(error))
            yield answer_row(slot, packed(answer, own.root))


def _lay(own: Bench, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        own.lay(row)


def _make_folders(cluster: Cluster) -> None:
    for member in cluster.members:
        member.path.mkdir(parents=True, exist_ok=True)


def _loaded() -> LoadingSpec:
    """Return the specs of this process: they stay loaded for its next task."""
    global _loading
    if _loading is None:
        _loading = LoadingSpec(brief=True)
    _loading.get()
    return _loading


def _with_server_logs(audited: ClusterAudit, asked: ClusterQuestion) -> ClusterAudit:
    if asked.options is None:
        return audited
    _loaded()
    audited = judged_with(asked.cluster, audited, asked.logs, asked.options)
    judged = audited.result.server_logs
    if judged is None:
        return audited
    # The states of the behaviour that was found are of this JVM.
    return replace(audited, result=replace(audited.result, server_logs=replace(judged, taken=None)))


def _histories(cluster: Cluster) -> list[_History]:
    """Return the histories that an audit of a cluster judges if no finding stops one."""
    found: list[_History] = []

    def noted(
        member: Inventory, start: Start, _: LoadingSpec, expected: dict[int, tuple[Path, ...]]
    ) -> tuple[HistoryOutcome, None]:
        found.append((member, start, expected))
        return HistoryOutcome((), None, member.end, 0, CheckCounts(), {}, ReleaseSigns()), None

    audit_cluster(cluster, LoadingSpec(needed=False), judging=noted)
    return found


def _replayed(
    asked: ClusterQuestion, cuts: Mapping[Path, Sequence[int]], root: Path
) -> Iterator[PieceOfLog]:
    """Yield the pieces of all histories but their first ones, unless replay failed in these."""
    for member, start, expected in _histories(asked.cluster):
        state = pieces.first_state(start, _loaded(), root)
        batches = read_metadata_log(member.log, findings=[])
        found = pieces.cut(batches, state, cuts[member.path], _loaded(), expected, root)
        for piece in found:
            if piece.number or piece.end is None:
                within = {end: paths for end, paths in expected.items() if _has(piece, end)}
                yield PieceOfLog(member.log, piece, within)


def _has(piece: Piece, end: int) -> bool:
    """Return whether a checkpoint that ends at an offset is compared in a piece."""
    is_behind = end > piece.start or not piece.number
    return is_behind and (piece.end is None or end <= piece.end)


def _first_pieces(
    asked: ClusterQuestion, cuts: Mapping[Path, Sequence[int]], root: Path
) -> dict[Path, JudgedPiece]:
    """Return the judged first piece of each history that is cut."""
    judged = {}
    for member, start, expected in _histories(asked.cluster):
        later = [cut for cut in cuts[member.path] if cut > start.offset]
        if later:
            state = pieces.first_state(start, _loaded(), root)
            first = pieces.Piece(0, state, start.offset, later[0])
            batches = read_metadata_log(member.log, findings=[])
            judged[member.path] = pieces.judge(first, batches, _loaded(), expected, root)
    return judged


def _joining(judged: Mapping[Path, Sequence[JudgedPiece]], root: Path) -> Judging:
    def joined(
        member: Inventory, *_: Any
    ) -> tuple[HistoryOutcome, CorruptRecordError | UnreadableFileError | None]:
        if member.path not in judged:
            raise PiecesError(f"the history of {member.path} was not foreseen")
        return pieces.join(judged[member.path], root)

    return joined
