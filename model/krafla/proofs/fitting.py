"""Whether a value belongs to a type: z3's sorts are all that a state can hold there."""

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
    conjunction,
    disjunction,
    everything,
)
from krafla.proofs.types import (
    FunctionType,
    RecordType,
    SetType,
    TupleType,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from krafla.proofs.algebra import Algebra

__all__ = ["fits"]


def fits(algebra: Algebra, term: Term, type_: Type) -> z3.BoolRef:
    """Return the formula that a value belongs to a type.

    It is TRUE if the value's own type says so. A total function must be defined everywhere.
    """
    if isinstance(term, FunctionTerm) and isinstance(type_, FunctionType):
        return _function_fits(algebra, term, type_)
    if isinstance(term, SetTerm) and isinstance(type_, SetType):
        if term.element == type_.element:
            return z3.BoolVal(True)
        return algebra.for_all(term, lambda one: fits(algebra, one, type_.element))
    if isinstance(term, TupleTerm) and isinstance(type_, TupleType):
        if len(term.elements) != len(type_.elements):
            return z3.BoolVal(False)
        pairs = zip(term.elements, type_.elements, strict=True)
        return conjunction(*(fits(algebra, one, part) for one, part in pairs))
    if isinstance(term, AtomTerm | RecordTerm | Scalar):
        return _plain_fits(algebra, term, type_)
    # The empty function has no results that could not fit.
    return z3.BoolVal(isinstance(term, Unspecified))


def _plain_fits(algebra: Algebra, term: AtomTerm | RecordTerm | Scalar, type_: Type) -> z3.BoolRef:
    if term.type == type_:
        return z3.BoolVal(True)
    if isinstance(term, Scalar):
        if not isinstance(term.type, RecordType | UnionType):
            return z3.BoolVal(False)
        shapes = algebra.sorts.shapes(term.type)
        return disjunction(*(
            conjunction(
                algebra.is_shape(term, shape),
                _plain_fits(algebra, algebra.opened(term, shape), type_),
            )
            for shape in shapes
        ))  # fmt: skip
    wider = type_.alternatives if isinstance(type_, UnionType) else (type_,)
    if isinstance(term, AtomTerm):
        return z3.BoolVal(term.type in wider)
    for one in wider:
        if isinstance(one, RecordType) and list(one.names) == sorted(term.fields):
            return conjunction(
                *(fits(algebra, term.fields[name], part) for name, part in one.fields)
            )
    return z3.BoolVal(False)


def _function_fits(algebra: Algebra, term: FunctionTerm, type_: FunctionType) -> z3.BoolRef:
    def result_fits(at: Term) -> z3.BoolRef:
        return fits(algebra, term.apply(at), type_.result)

    parts = []
    domain = term.domain
    if type_.is_total and not (domain.is_everything and domain.element == type_.argument):
        whole = everything(type_.argument, algebra.sorts.all_of(type_.argument))
        parts.append(algebra.for_all(whole, domain.contains))
    if domain.element != type_.argument:
        parts.append(algebra.for_all(domain, lambda at: fits(algebra, at, type_.argument)))
    if term.result != type_.result:
        parts.append(algebra.for_all(domain, result_fits))
    return conjunction(*parts)
