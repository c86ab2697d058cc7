"""The methods of a machine that take actions of the spec, found by the action's name."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from krafla.testing.code_call import called, observed
from krafla.testing.machine_run import plainly
from krafla.testing.outcome import CallOutcome, outcome_of
from krafla.testing.plain import thawed
from krafla.testing.taken import Taken
from krafla.traces import Call
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from krafla.oracle import NamedAction
    from krafla.testing.judge import Judge
    from krafla.values import Value

__all__ = [
    *("ActionMethod", "advice", "mark", "marked_methods", "method_called", "method_for"),
    "observes_somewhere",
]

_MARK: Final = "krafla_action"
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class ActionMethod:
    """A method that takes an action: its function, and the names of its parameters in order.

    ``action`` is ``None`` for one that takes no particular action. ``parameters`` is ``None`` for
    a method without ``@action``, which takes them by position. A method that is
    ``only_if_enabled`` is never called for what the spec does not allow.
    """

    action: str | None
    parameters: tuple[str, ...] | None
    function: Callable[..., Any]
    observe: Callable[[Any], Mapping[Any, Any]] | None = None
    may_refuse: bool = False
    only_if_enabled: bool = False

    def judged(
        self, code: Any, judge: Judge, parameters: tuple[Any, ...], call: Callable[[], Any]
    ) -> CallOutcome:
        """Call the code, then judge what it did and what is seen of it.

        ``call`` calls the method with the parameters. The exceptions are those of ``Judge``, of
        ``outcome_of``, and the code's own: an error says where in the run it came.
        """
        __tracebackhide__ = True

        def named() -> str:
            return str(Taken(self.action, *thawed(parameters)))

        asked = partial(called, code, judge, named, partial(plainly, code, call))
        name = self.function.__name__
        machine: type = type(code)
        outcome = outcome_of(self.action, parameters, f"{name} of {machine.__name__}", asked)
        seen = partial(observed, code, judge, lambda: f"observe after {named()}", self.observe)
        if self.action is not None and _function_for(machine, self.action) is self.function:
            name = self.action
        elif outcome.tells_call:
            # Another method takes the same action.
            outcome = replace(outcome, tells_call=False)
        outcome.judged_by(judge, seen, Call(name, parameters), may_refuse=self.may_refuse)
        return outcome

    def bound(self, code: Any, values: tuple[Value, ...]) -> Callable[[], Any]:
        """Return the call of the method with these values; model values are strings for it."""
        given = thawed(values)
        if self.parameters is None:
            self._check(len(given), _count(self.function))
            return partial(self.function, code, *given)
        self._check(len(given), len(self.parameters))
        return partial(self.function, code, **dict(zip(self.parameters, given, strict=True)))

    def _check(self, given: int, taken: int | None) -> None:
        if taken is not None and given != taken:
            raise KraflaError(
                f"the method {self.function.__qualname__} takes {taken} parameters, "
                f"{self.action} has {given}"
            )


def mark(method: Callable[..., Any], described: ActionMethod) -> None:
    """Say of a method which action it takes."""
    setattr(method, _MARK, described)


def method_for(machine: type, action: str) -> ActionMethod | None:
    """Return the method of a class that takes an action; ``None`` if it has none.

    Methods with ``@action`` come first, then a method with the name of the action, as it stands or
    in Python's spelling: ``RequestVote`` or ``request_vote``.
    """
    for found in marked_methods(machine):
        if found.action == action:
            return found
    for name in (action, _pythonic(action)):
        function = inspect.getattr_static(machine, name, None)
        if inspect.isfunction(function) and not hasattr(function, _MARK):
            return ActionMethod(action, None, function)
    return None


@lru_cache(maxsize=256)
def _function_for(machine: type, action: str) -> Callable[..., Any] | None:
    found = method_for(machine, action)
    return None if found is None else found.function


def method_called(machine: type, name: str) -> ActionMethod | None:
    """Return the method that a call names: by its action, or else by its own name."""
    own = getattr(getattr(machine, name, None), _MARK, None)
    if isinstance(own, ActionMethod) and all(one.action != name for one in marked_methods(machine)):
        return own
    return method_for(machine, name)


def marked_methods(machine: type) -> Iterator[ActionMethod]:
    """Yield the methods of a class with ``@action``."""
    found = (getattr(getattr(machine, name, None), _MARK, None) for name in dir(machine))
    return (one for one in found if isinstance(one, ActionMethod))


def observes_somewhere(machine: type) -> bool:
    """Return whether a method of a class has an ``observe`` of its own."""
    return any(one.observe is not None for one in marked_methods(machine))


def advice(action: NamedAction) -> str:
    """Return the first lines of the method to write for an action."""
    names = [one if one.isidentifier() else f"p{n}" for n, one in enumerate(action.parameters)]
    strategies = "".join(f", {one}=..." for one in names)
    head = ", ".join(("self", *names))
    return f'@action("{action.name}"{strategies})\ndef {_pythonic(action.name)}({head}): ...'


def _pythonic(action: str) -> str:
    return _HUMP.sub("_", action.rpartition("!")[2]).lower()


def _count(function: Callable[..., Any]) -> int | None:
    """Return how many parameters a method takes besides ``self``; ``None`` if any number."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return None
    return sum(one.default is one.empty and one.kind is not one.VAR_KEYWORD for one in parameters)
