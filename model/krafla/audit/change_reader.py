"""The reader of PartitionChangeRecords.

The bytes of a PartitionChangeRecord after its topic and partition are a short tail that repeats
thousands of times. Each distinct tail is decoded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.change_records import (
    CHANGE_START,
    KEY_END,
    KEY_START,
    MEMO_SIZE,
    Change,
    ChangeRun,
    UnusualError,
    ordinary_changes,
)
from krafla.audit.partition_state import PartitionChange, change_of
from krafla.audit.partitions import key_of
from kraft.errors import CorruptRecordError
from kraft.records.metadata_schemas import PARTITION_CHANGE
from kraft.records.value import decode_value

if TYPE_CHECKING:
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

_NO_TAIL: Final = b"\xff\xff"
"""No tail begins like this: it would say that there are thousands of tagged fields."""


class ChangeReader:
    """The reader of PartitionChangeRecords, which decodes each distinct tail once.

    The fields read have the same tags in every version, so a tail has one meaning. Whether it is
    well-formed also depends on the version. `is_unusual` says that the last batch may have records
    in another form than Kafka writes.
    """

    def __init__(self) -> None:
        self.meaning: dict[bytes, PartitionChange] = {}
        self.is_unusual = False
        self._known: set[tuple[bytes, bytes]] = set()

    def read(
        self,
        batch: RecordBatch,
        wanted: frozenset[int],
        counts: dict[tuple[int, int], int] | None = None,
    ) -> tuple[list[MetadataRecord], list[Change]]:
        """Return the records of a batch with a wanted api key, and its partition changes.

        All records are checked, and counted in `counts`, if given, by api key and version. Raises
        as `RecordBatch.metadata_records`.
        """
        if len(self.meaning) >= MEMO_SIZE:
            self.meaning.clear()
            self._known.clear()
        counts = {} if counts is None else counts
        quick = self._quickly(batch)
        self.is_unusual = quick is None
        changes, version = quick or (None, 0)
        if changes is not None and len(changes) == batch.count:
            counts[PARTITION_CHANGE.api_key, version] = batch.count
            return [], changes
        records = batch.metadata_records(wanted, counts)
        expected = sum(n for (key, _), n in counts.items() if key == PARTITION_CHANGE.api_key)
        if changes is None or len(changes) != expected:
            changes = self._by_the_book(batch)
        return records, changes

    def kinds(self, run: ChangeRun) -> set[bytes] | None:
        """Return the distinct tails of a run, all decoded; None if one is not well-formed."""
        found = set(run.tails)
        if not self.meaning.keys() >= found:
            for tail, key in dict(zip(run.tails, run.keys, strict=True)).items():
                if tail not in self.meaning:
                    try:
                        self._learn(run.head, key, tail)
                    except CorruptRecordError:
                        return None
        return found

    def _quickly(self, batch: RecordBatch) -> tuple[list[Change], int] | None:
        """Return the changes in a batch and their version, None if only a full decode can tell."""
        try:
            found, tails, head = ordinary_changes(batch.record_bytes(), batch.count)
            for tail, key in tails.items():
                if (head, tail) not in self._known:
                    self._learn(head, key, tail)
        except (IndexError, UnusualError, CorruptRecordError):
            return None
        return found, head[KEY_START - 1] if found else 0

    def _by_the_book(self, batch: RecordBatch) -> list[Change]:
        changes = []
        for record in batch.metadata_records(frozenset({PARTITION_CHANGE.api_key})):
            key, tail = key_of(record.fields), _tail(record.value)
            self.meaning[tail] = change_of(record.fields)
            changes.append((record.offset - batch.base_offset, key, tail))
        return changes

    def _learn(self, head: bytes, key: bytes, tail: bytes) -> None:
        self.meaning[tail] = change_of(decode_value(head + key + tail).fields)
        self._known.add((head, tail))


def _tail(value: bytes) -> bytes:
    """Return the tail of a checked value; an unusual encoding gets a tail of its own."""
    if value.startswith(CHANGE_START) and value[KEY_START - 1] < 0x80:
        return value[KEY_END:]
    return _NO_TAIL + value
