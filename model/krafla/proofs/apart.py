"""Which constants are different from which values."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.terms import conjunction, disjunction, implication
from krafla.proofs.types import (
    AtomType,
    FunctionType,
    Mismatch,
    RecordType,
    SetType,
    TupleType,
    UnionType,
    joined,
    shared_fields,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from krafla.proofs.terms import RecordTerm, SetTerm
    from krafla.proofs.types import Alternative, Type

__all__ = ["Apart"]


@dataclass(slots=True)
class Apart:
    """The pairs of two constants that differ, and the sets of records that a constant is not in.

    Nothing else is different: two constants of a model may have one value, and a constant may be a
    record outside of these sets. z3's sorts have all records of a shape, so ``listener`` gets the
    condition that a record is in such a set, wherever it meets the constant.
    """

    listener: Callable[[z3.BoolRef], None] | None = None
    _known: set[tuple[AtomType, AtomType]] = field(default_factory=set)
    _outside: dict[AtomType, list[Callable[[], SetTerm]]] = field(default_factory=dict)
    _path: list[z3.BoolRef] = field(default_factory=list)
    _opened: list[Callable[[], SetTerm]] = field(default_factory=list)

    def learn(self, constant: AtomType, other: AtomType) -> None:
        """Take note that two constants differ."""
        self._known |= {(constant, other), (other, constant)}

    def learn_outside(self, constant: AtomType, records: Callable[[], SetTerm]) -> None:
        """Take note that a constant is in no set of records, which is translated when needed."""
        self._outside.setdefault(constant, []).append(records)

    @property
    def has_records(self) -> bool:
        """Return whether a constant is known to be outside of some set of records."""
        return bool(self._outside)

    def check(self, alternatives: Iterable[Alternative]) -> None:
        """Raise ``Mismatch`` if two of the alternatives may be one value, whatever their fields.

        So too if they are records of which TLC compares fields that it may not be able to compare.
        """
        for one, other in combinations(alternatives, 2):
            if one == other:
                continue
            if isinstance(one, RecordType) and isinstance(other, RecordType):
                for left, right in shared_fields(one, other):
                    self.check_type(joined(left, right))
                continue
            constant, value = (other, one) if isinstance(one, RecordType) else (one, other)
            assert isinstance(constant, AtomType)
            if isinstance(value, AtomType):
                if (constant, value) not in self._known:
                    raise _unknown(constant, f"{constant} # {value}", value)
            elif not any(_has_type(found, value) for found in self._sets(constant)):
                raise _unknown(constant, f"{constant} \\notin {written(value)}", value)

    def check_type(self, type_: Type) -> None:
        """Raise ``Mismatch`` if TLC may not be able to compare two values of a type."""
        if isinstance(type_, UnionType):
            self.check(type_.alternatives)
        elif isinstance(type_, RecordType):
            for _, part in type_.fields:
                self.check_type(part)
        elif isinstance(type_, SetType):
            self.check_type(type_.element)
        elif isinstance(type_, TupleType):
            for part in type_.elements:
                self.check_type(part)
        elif isinstance(type_, FunctionType):
            self.check_type(type_.argument)
            self.check_type(type_.result)

    def meet(self, constant: AtomType, record: RecordTerm) -> None:
        """Tell the listener that a record must be in a set that a constant is not in."""
        if self.listener is None:
            return
        inside = disjunction(
            *(found.contains(record) for found in self._sets(constant) if _has(found, record))
        )
        needed = implication(conjunction(*self._path), inside)
        if not z3.is_true(needed) and not any(inside.eq(known) for known in self._path):
            self.listener(needed)

    @contextmanager
    def given(self, condition: Callable[[], z3.BoolRef]) -> Iterator[None]:
        """Inside this context, records meet constants only if the condition holds."""
        if self.listener is None:
            yield
            return
        self._path.append(condition())
        try:
            yield
        finally:
            self._path.pop()

    def _sets(self, constant: AtomType) -> list[SetTerm]:
        """Return the sets of records that a constant is not in.

        A set that has the constant in it says nothing while it is translated itself.
        """
        found = []
        for records in self._outside.get(constant, ()):
            if records not in self._opened:
                self._opened.append(records)
                try:
                    found.append(records())
                finally:
                    self._opened.remove(records)
        return found


def _has(records: SetTerm, record: RecordTerm) -> bool:
    return isinstance(record.type, RecordType) and _has_type(records, record.type)


def _has_type(records: SetTerm, shape: RecordType) -> bool:
    """Return whether the type of a set's members has all values of a type."""
    try:
        return joined(records.element, shape) == records.element
    except Mismatch:
        return False


def _unknown(constant: AtomType, wanted: str, value: Alternative) -> Mismatch:
    return Mismatch(f"nothing says that {constant} differs from {value}: ASSUME {wanted}")
