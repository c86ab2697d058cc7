"""What a directory keeps to return to: two saved histories, the batches and checkpoints behind.

A follower's log may be cut back and go on otherwise, and a checkpoint comes after the batches that
it sums up. Then judging returns to a saved history before that place, and takes the batches again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.pipeline.carry import place_below
from krafla.pipeline.watch.cells import Base, Chunk, HeldCheckpoint, chunk_batches
from krafla.pipeline.watch.live import LiveHistory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from krafla.audit.specs import LoadingSpec
    from krafla.pipeline.layout import Bench
    from krafla.pipeline.watch.beginning import Beginning
    from krafla.pipeline.watch.cells import Cells, DirectoryState
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = ["Shelf"]

HELD_BYTES: Final = 8 * 1024 * 1024
"""About how many bytes of batches are kept behind the older saved history."""
_CHUNK_BYTES: Final = 256 * 1024
_STATE: Final = "state"
_TALLY: Final = "tally"


class Shelf:
    """The saved histories, batches and checkpoints of one directory."""

    def __init__(
        self,
        state: DirectoryState,
        cells: Cells,
        loading: LoadingSpec,
        limits: Limits,
        bench: Bench,
    ) -> None:
        self._state, self._cells = state, cells
        self._loading, self._limits, self._bench = loading, limits, bench

    def begin_anew(self, began: Beginning) -> None:
        """Keep another state in which the same history starts."""
        self._put(self._state.bases[0].name, began.state, began.tally)

    def begin(self, began: Beginning, last: list[int] | None) -> None:
        """Keep the state in which the history starts."""
        self._push(began.offset, last, 0, began.state, began.tally)
        self._put(self._now, began.state, began.tally)

    def go_on(self) -> LiveHistory:
        """Return the history as it was saved last."""
        reached = self._state.reached
        assert reached is not None, "a history that goes on has begun"
        return self._restored(self._now, reached)

    def base_for(self, offset: int) -> Base | None:
        """Return the last saved history at an offset or before, None if there is none."""
        fitting = [one for one in self._state.bases if one.offset <= offset]
        return fitting[-1] if fitting else None

    def back_to(self, base: Base) -> tuple[LiveHistory, list[tuple[str, RecordBatch]]]:
        """Return a saved history, and the batches behind it with their files: kept no longer."""
        state = self._state
        behind = [*self._kept_from(base.offset)]
        self._drop_chunks([one for one in state.kept if one.first >= base.offset])
        for later in [one for one in state.bases if one.offset > base.offset]:
            self._drop_base(later)
        return self._restored(base.name, base.offset), behind

    def keep(self, batches: Iterable[RecordBatch], path: str) -> None:
        """Keep judged batches of one file."""
        open_ones: dict[str, bytearray] = {}
        for batch in batches:
            chunk = self._chunk_for(batch, path)
            if chunk.name not in open_ones:
                open_ones[chunk.name] = bytearray(self._cells.get(chunk.name) or b"")
            open_ones[chunk.name] += batch.raw
            chunk.end, chunk.bytes = batch.next_offset, chunk.bytes + batch.size
        for name, content in open_ones.items():
            self._cells.put(name, bytes(content))

    def save(self, live: LiveHistory) -> None:
        """Save the history as it is now, and forget what lies far behind."""
        state = self._state
        assert state.reached is not None, "a history that is saved has begun"
        saved, tally = live.saved()
        self._put(self._now, saved, tally)
        newest = state.bases[-1].offset
        behind = sum(one.bytes for one in state.kept if one.first >= newest)
        if behind >= HELD_BYTES // 2:
            self._push(state.reached, state.last, state.batches, saved, tally)
        while len(state.bases) > 2:
            self._drop_base(state.bases[0])
        oldest = state.bases[0].offset
        self._drop_chunks([one for one in state.kept if one.end <= oldest])
        for held in [one for one in state.checkpoints if one.end < oldest]:
            self.drop_checkpoint(held)

    def hold(self, path: str, end: int, epoch: int, content: bytes) -> None:
        """Hold a checkpoint, in place of another one of this path."""
        state = self._state
        for old in [one for one in state.checkpoints if one.path == path]:
            self.drop_checkpoint(old)
        held = HeldCheckpoint(state.cell("checkpoint"), path, end, epoch)
        self._cells.put(held.name, content)
        state.checkpoints.append(held)
        state.checkpoints.sort(key=lambda one: (one.end, one.path))

    def drop_checkpoint(self, held: HeldCheckpoint) -> None:
        """Hold a checkpoint no longer."""
        self._state.checkpoints.remove(held)
        self._cells.drop(held.name)

    def laid(self, held: HeldCheckpoint) -> Path:
        """Return where a checkpoint lies on the bench."""
        place = place_below(self._bench.root, held.path)
        if not place.exists():
            content = self._cells.get(held.name)
            assert content is not None, "a checkpoint has its cell"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return place

    @property
    def _now(self) -> str:
        return f"{self._state.number}/now"

    def _chunk_for(self, batch: RecordBatch, path: str) -> Chunk:
        """Return the chunk that a batch is added to."""
        state = self._state
        last = state.kept[-1] if state.kept else None
        if (
            last is None
            or last.first < state.bases[-1].offset
            or last.bytes >= _CHUNK_BYTES
            or (last.path, last.position + last.bytes) != (path, batch.position)
        ):
            first = batch.base_offset
            last = Chunk(state.cell("kept"), path, batch.position, first, first, 0)
            state.kept.append(last)
        return last

    def _kept_from(self, offset: int) -> Iterator[tuple[str, RecordBatch]]:
        for chunk in self._state.kept:
            if chunk.first >= offset:
                for batch in chunk_batches(chunk, self._cells, self._limits):
                    yield chunk.path, batch

    def _restored(self, name: str, offset: int) -> LiveHistory:
        state, tally = self._cells.get(f"{name}/{_STATE}"), self._cells.get(f"{name}/{_TALLY}")
        assert state is not None, "a saved history has its cells"
        assert tally is not None, "a saved history has its cells"
        expected: dict[int, tuple[Path, ...]] = {}
        for held in self._state.checkpoints:
            if held.end > offset:
                expected[held.end] = (*expected.get(held.end, ()), self.laid(held))
        return LiveHistory(state, tally, self._loading, expected, self._bench)

    def _push(
        self, offset: int, last: list[int] | None, batches: int, state: bytes, tally: bytes
    ) -> None:
        base = Base(self._state.cell("base"), offset, last, batches)
        self._put(base.name, state, tally)
        self._state.bases.append(base)

    def _put(self, name: str, state: bytes, tally: bytes) -> None:
        self._cells.put(f"{name}/{_STATE}", state)
        self._cells.put(f"{name}/{_TALLY}", tally)

    def _drop_base(self, base: Base) -> None:
        self._state.bases.remove(base)
        for what in (_STATE, _TALLY):
            self._cells.drop(f"{base.name}/{what}")

    def _drop_chunks(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            self._state.kept.remove(chunk)
            self._cells.drop(chunk.name)
