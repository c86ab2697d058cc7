"""Values that may be or have an infinite set or function: no state of TLC has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.proofs.terms import FunctionTerm, RecordTerm, SetTerm, Term, TupleTerm

if TYPE_CHECKING:
    from krafla.proofs.algebra import Algebra

__all__ = ["has_infinite"]


def has_infinite(algebra: Algebra, value: Term) -> bool:
    """Return whether a value is or has a set, or a function, that may be infinite."""
    if isinstance(value, SetTerm):
        return value.is_infinite or value.has_infinite
    if isinstance(value, RecordTerm):
        return any(has_infinite(algebra, one) for one in value.fields.values())
    if isinstance(value, TupleTerm):
        return any(has_infinite(algebra, one) for one in value.elements)
    if not isinstance(value, FunctionTerm):
        return False
    if has_infinite(algebra, value.domain):
        return True
    candidates = value.domain.candidates
    if candidates is None:
        candidates = (algebra.sorts.bound(value.domain.element, "at")[0],)
    return any(has_infinite(algebra, value.apply(one)) for one in candidates)
