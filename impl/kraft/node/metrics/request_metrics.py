"""Requests of others: how many there were, how long each took, and with which errors.

Kafka: RequestMetrics, RequestChannel.updateErrorMetrics, AbstractResponse.errorCounts.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.errors import ErrorCode
from kraft.node.metrics.instruments import Count, Times
from kraft.node.metrics.metric import Kind, Metric
from kraft.raft.configuration import MILLISECOND
from kraft.records.schema import fields_of

if TYPE_CHECKING:
    from kraft.node.metrics.instruments import Instrument
    from kraft.records.schema import Field, Fields, Schema
    from kraft.wire.apis import Api

REQUESTS: Final = Metric(
    Kind.COUNTER,
    "kafka.network",
    "RequestMetrics",
    "RequestsPerSec",
    "The requests that were answered; one in an envelope counts under its own name, too.",
    ("request", "version"),
)
ERRORS: Final = Metric(
    Kind.COUNTER,
    "kafka.network",
    "RequestMetrics",
    "ErrorsPerSec",
    "The error codes in the answers, NONE included; an answer may have several.",
    ("request", "error"),
)
TOTAL_TIME: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.network",
    "RequestMetrics",
    "TotalTimeMs",
    "The milliseconds from the arrival of a request to its answer.",
    ("request",),
)
_ERROR_CODE: Final = "errorCode"


class RequestMetrics:
    """Counts the requests of a node."""

    def __init__(self) -> None:
        self._requests = Count(REQUESTS)
        self._errors = Count(ERRORS)
        self._total_time = Times(TOTAL_TIME)
        self.instruments: tuple[Instrument, ...] = (self._requests, self._errors, self._total_time)

    def answered(self, api: Api, version: int, fields: Fields, took: int) -> None:
        """Take a request that was answered with these fields, after `took` nanoseconds."""
        name = api.name
        self._requests.add(labels=(name, str(version)))
        self._total_time.add(took / MILLISECOND, (name,))
        for code, count in error_counts(api.response, version, fields).items():
            self._errors.add(count, (name, _error_name(code)))


def _error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


class _Place(NamedTuple):
    """Where a struct has error codes: one of its own, and in the structs of these fields."""

    has_own: bool
    inner: tuple[tuple[str, bool, _Place], ...]


def error_counts(response: Schema, version: int, fields: Fields) -> Counter[int]:
    """Return how often each error code is in a response; only structs with codes are visited."""
    found: Counter[int] = Counter()
    _count(_places(response, version), fields, found)
    return found


@cache
def _places(response: Schema, version: int) -> _Place:
    return _place(response.fields, version)


def _place(members: tuple[Field, ...], version: int) -> _Place:
    has_own, inner = False, []
    for member in fields_of(members, version):
        place = _place(member.members, version)
        if place.has_own or place.inner:
            inner.append((member.name, member.array, place))
        has_own = has_own or member.name == _ERROR_CODE
    return _Place(has_own, tuple(inner))


def _count(place: _Place, fields: Fields, found: Counter[int]) -> None:
    if place.has_own:
        found[fields.get(_ERROR_CODE, 0)] += 1
    for name, is_array, each in place.inner:
        value = fields.get(name)
        if value is None:
            continue
        for one in value if is_array else (value,):
            _count(each, one, found)
