"""The z3 sort of each type, and fresh symbols of any type."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.apart import Apart
from krafla.proofs.terms import (
    AtomTerm,
    FunctionTerm,
    Scalar,
    SetTerm,
    Term,
    TupleTerm,
    boolean,
    everything,
)
from krafla.proofs.types import (
    BOOLEAN,
    INTEGER,
    TEXT,
    Alternative,
    AtomType,
    ElementType,
    FunctionType,
    Mismatch,
    RecordType,
    SetType,
    TupleType,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["Shape", "Sorts"]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One alternative of a datatype: its constructor, recognizer and accessors."""

    alternative: Alternative
    constructor: z3.FuncDeclRef
    recognizer: z3.FuncDeclRef
    accessors: tuple[z3.FuncDeclRef, ...]

    @property
    def fields(self) -> tuple[tuple[str, Type], ...]:
        """Return the names and types of its fields; an atom has none."""
        return self.alternative.fields if isinstance(self.alternative, RecordType) else ()


# z3 identifies a datatype by its name, across all theories of a process.
_SERIAL = itertools.count()


class Sorts:
    """The sorts of one theory; ``literals`` are all strings in its modules.

    ``sizes`` gives the number of elements of a CONSTANT set. Without it the number is unknown, and
    z3 must show a formula for any number. If ``is_written_out``, a quantifier over a set of known
    size becomes a conjunction or disjunction. ``predicates`` are the symbols of sets and domains,
    by their declarations, with the type of the members: the last arguments.
    """

    def __init__(
        self,
        literals: Iterable[str],
        sizes: Mapping[str, int] | None = None,
        *,
        is_written_out: bool = True,
    ) -> None:
        self.literals = tuple(sorted(set(literals)))
        self.serial = next(_SERIAL)
        self.sizes = sizes
        self.apart = Apart()
        self._is_written_out = is_written_out
        # Strings that occur in no module are still strings: one for each number.
        text = z3.Datatype(f"STRING.{self.serial}")
        for literal in self.literals:
            text.declare(f'"{literal}"')
        text.declare("other", ("number", z3.IntSort()))
        self.text = text.create()
        self.elements: dict[str, z3.SortRef] = {}
        self._shapes: dict[Type, tuple[z3.SortRef, tuple[Shape, ...]]] = {}
        self.predicates: dict[str, tuple[z3.FuncDeclRef, Type]] = {}
        self._fresh = 0
        # z3 reuses the id of an expression that nothing refers to, so these are kept.
        self._bound: set[int] = set()
        self._kept: list[z3.ExprRef] = []

    def literal(self, value: str) -> z3.ExprRef:
        """Return the term of a string that the modules contain."""
        return self.text.constructor(self.literals.index(value))()

    def other_text(self, number: int) -> z3.ExprRef:
        """Return the term of a string that no module contains."""
        return self.text.constructor(len(self.literals))(z3.IntVal(number))

    def of(self, type_: Type) -> z3.SortRef:
        """Return the sort of a type; ``Mismatch`` if its values are no single z3 expressions."""
        if type_ == BOOLEAN:
            return z3.BoolSort()
        if type_ == INTEGER:
            return z3.IntSort()
        if type_ == TEXT:
            return self.text
        if isinstance(type_, ElementType):
            return self._elements(type_)
        if isinstance(type_, RecordType | UnionType):
            return self._datatype(type_)[0]
        raise Mismatch(f"a {type_} is no value that z3 can range over")

    def _elements(self, type_: ElementType) -> z3.SortRef:
        name = type_.constant
        if name not in self.elements:
            if self.sizes is None:
                self.elements[name] = z3.DeclareSort(name)
            else:
                names = [f"{name.lower()}_{n}" for n in range(1, self.sizes[name] + 1)]
                self.elements[name] = z3.EnumSort(f"{name}.{self.serial}", names)[0]
        return self.elements[name]

    def all_of(self, type_: Type) -> tuple[Term, ...] | None:
        """Return all values of a type, if a quantifier over them is written out."""
        if type_ == BOOLEAN:
            return (boolean(False), boolean(True))
        if isinstance(type_, ElementType) and self.sizes is not None and self._is_written_out:
            return self.elements_of(type_)
        return None

    def elements_of(self, type_: ElementType) -> tuple[Scalar, ...]:
        """Return the elements of a CONSTANT set with a given size."""
        sort = self.of(type_)
        return tuple(Scalar(type_, sort.constructor(n)()) for n in range(sort.num_constructors()))

    def shapes(self, type_: Type) -> tuple[Shape, ...]:
        """Return the alternatives of a record or union type."""
        return self._datatype(type_)[1]

    def _datatype(self, type_: Type) -> tuple[z3.SortRef, tuple[Shape, ...]]:
        if type_ not in self._shapes:
            assert isinstance(type_, RecordType | UnionType)
            union = type_.alternatives if isinstance(type_, UnionType) else (type_,)
            # Its alternatives are values of z3 that differ.
            self.apart.check(union)
            # The records inside of it are made first, and take names of their own.
            for alternative in union:
                if isinstance(alternative, RecordType):
                    for _, part in alternative.fields:
                        self.of(part)
            name = f"Value{len(self._shapes)}.{self.serial}"
            datatype = z3.Datatype(name)
            for index, alternative in enumerate(union):
                if isinstance(alternative, AtomType):
                    datatype.declare(f"{name}.{alternative.constant}")
                    continue
                fields = [
                    (f"{name}.{index}.{field}", self.of(part)) for field, part in alternative.fields
                ]
                datatype.declare(f"{name}.{index}", *fields)
            sort = datatype.create()
            self._shapes[type_] = sort, tuple(
                Shape(
                    alternative, sort.constructor(index), sort.recognizer(index),
                    tuple(sort.accessor(index, at) for at in range(arity)),
                )
                for index, alternative in enumerate(union)
                for arity in (sort.constructor(index).arity(),)
            )  # fmt: skip
        return self._shapes[type_]

    def flat(self, type_: Type) -> list[z3.SortRef]:
        """Return the sorts of the arguments for one value: several for a tuple."""
        if isinstance(type_, TupleType):
            return [sort for element in type_.elements for sort in self.flat(element)]
        return [] if isinstance(type_, AtomType) else [self.of(type_)]

    def unflat(self, type_: Type, given: Iterator[z3.ExprRef]) -> Term:
        """Return the value whose arguments, as many as ``flat`` has, are given."""
        if isinstance(type_, AtomType):
            return AtomTerm(type_.constant)
        if isinstance(type_, TupleType):
            return TupleTerm(tuple(self.unflat(one, given) for one in type_.elements))
        return Scalar(type_, next(given))

    def name(self, stem: str) -> str:
        """Return a new name."""
        self._fresh += 1
        return f"{stem}!{self._fresh}"

    def bound(self, type_: Type, stem: str) -> tuple[Term, list[z3.ExprRef]]:
        """Return a variable for a quantifier, with the z3 constants that make it up."""
        found: list[z3.ExprRef] = []
        term = self._made(type_, stem, found)
        self._bound.update(constant.get_id() for constant in found)
        self._kept += found
        return term, found

    def constant(self, type_: Type, stem: str) -> Term:
        """Return an unknown value."""
        return self._made(type_, stem, [])

    def _made(self, type_: Type, stem: str, found: list[z3.ExprRef]) -> Term:
        if isinstance(type_, AtomType):
            return AtomTerm(type_.constant)
        if isinstance(type_, TupleType):
            return TupleTerm(tuple(self._made(one, stem, found) for one in type_.elements))
        constant = z3.Const(self.name(stem), self.of(type_))
        found.append(constant)
        return Scalar(type_, constant)

    def has_bound_names(self, formula: z3.ExprRef) -> bool:
        """Return whether a formula contains a name that an outer quantifier binds."""
        seen: set[int] = set()
        waiting = [formula]
        while waiting:
            expression = waiting.pop()
            if expression.get_id() in seen:
                continue
            seen.add(expression.get_id())
            if expression.get_id() in self._bound:
                return True
            if z3.is_quantifier(expression):
                waiting.append(expression.body())
            else:
                waiting += expression.children()
        return False

    def declare(
        self,
        name: str,
        type_: Type,
        flatten: Callable[[Term, Type], list[z3.ExprRef]],
        prefix: Sequence[z3.SortRef] = (),
    ) -> Callable[[Sequence[z3.ExprRef]], Term]:
        """Return a symbol of any type, for each value of the arguments in ``prefix``.

        A function becomes a z3 function, a set a predicate. ``flatten`` turns an argument into
        expressions. A function that is not total has a second symbol for its domain.
        """
        if isinstance(type_, AtomType):
            return lambda _: AtomTerm(type_.constant)
        if isinstance(type_, SetType):
            return self._declare_set(name, type_, flatten, prefix)
        if isinstance(type_, FunctionType):
            return self._declare_function(name, type_, flatten, prefix)
        if isinstance(type_, TupleType):
            parts = [
                self.declare(f"{name}.{index}", element, flatten, prefix)
                for index, element in enumerate(type_.elements, start=1)
            ]
            return lambda given: TupleTerm(tuple(part(given) for part in parts))
        symbol = z3.Function(name, *prefix, self.of(type_))
        return lambda given: Scalar(type_, symbol(*given))

    def _declare_set(
        self, name: str, type_: SetType, flatten: Callable[[Term, Type], list[z3.ExprRef]],
        prefix: Sequence[z3.SortRef],
    ) -> Callable[[Sequence[z3.ExprRef]], Term]:  # fmt: skip
        test = z3.Function(name, *prefix, *self.flat(type_.element), z3.BoolSort())
        self.predicates[test.sexpr()] = (test, type_.element)
        return lambda given: SetTerm(
            type_.element,
            lambda member: test(*given, *flatten(member, type_.element)),
            self.all_of(type_.element),
        )

    def _declare_function(
        self, name: str, type_: FunctionType, flatten: Callable[[Term, Type], list[z3.ExprRef]],
        prefix: Sequence[z3.SortRef],
    ) -> Callable[[Sequence[z3.ExprRef]], Term]:  # fmt: skip
        inner = self.declare(
            _name_of_result(name, type_.result), type_.result, flatten,
            [*prefix, *self.flat(type_.argument)],
        )  # fmt: skip
        has = None
        if not type_.is_total:
            has = self.declare(f"{name}.domain", SetType(type_.argument), flatten, prefix)

        def made(given: Sequence[z3.ExprRef]) -> Term:
            domain = (
                everything(type_.argument, self.all_of(type_.argument))
                if has is None
                else has(given)
            )
            assert isinstance(domain, SetTerm)
            return FunctionTerm(
                domain,
                type_.result,
                lambda argument: inner([*given, *flatten(argument, type_.argument)]),
            )

        return made


def _name_of_result(name: str, type_: Type) -> str:
    """Return the name of a function's results.

    Each level of a function of functions has a domain of its own. Only the names tell these apart:
    an argument that has one value adds no sort.
    """
    return f"{name}.of" if isinstance(type_, FunctionType) else name
