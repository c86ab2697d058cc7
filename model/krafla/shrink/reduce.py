"""The two searches of every shrinker: a minimal sequence of items, and a small number."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Budget", "minimise", "smallest"]

T = TypeVar("T")
# Pairs are tried among at most this many items: their number grows with the square.
_PAIRED_MAX = 40


class Budget:
    """The number of candidates that may still be tried."""

    def __init__(self, tries: int) -> None:
        self.tries = tries
        self.left = tries

    @property
    def is_spent(self) -> bool:
        """Return whether no more candidate may be tried."""
        return self.left <= 0

    def allows(self, question: Callable[[], bool]) -> bool:
        """Return the answer to a question, or ``False`` if the budget is spent."""
        if self.is_spent:
            return False
        self.left -= 1
        return question()


def minimise(
    items: Sequence[T],
    fails: Callable[[Sequence[T]], bool],
    budget: Budget,
    *,
    pairs: bool = True,
) -> tuple[T, ...]:
    """Return a minimal part of the items that still ``fails``: it needs each item and each pair.

    Without ``pairs`` it may do without two of them. Larger chunks are left out first, from the end.
    If the budget is spent, the result still fails, but may not be minimal.
    """
    kept = tuple(items)
    chunk = max(1, len(kept) // 2)
    while chunk and not budget.is_spent:
        shorter = _without_chunks(kept, chunk, fails, budget)
        # A pass can make an earlier item removable, so single items are tried again.
        if chunk > 1 or len(shorter) == len(kept):
            chunk //= 2
        kept = shorter
    if pairs and len(kept) <= _PAIRED_MAX:
        shorter = _without_pairs(kept, fails, budget)
        if len(shorter) < len(kept):
            return minimise(shorter, fails, budget)
    return kept


def _without_chunks(
    kept: tuple[T, ...], chunk: int, fails: Callable[[Sequence[T]], bool], budget: Budget
) -> tuple[T, ...]:
    for end in range(len(kept), 0, -chunk):
        candidate = kept[: max(0, end - chunk)] + kept[end:]
        if budget.allows(partial(fails, candidate)):
            kept = candidate
    return kept


def _without_pairs(
    kept: tuple[T, ...], fails: Callable[[Sequence[T]], bool], budget: Budget
) -> tuple[T, ...]:
    for second in range(len(kept) - 1, 0, -1):
        for first in range(second - 1, -1, -1):
            candidate = kept[:first] + kept[first + 1 : second] + kept[second + 1 :]
            if budget.allows(partial(fails, candidate)):
                return candidate
    return kept


def smallest(value: int, least: int, fails: Callable[[int], bool], budget: Budget) -> int:
    """Return the smallest number from ``least`` to ``value`` that fails, as bisection finds it."""
    if value <= least:
        return value
    if budget.allows(partial(fails, least)):
        return least
    low, high = least, value
    while high - low > 1:
        middle = (low + high) // 2
        if budget.allows(partial(fails, middle)):
            high = middle
        else:
            low = middle
    return high
