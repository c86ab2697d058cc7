"""Models of z3 as TLA+ values: constants, a state and the parameters of a step, for the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.domains import Unlisted
from krafla.proofs.terms import AtomTerm, FunctionTerm, Scalar, SetTerm, TupleTerm
from krafla.proofs.types import BOOLEAN, INTEGER, TEXT, ElementType, RecordType, UnionType
from krafla.values import ModelValue, Value, function, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krafla.proofs.finite import Found
    from krafla.proofs.terms import Term
    from krafla.proofs.theory import State, Theory
    from krafla.proofs.types import Type

__all__ = ["Reader", "Situation"]


@dataclass(frozen=True, slots=True)
class Situation:
    """A model as TLA+ values: the constants, a state, and an action's parameters."""

    constants: Mapping[str, Value]
    before: Mapping[str, Value]
    parameters: tuple[Value, ...]


class Reader:
    """Reads a model of a theory."""

    def __init__(self, theory: Theory, found: Found) -> None:
        self._theory = theory
        self._found = found

    def situation(self, state: State, parameters: Sequence[Term]) -> Situation:
        """Return the constants, a state, and parameters as values."""
        variables = self._theory.module.variables
        return Situation(
            {name: self.value(term) for name, term in self._theory.constants.items()},
            {symbol.name: self.value(state.terms[symbol.key]) for symbol in variables},
            tuple(map(self.value, parameters)),
        )

    def value(self, term: Term) -> Value:
        """Return the value of a term."""
        if isinstance(term, Scalar):
            return self._scalar(self._found.value(term.expression), term.type)
        if isinstance(term, AtomTerm):
            return ModelValue(term.constant)
        if isinstance(term, SetTerm):
            return frozenset(map(self.value, self._members(term)))
        if isinstance(term, TupleTerm):
            return tuple(map(self.value, term.elements))
        if isinstance(term, FunctionTerm):
            return function(
                {self.value(one): self.value(term.apply(one)) for one in self._members(term.domain)}
            )
        raise AssertionError(f"a {type(term).__name__} is no symbol of a model")

    def _members(self, term: SetTerm) -> Iterator[Term]:
        values: set[Any] = set()
        for one in self._candidates(term):
            value = self.value(one)
            if value not in values and z3.is_true(self._found.value(term.contains(one))):
                values.add(value)
                yield one

    def _candidates(self, term: SetTerm) -> Sequence[Term]:
        """Return values among which the members of a set are; ``Unlisted`` if they are too many."""
        type_ = term.element
        if term.is_everything and type_ in (INTEGER, TEXT):
            raise Unlisted(f"a function of every {type_} is no value of TLC")
        if isinstance(type_, RecordType | UnionType | ElementType):
            places = self._found.domain.elements.get(str(self._theory.sorts.of(type_)))
            if places is not None:
                return [Scalar(type_, one) for one in places]
        return self._found.domain.values(type_)

    def _scalar(self, value: z3.ExprRef, type_: Type) -> Value:
        if type_ == BOOLEAN:
            return bool(z3.is_true(value))
        if type_ == INTEGER:
            return int(value.as_long())
        if type_ == TEXT:
            name = str(value.decl().name())
            return name[1:-1] if name.startswith('"') else f"other{value.arg(0)}"
        if isinstance(type_, ElementType):
            return self._element(value, type_)
        assert isinstance(type_, RecordType | UnionType)
        for shape in self._theory.sorts.shapes(type_):
            if shape.constructor == value.decl():
                if not isinstance(shape.alternative, RecordType):
                    return ModelValue(shape.alternative.constant)
                return record(
                    **{
                        name: self._scalar(value.arg(index), part)
                        for index, (name, part) in enumerate(shape.fields)
                    }
                )
        raise AssertionError(f"{value} is no {type_}")

    def _element(self, value: z3.ExprRef, type_: ElementType) -> ModelValue:
        """Return an element under a name of its own: the n-th element of ``Node`` is ``node_n``."""
        elements = self._found.domain.elements[str(value.sort())]
        known = [self._found.value(element) for element in elements]
        index = next(number for number, one in enumerate(known, start=1) if one.eq(value))
        return ModelValue(f"{type_.constant.lower()}_{index}")
