"""Substituting known values for unknown ones: a formula about one state or one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.terms import (
    AtomTerm,
    FunctionTerm,
    RecordTerm,
    Scalar,
    SetTerm,
    Term,
    TupleTerm,
    Unspecified,
    boolean,
    disjunction,
    everything,
    integer,
)
from krafla.proofs.types import (
    TEXT,
    ElementType,
    FunctionType,
    Mismatch,
    RecordType,
    SetType,
    TupleType,
    Type,
    UnionType,
)
from krafla.values import Function, ModelValue, Value, fmt, sorted_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krafla.proofs.algebra import Algebra

__all__ = ["Substitution", "Universe"]


class Universe:
    """Names for the elements of a bounded theory's sets; TLA+ values as terms over them."""

    def __init__(self, algebra: Algebra, elements: Mapping[str, Sequence[ModelValue]]) -> None:
        self._algebra = algebra
        self._elements = {
            name: dict(zip(members, algebra.sorts.elements_of(ElementType(name)), strict=True))
            for name, members in elements.items()
        }

    def term(self, value: Value, type_: Type) -> Term:
        """Return a value as a term of a type; ``Mismatch`` if it does not have the type."""
        if isinstance(value, bool):
            return boolean(value)
        if isinstance(value, int):
            return integer(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, ModelValue):
            return self._model_value(value, type_)
        if isinstance(value, frozenset) and isinstance(type_, SetType):
            return self._set(value, type_.element)
        if isinstance(value, tuple) and isinstance(type_, TupleType):
            pairs = zip(value, type_.elements, strict=True)
            return TupleTerm(tuple(self.term(one, part) for one, part in pairs))
        if isinstance(type_, FunctionType) and isinstance(value, Function | tuple):
            items: dict[Value, Value] = (
                dict(enumerate(value, start=1)) if isinstance(value, tuple) else dict(value)
            )
            return self._function(items, type_)
        if isinstance(value, Function) and isinstance(type_, RecordType | UnionType):
            return self._record(value, type_)
        raise Mismatch(f"{fmt(value)} is no {type_}")

    def _text(self, value: str) -> Term:
        if value not in self._algebra.sorts.literals:
            raise Mismatch(f"no module writes the string {fmt(value)}")
        return Scalar(TEXT, self._algebra.sorts.literal(value))

    def _model_value(self, value: ModelValue, type_: Type) -> Term:
        if isinstance(type_, ElementType):
            found = self._elements[type_.constant].get(value)
            if found is None:
                raise Mismatch(f"{value} is no {type_}")
            return found
        return AtomTerm(value.name)

    def _set(self, value: frozenset[Value], element: Type) -> SetTerm:
        members = tuple(self.term(one, element) for one in sorted_values(value))
        equal = self._algebra.equal
        return SetTerm(
            element,
            lambda one: disjunction(*(equal(one, member) for member in members)),
            members,
            is_listed=True,
        )

    def _record(self, value: Function, type_: RecordType | UnionType) -> Term:
        alternatives = type_.alternatives if isinstance(type_, UnionType) else (type_,)
        for alternative in alternatives:
            if isinstance(alternative, RecordType) and sorted(alternative.names) == sorted(value):
                return RecordTerm(
                    {name: self.term(value[name], part) for name, part in alternative.fields}
                )
        raise Mismatch(f"{fmt(value)} is no {type_}")

    def _function(self, items: Mapping[Value, Value], type_: FunctionType) -> FunctionTerm:
        pairs = [
            (self.term(argument, type_.argument), self.term(result, type_.result))
            for argument, result in items.items()
        ]
        if type_.is_total:
            domain = everything(type_.argument)
        else:
            domain = self._set(frozenset(items), type_.argument)

        def apply(at: Term) -> Term:
            found: Term = Unspecified()
            for argument, result in reversed(pairs):
                found = self._algebra.choice(self._algebra.equal(at, argument), result, found)
            return found

        return FunctionTerm(domain, type_.result, apply)


class Substitution:
    """Substitutes known terms for the symbols of unknown ones in formulas."""

    def __init__(self, algebra: Algebra) -> None:
        self._algebra = algebra
        self._functions: list[tuple[z3.FuncDeclRef, z3.ExprRef]] = []
        self._constants: list[tuple[z3.ExprRef, z3.ExprRef]] = []

    def replace(self, unknown: Term, known: Term) -> None:
        """Add the substitution of a known term for an unknown one."""
        self._replace(unknown, known, [])

    def extend(self, other: Substitution) -> None:
        """Add all replacements of another substitution."""
        self._functions += other._functions
        self._constants += other._constants

    def _replace(self, unknown: Term, known: Term, arguments: list[z3.ExprRef]) -> None:
        if isinstance(unknown, AtomTerm) or isinstance(known, Unspecified):
            return
        if isinstance(unknown, TupleTerm) and isinstance(known, TupleTerm):
            for left, right in zip(unknown.elements, known.elements, strict=True):
                self._replace(left, right, arguments)
        elif isinstance(unknown, SetTerm) and isinstance(known, SetTerm):
            member, constants = self._algebra.sorts.bound(unknown.element, "member")
            test = unknown.contains(member)
            self._define(test, known.contains(member), [*arguments, *constants])
        elif isinstance(unknown, FunctionTerm) and isinstance(known, FunctionTerm):
            if not unknown.domain.is_everything:
                self._replace(unknown.domain, known.domain, arguments)
            at, constants = self._algebra.sorts.bound(unknown.domain.element, "at")
            self._replace(unknown.apply(at), known.apply(at), [*arguments, *constants])
        else:
            assert isinstance(unknown, Scalar)
            value = self._algebra.expression(known, unknown.type)
            self._define(unknown.expression, value, arguments)

    def _define(
        self, symbol: z3.ExprRef, value: z3.ExprRef, arguments: list[z3.ExprRef]
    ) -> None:  # fmt: skip
        if not arguments:
            self._constants.append((symbol, value))
            return
        places = [(argument, z3.Var(at, argument.sort())) for at, argument in enumerate(arguments)]
        self._functions.append((symbol.decl(), z3.substitute(value, *places)))

    def __call__(self, formula: z3.ExprRef) -> z3.ExprRef:
        """Return the formula with the known terms in place of the unknown ones."""
        if self._constants:
            formula = z3.substitute(formula, *self._constants)
        return z3.substitute_funs(formula, *self._functions) if self._functions else formula
