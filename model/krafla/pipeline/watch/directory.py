"""One directory of a metadata log, judged as its batches come, in the order of their offsets."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.audit.inventory import unreadable
from krafla.audit.result import Finding, Weight
from krafla.pipeline.watch.arrivals import BatchCame, CheckpointCame, FaultCame
from krafla.pipeline.watch.beginning import LaidCheckpoint, beginning_on
from krafla.pipeline.watch.cells import JUDGING, LOST, STOPPED, label_of
from krafla.pipeline.watch.findings import (
    cut_back,
    end_fault,
    older_copy,
    other_bytes,
    overwritten,
)
from krafla.pipeline.watch.shelf import Shelf
from krafla.pipeline.watch.standing import finding_row
from krafla.pipeline.watch.waiting import WAITING_BYTES, Waiting
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.checkpoint import checkpoint_at
from kraft.log.segment import check_follows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.audit.history_outcome import HistoryOutcome
    from krafla.audit.specs import LoadingSpec
    from krafla.pipeline.layout import Bench
    from krafla.pipeline.watch.arrivals import Arrival
    from krafla.pipeline.watch.cells import Cells, DirectoryState
    from krafla.pipeline.watch.live import LiveHistory
    from krafla.pipeline.watch.marks import Sighting
    from krafla.pipeline.watch.waiting import WaitingBatch
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = ["Directory", "Means"]

_ALIKE: Final = ("weight", "kind", "path")


class Means(NamedTuple):
    """What judging needs: the cells of the cluster, the specs, and a folder for checkpoints.

    `first` is the cluster's checkpoint before the whole log, if one has come.
    """

    cells: Cells
    loading: LoadingSpec
    limits: Limits
    bench: Bench
    first: LaidCheckpoint | None = None


class Directory:
    """A directory in one trigger: `take` judges what has come, `state` is what is kept of it."""

    def __init__(self, path: str, state: DirectoryState, means: Means) -> None:
        self.path, self.state = path, state
        self._loading, self._first = means.loading, means.first
        self._shelf = Shelf(state, means.cells, means.loading, means.limits, means.bench)
        self._waiting = Waiting(state, means.cells, means.limits)
        self._live: LiveHistory | None = None
        self._judged: list[tuple[str, RecordBatch]] = []

    def take(self, arrivals: Sequence[Arrival], seen: dict[int, Sighting]) -> None:
        """Judge what has come: checkpoints stand before the other arrivals.

        `seen` tells of each batch, by its place in the arrivals, whether it had come before.
        """
        if self.state.phase == STOPPED and self.state.fault in self.state.faults:
            # Another file may have the batch that cannot be read in the first.
            self.state.phase, self.state.fault = JUDGING, None
        self._begin_anew()
        passed = [self._hold(came) for came in arrivals if isinstance(came, CheckpointCame)]
        ends = [end for end in passed if end is not None]
        if ends:
            self._judge_again(min(ends))
        for number, came in enumerate(arrivals):
            if isinstance(came, BatchCame):
                self._batch(came, seen[number])
            elif isinstance(came, FaultCame):
                self._fault(came)
        self._finish()

    def missing(self) -> str | None:
        """Return in words what the judging waits for, None if it waits for nothing."""
        if self.state.phase != JUDGING:
            return None
        if not len(self._waiting):
            return None if self.state.reached is not None else "no batch has come"
        first, reached = self._waiting.first, self.state.reached
        if reached is None:
            return f"the log begins at offset {first}, and no checkpoint has come that it continues"
        return f"offsets {reached} to {first - 1} have not come"

    @property
    def waiting(self) -> int:
        """How many batches wait."""
        return len(self._waiting)

    def _batch(self, came: BatchCame, seen: Sighting) -> None:
        """Let a batch wait for its turn among those of this trigger and of those before."""
        batch = came.batch
        if seen.own is not None:
            self._note(other_bytes(batch, seen.own))
        if batch.position == 0:
            self._comes_again(came.path)
        if self.state.phase == LOST:
            self.state.unjudged += 1
        else:
            self._waiting.add(came.path, batch, is_again=seen.is_again)

    def _comes_again(self, path: str) -> None:
        """Forget what was wrong with a file that is read from its beginning, perhaps again."""
        state = self.state
        state.faults = [one for one in state.faults if one["path"] != path]
        self._waiting.forget(path)
        if state.phase == STOPPED and state.fault is not None and state.fault["path"] == path:
            assert state.reached is not None, "a batch that has a fault has its predecessor"
            self._return_to(state.reached)

    def _known(self, one: WaitingBatch) -> None:
        """Take a batch at an offset that was judged, or lies before the first one judged."""
        state, batch = self.state, one.batch
        epoch, there = batch.leader_epoch, state.epoch_at(batch.base_offset)
        if there is None:
            state.unjudged += 1
        elif epoch > there:
            self._replace(one)
        elif epoch < there:
            self._note(older_copy(batch, there))
        elif one.is_again or self._is_judged_last(batch):
            state.repeated += 1
        # Else it clashes with what was judged there, and that was said when it came.

    def _is_judged_last(self, batch: RecordBatch) -> bool:
        return bool(self._judged) and self._judged[-1][1].raw == batch.raw

    def _replace(self, one: WaitingBatch) -> None:
        """Judge a batch of a later epoch in the place of batches that are gone from the log.

        Kafka: KafkaRaftClient, which truncates a follower to the point where the logs agree.
        """
        state, batch = self.state, one.batch
        offset, epoch = batch.base_offset, batch.leader_epoch
        assert state.reached is not None, "the offset was judged"
        kept = next((c for c in state.checkpoints if c.end > offset and c.epoch < epoch), None)
        cut = cut_back(batch, state.reached)
        if kept is not None:
            self._note(overwritten(batch, kept))
        # What a leader wrote against a rule it has written, committed or not.
        state.notes += [one for one in self._violations() if one not in state.notes]
        if not self._return_to(offset):
            return
        self._note(cut)
        self._judge(one.path, batch)

    def _violations(self) -> list[dict[str, Any]]:
        """Return the violations that the history has shown until now."""
        said = self.state.said if self._live is None else self._told(self._live.outcome())
        return [one for one in said if one["weight"] == Weight.VIOLATION.value]

    def _told(self, outcome: HistoryOutcome) -> list[dict[str, Any]]:
        source = label_of(self.state.judged_on or self.path)
        return [finding_row(one, source) for one in outcome.findings]

    def _return_to(self, offset: int, *, behind: int | None = None) -> bool:
        """Go back to the history at an offset; return False if that cannot be.

        With `behind`, from a saved history before that offset.
        """
        state, shelf = self.state, self._shelf
        self._shelve()
        base = shelf.base_for(offset if behind is None else behind - 1)
        if base is None:
            self._lose(
                f"the log was cut back to offset {offset}, and the watch can go back to offset"
                f" {state.bases[0].offset} only: it judges this directory no further, audit it"
            )
            return False
        self._live, again = shelf.back_to(base)
        state.reached, state.last, state.batches = base.offset, base.last, base.batches
        state.epochs = [one for one in state.epochs if one[1] < base.offset]
        state.phase, state.stopped_at, state.fault = JUDGING, None, None
        for path, batch in again:
            if batch.base_offset < offset:
                self._judge(path, batch)
        if state.phase == JUDGING and state.reached != offset:
            self._lose(
                f"the log was cut back to offset {offset}, inside a batch: the watch judges this"
                " directory no further, audit it"
            )
        return state.phase == JUDGING

    def _judge_again(self, end: int) -> None:
        """Judge again from before the end of a checkpoint, to compare the history with it."""
        reached = self.state.reached
        if reached is not None and self.state.phase == JUDGING:
            self._return_to(reached, behind=end)

    def _judge(self, path: str, batch: RecordBatch) -> None:
        state = self.state
        if state.phase != JUDGING:
            state.unjudged += 1
            return
        if self._live is None:
            self._live = self._shelf.go_on()
        try:
            check_follows(state.before, batch)
            self._live.add(batch)
        except (CorruptRecordError, UnreadableFileError) as error:
            state.phase = STOPPED
            state.fault = {"path": path, "finding": finding_row(unreadable(error))}
            return
        for held in state.checkpoints:
            fault = end_fault(held, batch)
            if fault is not None:
                self._note(fault)
        if not state.epochs or state.epochs[-1][0] != batch.leader_epoch:
            state.epochs.append([batch.leader_epoch, batch.base_offset])
        state.last = [batch.base_offset, batch.last_offset, batch.leader_epoch]
        state.reached = batch.next_offset
        state.batches += 1
        self._judged.append((path, batch))
        if self._live.stopped:
            state.phase = STOPPED

    def _fault(self, came: FaultCame) -> None:
        """Keep in mind bytes that are no batch, until the judging comes there."""
        state = self.state
        row = finding_row(unreadable(came.error))
        fault = {"path": came.path, "offset": came.offset, "finding": row}
        if state.phase != LOST and fault not in state.faults:
            state.faults.append(fault)

    def _begin(self) -> None:
        """Begin the history at offset 0, or at the first checkpoint that the log continues."""
        state = self.state
        first, end = self._waiting.stretch()
        laid = [self._first] if first == 0 else [
            LaidCheckpoint(held.path, held.end, self._shelf.laid(held))
            for held in state.checkpoints
            if first <= held.end <= end
        ]  # fmt: skip
        found = (beginning_on(one, self._loading, self._note) for one in laid)
        began = next((one for one in found if one is not None), None)
        if began is None and first == 0:
            began = beginning_on(None, self._loading, self._note)
        if began is None:
            return
        before = self._waiting.ending_at(began.offset)
        last = None if before is None else [
            before.base_offset, before.last_offset, before.leader_epoch,
        ]  # fmt: skip
        state.start, state.judged_on, state.last = began.offset, began.on, last
        state.reached = began.offset
        if began.offset > first:
            skipped = f"offsets {first} to {began.offset - 1} precede the oldest checkpoint"
            self._note(Finding(Weight.NOTE, "not judged", skipped, label_of(self.path)))
        self._shelf.begin(began, last)
        # A fault before the beginning keeps nothing from being judged.
        passed = [one for one in state.faults if one["offset"] < began.offset]
        state.faults = [one for one in state.faults if one not in passed]
        state.notes += [one["finding"] for one in passed]

    def _begin_anew(self) -> None:
        """Judge again from offset 0 if the checkpoint before the whole log has come only now."""
        state = self.state
        if self._first is None or state.start != 0 or state.judged_on is not None:
            return
        if state.bases[0].offset != 0 or state.phase == LOST:
            return
        began = beginning_on(self._first, self._loading, self._note)
        if began is not None and state.reached is not None:
            state.judged_on = began.on
            self._shelf.begin_anew(began)
            self._return_to(state.reached, behind=1)

    def _drain(self) -> None:
        """Take in order the batches that follow, and stop at a fault that no batch covers."""
        state = self.state
        while state.reached is not None and state.phase != LOST:
            one = self._waiting.take(state.reached)
            met = [each for each in state.faults if each["offset"] <= state.reached]
            fault = min(met, key=lambda each: int(each["offset"]), default=None)
            if one is not None and one.offset < state.reached:
                self._known(one)
            elif one is not None:
                self._judge(one.path, one.batch)
            elif fault is not None and fault["offset"] < state.reached:
                state.faults.remove(fault)
                self._note_row(fault["finding"])
            elif fault is not None and state.phase == JUDGING:
                state.phase, state.fault = STOPPED, fault
            else:
                break

    def _hold(self, came: CheckpointCame) -> int | None:
        """Hold a checkpoint; return its end if the history has passed that, and can go back."""
        state = self.state
        found = checkpoint_at(label_of(came.path))
        if found is None or found.end_offset == 0 or state.phase == LOST:
            return None
        end = found.end_offset
        if state.reached is not None and self._shelf.base_for(end - 1) is None:
            state.uncompared += came.path != state.judged_on
            return None
        self._shelf.hold(came.path, end, found.epoch, came.content)
        return end if state.reached is not None and end <= state.reached else None

    def _lose(self, detail: str) -> None:
        self.state.unjudged += self._waiting.forget()
        self.state.phase = LOST
        self._note(Finding(Weight.INCONCLUSIVE, "not judged", detail, label_of(self.path)))

    def _note(self, finding: Finding) -> None:
        """Note a finding: of one kind in a file the first, or the latest if it is only a note."""
        self._note_row(finding_row(finding))

    def _note_row(self, row: dict[str, Any]) -> None:
        notes = self.state.notes
        same = [one for one in notes if all(one[name] == row[name] for name in _ALIKE)]
        if same and row["weight"] != Weight.NOTE.value:
            return
        for one in same:
            notes.remove(one)
        notes.append(row)

    def _shelve(self) -> None:
        """Keep the batches that were judged in this trigger."""
        for path, found in groupby(self._judged, key=lambda one: one[0]):
            self._shelf.keep((batch for _, batch in found), path)
        self._judged = []

    def _finish(self) -> None:
        """Write down what this trigger has led to."""
        state = self.state
        if state.reached is None and state.phase == JUDGING and len(self._waiting):
            self._begin()
        self._drain()
        self._meet_first_fault()
        self._shelve()
        if self._live is not None:
            outcome = self._live.outcome()
            if self._live.stopped:
                self._stop(outcome.stopped_at)
            elif state.phase == JUDGING or state.fault in state.faults:
                self._shelf.save(self._live)
            state.records = outcome.records
            state.said = self._told(outcome)
        if state.phase == STOPPED and state.fault is None:
            state.unjudged += self._waiting.forget()
        elif self._waiting.bytes > WAITING_BYTES:
            self._lose(
                f"{self.missing() or 'a fault is not mended'}, and more than"
                f" {WAITING_BYTES >> 20} MiB wait for that: the watch judges this directory no"
                " further, audit it"
            )
        self._waiting.put()

    def _stop(self, offset: int | None) -> None:
        """Stop at what the history has found: no file that comes again mends that."""
        state = self.state
        if state.fault is not None:
            self._note_row(state.fault["finding"])
        state.phase, state.stopped_at, state.fault = STOPPED, offset, None

    def _meet_first_fault(self) -> None:
        """Stop at a fault before all batches that have come: the history cannot begin behind it."""
        state = self.state
        if state.reached is not None or state.phase != JUDGING or not state.faults:
            return
        fault = min(state.faults, key=lambda one: int(one["offset"]))
        if not len(self._waiting) or fault["offset"] <= self._waiting.first:
            state.phase, state.fault = STOPPED, fault

    def findings(self) -> list[dict[str, Any]]:
        """Return all that is to be said of the directory now."""
        state = self.state
        found = [*state.said, *([] if state.fault is None else [state.fault["finding"]])]
        found += [one for one in state.notes if one not in found]
        missing = self.missing()
        if missing is not None:
            path = label_of(self.path)
            found.append(finding_row(Finding(Weight.INCONCLUSIVE, "waiting", missing, path)))
        return found
