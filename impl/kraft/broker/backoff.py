"""How long to wait before the next attempt: twice as long each time, with some jitter.

Kafka: ExponentialBackoff.
"""

from __future__ import annotations

from typing import Final

# 2**40 times any initial delay is past every maximum that a configuration can hold.
_EXPONENT_MAX: Final = 40
_MILLION: Final = 1_000_000
# Kafka has 0.02 for brokers and for controllers.
_JITTER_PER_MILLION: Final = 20_000


def backoff_ms(initial_ms: int, maximum_ms: int, attempts: int, chance: int) -> int:
    """Return milliseconds to wait after that many failed `attempts` before this one.

    `chance` is a number from 0 to 2**64 - 1, and moves the result by at most two hundredths.

    Kafka: ExponentialBackoff.backoff.
    """
    term = min(initial_ms << min(attempts, _EXPONENT_MAX), maximum_ms)
    shift = (chance * (2 * _JITTER_PER_MILLION + 1) >> 64) - _JITTER_PER_MILLION
    return min(term * (_MILLION + shift) // _MILLION, maximum_ms)
