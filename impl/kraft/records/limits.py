"""Limits on the sizes that a reader accepts before it allocates anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024


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
