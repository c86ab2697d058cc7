"""A history replayed for the state that its records lead to, and not judged.

As long as all records are legal, it has at each batch the state that a judged history has. Nearly
every record of a large log changes a partition, in a way that is known from an earlier record; many
such changes are replayed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from krafla.audit.change_records import ChangeRun, change_runs
from krafla.audit.checks import UNJUDGED, Checks
from krafla.audit.history import History, may_go_on
from krafla.audit.mapping import STATE_API_KEYS
from kraft.records.lease import BrokerRegistrationChangeRecord, lease_record
from kraft.records.metadata_schemas import NO_OP, PARTITION_CHANGE

if TYPE_CHECKING:
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

    Items = list["KnownRun | MetadataRecord"]

_SIMPLE: Final = STATE_API_KEYS | {NO_OP.api_key}
"""Records that may stand among partition changes in a batch that is replayed quickly."""


class KnownRun(NamedTuple):
    """Changes that follow each other, and their distinct tails, which are decoded."""

    changes: ChangeRun
    kinds: set[bytes]


class Replay(History):
    """A history that is replayed: `add` and `replay` lead to the same state."""

    checks: ClassVar[Checks] = UNJUDGED

    def replay(self, batch: RecordBatch) -> None:
        """Replay the next batch. Raises as `add` does, though it sees fewer faults."""
        items = self._items(batch) if self._is_plain(batch) else None
        if items is None:
            self.add(batch)
            return
        state, specs = self._state, self._specs
        self._batch = batch
        state.begin_batch(batch)
        specs.begin_batch(batch, goes_on=False)
        records = [item for item in items if not isinstance(item, KnownRun)]
        counts = {(record.api_key, record.version): 1 for record in records}
        specs.note_records(batch, records, {**counts, (PARTITION_CHANGE.api_key, 0): 1})
        self._replay_items(batch, items)
        state.metadata_version = state.image.metadata_version
        state.records += batch.count
        state.end = batch.next_offset
        if not self._findings:
            self._settle(batch)
            self._compare(batch.next_offset)
        if self._findings or specs.waits_long:
            self._findings = specs.take(self._findings)

    def _is_plain(self, batch: RecordBatch) -> bool:
        """Return whether a batch may be a whole operation that changes only partitions."""
        state = self._state
        return (
            not (batch.is_control or state.is_cut or state.begins or state.features)
            and not may_go_on(batch)
            and batch.leader_epoch == state.epoch
            and state.image.before_transaction() is None
        )

    def _items(self, batch: RecordBatch) -> Items | None:
        """Return the records of a batch that can be replayed quickly, None if it cannot."""
        runs = change_runs(batch.record_bytes(), batch.count)
        if runs is None:
            return None
        items: Items = []
        for item in runs:
            if isinstance(item, ChangeRun):
                kinds = self._state.image.changes.kinds(item)
                if kinds is None:
                    return None
                items.append(KnownRun(item, kinds))
                continue
            record = batch.metadata_record_at(batch.base_offset + item.number, item.place)
            if not _is_simple(record):
                return None
            items.append(record)
        return items

    def _replay_items(self, batch: RecordBatch, items: Items) -> None:
        unsaid, trailing = batch.base_offset, 0
        for item in items:
            if isinstance(item, KnownRun):
                self._replay_run(batch, *item)
                trailing += len(item.changes.keys)
            elif item.api_key in STATE_API_KEYS:
                self._specs.say_run(batch, unsaid, item.offset, trailing)
                unsaid, trailing = item.offset + 1, 0
                self._judge_and_replay(item)
            else:
                trailing = 0
            if self._findings:
                return
        self._specs.say_run(batch, unsaid, batch.next_offset, trailing)

    def _replay_run(self, batch: RecordBatch, run: ChangeRun, kinds: set[bytes]) -> None:
        """Replay changes that follow each other: the first of each kind as `add` does."""
        image = self._state.image
        fresh = image.partitions.replay(run.keys, run.tails, kinds)
        if fresh == []:
            return
        if fresh is None or (image.elr_enabled and self._has_eligible(run, fresh)):
            indexes = range(run.begin, run.begin + len(run.keys))
            self._change(batch, [*zip(indexes, run.keys, run.tails, strict=True)])
            return
        if self._change(batch, [(run.begin + at, run.keys[at], run.tails[at]) for at in fresh]):
            gone = set(fresh)
            left = [at for at in range(len(run.keys)) if at not in gone]
            again = image.partitions.replay(
                [run.keys[at] for at in left], [run.tails[at] for at in left], kinds
            )
            assert again == [], "each kind of change is known by now"

    def _has_eligible(self, run: ChangeRun, places: list[int]) -> bool:
        """Return whether an ELR may be emptied: then effects are forgotten within the operation."""
        states = self._state.image.partitions.states
        before = (states.get(run.keys[at]) for at in places)
        return any(state is not None and state.elr for state in before)

    def _settle(self, batch: RecordBatch) -> None:
        """End the operation, as a judged history does."""
        image = self._state.image
        self.checks.operation(self._state, batch)
        self._losses.forget()
        self._heartbeats.forget()
        image.forget_emptied()
        self._specs.end_operation(image, batch)


def _is_simple(record: MetadataRecord) -> bool:
    """Return whether a record may stand among changes; not if a broker reports directories."""
    if record.api_key not in _SIMPLE:
        return False
    if record.api_key == NO_OP.api_key:
        return True
    lease = lease_record(record.api_key, record.fields)
    if not isinstance(lease, BrokerRegistrationChangeRecord):
        return True
    return bool(lease.fenced or lease.in_controlled_shutdown) and not lease.log_dirs
