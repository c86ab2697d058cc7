"""Limits of the wire: the sizes that Kafka's serializer writes, and those that a reader accepts.

An array has no limit of its own in Kafka; a reader compares its length with what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024
MAX_STRING_BYTES: Final = 2**15 - 1
"""The longest string of a record or a request, in bytes of UTF-8.

Kafka: MessageDataGenerator, which writes the `addSize` and `read` methods of messages.
"""
MAX_BATCH_BYTES: Final = 8 * MIB
"""The largest batch of the metadata log. Kafka: KafkaRaftClient.MAX_BATCH_SIZE_BYTES."""
MAX_RECORDS_PER_BATCH: Final = 10_000
"""Kafka cuts a longer operation here unless it must be atomic.

Kafka: QuorumController.DEFAULT_MAX_RECORDS_PER_BATCH.
"""
MAX_RECORDS_PER_USER_OP: Final = 10_000
"""The most records of one user's request. Kafka: QuorumController.MAX_RECORDS_PER_USER_OP."""
# No character takes more bytes of UTF-8.
_MOST_BYTES: Final = 4


def is_too_long(text: str) -> bool:
    """Return whether Kafka's serializer refuses this string.

    It counts half a surrogate pair as one byte, as Java writes a question mark for it.
    """
    if len(text) * _MOST_BYTES <= MAX_STRING_BYTES:
        return False
    return len(text.encode("utf-8", "replace")) > MAX_STRING_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps in bytes; `expansion` is how many times its size a compressed batch may grow.

    Small batches may grow up to `free_expansion_bytes` whatever the proportion. Kafka's own batches
    of metadata hold at most 8 MiB.
    """

    batch_bytes: int = 64 * MIB
    decompressed_bytes: int = 64 * MIB
    expansion: int = 256
    free_expansion_bytes: int = MIB
    file_bytes: int = 4096 * MIB
    small_file_bytes: int = MIB

    def output_cap(self, compressed_bytes: int) -> int:
        """Return how many bytes `compressed_bytes` may decompress to."""
        proportional = max(compressed_bytes * self.expansion, self.free_expansion_bytes)
        return min(proportional, self.decompressed_bytes)


DEFAULT_LIMITS: Final = Limits()
