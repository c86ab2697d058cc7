"""One metadata record as the JSON Kafka prints for it, secrets withheld."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit.redact import redacted
from kraft.records.dump_text import payload_text

if TYPE_CHECKING:
    from kraft.records.record import MetadataRecord


def record_text(record: MetadataRecord) -> str:
    """Return `{"type": ..., "version": ..., "data": {...}}` on one line."""
    return payload_text(record, redacted(record.api_key, record.fields))
