r"""What each step assigns to the variables, and whether the values belong to their types.

z3's symbol for a variable after a step has the variable's type. A step that gives the variable
another value would vanish from the formulas, and nothing would be proved of it. So an action is
read here as TLC reads it, from left to right: the first ``x' = e`` or ``x' \in S`` on each path
assigns x, and e (or each member of S) must belong to the type of x under the conditions before it.
Init is read in the same way, without primes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.oracle.syntax import Apply, Call, Instance, Let, Name, Node
from krafla.proofs.errors import Untranslatable
from krafla.proofs.fitting import fits
from krafla.proofs.infinite import has_infinite
from krafla.proofs.terms import (
    SetTerm,
    Term,
    conjunction,
    implication,
    negation,
)
from krafla.proofs.translate import Argument, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.oracle.syntax import Symbol
    from krafla.proofs.translate import Scope, Translator
    from krafla.proofs.types import Type

__all__ = ["Assignments", "branching", "used"]

_Assigned = frozenset[int]
_Path = tuple[z3.BoolRef, ...]
# Of these operators the value is in both states.
_STEPS = frozenset({"UNCHANGED", "$SquareAct", "$AngleAct"})


@dataclass(frozen=True, slots=True, eq=False)
class Assignments:
    """Reads what a formula assigns to variables; ``found`` gets what the values must satisfy.

    ``is_step`` is false for Init, whose variables have no primes.
    """

    translator: Translator
    types: Mapping[int, Type]
    is_step: bool
    found: list[Requirement] = field(default_factory=list)

    def read(
        self, node: Node, scope: Scope, assigned: _Assigned = frozenset(), path: _Path = ()
    ) -> _Assigned:
        """Return the keys of the variables that have a value where a formula is true.

        ``path`` are the conditions before it. ``Untranslatable`` if the formula uses a variable
        before it has a value: TLC refuses that too.
        """
        inner = _opened(node, scope)
        if inner is not None:
            return self.read(*inner, assigned, path)
        if isinstance(node, Apply):
            return self._apply(node, scope, assigned, path)
        return self._plain(node, scope, assigned)

    def _apply(self, node: Apply, scope: Scope, assigned: _Assigned, path: _Path) -> _Assigned:
        parts = [part for part in node.arguments if part is not None]
        if node.operator in ("$ConjList", "\\land"):
            for part in parts:
                assigned = self.read(part, scope, assigned, path)
                path = (*path, self.translator.formula(part, scope))
            return assigned
        if node.operator in ("$DisjList", "\\lor"):
            ends = [self.read(part, scope, assigned, path) for part in parts]
            return frozenset.intersection(*ends)
        if node.operator == "$IfThenElse":
            guard, left, right = parts
            return self._branches([(guard, left), (None, right)], scope, assigned, path)
        if node.operator == "$Case":
            arms = [arm.arguments for arm in parts if isinstance(arm, Apply)]
            return self._branches([(arm[0], arm[1]) for arm in arms], scope, assigned, path)
        if node.operator == "$BoundedExists":
            return self._exists(node, scope, assigned, path)
        if node.operator in ("=", "\\in"):
            return self._assignment(node, scope, assigned, path)
        if node.operator == "UNCHANGED" and self.is_step:
            return self._unchanged(parts[0], scope, assigned)
        return self._plain(node, scope, assigned)

    def _branches(
        self, arms: list[tuple[Node | None, Node | None]], scope: Scope, assigned: _Assigned,
        path: _Path,
    ) -> _Assigned:  # fmt: skip
        """Read the arms of an IF or CASE, each under its guard and without those before it."""
        ends = []
        for guard, value in arms:
            assert value is not None
            condition = z3.BoolVal(True)
            if guard is not None:
                self._plain(guard, scope, assigned)
                condition = self.translator.formula(guard, scope)
            if not z3.is_false(condition):
                ends.append(self.read(value, scope, assigned, (*path, condition)))
            path = (*path, negation(condition))
        return frozenset.intersection(*ends)

    def _exists(self, node: Apply, scope: Scope, assigned: _Assigned, path: _Path) -> _Assigned:
        translator = self.translator
        for bound in node.bounds:
            if bound.domain is not None:
                self._plain(bound.domain, scope, assigned)
        for bound, domain in translator.ranges(node, scope):
            member, _ = translator.algebra.sorts.bound(domain.element, bound.symbols[0].name)
            scope = translator.bind(bound, member, scope, node.place)
            path = (*path, domain.contains(member))
        (body,) = node.arguments
        assert body is not None
        return self.read(body, scope, assigned, path)

    def _assignment(self, node: Apply, scope: Scope, assigned: _Assigned, path: _Path) -> _Assigned:
        left, right = node.arguments
        assert left is not None
        assert right is not None
        symbol = self._variable(left, scope)
        if symbol is None or symbol.key in assigned:
            return self._plain(node, scope, assigned)
        self._plain(right, scope, assigned)
        algebra, type_ = self.translator.algebra, self.types[symbol.key]
        value = self.translator.term(right, scope)
        self._check_finite(value, symbol, node)
        if node.operator == "=":
            formula = fits(algebra, value, type_)
        elif isinstance(value, SetTerm):
            formula = z3.BoolVal(True)
            if value.element != type_:
                formula = algebra.for_all(value, lambda one: fits(algebra, one, type_))
        else:
            raise Untranslatable(symbol.name, f"{value.type} is no set", node.place)
        formula = implication(conjunction(*path, *self.translator.facts), formula)
        if not z3.is_true(formula):
            self.found.append(Requirement(node.place, symbol.name, formula))
        return assigned | {symbol.key}

    def _check_finite(self, value: Term, symbol: Symbol, node: Apply) -> None:
        """Refuse an infinite value: no state of TLC has one."""
        if node.operator == "\\in" and isinstance(value, SetTerm):
            is_infinite = value.has_infinite
        else:
            is_infinite = has_infinite(self.translator.algebra, value)
        if is_infinite:
            raise Untranslatable(
                symbol.name, "gets what may be an infinite set or function", node.place
            )

    def _variable(self, node: Node, scope: Scope) -> Symbol | None:
        """Return the variable of ``x'``, or of x in Init."""
        if isinstance(node, Apply) and node.operator == "'" and not scope.is_primed:
            (inner,) = node.arguments
            assert inner is not None
            return self._variable(inner, replace(scope, is_primed=True))
        inner_pair = _alias(node, scope)
        if inner_pair is not None:
            return self._variable(*inner_pair)
        is_variable = isinstance(node, Name) and node.symbol.kind == "variable"
        if is_variable and scope.is_primed is self.is_step:
            assert isinstance(node, Name)
            return node.symbol
        return None

    def _unchanged(self, node: Node, scope: Scope, assigned: _Assigned) -> _Assigned:
        """Return what has a value after an UNCHANGED: it assigns variables and tuples of them.

        TLC evaluates anything else after the step, where its variables must have values.
        """
        inner = _alias(node, scope)
        if inner is not None:
            return self._unchanged(*inner, assigned)
        if isinstance(node, Name) and node.symbol.kind == "variable":
            return assigned | {node.symbol.key}
        if isinstance(node, Apply) and node.operator == "$Tuple":
            for part in node.arguments:
                if part is not None:
                    assigned = self._unchanged(part, scope, assigned)
            return assigned
        return self._plain(node, replace(scope, is_primed=True), assigned)

    def _plain(self, node: Node, scope: Scope, assigned: _Assigned) -> _Assigned:
        """Refuse an expression that uses a variable without a value."""
        for name in used(node, scope, is_primed=self.is_step):
            if name.symbol.key not in assigned:
                prime = "'" if self.is_step else ""
                raise Untranslatable(
                    f"{name.symbol.name}{prime}", "is used before it has a value", node.place
                )
        return assigned


def branching(node: Node, scope: Scope) -> Iterator[int]:
    r"""Yield the id of each disjunction of which TLC takes every part, as an action's or Init's.

    Elsewhere TLC evaluates a part only if the parts before it are false.
    """
    inner = _opened(node, scope)
    if inner is not None:
        yield from branching(*inner)
    elif isinstance(node, Apply):
        if node.operator in ("$DisjList", "\\lor"):
            yield id(node)
        for part in _taken_parts(node):
            yield from branching(part, scope)
        if node.operator == "$FcnApply" and node.arguments[0] is not None:
            yield from _of_functions(node.arguments[0], scope)


def _of_functions(node: Node, scope: Scope) -> Iterator[int]:
    r"""Yield those of the body of each ``[x \in S |-> e]`` that may be the function applied.

    TLC has not evaluated such a function: it reads the body where the function is applied. There
    it forgets the changes of an EXCEPT, so these are refused.
    """
    inner = _opened(node, scope)
    if inner is not None:
        yield from _of_functions(*inner)
    elif isinstance(node, Apply):
        if node.operator == "$FcnConstructor" and node.arguments[0] is not None:
            yield from branching(node.arguments[0], scope)
        is_change = node.operator == "$Except"
        for part in node.arguments:
            if part is None:
                continue
            if is_change and any(one.operator == "$FcnConstructor" for one in _parts(part, scope)):
                raise Untranslatable(
                    "EXCEPT", "of [x \\in S |-> e], applied as a formula, is forgotten by TLC",
                    node.place,
                )  # fmt: skip
            is_change = False
            yield from _of_functions(part, scope)


def _parts(node: Node, scope: Scope) -> Iterator[Apply]:
    """Yield the uses of built-in operators in an expression, also through definitions."""
    inner = _opened(node, scope)
    if inner is not None:
        yield from _parts(*inner)
    elif isinstance(node, Apply):
        yield node
        for part in node.arguments:
            if part is not None:
                yield from _parts(part, scope)


def _taken_parts(node: Apply) -> list[Node]:
    """Return the parts that TLC reads as formulas of a step if it reads the whole as one."""
    parts = [part for part in node.arguments if part is not None]
    if node.operator in (
        "$ConjList", "\\land", "$DisjList", "\\lor", "$BoundedExists", "$BoundedForall",
    ):  # fmt: skip
        return parts
    if node.operator in ("$IfThenElse", "=>"):
        return parts[1:]
    if node.operator == "$SquareAct":
        return parts[:1]
    if node.operator == "$Case":
        values = [arm.arguments[1] for arm in parts if isinstance(arm, Apply)]
        return [value for value in values if value is not None]
    return []


def _opened(node: Node, scope: Scope) -> tuple[Node, Scope] | None:
    """Return what a LET, a call, an instance or an argument stands for, with its scope."""
    if isinstance(node, Let):
        return node.body, scope
    if isinstance(node, Call) and not node.definition.is_recursive:
        return node.definition.body, scope.calling(node.definition, node.arguments)
    if isinstance(node, Instance):
        inside = {symbol.key: Argument(one, scope) for symbol, one in node.substitutions}
        return node.body, scope.binding(inside)
    if isinstance(node, Name):
        bound = scope.bindings.get(node.symbol.key)
        if isinstance(bound, Argument):
            return bound.node, replace(bound.scope, is_primed=scope.is_primed)
    return None


def _alias(node: Node, scope: Scope) -> tuple[Node, Scope] | None:
    """Return what a name stands for, with its scope.

    TLC finds a variable behind names and operators without arguments, and behind nothing else.
    """
    is_name = isinstance(node, Name) or (isinstance(node, Call) and not node.arguments)
    return _opened(node, scope) if is_name else None


def used(node: Node, scope: Scope, *, is_primed: bool) -> Iterator[Name]:
    """Yield each variable that an expression uses with a prime, or without one."""
    inner = _opened(node, scope)
    if inner is not None:
        yield from used(*inner, is_primed=is_primed)
    elif isinstance(node, Name):
        if node.symbol.kind == "variable" and scope.is_primed is is_primed:
            yield node
    elif isinstance(node, Apply):
        scopes = [scope]
        if node.operator == "'" or node.operator in _STEPS:
            scopes = [replace(scope, is_primed=True)]
            scopes += [scope] if node.operator in _STEPS else []
        for one in scopes:
            for bound in node.bounds:
                if bound.domain is not None:
                    yield from used(bound.domain, one, is_primed=is_primed)
            for part in node.arguments:
                if part is not None:
                    yield from used(part, one, is_primed=is_primed)
