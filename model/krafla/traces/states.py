"""The state after a step, written as the changes that the step made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.traces.encoding import decode, encode
from krafla.traces.limits import MAX_CELLS
from krafla.values import Function, Value, same, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXCEPT", "StateBuilder", "state_changes"]

# The tag of a change to some results of a function or sequence with the same domain.
EXCEPT: Final = "#except"


def state_changes(before: Function, after: Function) -> dict[str, Any]:
    """Return the variables that differ, with their differences, as JSON data.

    ``ValueError`` if the states have different variables.
    """
    if list(before) != list(after):
        raise ValueError("the variables are not those of the step before")
    return {
        str(name): _change(before[name], after[name])
        for name in after
        if not same(before[name], after[name])
    }


def _change(before: Value, after: Value) -> Any:
    old, new = _results(before), _results(after)
    if old is None or new is None or len(old) != len(new):
        return encode(after)
    if not all(map(same, old, new)):
        return encode(after)
    changed = [argument for argument in new if not same(old[argument], new[argument])]
    if len(changed) == len(new):
        return encode(after)
    return {EXCEPT: [[encode(argument), encode(new[argument])] for argument in changed]}


def _results(value: Value) -> Mapping[Value, Value] | None:
    """Return a function or a sequence by its arguments; ``None`` for any other value."""
    if isinstance(value, Function):
        return value
    return dict(enumerate(value, 1)) if isinstance(value, tuple) else None


class StateBuilder:
    """Makes the states of one trace from its lines, in order.

    The copied parts are counted: a line of few bytes may change one result of a huge function.
    """

    def __init__(self) -> None:
        self._cells = 0
        self._state: Function | None = None

    def whole(self, data: Mapping[str, Any]) -> Function:
        """Return a state that is given completely; ``ValueError`` names a wrong variable."""
        state = Function({name: _named(name, decode, one) for name, one in data.items()})
        if self._state is not None and list(state) != list(self._state):
            raise ValueError("'state' has not the variables of the step before")
        return self._next(state)

    def changed(self, data: Mapping[str, Any]) -> Function:
        """Return the previous state with these changes; ``ValueError`` names a wrong variable."""
        before = self._state
        if before is None:
            raise ValueError("the first step must give its 'state' whole")
        unknown = sorted(data.keys() - set(map(str, before)))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no variable of the step before")
        if not data:
            return before
        changes: dict[Value, Value] = {
            name: _named(name, partial(self._applied, before[name]), one)
            for name, one in data.items()
        }
        return self._next(Function({**before, **changes}))

    def _next(self, state: Function) -> Function:
        self._count(len(state))
        self._state = state
        return state

    def _count(self, cells: int) -> None:
        self._cells += cells
        if self._cells > MAX_CELLS:
            raise ValueError(f"the steps copy more than {MAX_CELLS} parts of values")

    def _applied(self, before: Value, data: Any) -> Value:
        if not isinstance(data, dict) or EXCEPT not in data:
            return decode(data)
        pairs = data[EXCEPT]
        if len(data) != 1 or not isinstance(pairs, list):
            raise ValueError(f"{EXCEPT!r} takes a list and must be the only key of its object")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"{EXCEPT!r} takes a list of pairs")
        results = _results(before)
        if results is None:
            raise ValueError(f"{EXCEPT!r} changes a value that is no function")
        self._count(len(results))
        new = {sort_key(decode(argument)): decode(result) for argument, result in pairs}
        if len(new) != len(pairs):
            raise ValueError(f"{EXCEPT!r} lists an argument twice")
        found = [new.pop(sort_key(argument), old) for argument, old in results.items()]
        if new:
            raise ValueError(f"{EXCEPT!r} gives a result to an argument outside the domain")
        if isinstance(before, tuple):
            return tuple(found)
        return Function(zip(results, found, strict=True))


def _named(name: str, make: Any, data: Any) -> Value:
    try:
        value: Value = make(data)
    except ValueError as error:
        raise ValueError(f"{name!r}: {error}") from error
    return value
