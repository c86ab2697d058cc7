"""``kraft dump-log``: the batches and records of metadata logs and checkpoints, as text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraft.errors import CorruptRecordError, UnreadableFileError, printable
from kraft.log.checkpoint import BOOTSTRAP_NAME, checkpoint_at
from kraft.log.segment import iter_batches, segment_at
from kraft.records.dump_text import batch_line, control_text, payload_text, record_start
from kraft.tools.guard import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraft.records.batch import RecordBatch


def command(
    files: Annotated[
        str, typer.Option("--files", metavar="FILE,FILE,...", help="Logs and checkpoints to dump.")
    ],
    cluster_metadata_decoder: Annotated[
        bool, typer.Option("--cluster-metadata-decoder", help="Print what the records say.")
    ] = False,
    deep_iteration: Annotated[
        bool, typer.Option("--deep-iteration", help="Print a line for each record.")
    ] = False,
    skip_record_metadata: Annotated[
        bool,
        typer.Option("--skip-record-metadata", help="Of each record print the payload only."),
    ] = False,
) -> None:
    r"""Dump metadata logs as DumpLogSegments does: batches, and records on request.

    Everything is printed, as Kafka prints it: credentials, tokens and passwords, too. To have them
    withheld, use `krafla dump`. A file that is broken or ends inside a batch is dumped up to there;
    one line then names the byte, and the exit status is 2.

    \b
    Examples:
      kraft dump-log --cluster-metadata-decoder --files 00000000000000000000.log
      kraft dump-log --cluster-metadata-decoder --skip-record-metadata --files a.log,b.log
    """
    is_deep = cluster_metadata_decoder or deep_iteration
    problems = []
    for name in files.split(","):
        lines = file_lines(
            Path(name),
            is_deep=is_deep,
            is_decoded=cluster_metadata_decoder,
            has_metadata=not skip_record_metadata,
        )
        try:
            for line in lines:
                sys.stdout.write(f"{line}\n")
        except (CorruptRecordError, UnreadableFileError) as error:
            problems.append(str(error))
    if problems:
        raise ToolError("; ".join(problems))


def file_lines(
    path: Path, *, is_deep: bool, is_decoded: bool, has_metadata: bool = True
) -> Iterator[str]:
    """Yield the lines of one file, without line ends.

    `is_deep` asks for records, `is_decoded` for their fields, `has_metadata` for their offsets,
    times and sizes. Raises CorruptRecordError or a subclass, or UnreadableFileError, after the
    lines of everything before the fault. Kafka: DumpLogSegments.dumpLog.
    """
    segment, checkpoint = segment_at(path), checkpoint_at(path)
    yield f"Dumping {printable(str(path))}"
    if checkpoint is not None:
        yield f"Snapshot end offset: {checkpoint.end_offset}, epoch: {checkpoint.epoch}"
    elif segment is not None:
        yield f"Log starting offset: {segment.base_offset}"
    elif path.name == BOOTSTRAP_NAME:
        yield "KRaft bootstrap snapshot"
    else:
        raise CorruptRecordError("not the name of a log segment or a checkpoint", path=path)
    for batch in iter_batches(path):
        yield batch_line(batch)
        if is_deep:
            yield from _record_lines(batch, is_decoded=is_decoded, has_metadata=has_metadata)


def _record_lines(batch: RecordBatch, *, is_decoded: bool, has_metadata: bool) -> Iterator[str]:
    for control in batch.control_records():
        if has_metadata:
            yield f"{record_start(batch, control, len(control.key))} {control_text(control)}"
        else:
            # Kafka prints only the end of the line here.
            yield ""
    for record in batch.metadata_records():
        start = record_start(batch, record) if has_metadata else ""
        yield f"{start} payload: {payload_text(record)}" if is_decoded else start
