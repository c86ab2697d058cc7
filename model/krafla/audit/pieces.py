"""The audit of one history in pieces, which different processes judge at the same time.

`cut` replays the batches without judging them, which is quicker, and saves the history's state at
each cut. `judge` judges a piece from there. `join` adds up what the pieces found, and compares the
state at the end of each piece with the one from which the next was judged. So the outcome does not
rest on the replay: where that goes wrong, there is no outcome. A history stops at its first
violation; what was judged behind that is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from krafla.audit.history import History
from krafla.audit.history_outcome import Ending, Tally, outcome_of
from krafla.audit.history_replay import Replay
from krafla.audit.history_save import (
    digest_of,
    restore,
    restore_values,
    restored_as,
    save,
    save_values,
)
from krafla.audit.saved_values import SavedStateError
from krafla.collector import gc_paused
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.segment import BatchBefore, LogPlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from krafla.audit.history_outcome import HistoryOutcome
    from krafla.audit.specs import LoadingSpec
    from krafla.audit.starts import Start
    from kraft.records.batch import RecordBatch

    Expected = Mapping[int, tuple[Path, ...]]

REPLAY_SHARE: Final = 0.6
"""What replaying takes of the time that judging does, on a log of partition changes."""


class PiecesError(KraflaError):
    """Pieces do not make up a history: one is missing, or ends in another state than expected."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a history: the saved state that it begins with, and its offsets.

    `end` is exclusive, None for the last piece. `place` is where in the log's files it begins, None
    for the first piece.
    """

    number: int
    state: bytes
    start: int
    end: int | None
    place: LogPlace | None = None


@dataclass(frozen=True, slots=True)
class JudgedPiece:
    """What a piece of a history adds to the outcome, as values of bytes and numbers.

    `begins` and `ends` are the digests of the states at its start and end. `ending` is where the
    history ends, if a finding stopped it in this piece, or the log ended; then `ends` is None.
    `error` says that the log could not be read on from there.
    """

    number: int
    begins: str
    ends: str | None
    tally: bytes
    ending: bytes | None = None
    error: CorruptRecordError | UnreadableFileError | None = None


def first_state(start: Start, loading: LoadingSpec, root: Path | None = None) -> bytes:
    """Return the saved state in which a history starts; `root` is as `save` has it."""
    origin = None if start.checkpoint is None else start.checkpoint.path
    return save(History(loading, start.offset, start.image.copy(), {}, origin), root)


def cuts_for(
    offsets: Sequence[int], start: int, processes: int, share: float = REPLAY_SHARE
) -> list[int]:
    """Return offsets at which to cut a history so that processes are done at the same time.

    `offsets` has each batch's base offset, then the log's end. Each process judges one piece as
    soon as `cut` has its state, so later pieces are shorter. `share` is what replaying takes of the
    time that judging does.
    """
    reached, piece, ends = 0.0, 1.0, []
    for _ in range(processes):
        reached += piece
        ends.append(reached)
        piece *= 1 - share
    return cuts_at(offsets, start, [one / reached for one in ends[:-1]])


def cuts_at(offsets: Sequence[int], start: int, shares: Iterable[float]) -> list[int]:
    """Return where batches begin after these shares of a history's length; else as `cuts_for`."""
    wanted = (start + (offsets[-1] - start) * share for share in shares)
    found = (offsets[bisect_left(offsets, one)] for one in wanted)
    return sorted({one for one in found if start < one < offsets[-1]})


def cut(
    batches: Iterable[RecordBatch],
    state: bytes,
    cuts: Iterable[int],
    loading: LoadingSpec,
    expected: Expected,
    root: Path | None = None,
) -> Iterator[Piece]:
    """Yield the pieces of a history that starts in a saved state, each once its state is known.

    At each of `cuts`, which rise, a batch begins. Replay goes on when the next piece is asked for.
    If it cannot go on in a piece, since the log cannot be read or breaks a rule, that piece comes
    again, as the last one: judging it says what is wrong. The states leave out the folder `root`,
    as `save` does.
    """
    history = restored_as(state, loading, expected, Replay, root)
    number, start, place = 0, history.reached, None
    history.compare_start()
    unread, batch = iter(batches), None
    for at in cuts:
        if at <= start:
            continue
        yield Piece(number, state, start, at, place)
        found = _replay_to(at, history, unread, batch)
        if found is None or found[0].base_offset != at:
            break
        batch, place = found
        number, start, state = number + 1, at, save(history, root)
    yield Piece(number, state, start, None, place)


@gc_paused()
def _replay_to(
    at: int, history: Replay, unread: Iterator[RecordBatch], first: RecordBatch | None
) -> tuple[RecordBatch, LogPlace] | None:
    """Replay batches up to the one that begins at an offset or behind; return it and its place.

    `first` comes before the others. None if there is no such batch, or if the history stops.
    """
    last: RecordBatch | None = None
    try:
        for batch in unread if first is None else chain((first,), unread):
            if batch.base_offset >= at:
                return None if last is None else (batch, _place_of(batch, last))
            last = batch
            if batch.base_offset < history.reached:
                # The checkpoint that the history starts from has it.
                continue
            history.replay(batch)
            if history.stopped:
                break
    except Exception:  # noqa: BLE001 - the last piece fails the same way, for `judge` to see
        return None
    return None


def _place_of(batch: RecordBatch, before: RecordBatch) -> LogPlace:
    assert batch.path is not None, "the batch was read from a file"
    last = BatchBefore(before.base_offset, before.last_offset, before.leader_epoch)
    return LogPlace(batch.path, batch.position, last)


@gc_paused()
def judge(
    piece: Piece,
    batches: Iterable[RecordBatch],
    loading: LoadingSpec,
    expected: Expected,
    root: Path | None = None,
) -> JudgedPiece:
    """Return the judged piece. Batches outside it are passed over; none behind it is read.

    `root` is where that folder is now which its state leaves out. Raises SavedStateError for a
    state that this code has not saved, PiecesError if batches are missing.
    """
    history = restore(piece.state, loading, expected, root)
    if history.reached != piece.start:
        raise SavedStateError(f"a piece from {piece.start} on has the state of {history.reached}")
    if not piece.number:
        history.compare_start()
    error = None
    try:
        for batch in batches:
            if batch.base_offset < piece.start:
                continue
            if piece.end is not None and batch.base_offset >= piece.end:
                break
            history.add(batch)
            if history.stopped or batch.next_offset == piece.end:
                break
    except (CorruptRecordError, UnreadableFileError) as fault:
        error = fault
    begins = digest_of(piece.state)
    goes_on = not (error or history.stopped or piece.end is None)
    if goes_on and history.reached != piece.end:
        raise PiecesError(f"the batches of a piece end at {history.reached}, not at {piece.end}")
    if goes_on:
        ends = digest_of(save(history, root))
        return JudgedPiece(piece.number, begins, ends, save_values(history.tally(), root))
    ending = save_values(history.end(), root)
    tally = save_values(history.tally(), root)
    return JudgedPiece(piece.number, begins, None, tally, ending, error)


def join(
    judged: Iterable[JudgedPiece], root: Path | None = None
) -> tuple[HistoryOutcome, CorruptRecordError | UnreadableFileError | None]:
    """Return the outcome of a history by its judged pieces, and why it was not read on, if so.

    `root` is where that folder is now which the pieces leave out.

    Pieces behind the one where the history ends are left out. Raises PiecesError if one is missing
    before that, or does not begin in the state in which the one before it ended.
    """
    by_number: dict[int, JudgedPiece] = {}
    for one in judged:
        if one.ending is not None or one.number not in by_number:
            by_number[one.number] = one
    total: Tally | None = None
    ends: str | None = None
    for number in range(len(by_number)):
        piece = by_number.get(number)
        if piece is None:
            raise PiecesError(f"piece {number} of a history is missing")
        if ends is not None and piece.begins != ends:
            raise PiecesError(
                f"piece {number} of a history was judged from another state than that in which"
                f" piece {number - 1} ended"
            )
        tally: Tally = restore_values(piece.tally, root)
        total = tally if total is None else total.then(tally)
        if piece.ending is not None:
            ending: Ending = restore_values(piece.ending, root)
            return outcome_of(total, ending), piece.error
        ends = piece.ends
    raise PiecesError("the last piece of a history is missing")
