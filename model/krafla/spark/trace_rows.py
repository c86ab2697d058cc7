"""The steps of traces as Arrow's batches."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.decode import trace_in
from krafla.pipeline.faults import Fault, fault_of, sentence
from krafla.spark.source_tables import Share, Told, as_batches, told_copy
from krafla.traces.changes import step_changes
from krafla.values import fmt
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError, printable
from kraft.log.files import bytes_of_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.sources import Source
    from krafla.pipeline.storage import Storage
    from krafla.testing import Trace
    from kraft.records.limits import Limits

__all__ = ["STEPS", "TRACE_SCHEMAS", "trace_batches"]

STEPS: Final = "steps"
_QUARANTINE: Final = "quarantine"
_TEXT: Final = pa.string()
TRACE_SCHEMAS: Final[dict[str, pa.Schema]] = {
    STEPS: pa.schema(
        {
            "path": _TEXT,
            "file_id": _TEXT,
            "spec": _TEXT,
            "step": pa.int32(),
            "action": _TEXT,
            "parameters": pa.list_(_TEXT),
            "changes": pa.list_(_TEXT),
            "state": pa.map_(_TEXT, _TEXT),
        }
    ),
    _QUARANTINE: pa.schema(
        {"path": _TEXT, "file_id": _TEXT, "stage": _TEXT, "reason": _TEXT, "place": _TEXT}
    ),
}
"""The columns of each table. Step 0 is the first state; `state` has the variables that are known,
as TLA+ writes them."""


def trace_batches(
    storage: Storage, source: Source, table: str, fails: bool, limits: Limits
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one trace in one table; `KraflaError` for a fault if ``fails``."""
    told = Told()
    fault: Fault | None = None
    trace: Trace | None = None
    try:
        with told_copy(storage, Share(source), limits, told) as copy:
            path = Path(PurePosixPath(source.path).name)
            trace = trace_in(bytes_of_stream(path, copy, limits))
    except (CorruptRecordError, UnreadableFileError, KraflaError) as error:
        fault = fault_of(error, "open" if told.sha256 is None else "decode")
    if fault is not None and fails and table == STEPS:
        raise KraflaError(sentence(fault.reason, fault.place), printable(source.path))
    if table == STEPS and trace is not None:
        yield from as_batches(_steps(trace, source, told), TRACE_SCHEMAS[STEPS])
    if table == _QUARANTINE and fault is not None:
        row = {"path": printable(source.path), "file_id": told.file_id, **asdict(fault)}
        yield pa.RecordBatch.from_pylist([row], TRACE_SCHEMAS[_QUARANTINE])


def _steps(trace: Trace, source: Source, told: Told) -> Iterator[tuple[Any, ...]]:
    for index, step in enumerate(trace.steps):
        known = None if step.parameters is None else [fmt(value) for value in step.parameters]
        changes = [str(change) for change in step_changes(trace, index)] if index else []
        state = [(str(name), fmt(value)) for name, value in step.state.items()]
        yield (
            source.path, told.file_id, trace.spec, index, step.action, known, changes, state
        )  # fmt: skip
