"""One metadata record as the JSON Kafka prints for it, secrets withheld."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit.record_json import fields_json
from krafla.audit.redact import redacted
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from kraft.records.record import MetadataRecord


def record_text(record: MetadataRecord) -> str:
    """Return `{"type": ..., "version": ..., "data": {...}}` on one line."""
    schema = METADATA_SCHEMAS[record.api_key]
    data = fields_json(schema.fields, record.version, redacted(record.api_key, record.fields))
    return f'{{"type":"{schema.name}","version":{record.version},"data":{data}}}'
