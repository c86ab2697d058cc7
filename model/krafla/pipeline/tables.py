"""The tables of an ingest, column by column; docs/internals/pipeline.md explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.columns import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = [
    *("BATCHES", "CONTENT", "COVERAGE", "EVENTS", "FILES", "FINDINGS", "QUARANTINE", "RECORDS"),
    *("SCHEMAS", "VERDICTS", "spark_schema"),
]

BATCHES: Final = "batches"
RECORDS: Final = "records"
EVENTS: Final = "events"
QUARANTINE: Final = "quarantine"
FILES: Final = "files"
CONTENT: Final = "content"
VERDICTS: Final = "verdicts"
FINDINGS: Final = "findings"
COVERAGE: Final = "coverage"


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, type_) for name, type_ in columns.items()])


SCHEMAS: Final[dict[str, pa.Schema]] = {
    BATCHES: _schema(
        file_id=pa.string(),
        position=pa.int64(),
        size=pa.int64(),
        base_offset=pa.int64(),
        last_offset=pa.int64(),
        leader_epoch=pa.int32(),
        records=pa.int32(),
        is_control=pa.bool_(),
        compression=pa.string(),
        base_timestamp_ms=pa.int64(),
        max_timestamp_ms=pa.int64(),
        crc=pa.int64(),
    ),
    RECORDS: _schema(
        file_id=pa.string(),
        offset=pa.int64(),
        batch_position=pa.int64(),
        timestamp_ms=pa.int64(),
        is_control=pa.bool_(),
        type=pa.string(),
        api_key=pa.int32(),
        version=pa.int32(),
        **COLUMNS,
        fields=pa.string(),
    ),
    EVENTS: _schema(
        file_id=pa.string(),
        line=pa.int64(),
        origin=pa.string(),
        time=pa.string(),
        level=pa.string(),
        source=pa.string(),
        action=pa.string(),
        detail=pa.string(),
    ),
    QUARANTINE: _schema(
        file_id=pa.string(),
        path=pa.string(),
        kind=pa.string(),
        bytes=pa.int64(),
        stage=pa.string(),
        reason=pa.string(),
        place=pa.string(),
    ),
    FILES: _schema(
        path=pa.string(),
        file_id=pa.string(),
        kind=pa.string(),
        bytes=pa.int64(),
        sha256=pa.string(),
        status=pa.string(),
        note=pa.string(),
        batches=pa.int64(),
        records=pa.int64(),
        events=pa.int64(),
        listed_bytes=pa.int64(),
        changed_ns=pa.int64(),
        load_number=pa.int32(),
        milliseconds=pa.int64(),
    ),
    CONTENT: _schema(
        file_id=pa.string(),
        name=pa.string(),
        kind=pa.string(),
        number=pa.int32(),
        position=pa.int64(),
        run=pa.int32(),
        is_last=pa.bool_(),
        before=pa.string(),
        first_offset=pa.int64(),
        content=pa.binary(),
    ),
    VERDICTS: _schema(
        cluster=pa.int32(),
        cluster_id=pa.string(),
        folder=pa.string(),
        path=pa.string(),
        node_id=pa.int32(),
        verdict=pa.string(),
        releases=pa.string(),
        batches=pa.int64(),
        records=pa.int64(),
        first_offset=pa.int64(),
        end_offset=pa.int64(),
        judged_from=pa.int64(),
        judged_to=pa.int64(),
        judged_records=pa.int64(),
        judged_on=pa.string(),
        torn_at=pa.int64(),
        checkpoints=pa.int32(),
        images=pa.int32(),
        same_history_as=pa.string(),
        document=pa.string(),
    ),
    FINDINGS: _schema(
        cluster=pa.int32(),
        directory=pa.string(),
        weight=pa.string(),
        kind=pa.string(),
        detail=pa.string(),
        path=pa.string(),
        line=pa.int64(),
        byte=pa.int64(),
        offset=pa.int64(),
        known_bug=pa.string(),
        evidence=pa.string(),
    ),
    COVERAGE: _schema(
        cluster=pa.int32(),
        cluster_id=pa.string(),
        what=pa.string(),
        name=pa.string(),
        reason=pa.string(),
        count=pa.int64(),
    ),
}


def spark_schema(table: str) -> StructType:
    """Return the columns of a table as Spark names them."""
    return as_spark(SCHEMAS[table])
