"""The parameters of hidden ticks of BrokerLease, computed from the ages in two observations.

Next advances time by single units, and each clock separately: with twelve processes it tries
thousands of ticks, none of them as long as the ticks of a simulation. Two observations show only
the sum of the ticks between them, and only in ages and in the lead of a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.match import Choice
from krafla.refinement.lease.vocabulary import NO_AGE
from krafla.values import Function, Value, function

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.match.seen import Seen
    from krafla.testing import Spec, State

__all__ = ["ticks"]

# Up to this timeout every length is tried. A tick longer than the timeout acts like timeout + 1.
_SHORT_TIMEOUT: Final = 12
_AGES: Final = ("contact_age", "request_age", "lease_age", "clock_lead")
_NOT_RUNNING: Final = frozenset({"NOT_RUNNING", "SHUTTING_DOWN", "CRASHED"})


def ticks(spec: Spec) -> Choice:
    """Return how to choose the parameters of a hidden tick of BrokerLease."""
    timeout, self_fence = spec.evaluate("SessionTimeout"), spec.evaluate("SelfFence")
    assert isinstance(timeout, int)
    is_short = timeout <= _SHORT_TIMEOUT
    chooser = _Ticks(timeout, bool(self_fence), range(1, timeout + 2) if is_short else range(0))
    is_complete = is_short and not self_fence
    return Choice("Tick", chooser.likely, chooser.others, is_complete, _AGES)


class _Ticks:
    def __init__(self, timeout: int, self_fence: bool, always: range) -> None:
        self._timeout = timeout
        self._self_fence = self_fence
        self._always = always

    def likely(self, state: State, seen: Seen) -> list[tuple[Value, ...]]:
        """Return the ticks whose length follows from an age, with the observed leads of clocks."""
        ahead = self._ahead(state, seen, _running(state))
        return list(self._ticks(self._from_ages(state, seen), state, ahead))

    def others(self, state: State, seen: Seen) -> list[tuple[Value, ...]]:
        """Return ticks that end a session, follow from two ages together, or are short."""
        ahead = self._ahead(state, seen, _running(state))
        lengths = self._from_ages(state, seen)
        more = {*self._always, *(one - other for one in lengths for other in lengths)}
        more |= {self._timeout + 1 - age for age in _numbers(state["contact_age"]).values()}
        known = set(self._ticks(lengths, state, ahead))
        found = [*self._ticks(more, state, ahead), *self._ticks({*more, *lengths}, state, {})]
        return [one for one in dict.fromkeys(found) if one not in known]

    def _from_ages(self, state: State, seen: Seen) -> set[int]:
        by_controller, by_broker = _observed(seen)
        lengths = [self._lengths("contact_age", state, seen, {}, by_controller)]
        lengths += [
            self._lengths(name, state, seen, by_broker, by_controller)
            for name in (("request_age", "lease_age") if self._self_fence else ())
        ]
        # A clock that gains on the controller's makes its ages that much larger.
        ahead = self._ahead(state, seen, list(_entries(state["status"])))
        found, began = {0}, {0}
        for one in lengths:
            for (key, has_grown), length in one.items():
                both = {length, length - ahead.get(key, 0)}
                found |= both
                began |= set() if has_grown else both
        # For an age that began in between, the rest of the time passed before it began.
        return {whole - part for whole in found for part in began}

    def _ticks(
        self, lengths: Iterable[int], state: State, ahead: dict[Value, int]
    ) -> Iterator[tuple[Value, ...]]:
        """Yield the ticks in which every clock gains its whole lead at once."""
        shortest = 0 if self._self_fence else 1
        processes = _entries(state["status"])
        # A tick must be long enough that a clock which falls behind does not run backwards.
        lengths = {*lengths, max(0, -min(ahead.values(), default=0))}
        for length in sorted(lengths):
            by_broker = {process: length + ahead.get(process, 0) for process in processes}
            if shortest <= length <= self._timeout + 1 and min(by_broker.values()) >= 0:
                yield length, function(by_broker)

    def _lengths(
        self, name: str, state: State, seen: Seen, observed: dict[Value, int], otherwise: int
    ) -> dict[tuple[Value, bool], int]:
        """Return the time since each age began, and since it had its value in ``state``.

        The key is the argument of the age with ``False`` for the first, ``True`` for the second.
        """
        now, then = _numbers(state[name]), _numbers(seen.values.get(name, ()))
        found = {}
        for key, age in now.items():
            later = then.get(key, NO_AGE)
            if later >= 0:
                later -= observed.get(key, otherwise)
                found[key, False] = later
                if age >= 0:
                    found[key, True] = later - age
        return found

    def _ahead(self, state: State, seen: Seen, processes: list[Value]) -> dict[Value, int]:
        """Return how much lead each process's clock gains up to the next observation."""
        if not self._self_fence:
            return {}
        now, then = _numbers(state["clock_lead"]), _numbers(seen.values.get("clock_lead", ()))
        by_controller, by_broker = _observed(seen)
        return {
            one: then[one] - now[one] - (by_broker.get(one, by_controller) - by_controller)
            for one in processes
            if one in then
        }


def _running(state: State) -> list[Value]:
    statuses = _entries(state["status"])
    return [process for process, status in statuses.items() if status not in _NOT_RUNNING]


def _observed(seen: Seen) -> tuple[int, dict[Value, int]]:
    """Return the time that passes in the observed step, by each clock."""
    observation = seen.observation
    if observation.action != "Tick" or observation.parameters is None:
        return 0, {}
    by_controller, by_broker = observation.parameters
    brokers = {} if by_broker is None else _numbers(by_broker)
    return by_controller if type(by_controller) is int else 0, brokers


def _entries(value: Value) -> dict[Value, Value]:
    """Return the pairs of a function or a sequence; none for any other value."""
    if isinstance(value, tuple):
        return dict(enumerate(value, 1))
    return dict(value) if isinstance(value, Function) else {}


def _numbers(value: Value) -> dict[Value, int]:
    """Return the pairs with a number as result: in a wrong trace an age may be anything."""
    return {key: one for key, one in _entries(value).items() if type(one) is int}
