"""The values of each type in a small world, and the formula that a value is one of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.terms import (
    AtomTerm,
    RecordTerm,
    Scalar,
    Term,
    TupleTerm,
    boolean,
    conjunction,
    disjunction,
    implication,
    integer,
)
from krafla.proofs.types import (
    BOOLEAN,
    INTEGER,
    TEXT,
    AtomType,
    ElementType,
    RecordType,
    TupleType,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krafla.proofs.algebra import Algebra

__all__ = ["LOWEST", "Domain", "Unlisted"]

LOWEST = -1
"""The smallest number of a small world."""

# Strings that no module writes, in a small world.
_OTHER_TEXTS = 2
_MOST_LISTED = 2_000


class Unlisted(Exception):  # noqa: N818 - says what was found; becomes the reason of an answer
    """A type has too many values, even in a small world."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The values of a small world with numbers up to ``number``.

    ``elements`` are the members of each CONSTANT set and the places of bags, by the names of their
    sorts.
    """

    algebra: Algebra
    number: int
    elements: Mapping[str, Sequence[z3.ExprRef]]

    def values(self, type_: Type) -> list[Term]:
        """Return all values of a type; ``Unlisted`` if they are too many."""
        found = list(islice(self._values(type_), _MOST_LISTED + 1))
        if len(found) > _MOST_LISTED:
            raise Unlisted(f"there are too many values of {type_} to try them all")
        return found

    def some_values(self, type_: Type) -> list[Term]:
        """Return all values of a type, or none if they are too many."""
        try:
            return self.values(type_)
        except Unlisted:
            return []

    def _values(self, type_: Type) -> Iterator[Term]:
        sorts = self.algebra.sorts
        if type_ == BOOLEAN:
            yield from (boolean(False), boolean(True))
        elif type_ == INTEGER:
            yield from map(integer, range(LOWEST, self.number + 1))
        elif type_ == TEXT:
            yield from (Scalar(TEXT, sorts.literal(one)) for one in sorts.literals)
            yield from (Scalar(TEXT, sorts.other_text(one)) for one in range(_OTHER_TEXTS))
        elif isinstance(type_, ElementType):
            yield from (Scalar(type_, one) for one in self.elements[str(sorts.of(type_))])
        elif isinstance(type_, AtomType):
            yield AtomTerm(type_.constant)
        elif isinstance(type_, TupleType):
            yield from map(TupleTerm, product(*map(self.values, type_.elements)))
        elif isinstance(type_, RecordType | UnionType):
            yield from (Scalar(type_, one) for one in self._datatype(type_))
        else:
            raise Unlisted(f"the values of {type_} are not listed")

    def _datatype(self, type_: RecordType | UnionType) -> Iterator[z3.ExprRef]:
        for shape in self.algebra.sorts.shapes(type_):
            parts = [self.values(part) for _, part in shape.fields]
            for chosen in product(*parts):
                pairs = zip(chosen, shape.fields, strict=True)
                yield shape.constructor(
                    *(self.algebra.expression(one, part) for one, (_, part) in pairs)
                )

    def contains(self, term: Term) -> z3.BoolRef:
        """Return the formula that a value is one of those of its type."""
        type_ = term.type
        if isinstance(term, TupleTerm):
            return conjunction(*map(self.contains, term.elements))
        if isinstance(term, RecordTerm):
            return conjunction(*map(self.contains, term.fields.values()))
        if not isinstance(term, Scalar):
            return z3.BoolVal(True)
        value, expression = term.expression, self.algebra.expression
        if type_ == INTEGER:
            return z3.And(value >= LOWEST, value <= self.number)
        if type_ == TEXT:
            return disjunction(*(value == expression(one, TEXT) for one in self.values(TEXT)))
        if not isinstance(type_, RecordType | UnionType):
            return z3.BoolVal(True)
        return conjunction(*(
            implication(
                self.algebra.is_shape(term, shape), self.contains(self.algebra.opened(term, shape))
            )
            for shape in self.algebra.sorts.shapes(type_)
        ))  # fmt: skip
