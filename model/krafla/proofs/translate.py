"""The translation of SANY's tree to terms: rules for built-in operators, definitions for others.

A rule takes the translator, the node and the scope, and returns a term. A built-in operator without
a rule is refused, with its place. The definition of an operator of the spec replaces its call. Its
arguments are translated where they are used, so that a prime reaches into them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.oracle.syntax import (
    Apply,
    At,
    Bound,
    Call,
    Definition,
    Instance,
    Let,
    Name,
    Node,
    Number,
    Operator,
    String,
)
from krafla.proofs.depth import MOST_LEVELS, MOST_PARTS, TOO_LARGE
from krafla.proofs.errors import Untranslatable
from krafla.proofs.terms import (
    AtomTerm,
    FunctionTerm,
    Scalar,
    SetTerm,
    Term,
    TupleTerm,
    implication,
    integer,
)
from krafla.proofs.types import BOOLEAN, INTEGER, TEXT, Mismatch, Type

if TYPE_CHECKING:
    from krafla.oracle.sources import Place
    from krafla.proofs.algebra import Algebra

__all__ = ["Argument", "Requirement", "Rule", "Scope", "Translator"]


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """An argument that is not yet translated, with its scope."""

    node: Node
    scope: Scope
    known: dict[bool, Term] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """The value that an EXCEPT replaces, and whether the EXCEPT is under a prime."""

    value: Term
    is_primed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The scope of a node: the meaning of names and of ``@``, and whether it is under a prime.

    ``at`` has the value of each ``@`` by its place in an EXCEPT, the innermost last: the body of an
    operator of a LET is translated where it is used, which may be inside another EXCEPT. ``hidden``
    are those that TLC does not see, as the body is that of an operator with parameters.
    """

    bindings: Mapping[int, Term | Argument] = field(default_factory=dict)
    is_primed: bool = False
    at: Mapping[Place, Replaced] = field(default_factory=dict)
    hidden: frozenset[Place] = frozenset()

    def binding(self, more: Mapping[int, Term | Argument]) -> Scope:
        """Return the scope with more names."""
        return replace(self, bindings={**self.bindings, **more})

    def replacing(self, component: Place, value: Term) -> Scope:
        """Return the scope in which the ``@`` of a component of an EXCEPT is a value."""
        return replace(self, at={**self.at, component: Replaced(value, self.is_primed)})

    def calling(self, definition: Definition, arguments: Sequence[Node]) -> Scope:
        """Return the scope of the body of an operator that is called here."""
        if not definition.formals:
            return self
        pairs = zip(definition.formals, arguments, strict=True)
        inside = self.binding({formal.key: Argument(one, self) for formal, one in pairs})
        return replace(inside, hidden=inside.hidden.union(list(self.at)[:-1]))


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """A condition without which the value of an expression has no meaning.

    It is a formula that must be valid: bound names in it are free constants.
    """

    place: Place
    operator: str
    formula: z3.BoolRef


Rule: TypeAlias = Callable[["Translator", Apply, Scope], Term]


class Translator:
    """Translates expressions in one pair of states; ``after`` is ``None`` for a single state.

    ``facts`` are true formulas about the values that CHOOSE has chosen.
    """

    def __init__(
        self,
        algebra: Algebra,
        rules: Mapping[str, Rule],
        constants: Mapping[int, Term],
        before: Mapping[int, Term] | None = None,
        after: Mapping[int, Term] | None = None,
        *,
        requiring: bool = False,
    ) -> None:
        self.algebra = algebra
        self.facts: list[z3.BoolRef] = []
        self._chosen: dict[Place, list[tuple[Term, z3.BoolRef]]] = {}
        self.requirements: list[Requirement] = []
        self._rules = rules
        self._constants = constants
        self._states = (before, after)
        self._requiring = requiring
        self._path: list[z3.BoolRef] = []
        self._is_repeating = False
        # What was required, with the conditions around it.
        self._required: list[tuple[tuple[z3.BoolRef, ...], z3.BoolRef]] = []
        self._node: Apply | None = None
        self._depth = 0
        self._parts = 0
        # Disjunctions of which TLC evaluates every part, by their ids.
        self.branching: frozenset[int] = frozenset()

    @property
    def is_requiring(self) -> bool:
        """Return whether requirements are recorded."""
        return self._requiring

    def term(self, node: Node, scope: Scope) -> Term:
        """Return the value of an expression; ``Untranslatable`` if it has no translation."""
        self._depth += 1
        try:
            self._parts += 1
            if self._parts > MOST_PARTS:
                raise Untranslatable(_name_of(node), TOO_LARGE, node.place)
            if self._depth > MOST_LEVELS:
                raise Untranslatable(_name_of(node), "is nested too deeply", node.place)
            return self._term(node, scope)
        finally:
            self._depth -= 1

    def _term(self, node: Node, scope: Scope) -> Term:
        if isinstance(node, Apply):
            return self._apply(node, scope)
        if isinstance(node, Name):
            return self._name(node, scope)
        if isinstance(node, Call):
            return self._call(node, scope)
        if isinstance(node, Let):
            return self.term(node.body, scope)
        if isinstance(node, Number):
            return integer(node.value)
        if isinstance(node, String):
            return Scalar(TEXT, self.algebra.sorts.literal(node.value))
        if isinstance(node, At):
            return _replaced(node, scope)
        if isinstance(node, Instance):
            inside = {symbol.key: Argument(one, scope) for symbol, one in node.substitutions}
            return self.term(node.body, scope.binding(inside))
        assert isinstance(node, Operator)
        raise Untranslatable(node.name, "operators as arguments have no translation", node.place)

    def formula(self, node: Node, scope: Scope) -> z3.BoolRef:
        """Return an expression that is TRUE or FALSE."""
        found = self.term(node, scope)
        if not isinstance(found, Scalar) or found.type != BOOLEAN:
            raise _wrong(node, found, "a truth value is needed")
        assert isinstance(found.expression, z3.BoolRef)
        return found.expression

    def number(self, node: Node, scope: Scope) -> z3.ArithRef:
        """Return an expression that is an integer."""
        found = self.term(node, scope)
        if not isinstance(found, Scalar) or found.type != INTEGER:
            remedy = ""
            if isinstance(found, AtomTerm):
                remedy = f"; where it is one, write ASSUME {found.constant} \\in Nat"
            raise _wrong(node, found, "a number is needed", remedy)
        assert isinstance(found.expression, z3.ArithRef)
        return found.expression

    def set(self, node: Node, scope: Scope) -> SetTerm:
        """Return an expression that is a set."""
        found = self.term(node, scope)
        if not isinstance(found, SetTerm):
            raise _wrong(node, found, "a set is needed")
        return found

    def function(self, node: Node, scope: Scope) -> FunctionTerm:
        """Return an expression that is a function."""
        found = self.term(node, scope)
        if not isinstance(found, FunctionTerm):
            raise _wrong(node, found, "a function is needed")
        return found

    def _apply(self, node: Apply, scope: Scope) -> Term:
        rule = self._rules.get(node.operator)
        if rule is None:
            raise Untranslatable.unknown(node.operator, node.place)
        around, self._node = self._node, node
        try:
            return rule(self, node, scope)
        except Mismatch as error:
            raise Untranslatable(node.operator, str(error), node.place) from None
        finally:
            self._node = around

    def _name(self, node: Name, scope: Scope) -> Term:
        symbol = node.symbol
        bound = scope.bindings.get(symbol.key)
        if isinstance(bound, Argument):
            return self._argument(bound, is_primed=scope.is_primed)
        if bound is not None:
            return bound
        if symbol.key in self._constants:
            return self._constants[symbol.key]
        state = self._states[scope.is_primed]
        if state is None or symbol.key not in state:
            where = "after a step" if scope.is_primed else "of a state"
            raise Untranslatable(symbol.name, f"has no value {where} here", node.place)
        return state[symbol.key]

    def _argument(self, argument: Argument, *, is_primed: bool) -> Term:
        known = argument.known.get(is_primed)
        if known is None or self._requiring:
            scope = replace(argument.scope, is_primed=is_primed)
            known = argument.known[is_primed] = self.term(argument.node, scope)
        return known

    def _call(self, node: Call, scope: Scope) -> Term:
        definition = node.definition
        if definition.is_recursive:
            raise Untranslatable(definition.name, "recursive operators are refused", node.place)
        return self.term(definition.body, scope.calling(definition, node.arguments))

    def bind(self, bound: Bound, member: Term, scope: Scope, place: Place) -> Scope:
        """Return the scope in which the name of a bound, or its tuple, is a member."""
        if not bound.is_tuple:
            return scope.binding({bound.symbols[0].key: member})
        if not isinstance(member, TupleTerm) or len(member.elements) != len(bound.symbols):
            raise Untranslatable("<<...>> \\in", "the set has no such tuples", place)
        pairs = zip(bound.symbols, member.elements, strict=True)
        return scope.binding({symbol.key: element for symbol, element in pairs})

    def ranges(self, node: Apply, scope: Scope) -> list[tuple[Bound, SetTerm]]:
        """Return each bound name (or tuple) of a quantifier with its set."""
        found = []
        for bound in node.bounds:
            if bound.domain is None:
                raise Untranslatable(node.operator, "a quantifier needs a set", node.place)
            domain = self.set(bound.domain, scope)
            singles = (
                [bound] if bound.is_tuple else [replace(bound, symbols=(s,)) for s in bound.symbols]
            )
            found += [(single, domain) for single in singles]
        return found

    def inside(
        self, domain: SetTerm, body: Callable[[Term], z3.BoolRef]
    ) -> Callable[[Term], z3.BoolRef]:
        """Return ``body`` translated with its argument known to be a member of a set."""

        def guarded(member: Term) -> z3.BoolRef:
            with self.assuming(lambda: domain.contains(member)):
                return body(member)

        return guarded

    @contextmanager
    def assuming(self, condition: Callable[[], z3.BoolRef]) -> Iterator[None]:
        """Inside this context, requirements need to hold only if the condition does."""
        if not self._requiring:
            yield
            return
        self._path.append(condition())
        try:
            yield
        finally:
            self._path.pop()

    def choose(
        self, node: Apply, exists: z3.BoolRef, type_: Type, fits: Callable[[Term], z3.BoolRef]
    ) -> Term:
        """Return the value of a CHOOSE: the same for the same condition, else unspecified."""
        earlier = self._chosen.setdefault(node.place, [])
        for chosen, condition in earlier:
            if fits(chosen).eq(condition):
                return chosen
        chosen = self.algebra.sorts.constant(type_, "chosen")
        condition = fits(chosen)
        # That something exists may be plain without the name; what is chosen still depends on it.
        if self.algebra.sorts.has_bound_names(condition):
            raise Untranslatable("CHOOSE", "depends on a quantified name", node.place)
        earlier.append((chosen, condition))
        self.facts.append(implication(exists, condition))
        return chosen

    @contextmanager
    def meeting(self) -> Iterator[None]:
        """Inside this context, a record that meets a constant must be known to differ from it."""

        def heard(condition: z3.BoolRef) -> None:
            assert self._node is not None, "operators compare"
            self._record(condition, self._node)

        apart = self.algebra.sorts.apart
        around, apart.listener = apart.listener, heard
        try:
            yield
        finally:
            apart.listener = around

    def require(self, condition: Callable[[], z3.BoolRef], node: Apply) -> None:
        """Record that an expression has a meaning only if a condition holds."""
        if self._requiring and not self._is_repeating:
            self._record(condition(), node)

    def _record(self, condition: z3.BoolRef, node: Apply) -> None:
        formula = implication(_all(self._path), condition)
        if not z3.is_true(formula):
            self.requirements.append(Requirement(node.place, node.operator, formula))
            self._required.append((tuple(self._path), condition))

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Inside this context nothing is required: TLC has evaluated the expression before.

        What a record must be where it meets a constant is recorded here, too.
        """
        around, self._is_repeating = self._is_repeating, True
        try:
            yield
        finally:
            self._is_repeating = around

    def is_required(self, condition: z3.BoolRef) -> bool:
        """Return whether a condition is assumed here, or required in the same place before."""
        if any(condition.eq(one) for one in self._path):
            return True
        return any(
            condition.eq(one)
            and len(path) <= len(self._path)
            and all(map(z3.AstRef.eq, path, self._path))
            for path, one in self._required
        )


def _replaced(node: At, scope: Scope) -> Term:
    found = scope.at.get(node.component)
    if found is None:
        raise Untranslatable("@", "stands outside of an EXCEPT", node.place)
    if node.component in scope.hidden:
        raise Untranslatable(
            "@", "of an EXCEPT around this one, in an operator with parameters, is another in TLC",
            node.place,
        )  # fmt: skip
    if found.is_primed is not scope.is_primed:
        raise Untranslatable("@", "stands under a prime that its EXCEPT is not under", node.place)
    return found.value


def _all(parts: list[z3.BoolRef]) -> z3.BoolRef:
    return z3.And(*parts) if parts else z3.BoolVal(True)


def _wrong(node: Node, found: Term, wanted: str, remedy: str = "") -> Untranslatable:
    return Untranslatable(_name_of(node), f"{wanted}, not {found.type}{remedy}", node.place)


def _name_of(node: Node) -> str:
    if isinstance(node, Apply):
        return node.operator
    if isinstance(node, Call):
        return node.definition.name
    return node.symbol.name if isinstance(node, Name) else type(node).__name__
