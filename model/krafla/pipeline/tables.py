"""The tables of an ingest, column by column; docs/internals/pipeline.md explains them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.columns import COLUMNS

__all__ = ["BATCHES", "CONTENT", "EVENTS", "FILES", "QUARANTINE", "RECORDS", "SCHEMAS"]

BATCHES: Final = "batches"
RECORDS: Final = "records"
EVENTS: Final = "events"
QUARANTINE: Final = "quarantine"
FILES: Final = "files"
CONTENT: Final = "content"


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
        file_id=pa.string(),
        path=pa.string(),
        kind=pa.string(),
        bytes=pa.int64(),
        sha256=pa.string(),
        status=pa.string(),
        note=pa.string(),
        batches=pa.int64(),
        records=pa.int64(),
        events=pa.int64(),
    ),
    CONTENT: _schema(file_id=pa.string(), piece=pa.int32(), bytes=pa.binary()),
}
