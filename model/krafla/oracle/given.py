r"""The choices of a branch of Next in which its action has parameters that are given.

A name that is itself a parameter has a given value: TLC is asked whether the set has it as a
member. So a set without end, such as ``Nat``, is no obstacle. Other names are tried one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError
from krafla.oracle.nodes import ACTION_LEVEL, NodeKind, name_of
from krafla.values import same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krafla.oracle.actions import Branch
    from krafla.oracle.spec import Spec
    from krafla.oracle.state import State
    from krafla.values import Value

__all__ = ["Given", "agrees"]

_SETS = ("tlc2.value.impl.Enumerable", "tlc2.value.impl.UserValue")


@dataclass(frozen=True, slots=True)
class _Bound:
    r"""What a ``\E`` binds at once: a name, or a tuple of them, by number; and its set.

    ``alone`` is a ``\E`` that binds nothing else.
    """

    symbols: tuple[Any, ...]
    numbers: tuple[int, ...]
    is_tuple: bool
    domain: Any
    alone: Any


@dataclass(frozen=True, slots=True)
class _Form:
    """What a branch binds, and the arguments that are its parameters.

    ``places`` has the place among the parameters of each name that is one by itself, and whose
    tuple, if it is bound in one, has no other names.
    """

    bound: tuple[_Bound, ...]
    arguments: tuple[Any, ...]
    places: Mapping[int, int]


class Given:
    """The parameters and the choices of the branches of one spec."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._tool = spec.tool
        self._forms: dict[Branch, _Form] = {}
        self._tuple = spec.classes("tlc2.value.impl.TupleValue")
        self._union = spec.classes("tlc2.value.impl.SetCupValue")
        self._filtered = spec.classes("tlc2.value.impl.SetPredValue")
        self._sets = tuple(map(spec.classes, _SETS))

    def parameters(self, branch: Branch, context: Any, state: State) -> tuple[Value, ...]:
        """Return the values that a branch gives the parameters of its action in one choice.

        An action that is handed to another (``Heals(Crash)``) is no value, and left out; so is an
        operator, as in ``Step(Double, k)``.
        """
        if branch.is_application:
            values = [
                self._spec.asked(self._tool.eval, argument, context, state.java)
                for argument in self._form(branch).arguments
            ]
        else:
            values = [context.lookup(formal) for formal in branch.owner.formals]
        return tuple(map(self._spec.converter.to_python, values))

    def contexts(
        self, branch: Branch, state: State, given: Sequence[Value | None]
    ) -> Iterator[tuple[tuple[Value, ...], Any]]:
        """Yield the parameters that agree with those given, each with the context of a choice.

        ``None`` is a parameter that is not known. ``EvaluationError`` if a set cannot be evaluated,
        or TLC cannot list one that it has to.
        """
        form = self._form(branch)
        known = {}
        if len(form.arguments) == len(given):
            to_java = self._spec.converter.to_java
            known = {
                number: to_java(value)
                for number, at in form.places.items()
                if (value := given[at]) is not None
            }
        is_settled = len(known) == len(form.arguments) == len(given)
        for context in self._chosen(form.bound, branch.context, state, known):
            if is_settled:
                yield tuple(one for one in given if one is not None), context
                continue
            found = self.parameters(branch, context, state)
            if agrees(found, given):
                yield found, context

    def _form(self, branch: Branch) -> _Form:
        known = self._forms.get(branch)
        if known is None:
            single = self._spec.tree.single_choices
            bound = tuple(
                _Bound(symbols, tuple(map(_number, symbols)), is_tuple, domain, alone)
                for quantifier in branch.quantifiers
                for symbols, is_tuple, domain, alone in single(quantifier)
            )
            arguments = tuple(
                one
                for one in (branch.inner.getArgs() if branch.is_application else ())
                if int(one.getLevel()) < ACTION_LEVEL
                and int(one.getKind()) != NodeKind.OPERATOR_ARGUMENT
            )
            named = {name_of(argument): at for at, argument in enumerate(arguments)}
            places = {
                number: named[number]
                for one in bound
                if named.keys() >= set(one.numbers)
                for number in one.numbers
            }
            known = self._forms[branch] = _Form(bound, arguments, places)
        return known

    def _chosen(
        self, bound: Sequence[_Bound], context: Any, state: State, known: Mapping[int, Any]
    ) -> Iterator[Any]:
        if not bound:
            yield context
            return
        first, *others = bound
        asked, tool = self._spec.asked, self._tool
        if known.keys() >= set(first.numbers):
            values = [known[number] for number in first.numbers]
            members = asked(tool.eval, first.domain, context, state.java)
            if self._has(members, self._tuple(values) if first.is_tuple else values[0]):
                for symbol, value in zip(first.symbols, values, strict=True):
                    context = context.cons(symbol, value)
                yield from self._chosen(others, context, state, known)
            return
        found = asked(tool.contexts, first.alone, context, state.java, self._spec.empty_state, 0)
        while (inside := asked(found.nextElement)) is not None:
            yield from self._chosen(others, inside, state, known)

    def _has(self, members: Any, value: Any) -> bool:
        """Return whether a set has a member, though TLC does not compare values of two kinds."""
        if isinstance(members, self._union):
            return self._has(members.set1, value) or self._has(members.set2, value)
        if isinstance(members, self._filtered) and not self._has(members.inVal, value):
            # Of {x \in S : P(x)} the formula concerns members of S only.
            return False
        try:
            return bool(self._spec.asked(members.member, value))
        except EvaluationError:
            if isinstance(members, self._filtered) or not isinstance(members, self._sets):
                raise
            return False


def _number(symbol: Any) -> int:
    return int(symbol.getUid())


def agrees(parameters: tuple[Value, ...], given: Sequence[Value | None] | None) -> bool:
    """Return whether parameters equal those given, where these are known.

    There are fewer than the action takes if one of them is an action, which is no value.
    """
    if given is None or len(parameters) != len(given):
        return not any(one is not None for one in given or ())
    return all(
        wanted is None or same(one, wanted) for one, wanted in zip(parameters, given, strict=True)
    )
