"""The inventory of one metadata log directory: batches, checkpoints, faults.

A first pass over the files checks framing, CRC, order and continuity. For each batch it keeps the
base offset and one number made of epoch and CRC, which tell whether two nodes have the same batch:
the CRC covers attributes, record count and records.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.image import METADATA_VERSION
from krafla.audit.invariants_log import EPOCHS_STAY, OFFSETS_CONTINUE
from krafla.audit.result import Finding, Weight, evidence_of
from krafla.counted import counted
from kraft.errors import (
    CorruptRecordError,
    DiscontinuityError,
    EpochFallsError,
    UnreadableFileError,
)
from kraft.log.checkpoint import read_checkpoint
from kraft.log.directory import read_metadata_log
from kraft.log.findings import FindingKind
from kraft.log.tail import BYTES_NOT_READ
from kraft.log.text_files import read_leader_epochs, read_meta_properties, read_quorum_state
from kraft.records.control_schemas import LEADER_CHANGE
from kraft.records.metadata_schemas import FEATURE_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kraft.log.checkpoint import Checkpoint
    from kraft.log.directory import MetadataLog
    from kraft.log.findings import Finding as LogFinding
    from kraft.records.batch import RecordBatch

_EPOCH_SHIFT: Final = 32


class Leader(NamedTuple):
    """The leader of an epoch, by the LeaderChangeMessage at an offset, and its voters.

    `granting` are those that voted for it.
    """

    epoch: int
    node_id: int
    offset: int
    voters: frozenset[int] = frozenset()
    granting: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Inventory:
    """One directory after the first pass.

    `offsets` has each batch's base offset, then the log's end offset; `marks` has each batch's
    epoch and CRC as one number. Both end where a log is broken. `torn` says that the last file ends
    inside a batch: the log then ends before that batch. `fetched` are the checkpoints of another
    log than this one, which the next start drops.
    """

    log: MetadataLog
    cluster_id: str | None
    node_id: int | None
    offsets: array[int]
    marks: array[int]
    records: int
    findings: tuple[Finding, ...]
    leaders: tuple[Leader, ...] = ()
    torn: bool = False
    fetched: tuple[Checkpoint, ...] = ()

    @property
    def path(self) -> Path:
        """The directory."""
        return self.log.directory

    @property
    def first(self) -> int:
        """The offset of the first record in the segments."""
        return self.offsets[0]

    @property
    def end(self) -> int:
        """The offset after the last whole batch."""
        return self.offsets[-1]

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The checkpoints in order of their end offsets, except those `fetched`."""
        return tuple(one for one in self.log.checkpoints if one not in self.fetched)

    def epoch_at(self, index: int) -> int:
        """Return the epoch of a batch."""
        return self.marks[index] >> _EPOCH_SHIFT

    def epoch_of(self, offset: int) -> int:
        """Return the epoch of the record at an offset of the log."""
        return self.epoch_at(bisect_right(self.offsets, offset) - 1)


def take_inventory(log: MetadataLog) -> Inventory:
    """Return the inventory of a directory; what cannot be read is among its findings."""
    findings: list[Finding] = []
    cluster_id, node_id = _identity(log, findings)
    offsets, marks = array("q"), array("Q")
    noticed: list[LogFinding] = []
    leaders: list[Leader] = []
    end = records = 0
    try:
        for batch in read_metadata_log(log, findings=noticed):
            leaders += leaders_of(batch)
            offsets.append(batch.base_offset)
            marks.append(batch.leader_epoch << _EPOCH_SHIFT | batch.crc)
            end = batch.next_offset
            records += batch.count
    except (CorruptRecordError, UnreadableFileError) as error:
        findings.append(unreadable(error, log))
    if not offsets and log.checkpoints:
        end = log.checkpoints[-1].end_offset
    offsets.append(end)
    findings += map(_note, noticed)
    for path, reader in (
        (log.quorum_state, read_quorum_state),
        (log.leader_epochs, read_leader_epochs),
        (log.bootstrap, _read_bootstrap),
    ):
        _check_readable(path, reader, findings)
    torn = any(one.kind is FindingKind.TORN_TAIL for one in noticed)
    return Inventory(
        log, cluster_id, node_id, offsets, marks, records, tuple(findings), tuple(leaders), torn
    )


def unreadable(
    error: CorruptRecordError | UnreadableFileError, log: MetadataLog | None = None
) -> Finding:
    """Return the finding about a reader's error; in a `log` with what is not judged after it.

    An offset that does not continue the log, or an epoch that falls, is a violation: the batches
    on both sides are whole.
    """
    rest = "" if log is None else _rest(error, log)
    if isinstance(error, DiscontinuityError):
        broken = EPOCHS_STAY if isinstance(error, EpochFallsError) else OFFSETS_CONTINUE
        return Finding(
            Weight.VIOLATION,
            broken.id,
            f"{error.reason}{rest}",
            error.path,
            error.position,
            error.base_offset,
            evidence_of(broken),
        )
    if isinstance(error, UnreadableFileError):
        return Finding(Weight.UNREADABLE, "unreadable", f"{error.reason}{rest}", error.path)
    reason = error.reason if error.field is None else f"{error.reason} (field {error.field})"
    offset = error.base_offset if error.offset is None else error.offset
    return Finding(
        Weight.UNREADABLE, "corrupt", f"{reason}{rest}", error.path, error.position, offset
    )


def _rest(error: CorruptRecordError | UnreadableFileError, log: MetadataLog) -> str:
    """Return in words how much of a log lies behind an error, and is not judged."""
    paths = [segment.path for segment in log.segments]
    if isinstance(error, UnreadableFileError) or error.path not in paths:
        return ""
    behind: list[str] = []
    if error.position is not None and not error.reason.endswith(BYTES_NOT_READ):
        with suppress(OSError):
            # The size of a compressed file does not tell how much is in it.
            if error.path.suffix != ".gz":
                size = error.path.stat().st_size
                behind.append(f"{counted(size - error.position, 'byte')} of the file")
    later = len(paths) - 1 - paths.index(error.path)
    if later:
        behind.append(counted(later, "later segment"))
    return f"; nothing from there on is judged: {' and '.join(behind)}" if behind else ""


def leaders_of(batch: RecordBatch) -> list[Leader]:
    """Return the leaders that a batch names; the judge reports an unreadable control record."""
    try:
        found = batch.control_records()
    except CorruptRecordError:
        return []
    return [
        Leader(batch.leader_epoch, record.fields["leaderId"], record.offset,
               *(frozenset(voter["voterId"] for voter in record.fields[name])
                 for name in ("voters", "grantingVoters")))
        for record in found if record.control_type == LEADER_CHANGE.api_key
    ]  # fmt: skip


def _identity(log: MetadataLog, findings: list[Finding]) -> tuple[str | None, int | None]:
    if log.meta_properties is None:
        return None, None
    try:
        meta = read_meta_properties(log.meta_properties)
    except (CorruptRecordError, UnreadableFileError) as error:
        findings.append(unreadable(error))
        return None, None
    return meta.cluster_id, meta.node_id


def _check_readable(
    path: Path | None, reader: Callable[[Path], object], findings: list[Finding]
) -> None:
    if path is None:
        return
    try:
        reader(path)
    except (CorruptRecordError, UnreadableFileError) as error:
        findings.append(unreadable(error))


def _read_bootstrap(path: Path) -> None:
    """Read the records from which a log begins; Kafka does so at each start.

    Raises UnreadableFileError, or CorruptRecordError or a subclass, also if no record names
    metadata.version: then Kafka does not start.

    Kafka: BootstrapDirectory.read, BootstrapMetadata.fromRecords.
    """
    records = [record for batch in read_checkpoint(path) for record in batch.metadata_records()]
    features = [record.fields for record in records if record.api_key == FEATURE_LEVEL.api_key]
    if not any(fields["name"] == METADATA_VERSION for fields in features):
        raise CorruptRecordError(f"no record names {METADATA_VERSION}", path=path)


def _note(finding: LogFinding) -> Finding:
    """Return a reader's finding as a note; a file that changed meanwhile is inconclusive."""
    doubt = finding.kind is FindingKind.FILE_CHANGED
    return Finding(
        Weight.INCONCLUSIVE if doubt else Weight.NOTE,
        finding.kind.value,
        finding.detail,
        finding.path,
        finding.position,
    )
