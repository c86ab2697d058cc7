"""Batches whose length is made right after a change of their bytes."""

from __future__ import annotations

from kraft.records.batch import LENGTH_OFFSET, LOG_OVERHEAD


def with_length(raw):
    """Return the batch `raw` with its length made right; the CRC does not cover it."""
    length = (len(raw) - LOG_OVERHEAD).to_bytes(4, "big")
    return raw[:LENGTH_OFFSET] + length + raw[LENGTH_OFFSET + 4 :]
