"""The log as a value, against a list of epochs: one epoch for each record that ever was.

The list is the log of the spec, KRaftState: what it says of ends and epochs is written here as the
spec has it, by looking at every offset.
"""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft.ids import OffsetAndEpoch
from kraft.log.batches import data_batch
from kraft.log.image import LogImage, Snapshot


class Model:
    """The epoch of each record from offset 0 on, where batches begin, and where the log starts."""

    def __init__(self, epochs=(), bounds=(0,), start=0, start_epoch=0, snapshots=()):
        self.epochs = list(epochs)
        self.bounds = list(bounds)  # Where a batch begins or ends, the end of the log included.
        self.start = start
        self.start_epoch = start_epoch
        self.snapshots = list(snapshots)

    @property
    def end(self):
        return len(self.epochs)

    def epoch_before(self, offset):
        """Spec: KRaftState!EpochBefore."""
        return self.epochs[offset - 1] if offset > self.start else self.start_epoch

    def end_offset_for_epoch(self, epoch):
        """Spec: KRaftState!EndOffsetForEpoch."""
        ends = [o for o in range(self.start, self.end + 1) if self.epoch_before(o) <= epoch]
        if not ends:
            return OffsetAndEpoch(self.start, 0)
        return OffsetAndEpoch(max(ends), self.epoch_before(max(ends)))

    def append(self, epoch, count):
        bounds = [*self.bounds, self.end + count]
        epochs = [*self.epochs, *[epoch] * count]
        return Model(epochs, bounds, self.start, self.start_epoch, self.snapshots)

    def truncate(self, end):
        bound = max(b for b in self.bounds if b <= end)
        bounds = [b for b in self.bounds if b <= bound]
        return Model(self.epochs[:bound], bounds, self.start, self.start_epoch, self.snapshots)

    def with_snapshot(self, end):
        taken = sorted({*self.snapshots, OffsetAndEpoch(end, self.epoch_before(end))})
        return Model(self.epochs, self.bounds, self.start, self.start_epoch, taken)

    def clean_to(self, snapshot_id):
        later = [s for s in self.snapshots if s >= snapshot_id]
        bounds = [b for b in self.bounds if b >= snapshot_id.end_offset]
        return Model(self.epochs, bounds, snapshot_id.end_offset, snapshot_id.epoch, later)

    def begin_at(self, snapshot_id):
        end = snapshot_id.end_offset
        return Model([0] * end, [end], end, snapshot_id.epoch, [snapshot_id])


def check(log, model):
    """Compare all that a log may be asked with what the model says."""
    assert (log.start_offset, log.end_offset) == (model.start, model.end)
    assert log.start_epoch == model.start_epoch
    assert log.last_epoch == model.epoch_before(model.end)
    assert log.end == OffsetAndEpoch(model.end, model.epoch_before(model.end))
    for offset in range(model.start, model.end + 1):
        assert log.epoch_before(offset) == model.epoch_before(offset)
    for epoch in range(max(model.epochs, default=0) + 2):
        assert log.end_offset_for_epoch(epoch) == model.end_offset_for_epoch(epoch)
    batches = list(log.batches())
    assert [batch.base_offset for batch in batches] == model.bounds[:-1]
    assert [batch.end_offset for batch in batches] == model.bounds[1:]
    for batch in batches:
        assert {batch.epoch} == set(model.epochs[batch.base_offset : batch.end_offset])
    ids = [snapshot.snapshot_id for snapshot in log.snapshots]
    assert ids == model.snapshots
    assert log.earliest_snapshot == (log.snapshots[0] if ids else None)
    assert log.latest_snapshot == (log.snapshots[-1] if ids else None)
    for offset in range(model.start, model.end + 1):
        first = max(b for b in model.bounds if b <= offset)
        found = [b.base_offset for b in log.read(offset, 1 << 30)]
        assert found == [b for b in model.bounds[:-1] if b >= first]
        limited = [b.base_offset for b in log.read(offset, 1 << 30, model.end - 1)]
        assert limited == [b for b in model.bounds[:-1] if first <= b < model.end - 1]


def appended(log, epoch, sizes):
    end, batches = log.end_offset, []
    for number, size in enumerate(sizes):
        values = [f"{epoch} {end} {number} {i}".encode() for i in range(size)]
        batches.append(data_batch(end, epoch, 0, values))
        end += size
    return log.append(tuple(batches))


def step(data, log, model):
    """Return the log and the model after one thing that may happen to a log."""
    kind = data.draw(st.sampled_from(["append", "append", "truncate", "snapshot", "clean", "load"]))
    if kind == "append":
        epoch = model.epoch_before(model.end) + data.draw(st.integers(0, 2))
        sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
        for size in sizes:
            model = model.append(max(epoch, 1), size)
        return appended(log, max(epoch, 1), sizes), model
    if kind == "truncate":
        end = data.draw(st.integers(model.start, model.end))
        return log.truncate(end), model.truncate(end)
    if kind == "snapshot":
        end = data.draw(st.sampled_from(model.bounds))
        if end in (0, *(s.end_offset for s in model.snapshots)):
            return log, model
        snapshot = Snapshot(OffsetAndEpoch(end, model.epoch_before(end)), b"")
        return log.with_snapshot(snapshot), model.with_snapshot(end)
    if kind == "clean":
        # A truncation may have replaced the batch that ended at a snapshot. Kafka truncates no
        # committed records, so a log never begins within a batch.
        ends = [bound for bound in model.bounds if bound > model.start]
        inside = [s for s in model.snapshots if s.end_offset in ends]
        if not inside:
            return log, model
        return log.clean_to(inside[0]), model.clean_to(inside[0])
    epoch = model.epoch_before(model.end) + data.draw(st.integers(1, 2))
    snapshot = Snapshot(OffsetAndEpoch(model.end + data.draw(st.integers(0, 3)), epoch), b"new")
    if snapshot.snapshot_id.end_offset == 0:
        return log, model
    return log.begin_at(snapshot), model.begin_at(snapshot.snapshot_id)


@given(st.data())
def test_a_log_is_what_a_list_of_epochs_says_and_stays_so_whatever_comes_after(data):
    known = [(LogImage(), Model())]
    for _ in range(data.draw(st.integers(1, 14))):
        before = data.draw(st.integers(max(0, len(known) - 3), len(known) - 1))
        known.append(step(data, *known[before]))
        check(*known[-1])
    for log, model in known:
        check(log, model)
        assert log == log.truncate(log.end_offset)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 400), st.data())
def test_a_read_is_whole_batches_that_fit_and_one_at_least(sizes, maximum, data):
    log = appended(LogImage(), 1, sizes)
    offset = data.draw(st.integers(0, log.end_offset - 1))
    read = log.read(offset, maximum)
    assert read[0].base_offset <= offset < read[0].end_offset
    assert len(read) == 1 or sum(len(batch.raw) for batch in read) <= maximum
    following = [b for b in log.batches() if b.base_offset == read[-1].end_offset]
    assert not following or sum(len(b.raw) for b in (*read, *following)) > maximum


def test_a_batch_with_a_gap_before_it_or_of_an_older_epoch_is_not_appended():
    log = appended(LogImage(), 3, [2])
    for refused, reason in [
        (data_batch(3, 3, 0, [b"x"]), "the log ends at 2"),
        (data_batch(1, 3, 0, [b"x"]), "the log ends at 2"),
        (data_batch(2, 2, 0, [b"x"]), "epoch 2 after epoch 3"),
    ]:
        with pytest.raises(ValueError, match=reason):
            log.append((refused,))
    first, second = data_batch(2, 4, 0, [b"y"]), data_batch(3, 3, 0, [b"x"])
    with pytest.raises(ValueError, match="epoch 3 after epoch 4"):
        log.append((first, second))
    check(log, Model([3, 3], [0, 2]))


def test_an_offset_that_is_not_in_the_log_is_no_place_to_cut_it_or_to_begin():
    log = appended(LogImage(), 1, [2, 2]).with_snapshot(Snapshot(OffsetAndEpoch(2, 1), b""))
    log = log.clean_to(OffsetAndEpoch(2, 1))
    for offset in (1, 5):
        with pytest.raises(ValueError, match=r"not in 2 \.\. 4"):
            log.truncate(offset)
        with pytest.raises(ValueError, match=r"not in 2 \.\. 4"):
            log.clean_to(OffsetAndEpoch(offset, 1))


def test_what_a_snapshot_covers_leaves_the_memory_when_the_log_is_cleaned():
    large = 100_000
    tracemalloc.start()
    try:
        log = LogImage()
        for offset in range(100):
            log = log.append((data_batch(offset, 1, 0, [bytes(large)]),))
        log = log.with_snapshot(Snapshot(OffsetAndEpoch(99, 1), b""))
        log = log.clean_to(OffsetAndEpoch(99, 1))
        assert tracemalloc.get_traced_memory()[0] < 10 * large
    finally:
        tracemalloc.stop()
    assert [one.base_offset for one in log.batches()] == [99]


def test_logs_are_equal_if_what_they_hold_is_however_they_came_by_it():
    log = appended(LogImage(), 1, [1, 1])
    assert log == appended(appended(log, 2, [1]).truncate(2), 2, [1]).truncate(2)
    assert hash(log) == hash(appended(log, 2, [1]).truncate(2))
    assert log != appended(LogImage(), 1, [2])
    assert log != log.with_snapshot(Snapshot(OffsetAndEpoch(1, 1), b""))
