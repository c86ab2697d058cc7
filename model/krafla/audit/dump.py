"""A metadata log as text, line by line as Kafka's dump tool prints it.

Unlike that tool, this hides secrets unless told otherwise, lets no byte control a terminal and
checks the log strictly: a broken log ends in a typed error, a torn one in TornTailError.

Kafka: DumpLogSegments with `--cluster-metadata-decoder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.redact import redacted
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError, printable
from kraft.log.checkpoint import BOOTSTRAP_NAME, checkpoint_at, read_checkpoint
from kraft.log.directory import find_metadata_logs
from kraft.log.segment import iter_batches, segment_at
from kraft.records.dump_text import batch_line, control_text, payload_text, record_start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROKEN_INPUT: Final = (CorruptRecordError, UnreadableFileError)
"""The errors, with their subclasses, that a dump raises for a bad input."""
HEADLINE: Final = "Dumping "
"""How the line begins that names a file, before anything of it was read."""


def dump_lines(path: Path, *, show_secrets: bool = False) -> Iterator[str]:
    """Yield the lines of a dump, without line ends.

    `path` is a segment, a checkpoint, or a directory with metadata logs at or below it; of these
    every checkpoint and segment is dumped. Raises one of BROKEN_INPUT after the lines before the
    fault.
    """
    if path.is_dir():
        logs = find_metadata_logs(path)
        if not logs:
            raise KraflaError("no metadata log: no .log or .checkpoint in it or below", str(path))
        for log in logs:
            checkpoints = [checkpoint.path for checkpoint in log.checkpoints]
            for file in sorted([*checkpoints, *(segment.path for segment in log.segments)]):
                yield from _file_lines(file, show_secrets=show_secrets)
    else:
        yield from _file_lines(path, show_secrets=show_secrets)


def _file_lines(path: Path, *, show_secrets: bool) -> Iterator[str]:
    segment, checkpoint = segment_at(path), checkpoint_at(path)
    yield f"{HEADLINE}{printable(str(path))}"
    if checkpoint is not None:
        yield f"Snapshot end offset: {checkpoint.end_offset}, epoch: {checkpoint.epoch}"
        batches = read_checkpoint(path)
    elif segment is not None:
        yield f"Log starting offset: {segment.base_offset}"
        batches = iter_batches(path)
    elif path.name == BOOTSTRAP_NAME:
        yield "KRaft bootstrap snapshot"
        batches = read_checkpoint(path)
    else:
        raise CorruptRecordError("not the name of a log segment or a checkpoint", path=path)
    for batch in batches:
        yield batch_line(batch)
        for control in batch.control_records():
            yield f"{record_start(batch, control, len(control.key))} {control_text(control)}"
        for record in batch.metadata_records():
            fields = record.fields if show_secrets else redacted(record.api_key, record.fields)
            yield f"{record_start(batch, record)} payload: {payload_text(record, fields)}"
