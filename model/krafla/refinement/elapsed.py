"""How much time can have passed unseen: the ticks of BrokerLease that ages give away.

Next lets time pass by single units, and each clock by itself: with twelve processes it tries
thousands of ticks, none of them as long as those of a simulation. Of the ticks between two
observations only the sum shows, and only in ages and in how far a clock is ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.match import Choice
from krafla.refinement.vocabulary import NO_AGE
from krafla.values import Function, Value, function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.match.seen import Seen
    from krafla.oracle import Spec, State

__all__ = ["ticks"]

# Up to here every length of a tick is tried: a longer one does what one past the timeout does.
_SHORT_TIMEOUT: Final = 12
_NOT_RUNNING: Final = frozenset({"NOT_RUNNING", "SHUTTING_DOWN", "CRASHED"})


def ticks(spec: Spec) -> Choice:
    """Return how to choose the parameters of a tick of BrokerLease that nobody saw."""
    timeout, self_fence = spec.evaluate("SessionTimeout"), spec.evaluate("SelfFence")
    assert isinstance(timeout, int)
    is_short = timeout <= _SHORT_TIMEOUT
    chooser = _Ticks(timeout, bool(self_fence), range(1, timeout + 2) if is_short else range(0))
    return Choice("Tick", chooser, is_short and not self_fence)


class _Ticks:
    def __init__(self, timeout: int, self_fence: bool, always: range) -> None:
        self._timeout = timeout
        self._self_fence = self_fence
        self._always = always

    def __call__(self, state: State, seen: Seen) -> Iterator[tuple[Value, ...]]:
        """Yield by how much the controller's and each process's clock can have moved."""
        tried = set()
        ahead = self._ahead(state, seen) if self._self_fence else {}
        for by_controller in self._elapsed(state, seen, ahead):
            for by_broker in self._by_broker(by_controller, state, ahead):
                if (by_controller, by_broker) not in tried:
                    tried.add((by_controller, by_broker))
                    yield by_controller, by_broker

    def _elapsed(self, state: State, seen: Seen, ahead: dict[Value, int]) -> list[int]:
        """Return the lengths that some age, or two together, give away."""
        by_controller, by_broker = _observed(seen)
        lengths = self._lengths("contact_age", state, seen, {}, by_controller)
        for name in ("request_age", "lease_age") if self._self_fence else ():
            by_process = self._lengths(name, state, seen, by_broker, by_controller)
            # A clock that gets ahead on the way shows so much more than the controller's.
            for process, found in by_process.items():
                gained = ahead.get(process, 0)
                lengths[process] = lengths.get(process, set()) | {one - gained for one in found}
                lengths[process] |= found
        every = {one for found in lengths.values() for one in found}
        tried = {*self._always, *every, *(one - other for one in every for other in every)}
        shortest = 0 if self._self_fence else 1
        return sorted(one for one in tried if shortest <= one <= self._timeout + 1)

    def _lengths(
        self, name: str, state: State, seen: Seen, observed: dict[Value, Any], otherwise: int
    ) -> dict[Value, set[int]]:
        """Return how long it can have been since each age was as it is, or was nothing."""
        now, then = _entries(state[name]), _entries(seen.values.get(name, ()))
        lengths = {}
        for key, age in now.items():
            found = set()
            later = then.get(key, NO_AGE)
            if later >= 0:
                later -= observed.get(key, otherwise)
                found |= {later, later - age} if age >= 0 else {later}
            if age >= 0:
                found.add(self._timeout + 1 - age)
            lengths[key] = found
        return lengths

    def _ahead(self, state: State, seen: Seen) -> dict[Value, int]:
        """Return by how much each running process's clock gets ahead until what is seen next."""
        now, then = _entries(state["clock_lead"]), _entries(seen.values.get("clock_lead", ()))
        by_controller, by_broker = _observed(seen)
        running = {
            process: then[process] - now[process]
            for process, status in _entries(state["status"]).items()
            if status not in _NOT_RUNNING and process in then
        }
        return {
            process: ahead - (by_broker.get(process, by_controller) - by_controller)
            for process, ahead in running.items()
        }

    def _by_broker(
        self, by_controller: int, state: State, ahead: dict[Value, int]
    ) -> Iterator[Value]:
        """Yield the ticks in which every clock gets ahead at once, and in which none does."""
        alike = dict.fromkeys(_entries(state["status"]), by_controller)
        gained = {process: ahead.get(process, 0) + one for process, one in alike.items()}
        if min(gained.values()) >= 0:
            yield function(gained)
        yield function(alike)


def _observed(seen: Seen) -> tuple[int, dict[Value, Any]]:
    """Return how much time the observed step itself lets pass, by each clock."""
    observation = seen.observation
    if observation.action != "Tick" or observation.parameters is None:
        return 0, {}
    by_controller, by_broker = observation.parameters
    brokers = {} if by_broker is None else _entries(by_broker)
    return by_controller if isinstance(by_controller, int) else 0, brokers


def _entries(value: Value) -> dict[Value, Any]:
    """Return a function of the spec, which is a sequence where its domain is 1..n, as pairs."""
    assert isinstance(value, Function | tuple)
    return dict(value) if isinstance(value, Function) else dict(enumerate(value, 1))
