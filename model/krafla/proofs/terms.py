"""TLA+ values during translation: z3 expressions, or sets and functions as Python functions.

A set is its membership test, a function its domain and application. So neither needs a sort of its
own: only the tests and applications become formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.types import (
    BOOLEAN,
    INTEGER,
    NOTHING,
    TEXT,
    AtomType,
    FunctionType,
    Mismatch,
    RecordType,
    SetType,
    TupleType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "NO_FUNCTION",
    "AtomTerm",
    "FunctionTerm",
    "RecordTerm",
    "Scalar",
    "SetTerm",
    "Term",
    "TupleTerm",
    "Unspecified",
    "boolean",
    "conjunction",
    "disjunction",
    "empty_set",
    "everything",
    "implication",
    "integer",
    "negation",
]


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A value as a single z3 expression: basic values, elements, records and unions."""

    type: Type
    expression: z3.ExprRef


@dataclass(frozen=True, slots=True)
class AtomTerm:
    """A constant like ``Nil``."""

    constant: str

    @property
    def type(self) -> Type:
        """Return the type of this one value."""
        return AtomType(self.constant)


@dataclass(frozen=True, slots=True, eq=False)
class RecordTerm:
    """A record by its fields."""

    fields: Mapping[str, Term]

    @property
    def type(self) -> Type:
        """Return the type of its shape."""
        return RecordType(tuple((name, self.fields[name].type) for name in sorted(self.fields)))


@dataclass(frozen=True, slots=True, eq=False)
class SetTerm:
    """A set: ``contains`` decides whether a value belongs to it.

    ``candidates``, if known, include all members; if ``is_listed`` they are exactly the members.
    ``is_everything``: every value of the element type belongs to the set. ``is_infinite``: it may
    be an infinite set, as its expression has one; ``has_infinite``: so may something in a member.
    ``is_lazy``: TLC does not list the set before it must.
    """

    element: Type
    contains: Callable[[Term], z3.BoolRef]
    candidates: tuple[Term, ...] | None = None
    is_listed: bool = False
    is_everything: bool = False
    is_infinite: bool = False
    has_infinite: bool = False
    is_lazy: bool = False

    @property
    def type(self) -> Type:
        """Return the type of the set."""
        return SetType(self.element)


@dataclass(frozen=True, slots=True, eq=False)
class FunctionTerm:
    """A function; outside ``domain`` the result of ``apply`` has no meaning."""

    domain: SetTerm
    result: Type
    apply: Callable[[Term], Term]

    @property
    def type(self) -> Type:
        """Return the type of the function."""
        return FunctionType(self.domain.element, self.result, self.domain.is_everything)


@dataclass(frozen=True, slots=True, eq=False)
class TupleTerm:
    """A tuple of at least one element."""

    elements: tuple[Term, ...]

    @property
    def type(self) -> Type:
        """Return the type of its length."""
        return TupleType(tuple(element.type for element in self.elements))


@dataclass(frozen=True, slots=True)
class Unspecified:
    """The result of the empty function: it fits every type, and is never used."""

    @property
    def type(self) -> Type:
        """Return the type that has no values."""
        return NOTHING


Term: TypeAlias = Scalar | AtomTerm | RecordTerm | SetTerm | FunctionTerm | TupleTerm | Unspecified


def boolean(value: z3.BoolRef | bool) -> Scalar:
    """Return a truth value as a term."""
    return Scalar(BOOLEAN, z3.BoolVal(value) if isinstance(value, bool) else value)


def integer(value: z3.ArithRef | int) -> Scalar:
    """Return a number as a term."""
    return Scalar(INTEGER, z3.IntVal(value) if isinstance(value, int) else value)


def everything(element: Type, values: tuple[Term, ...] | None = None) -> SetTerm:
    """Return the set of all values of a type; ``values`` lists them if they are few."""

    def contains(member: Term) -> z3.BoolRef:
        if member.type != element:
            raise Mismatch(f"{member.type} is no {element}")
        return z3.BoolVal(True)

    return SetTerm(
        element, contains, values, values is not None, is_everything=True,
        is_infinite=element in (INTEGER, TEXT),
    )  # fmt: skip


def empty_set() -> SetTerm:
    """Return the set ``{}``."""
    return SetTerm(NOTHING, lambda _: z3.BoolVal(False), candidates=(), is_listed=True)


# The function << >>: its domain is empty.
NO_FUNCTION = FunctionTerm(empty_set(), NOTHING, lambda _: Unspecified())


def conjunction(*parts: z3.BoolRef) -> z3.BoolRef:
    """Return the conjunction, the constants among its parts dropped."""
    kept = [part for part in parts if not z3.is_true(part)]
    if any(map(z3.is_false, kept)):
        return z3.BoolVal(False)
    if len(kept) > 1:
        return z3.And(*kept)
    return kept[0] if kept else z3.BoolVal(True)


def disjunction(*parts: z3.BoolRef) -> z3.BoolRef:
    """Return the disjunction, the constants among its parts dropped."""
    kept = [part for part in parts if not z3.is_false(part)]
    if any(map(z3.is_true, kept)):
        return z3.BoolVal(True)
    if len(kept) > 1:
        return z3.Or(*kept)
    return kept[0] if kept else z3.BoolVal(False)


def negation(part: z3.BoolRef) -> z3.BoolRef:
    """Return the negation; for a negation the negated formula."""
    if z3.is_true(part) or z3.is_false(part):
        return z3.BoolVal(z3.is_false(part))
    return part.arg(0) if z3.is_not(part) else z3.Not(part)


def implication(left: z3.BoolRef, right: z3.BoolRef) -> z3.BoolRef:
    """Return the implication, simplified if a side is constant."""
    if z3.is_false(left) or z3.is_true(right):
        return z3.BoolVal(True)
    if z3.is_true(left):
        return right
    return negation(left) if z3.is_false(right) else z3.Implies(left, right)
