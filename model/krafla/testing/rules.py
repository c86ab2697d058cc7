"""The rules of a machine: methods that take actions of the spec, and strategies of their values."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hypothesis import strategies
from hypothesis.stateful import precondition, rule

from krafla.manifest import meant
from krafla.testing.action_method import ActionMethod, mark
from krafla.testing.errors import Refused
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

__all__ = ["action", "member_of"]

Method = TypeVar("Method", bound="Callable[..., Any]")


def member_of(name: str) -> SearchStrategy[Any]:
    """Return the strategy of the members of a set of the spec, by the name of an operator.

    The set must not depend on the state. A model value is drawn as a text, its name.
    """
    return strategies.runner().flatmap(
        lambda machine: strategies.sampled_from(machine.members_of(name))
    )


def action(
    name: str | None,
    /,
    *,
    observe: Callable[[Any], Mapping[Any, Any]] | None = None,
    only_if_enabled: bool = False,
    may_refuse: bool = False,
    refused: type[Exception] | tuple[type[Exception], ...] = (),
    **parameters: SearchStrategy[Any],
) -> Callable[[Method], Method]:
    """Return a decorator that makes a rule of Hypothesis of a method which takes an action.

    Each keyword is a parameter of the method, in the order of the action's, and the strategy of its
    values. After the method the step is judged, with what the machine's ``observe`` returns, or
    what the function ``observe`` returns for the machine.

    The method returns ``None`` if the code took the action, a ``Taken`` or a list of them if it
    took others, ``Taken.nothing`` if it took none. It raises or returns ``Refused`` if the code
    refused; then the spec must not allow the action, or the one that ``Refused`` names, unless the
    code ``may_refuse`` it. Errors of the code of a type in ``refused`` are refusals, too.
    ``only_if_enabled`` draws the parameters among those that the spec allows now; the rule is
    offered only if there are some.

    The name ``None`` is for a method that takes no particular action, as delivering a message does:
    it returns what was taken, or ``None`` for any action. What it refuses it must name.
    ``KraflaError`` if it shall be ``only_if_enabled``.
    """
    if name is None and only_if_enabled:
        raise KraflaError("@action(None, only_if_enabled=True): name the action to be enabled")

    def decorated(written: Method) -> Method:
        _check_names(written, name, parameters)
        method = _refusing(written, refused) if refused else written
        drawn = dict(parameters)
        if only_if_enabled and name is not None:
            names = _names_of(method)
            drawn |= {one: _enabled(name, at) for at, one in enumerate(names) if one not in drawn}

        @functools.wraps(method)
        def judged(machine: Any, *arguments: Any, **values: Any) -> Any:
            __tracebackhide__ = True
            if machine.is_called:
                # By another method, such as one that calls super(): that one is judged.
                return method(machine, *arguments, **values)
            values |= zip(drawn, arguments, strict=False)
            given = tuple(values[one] for one in drawn)
            machine.judge_call(
                name, given, lambda: method(machine, **values), observe, may_refuse=may_refuse
            )
            return None

        # A method's parameters have any names, so no overload of ``rule`` fits.
        found: Callable[..., Any] = cast("Any", rule)(**drawn)(judged)
        if only_if_enabled:
            found = precondition(lambda machine: bool(machine.enabled(name)))(found)
        described = ActionMethod(name, tuple(drawn), method, observe, may_refuse, only_if_enabled)
        mark(found, described)
        return cast("Method", found)

    return decorated


def _refusing(method: Method, refused: type[Exception] | tuple[type[Exception], ...]) -> Method:
    """Return the method with errors of some types as refusals."""

    @functools.wraps(method)
    def called(*arguments: Any, **values: Any) -> Any:
        __tracebackhide__ = True
        try:
            return method(*arguments, **values)
        except refused as error:
            raise Refused from error

    return cast("Method", called)


def _names_of(method: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a method's parameters but the machine."""
    return tuple(inspect.signature(method).parameters)[1:]


def _check_names(method: Callable[..., Any], action: str | None, given: Iterable[str]) -> None:
    """Raise ``KraflaError`` if a strategy is for no parameter of the method."""
    known = inspect.signature(method).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in known):
        return
    names = _names_of(method)
    for one in given:
        if one not in names:
            called = method.__qualname__.rpartition("<locals>.")[2]
            raise KraflaError(
                f"@action({action!r}, {one}=...): the method {called} has no parameter "
                f"{one}{meant(one, names)}"
            )


def _enabled(name: str, at: int) -> SearchStrategy[Any]:
    """Return the strategy of an enabled action's parameter, which the others restrict."""

    def choose(machine: Any) -> SearchStrategy[Any]:
        values = machine.enabled_values(name, at)
        return strategies.sampled_from(values).map(lambda value: machine.chose(at, value))

    return strategies.runner().flatmap(choose)
