"""Limits on the size of a trace, which may come from an untrusted source.

They are checked before a trace costs much. Each limit is far above the need of a protocol's trace
and far below what would do harm: the largest file within all limits is read in some hundreds of
megabytes of memory.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "MAX_BYTES",
    "MAX_CELLS",
    "MAX_COUNTER",
    "MAX_DEPTH",
    "MAX_DOCUMENT",
    "MAX_HIDDEN",
    "MAX_INTEGER",
    "MAX_LINE",
    "MAX_MEMBERS",
    "MAX_NAME",
    "MAX_RATIO",
    "MAX_STEPS",
    "MAX_TEXT",
    "MIN_INTEGER",
    "RATIO_FROM_BYTES",
]

# A whole file after decompression: 10,000 steps of the broker lease take about 4 MB.
MAX_BYTES: Final = 128 * 1024 * 1024
# A file with one JSON document, which is parsed at once: 10,000 steps take about 16 MB.
MAX_DOCUMENT: Final = 48 * 1024 * 1024
# One line, in characters: the plan of a simulated run of 10,000 choices is about 1 MB.
MAX_LINE: Final = 4 * 1024 * 1024
# Steps, or observations.
MAX_STEPS: Final = 100_000
# Values within values. TLC's own values of protocols have five or six levels.
MAX_DEPTH: Final = 64
# TLC computes with Java's int: it cannot judge a state with a number outside it.
MIN_INTEGER: Final = -(2**31)
MAX_INTEGER: Final = 2**31 - 1
# Times in ms and ids of messages, with which no spec computes: exact in any JSON reader.
MAX_COUNTER: Final = 2**53 - 1
# One string of a value, in characters.
MAX_TEXT: Final = 65_536
# Names of modules, variables, constants and actions.
MAX_NAME: Final = 200
# Hidden steps in a row that a trace has a search follow.
MAX_HIDDEN: Final = 200
# Members of one set, sequence, function or record.
MAX_MEMBERS: Final = 65_536
# Parts of values copied by lines of changes: a short line may change a huge function.
MAX_CELLS: Final = 10_000_000
# A higher compression ratio is refused as a bomb. The ratio of traces is 15 to 60.
MAX_RATIO: Final = 250
# Below this size a bomb does no harm, and short files may compress well.
RATIO_FROM_BYTES: Final = 16 * 1024 * 1024
