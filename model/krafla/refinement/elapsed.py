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
        for by_controller in self._elapsed(state, seen):
            for by_broker in self._by_broker(by_controller, state, seen):
                if by_broker not in tried:
                    tried.add(by_broker)
                    yield by_controller, by_broker

    def _elapsed(self, state: State, seen: Seen) -> list[int]:
        known = set(self._always)
        now, then = _entries(state["contact_age"]), _entries(seen.values.get("contact_age", ()))
        first = [0]
        if seen.observation.action == "Tick" and seen.observation.parameters:
            observed = seen.observation.parameters[0]
            first += [observed] if isinstance(observed, int) else []
        lengths = set()
        for broker, age in now.items():
            later = then.get(broker, NO_AGE)
            lengths |= {later, later - age, self._timeout + 1 - age} if age >= 0 else {later}
        for length in lengths:
            known |= {length - one for one in first}
        known |= {one - other for one in lengths for other in lengths}
        if self._self_fence:
            known |= self._by_requests(state, seen)
        return sorted(one for one in known if 0 < one <= self._timeout + 1)

    def _by_requests(self, state: State, seen: Seen) -> set[int]:
        found = set()
        for name in ("request_age", "lease_age"):
            now, then = _entries(state[name]), _entries(seen.values.get(name, ()))
            for process, later in then.items():
                age = now.get(process, NO_AGE)
                found |= {later, later - age} if age >= 0 else {later}
        return found

    def _by_broker(self, by_controller: int, state: State, seen: Seen) -> Iterator[Value]:
        processes = _entries(state["status"])
        alike = dict.fromkeys(processes, by_controller)
        if not self._self_fence:
            yield function(alike)
            return
        now, then = _entries(state["clock_lead"]), _entries(seen.values.get("clock_lead", ()))
        yield function(
            {
                process: by_controller + then.get(process, now[process]) - now[process]
                if status not in _NOT_RUNNING
                else by_controller
                for process, status in processes.items()
            }
        )
        yield function(alike)


def _entries(value: Value) -> dict[Value, Any]:
    """Return a function of the spec, which is a sequence where its domain is 1..n, as pairs."""
    assert isinstance(value, Function | tuple)
    return dict(value) if isinstance(value, Function) else dict(enumerate(value, 1))
