"""How large a trace may be. A trace may come from anybody; these are checked before it costs much.

Each limit is far above what a protocol's trace needs and far below what would harm: the largest
file within all of them is read in some hundreds of megabytes of memory.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "MAX_BYTES",
    "MAX_CELLS",
    "MAX_COUNTER",
    "MAX_DEPTH",
    "MAX_DOCUMENT",
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

# A whole file, after it was decompressed: 10,000 steps of the broker lease take about 4 MB.
MAX_BYTES: Final = 128 * 1024 * 1024
# A file that is one JSON document, which is parsed in one piece: 10,000 steps take about 16 MB.
MAX_DOCUMENT: Final = 48 * 1024 * 1024
# One line, in characters: the plan of a simulated run of 10,000 choices is about 1 MB.
MAX_LINE: Final = 4 * 1024 * 1024
# Steps, or observations.
MAX_STEPS: Final = 100_000
# Values within values. TLC's own values of protocols have five or six levels.
MAX_DEPTH: Final = 64
# TLC computes with Java's int: a number outside of it is in no state that TLC can judge.
MIN_INTEGER: Final = -(2**31)
MAX_INTEGER: Final = 2**31 - 1
# Times in milliseconds and ids of messages, which no spec computes with: exact in any JSON reader.
MAX_COUNTER: Final = 2**53 - 1
# One string of a value, in characters.
MAX_TEXT: Final = 65_536
# Names of modules, variables, constants and actions.
MAX_NAME: Final = 200
# Members of one set, sequence, function or record.
MAX_MEMBERS: Final = 65_536
# Parts of values that lines of changes copy: a short line may change one result of a huge function.
MAX_CELLS: Final = 10_000_000
# Text that shrinks more than this is no trace but a bomb. Traces shrink 15 to 60 times.
MAX_RATIO: Final = 250
# Below this size a bomb does no harm, and a file of few bytes may shrink much.
RATIO_FROM_BYTES: Final = 16 * 1024 * 1024
