"""Files that nobody should be able to read to their end, each with a word of the reason for it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from kraft.log.segment import iter_batches

TRACE = Path(__file__).parents[3] / "traces/accepted/lease/register-and-unfence.ndjson"
LOG = "00000000000000000000.log"
BOMB_BYTES = 8 * 1024 * 1024


def poison(folder: Path, log: Path) -> dict[Path, str]:
    """Write one file of every kind of poison below a folder; return a word of each reason."""
    found: dict[Path, str] = {}

    def put(name: str, content: bytes, reason: str) -> None:
        path = folder / str(len(found)) / "__cluster_metadata-0" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        found[path] = reason

    whole = log.read_bytes()
    second = list(iter_batches(log))[1]
    flipped = bytearray(whole)
    flipped[second.position + second.size - 1] ^= 1
    put(LOG, bytes(flipped), "CRC-32C")
    put(LOG, b"\xff" * 200, "length")
    put(LOG, whole[:40] + whole[second.position :], "")
    put(LOG, whole[: second.position] + whole, "overlap")
    put(f"{LOG}.gz", gzip.compress(whole)[:-20], "gzip")
    put(f"{LOG}.gz", b"no gzip at all", "gzip")
    put(f"{LOG}.gz", gzip.compress(bytes(BOMB_BYTES)), "more than")
    put("00000000000000000007-0000000001.checkpoint", whole, "checkpoint")
    put("quorum-state", b"{", "")
    put("leader-epoch-checkpoint", b"\xff\xfe", "UTF-8")
    put("server.log", b"[2026-01-01 00:00:00,000] INFO \xff\xfe (kafka)\n", "UTF-8")
    put("server.log", b"x" * 600_000, "line 1")
    put("server.log.gz", gzip.compress(b"a line\n" * (BOMB_BYTES // 7)), "more than")
    put("cut.ndjson", TRACE.read_bytes()[:-30], "")
    put("old.ndjson", b'{"krafla_trace": 0}\n', "format")
    put("deep.ndjson", b"[" * 100_000 + b"\n", "")
    put("empty.ndjson", b"", "empty")
    fifo = folder / "fifo" / "__cluster_metadata-0" / LOG
    fifo.parent.mkdir(parents=True)
    os.mkfifo(fifo)
    found[fifo] = "not a regular file"
    lost = folder / "lost" / "gone.ndjson"
    lost.parent.mkdir()
    lost.symlink_to("nowhere")
    found[lost] = "no such file"
    return found
