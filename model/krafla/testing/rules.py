"""The rules of a machine: methods that take actions of the spec, and strategies of their values."""

from __future__ import annotations

import functools
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from unittest import SkipTest

from hypothesis import strategies
from hypothesis.errors import HypothesisException
from hypothesis.stateful import precondition, rule

from krafla.manifest import meant
from krafla.testing.action_method import ActionMethod, mark
from krafla.testing.errors import Inconclusive, Refused, SpecViolation
from krafla.testing.machine_calls import chose, enabled, enabled_values, judge_call, members_of
from krafla.testing.machine_run import run_of
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import SearchStrategy

__all__ = ["action", "member_of"]

# The keywords of ``action`` that are no parameters of a method.
_OPTIONS: Final = ("observe", "only_if_enabled", "may_refuse", "refused")
_MEANT: Final = "; did you mean "
# What a method of a test raises that is not its code's: ``assume`` of Hypothesis, answers of a
# judge, a test that skips itself.
_OF_THE_TEST: Final = (HypothesisException, Inconclusive, KraflaError, SkipTest, SpecViolation)

Method = TypeVar("Method", bound="Callable[..., Any]")


def member_of(name: str) -> SearchStrategy[Any]:
    """Return the strategy of the members of a set of the spec, by the name of an operator.

    The set must not depend on the state. A model value is drawn as a string, its name.
    """
    return strategies.runner().flatmap(
        lambda machine: strategies.sampled_from(members_of(machine, name))
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
    code ``may_refuse`` it. A list of ``Refused`` names what was refused, one after the other.
    Errors of the code of a type in ``refused`` are refusals, too; an ``AssertionError`` only if
    ``refused`` names it or a subclass of it.
    ``only_if_enabled`` draws the parameters without a strategy among those that the spec allows
    now; the order is then that of the method. The rule is offered only if there are some.

    The name ``None`` is for a method that takes no particular action, as delivering a message does:
    it returns what was taken, or ``None`` for any action. What it refuses it must name.
    ``KraflaError`` if it shall be ``only_if_enabled``, or if ``@action`` has no parentheses.
    """
    _check_name(name, only_if_enabled=only_if_enabled)

    def decorated(written: Method) -> Method:
        method = _refusing(written, refused) if refused else written
        drawn = _drawn(written, name, parameters, only_if_enabled=only_if_enabled)

        described = ActionMethod(name, tuple(drawn), method, observe, may_refuse, only_if_enabled)

        @functools.wraps(method)
        def judged(machine: Any, *arguments: Any, **values: Any) -> Any:
            __tracebackhide__ = True
            run = run_of(machine)
            if run is None or run.is_called:
                # By another method, such as one that calls super(): that one is judged. Or it is
                # code that `drive` drives.
                return method(machine, *arguments, **values)
            values |= zip(drawn, arguments, strict=False)
            given = tuple(values[one] for one in drawn)
            judge_call(machine, described, given, lambda: method(machine, **values))
            return None

        # A method's parameters have any names, so no overload of ``rule`` fits.
        found: Callable[..., Any] = cast("Any", rule)(**drawn)(judged)
        if only_if_enabled and name is not None:
            found = precondition(partial(_is_enabled, name))(found)
        mark(found, described)
        return cast("Method", found)

    return decorated


def _check_name(name: object, *, only_if_enabled: bool) -> None:
    """Raise ``KraflaError`` if there is no name, though one is needed."""
    if callable(name):
        # Without parentheses Python gives the method in its place, and nothing would be a rule.
        called = str(getattr(name, "__name__", "name"))
        likely = "".join(one[:1].upper() + one[1:] for one in called.split("_"))
        raise KraflaError(f'@action needs the name of the action: write @action("{likely}")')
    if name is None and only_if_enabled:
        raise KraflaError("@action(None, only_if_enabled=True): name the action to be enabled")


def _refusing(method: Method, refused: type[Exception] | tuple[type[Exception], ...]) -> Method:
    """Return the method with errors of some types as refusals.

    What the test or its tools raise is no error of the code, even where all errors are refusals.
    """
    types = refused if isinstance(refused, tuple) else (refused,)
    asserted = tuple(one for one in types if issubclass(one, AssertionError))

    @functools.wraps(method)
    def called(*arguments: Any, **values: Any) -> Any:
        __tracebackhide__ = True
        try:
            return method(*arguments, **values)
        except _OF_THE_TEST:
            raise
        except types as error:
            if isinstance(error, AssertionError) and not isinstance(error, asserted):
                raise
            raise Refused from error

    return cast("Method", called)


def _drawn(
    method: Callable[..., Any],
    action: str | None,
    given: dict[str, SearchStrategy[Any]],
    *,
    only_if_enabled: bool,
) -> dict[str, SearchStrategy[Any]]:
    """Return the strategies of a method's parameters, in the order of the action's.

    ``KraflaError`` if a strategy is for no parameter of the method, or a parameter has none.
    """
    known = list(inspect.signature(method).parameters.values())[1:]
    named = {
        one.name: one for one in known if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }
    called = method.__qualname__.rpartition("<locals>.")[2]
    for one in given:
        if one not in named and not any(other.kind is other.VAR_KEYWORD for other in known):
            near = meant(one, named)
            if not near.startswith(_MEANT) and meant(one, _OPTIONS).startswith(_MEANT):
                near = f"{meant(one, _OPTIONS).removesuffix('?')} of @action?"
            raise KraflaError(
                f"@action({action!r}, {one}=...): the method {called} has no parameter {one}{near}"
            )
    lacking = [one for one in named if one not in given]
    if only_if_enabled and action is not None and lacking:
        # Only the method says which of the action's parameters the others are.
        every = given | {
            one: _enabled(action, at) for at, one in enumerate(named) if one in lacking
        }
        return {one: every[one] for one in (*named, *given)}
    for one in lacking:
        if named[one].default is inspect.Parameter.empty:
            raise KraflaError(
                f"@action({action!r}): the method {called} has a parameter {one} without a "
                f'strategy: give it one, such as {one}=member_of("...")'
            )
    return given


def _is_enabled(name: str, machine: Any) -> bool:
    return bool(enabled(machine, name))


def _enabled(name: str, at: int) -> SearchStrategy[Any]:
    """Return the strategy of an enabled action's parameter, which the others restrict."""

    def choose(machine: Any) -> SearchStrategy[Any]:
        values = enabled_values(machine, name, at)
        return strategies.sampled_from(values).map(lambda value: chose(machine, at, value))

    return strategies.runner().flatmap(choose)
