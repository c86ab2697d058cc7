"""Integer random numbers: the same on every machine, in every release of Python.

There is no single stream. Each concern derives its own stream from the seed, and each message its
own numbers from its link and its position there. So removing a fault from a plan does not change
the others.

SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_Item = TypeVar("_Item")

MASK: Final = 2**64 - 1
_GAMMA: Final = 0x9E3779B97F4A7C15
_TABLE_BITS: Final = 10
_UNIT_BITS: Final = 20
# 2**40 times any initial delay exceeds every configured maximum.
_EXPONENT_MAX: Final = 40
_MILLION: Final = 1_000_000
# Kafka has 0.02 for brokers and for controllers.
_JITTER_PER_MILLION: Final = 20_000


def mix(word: int) -> int:
    """Return 64 well mixed bits of a number; a bijection on 64-bit numbers."""
    word = (word + _GAMMA) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def advanced(word: int) -> int:
    """Return the next word of a SplitMix64 sequence; `mix(word)` is the number drawn at `word`."""
    return (word + _GAMMA) & MASK


def derive(seed: int, *parts: int | str) -> int:
    """Return the seed of a separate stream, named by numbers and words."""
    word = mix(seed & MASK)
    for part in parts:
        if isinstance(part, str):
            for byte in part.encode():
                word = mix(word ^ byte)
            word = mix(word ^ 0x100)
        else:
            word = mix(word ^ (part & MASK))
    return word


def _log2(number: int, bits: int) -> int:
    """Return the logarithm to base 2 of a positive number, in units of 2**-bits, rounded down."""
    whole = number.bit_length() - 1
    result = whole << bits
    mantissa = (number << 62) >> whole
    for bit in range(bits - 1, -1, -1):
        mantissa = (mantissa * mantissa) >> 62
        if mantissa >> 63:
            mantissa >>= 1
            result |= 1 << bit
    return result


# ln 2 in units of 2**-20, rounded; turns a logarithm to base 2 into a natural one.
_LN2: Final = 726817
_COUNT: Final = 1 << _TABLE_BITS
# -ln((i + 1/2) / 1024): the inverse of the exponential distribution in the middle of each cell.
_EXPONENTIAL: Final = tuple(
    (((_TABLE_BITS + 1) << _UNIT_BITS) - _log2(2 * index + 1, _UNIT_BITS)) * _LN2 >> _UNIT_BITS
    for index in range(_COUNT)
)


def exponential(word: int, mean: int) -> int:
    """Return an exponentially distributed number with this mean, determined by a 64-bit word.

    It is at most 7.7 times the mean: a table has the inverse of the distribution at 1024 points.
    """
    return mean * _EXPONENTIAL[word & (_COUNT - 1)] >> _UNIT_BITS


def backoff_ms(initial_ms: int, maximum_ms: int, attempts: int, chance: int) -> int:
    """Return milliseconds to wait after `attempts` failures.

    `chance` is a number from 0 to 2**64 - 1; it changes the result by at most two hundredths.

    Kafka: ExponentialBackoff.backoff.
    """
    term = min(initial_ms << min(attempts, _EXPONENT_MAX), maximum_ms)
    shift = (chance * (2 * _JITTER_PER_MILLION + 1) >> 64) - _JITTER_PER_MILLION
    return min(term * (_MILLION + shift) // _MILLION, maximum_ms)


class Stream:
    """A separate stream of random numbers."""

    __slots__ = ("_word",)

    def __init__(self, seed: int, *parts: int | str) -> None:
        self._word = derive(seed, *parts)

    def word(self) -> int:
        """Return the next number from 0 to 2**64 - 1."""
        self._word = advanced(self._word)
        return mix(self._word)

    def below(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1."""
        return self.word() * bound >> 64

    def between(self, low: int, high: int) -> int:
        """Return a number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def happens(self, per_million: int) -> bool:
        """Return True in `per_million` of a million calls."""
        return self.below(1_000_000) < per_million

    def exponential(self, mean: int) -> int:
        """Return an exponentially distributed number with this mean."""
        return exponential(self.word() >> 20, mean)

    def choice(self, items: Sequence[_Item]) -> _Item:
        """Return one of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """Return the items in a random order."""
        left = list(items)
        for index in range(len(left) - 1, 0, -1):
            other = self.below(index + 1)
            left[index], left[other] = left[other], left[index]
        return left
