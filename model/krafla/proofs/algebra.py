"""The operations on every kind of value: equality, IF, quantifiers."""

from __future__ import annotations

from functools import partial
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
    implication,
    negation,
)
from krafla.proofs.types import (
    NOTHING,
    AtomType,
    Mismatch,
    RecordType,
    TupleType,
    Type,
    UnionType,
    joined,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.proofs.sorts import Shape, Sorts

__all__ = ["Algebra", "both_candidates"]


class Algebra:
    """Equality, IF and quantifiers over the terms of a theory; ``Mismatch`` if types clash."""

    def __init__(self, sorts: Sorts) -> None:
        self.sorts = sorts

    def flatten(self, term: Term, type_: Type) -> list[z3.ExprRef]:
        """Return the expressions that stand for a value of a type as arguments of a symbol."""
        if isinstance(type_, AtomType):
            if term.type != type_:
                raise Mismatch(f"{term.type} is not {type_}")
            return []
        if isinstance(type_, TupleType):
            if not isinstance(term, TupleTerm) or len(term.elements) != len(type_.elements):
                raise Mismatch(f"{term.type} is no {type_}")
            pairs = zip(term.elements, type_.elements, strict=True)
            return [part for element, inner in pairs for part in self.flatten(element, inner)]
        return [self.expression(term, type_)]

    def expression(self, term: Term, type_: Type) -> z3.ExprRef:
        """Return a value as one expression of a type to which it belongs."""
        if isinstance(term, Scalar) and term.type == type_:
            return term.expression
        if isinstance(type_, RecordType | UnionType):
            if isinstance(term, AtomTerm):
                return self._shape(type_, term.type).constructor()
            if isinstance(term, RecordTerm):
                shape = self._shape(type_, term.type)
                self._meet_all(term, type_)
                return shape.constructor(
                    *(self.expression(term.fields[name], part) for name, part in shape.fields)
                )
            if isinstance(term, Scalar) and isinstance(term.type, RecordType | UnionType):
                return self._widened(term, type_)
        raise Mismatch(f"{term.type} is no {type_}")

    def _shape(self, type_: Type, wanted: Type) -> Shape:
        for shape in self.sorts.shapes(type_):
            known = shape.alternative
            if known == wanted or (
                isinstance(known, RecordType)
                and isinstance(wanted, RecordType)
                and known.names == wanted.names
            ):
                return shape
        raise Mismatch(f"{wanted} is no {type_}")

    def _widened(self, term: Scalar, type_: Type) -> z3.ExprRef:
        """Return the same value in a wider type, rebuilt alternative by alternative."""
        result: z3.ExprRef | None = None
        for shape in reversed(self.sorts.shapes(term.type)):
            recognized = shape.recognizer(term.expression)
            with self.sorts.apart.given(partial(self.is_shape, term, shape)):
                made = self.expression(self.opened(term, shape), type_)
            result = made if result is None else z3.If(recognized, made, result)
        assert result is not None
        return result

    def opened(self, term: Scalar, shape: Shape) -> AtomTerm | RecordTerm:
        """Return the value as this alternative; the fields of any other one are unspecified."""
        if isinstance(shape.alternative, AtomType):
            return AtomTerm(shape.alternative.constant)
        return RecordTerm({
            name: Scalar(part, accessor(term.expression))
            for (name, part), accessor in zip(shape.fields, shape.accessors, strict=True)
        })  # fmt: skip

    def is_shape(self, term: Scalar, shape: Shape) -> z3.BoolRef:
        """Return the formula that is true if a value has the shape of this alternative."""
        if len(self.sorts.shapes(term.type)) == 1:
            return z3.BoolVal(True)
        return shape.recognizer(term.expression)

    def _cases(self, term: Term) -> list[tuple[z3.BoolRef, AtomTerm | RecordTerm]]:
        """Return the alternatives of a value, each with its condition."""
        if isinstance(term, AtomTerm | RecordTerm):
            return [(z3.BoolVal(True), term)]
        if not isinstance(term, Scalar) or not isinstance(term.type, RecordType | UnionType):
            raise Mismatch(f"{term.type} has no fields")
        return [
            (self.is_shape(term, shape), self.opened(term, shape))
            for shape in self.sorts.shapes(term.type)
        ]

    def _parts(self, term: Term, name: str) -> list[tuple[z3.BoolRef, Term]]:
        """Return this field of each alternative that has it, each with the alternative's condition.

        No other field is opened: messages have many.
        """
        if not isinstance(term, Scalar) or not isinstance(term.type, RecordType | UnionType):
            return [
                (condition, case.fields[name])
                for condition, case in self._cases(term)
                if isinstance(case, RecordTerm) and name in case.fields
            ]
        return [
            (self.is_shape(term, shape), Scalar(part, accessor(term.expression)))
            for shape in self.sorts.shapes(term.type)
            for (field, part), accessor in zip(shape.fields, shape.accessors, strict=True)
            if field == name
        ]

    def has_field(self, term: Term, name: str) -> z3.BoolRef:
        """Return the formula that a value is a record with this field."""
        return disjunction(*(condition for condition, _ in self._parts(term, name)))

    def field(self, term: Term, name: str) -> Term:
        """Return a field of a record; it is unspecified if the value has no such field."""
        found: Term | None = None
        for condition, part in reversed(self._parts(term, name)):
            found = part if found is None else self.choice(condition, part, found)
        if found is None:
            raise Mismatch(f"{term.type} has no field {name}")
        return found

    def with_field(self, term: Term, name: str, change: Callable[[Term], Term]) -> Term:
        """Return a record with one field changed, or unchanged if it has no such field."""
        found: Term | None = None
        for condition, case in reversed(self._cases(term)):
            if isinstance(case, RecordTerm):
                made = case
                if name in case.fields:
                    made = RecordTerm({**case.fields, name: change(case.fields[name])})
                found = made if found is None else self.choice(condition, made, found)
        if found is None:
            raise Mismatch(f"{term.type} has no field {name}")
        return found

    def equal(self, left: Term, right: Term) -> z3.BoolRef:
        """Return the formula that two values are the same."""
        if isinstance(left, SetTerm) and isinstance(right, SetTerm):
            return self._equal_sets(left, right)
        if isinstance(left, FunctionTerm) and isinstance(right, FunctionTerm):
            return self._equal_functions(left, right)
        if isinstance(left, TupleTerm) and isinstance(right, TupleTerm):
            if len(left.elements) != len(right.elements):
                return z3.BoolVal(False)
            return conjunction(*map(self.equal, left.elements, right.elements))
        if isinstance(left, AtomTerm | RecordTerm) and isinstance(right, AtomTerm | RecordTerm):
            return self._equal_plain(left, right)
        if isinstance(left, Scalar | AtomTerm | RecordTerm) and isinstance(
            right, Scalar | AtomTerm | RecordTerm
        ):
            return self._equal_scalars(left, right)
        raise Mismatch(f"{left.type} and {right.type} cannot be compared")

    def _equal_plain(self, left: AtomTerm | RecordTerm, right: AtomTerm | RecordTerm) -> z3.BoolRef:
        if isinstance(left, RecordTerm) and isinstance(right, RecordTerm):
            if sorted(left.fields) != sorted(right.fields):
                # Mismatch if TLC, which does not look at all names first, cannot compare them.
                self.sorts.apart.check_type(joined(left.type, right.type))
                return z3.BoolVal(False)
            names = sorted(left.fields)
            return conjunction(*(self.equal(left.fields[n], right.fields[n]) for n in names))
        self.check_apart(left, right)
        return z3.BoolVal(left == right)

    def check_apart(self, left: AtomTerm | RecordTerm, right: AtomTerm | RecordTerm) -> None:
        """Raise ``Mismatch`` if nothing says that two values are different or the same."""
        types = left.type, right.type
        self.sorts.apart.check(one for one in types if isinstance(one, AtomType | RecordType))
        for one, other in ((left, right), (right, left)):
            if isinstance(one, RecordTerm):
                self._meet_all(one, other.type)

    def _meet_all(self, record: RecordTerm, type_: Type) -> None:
        """Say that a record becomes a value of a type that may have constants."""
        for one in type_.alternatives if isinstance(type_, UnionType) else (type_,):
            if isinstance(one, AtomType):
                self.sorts.apart.meet(one, record)

    def meet_shapes(
        self, term: Scalar, condition: Callable[[RecordTerm], z3.BoolRef], type_: Type
    ) -> None:  # fmt: skip
        """Say that the records that satisfy a condition become values of a type."""
        for shape in self.sorts.shapes(term.type):
            opened = self.opened(term, shape)
            if isinstance(opened, RecordTerm):
                given = self.sorts.apart.given
                with given(partial(self.is_shape, term, shape)), given(partial(condition, opened)):
                    self._meet_all(opened, type_)

    def _equal_scalars(
        self, left: Scalar | AtomTerm | RecordTerm, right: Scalar | AtomTerm | RecordTerm
    ) -> z3.BoolRef:
        if not isinstance(left, Scalar):
            left, right = right, left
        both = joined(left.type, right.type)
        if both == left.type or both == right.type:
            return self.expression(left, both) == self.expression(right, both)
        # Neither type contains the other: the values are equal only in a shared alternative.
        assert isinstance(left, Scalar)
        return disjunction(*(
            conjunction(
                shape.recognizer(left.expression), self.equal(self.opened(left, shape), right)
            )
            for shape in self.sorts.shapes(left.type)
        ))  # fmt: skip

    def _equal_sets(self, left: SetTerm, right: SetTerm) -> z3.BoolRef:
        element = joined(left.element, right.element)
        both_are_everything = left.is_everything and right.is_everything
        if element == NOTHING or (both_are_everything and left.element == right.element):
            return z3.BoolVal(True)
        if left.candidates == () or right.candidates == ():
            other = right if left.candidates == () else left
            return self.for_all(other, lambda _: z3.BoolVal(False))
        either = both_candidates(left, right)
        if either is not None:
            return conjunction(*(left.contains(one) == right.contains(one) for one in either))
        member, constants = self.sorts.bound(element, "member")
        return _closed(z3.ForAll, constants, left.contains(member) == right.contains(member))

    def _equal_functions(self, left: FunctionTerm, right: FunctionTerm) -> z3.BoolRef:
        argument = joined(left.domain.element, right.domain.element)
        if argument == NOTHING:
            return z3.BoolVal(True)
        same_domain = self._equal_sets(left.domain, right.domain)
        if left.domain.candidates == () or right.domain.candidates == ():
            return same_domain
        return conjunction(
            same_domain,
            self.for_all(
                SetTerm(
                    argument, left.domain.contains, left.domain.candidates,
                    left.domain.is_listed, left.domain.is_everything,
                ),
                lambda at: self.equal(left.apply(at), right.apply(at)),
                "at",
            ),
        )  # fmt: skip

    def choice(self, condition: z3.BoolRef, left: Term, right: Term) -> Term:
        """Return the value of IF condition THEN left ELSE right."""
        if z3.is_true(condition) or isinstance(right, Unspecified):
            return left
        if z3.is_false(condition) or isinstance(left, Unspecified):
            return right
        if isinstance(left, SetTerm) and isinstance(right, SetTerm):
            return self._choice_of_sets(condition, left, right)
        if isinstance(left, FunctionTerm) and isinstance(right, FunctionTerm):
            return FunctionTerm(
                self._choice_of_sets(condition, left.domain, right.domain),
                joined(left.result, right.result),
                lambda argument: self.choice(
                    condition, left.apply(argument), right.apply(argument)
                ),
            )
        if isinstance(left, TupleTerm) and isinstance(right, TupleTerm):
            if len(left.elements) == len(right.elements):
                pairs = zip(left.elements, right.elements, strict=True)
                return TupleTerm(tuple(self.choice(condition, a, b) for a, b in pairs))
            raise Mismatch("tuples of different lengths cannot be chosen between")
        if (
            isinstance(left, RecordTerm)
            and isinstance(right, RecordTerm)
            and sorted(left.fields) == sorted(right.fields)
        ):
            return RecordTerm({
                name: self.choice(condition, part, right.fields[name])
                for name, part in left.fields.items()
            })  # fmt: skip
        if isinstance(left, AtomTerm) and left == right:
            return left
        both = joined(left.type, right.type)
        with self.sorts.apart.given(lambda: condition):
            yes = self.expression(left, both)
        with self.sorts.apart.given(lambda: negation(condition)):
            no = self.expression(right, both)
        return Scalar(both, z3.If(condition, yes, no))

    def _choice_of_sets(self, condition: z3.BoolRef, left: SetTerm, right: SetTerm) -> SetTerm:
        is_everything = left.is_everything and right.is_everything and left.element == right.element

        def contains(member: Term) -> z3.BoolRef:
            return conjunction(
                implication(condition, left.contains(member)),
                disjunction(condition, right.contains(member)),
            )

        return SetTerm(
            joined(left.element, right.element),
            contains,
            both_candidates(left, right),
            is_everything=is_everything,
            is_infinite=left.is_infinite or right.is_infinite,
            has_infinite=left.has_infinite or right.has_infinite,
            is_lazy=left.is_lazy and right.is_lazy,
        )

    def for_all(
        self, domain: SetTerm, body: Callable[[Term], z3.BoolRef], stem: str = "x"
    ) -> z3.BoolRef:
        """Return the formula that every member of a set satisfies ``body``."""
        if domain.candidates is not None:
            if domain.is_listed:
                return conjunction(*map(body, domain.candidates))
            return conjunction(
                *(implication(domain.contains(one), body(one)) for one in domain.candidates)
            )
        member, constants = self.sorts.bound(domain.element, stem)
        return _closed(z3.ForAll, constants, implication(domain.contains(member), body(member)))

    def exists(
        self, domain: SetTerm, body: Callable[[Term], z3.BoolRef], stem: str = "x"
    ) -> z3.BoolRef:
        """Return the formula that some member of a set satisfies ``body``."""
        if domain.candidates is not None:
            if domain.is_listed:
                return disjunction(*map(body, domain.candidates))
            return disjunction(
                *(conjunction(domain.contains(one), body(one)) for one in domain.candidates)
            )
        member, constants = self.sorts.bound(domain.element, stem)
        return _closed(z3.Exists, constants, conjunction(domain.contains(member), body(member)))


def both_candidates(left: SetTerm, right: SetTerm) -> tuple[Term, ...] | None:
    """Return values that include all members of two sets, if these are known."""
    if left.candidates is None or right.candidates is None:
        return None
    if left.candidates is right.candidates:
        return left.candidates
    return (*left.candidates, *right.candidates)


def _closed(
    quantifier: Callable[..., z3.BoolRef], constants: list[z3.ExprRef], body: z3.BoolRef
) -> z3.BoolRef:
    if z3.is_true(body) or z3.is_false(body) or not constants:
        # Every sort has a member, so a constant formula needs no quantifier.
        return body
    return quantifier(constants, body)
