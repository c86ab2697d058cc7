"""Counters and histograms that cost next to nothing until somebody asks.

A number is added where it is observed, by one thread for each instrument. The thread of a scraper
copies the numbers; those that are added meanwhile are in the next copy. The library's own
instruments lock each number, which an idle controller would feel.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

if TYPE_CHECKING:
    from prometheus_client.core import Metric as Family

    from kraft.node.metrics.metric import Metric

_BOUNDS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000)
"""The upper bounds of the buckets, in milliseconds; what is longer is in one more."""
_BOUND_TEXTS: Final = (*(str(float(bound)) for bound in _BOUNDS), "+Inf")
_SUM: Final = len(_BOUNDS) + 1
"""Where the sum stands, behind the buckets."""


class Instrument(Protocol):
    """What counts or times something, and shows it."""

    def family(self) -> Family:
        """Return the numbers so far, for the library."""


class Count:
    """A number that only grows, or one for each value of the labels."""

    __slots__ = ("_metric", "_numbers")

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._numbers: dict[tuple[str, ...], int] = {} if metric.labels else {(): 0}

    def add(self, amount: int = 1, labels: tuple[str, ...] = ()) -> None:
        """Add to the number of these labels."""
        numbers = self._numbers
        numbers[labels] = numbers.get(labels, 0) + amount

    def family(self) -> Family:
        """Return the numbers so far, for the library."""
        metric = self._metric
        family = CounterMetricFamily(metric.prometheus_name, metric.help, labels=metric.labels)
        for labels, number in self._numbers.copy().items():
            family.add_metric(labels, number)
        return family


class Times:
    """A histogram of milliseconds, or one for each value of the labels."""

    __slots__ = ("_metric", "_numbers")

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._numbers: dict[tuple[str, ...], list[float]] = {}
        if not metric.labels:
            self._numbers[()] = _empty()

    def add(self, milliseconds: float, labels: tuple[str, ...] = ()) -> None:
        """Add a time to the histogram of these labels."""
        numbers = self._numbers.get(labels)
        if numbers is None:
            numbers = self._numbers[labels] = _empty()
        numbers[bisect_left(_BOUNDS, milliseconds)] += 1
        numbers[_SUM] += milliseconds

    def family(self) -> Family:
        """Return the numbers so far, for the library."""
        metric = self._metric
        family = HistogramMetricFamily(metric.prometheus_name, metric.help, labels=metric.labels)
        for labels, numbers in self._numbers.copy().items():
            *counts, total = numbers.copy()
            buckets, reached = [], 0.0
            for bound, count in zip(_BOUND_TEXTS, counts, strict=True):
                reached += count
                buckets.append((bound, reached))
            family.add_metric(labels, buckets, total)
        return family


def _empty() -> list[float]:
    return [0.0] * (_SUM + 1)
