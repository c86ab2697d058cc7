"""The types that the translation gives to TLA+'s untyped values, and their common types.

A type is wider than the sets of a spec: every age is an ``INTEGER``. All else that a spec says
about a value stays a formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BOOLEAN",
    "INTEGER",
    "NOTHING",
    "TEXT",
    "TYPE_INVARIANT",
    "Alternative",
    "AtomType",
    "BasicType",
    "ElementType",
    "FunctionType",
    "Mismatch",
    "RecordType",
    "SetType",
    "TupleType",
    "Type",
    "UnionType",
    "joined",
    "shared_fields",
    "written",
]


TYPE_INVARIANT = "TypeOK"
"""The operator that says what every variable can hold; its sets give the variables' types."""


class Mismatch(Exception):  # noqa: N818 - says what was found; becomes an Untranslatable
    """Two values have no type in common."""


@dataclass(frozen=True, slots=True)
class BasicType:
    """Booleans, integers, strings; ``NOTHING`` is the type of the members of ``{}``."""

    name: str

    def __str__(self) -> str:
        return self.name


BOOLEAN = BasicType("BOOLEAN")
INTEGER = BasicType("Int")
TEXT = BasicType("STRING")
NOTHING = BasicType("nothing")


@dataclass(frozen=True, slots=True)
class ElementType:
    """The members of a CONSTANT set: any number of them, distinguished only by ``=``."""

    constant: str

    def __str__(self) -> str:
        return f"element of {self.constant}"


@dataclass(frozen=True, slots=True)
class AtomType:
    """A CONSTANT that equals only itself, like ``Nil``: TLC's model value."""

    constant: str

    def __str__(self) -> str:
        return self.constant


@dataclass(frozen=True, slots=True)
class RecordType:
    """Records with exactly these fields, in the order of their names."""

    fields: tuple[tuple[str, Type], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(name for name, _ in self.fields)

    def __str__(self) -> str:
        return f"[{', '.join(f'{name}: {type_}' for name, type_ in self.fields)}]"


Alternative: TypeAlias = RecordType | AtomType


@dataclass(frozen=True, slots=True)
class UnionType:
    """Records of several shapes, and atoms; two alternatives never share their field names."""

    alternatives: tuple[Alternative, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.alternatives))


@dataclass(frozen=True, slots=True)
class SetType:
    """Sets whose members have one type."""

    element: Type

    def __str__(self) -> str:
        return f"set of {self.element}"


@dataclass(frozen=True, slots=True)
class FunctionType:
    """Functions; a total one is defined for every value of its argument's type."""

    argument: Type
    result: Type
    is_total: bool

    def __str__(self) -> str:
        return f"function from {self.argument} to {self.result}"


@dataclass(frozen=True, slots=True)
class TupleType:
    """Tuples of one length."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"<<{', '.join(map(str, self.elements))}>>"


Type: TypeAlias = (
    BasicType | ElementType | AtomType | RecordType | UnionType | SetType | FunctionType | TupleType
)


def joined(left: Type, right: Type) -> Type:
    """Return the smallest type with the values of both; ``Mismatch`` if there is none."""
    if left == right or right == NOTHING:
        return left
    if left == NOTHING:
        return right
    if isinstance(left, _VARIED) and isinstance(right, _VARIED):
        return _union([*_alternatives(left), *_alternatives(right)])
    if isinstance(left, SetType) and isinstance(right, SetType):
        return SetType(joined(left.element, right.element))
    if isinstance(left, FunctionType) and isinstance(right, FunctionType):
        argument = joined(left.argument, right.argument)
        is_total = left.is_total and right.is_total and left.argument == right.argument
        return FunctionType(argument, joined(left.result, right.result), is_total)
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        pairs = zip(left.elements, right.elements, strict=False)
        if len(left.elements) == len(right.elements):
            return TupleType(tuple(joined(a, b) for a, b in pairs))
    raise Mismatch(f"{left} and {right} have no type in common{_remedy(left, right)}")


def _remedy(left: Type, right: Type) -> str:
    """Return what to write in place of a set and a constant beside it; "" for other types."""
    pairs = ((left, right), (right, left))
    for element, atom in pairs:
        if isinstance(element, ElementType) and isinstance(atom, AtomType):
            name, other = element.constant, atom.constant
            return (
                f"; declare a CONSTANT All in place of {name}, and write "
                f"ASSUME {other} \\in All and {name} == All \\ {{{other}}}"
            )
    return ""


def written(type_: Type) -> str:
    """Return TLA+ for the set of all values of a type."""
    match type_:
        case ElementType(constant):
            return constant
        case AtomType(constant):
            return f"{{{constant}}}"
        case RecordType(fields):
            return f"[{', '.join(f'{name}: {written(part)}' for name, part in fields)}]"
        case UnionType(alternatives):
            return "(" + " \\union ".join(map(written, alternatives)) + ")"
        case SetType(element):
            return f"(SUBSET {written(element)})"
        case FunctionType(argument, result):
            return f"[{written(argument)} -> {written(result)}]"
        case TupleType(elements):
            return "(" + " \\X ".join(map(written, elements)) + ")"
        case BasicType():
            return "{}" if type_ == NOTHING else type_.name


_VARIED = (AtomType, RecordType, UnionType)


def _alternatives(type_: AtomType | RecordType | UnionType) -> tuple[Alternative, ...]:
    return type_.alternatives if isinstance(type_, UnionType) else (type_,)


def _union(parts: list[Alternative]) -> Type:
    """Return the union, with records of one shape merged into one alternative."""
    found: dict[tuple[str, ...], Alternative] = {}
    for part in parts:
        if isinstance(part, AtomType):
            found[("", part.constant)] = part
            continue
        known = found.get(part.names)
        if isinstance(known, RecordType):
            pairs = zip(known.fields, part.fields, strict=True)
            part = RecordType(tuple((name, joined(a, b)) for (name, a), (_, b) in pairs))
        found[part.names] = part
    for one, other in combinations(found.values(), 2):
        if isinstance(one, RecordType) and isinstance(other, RecordType):
            _check_comparable(one, other)
    if len(found) == 1:
        return next(iter(found.values()))
    return UnionType(tuple(found[key] for key in sorted(found)))


def _check_comparable(one: RecordType, other: RecordType) -> None:
    """Raise ``Mismatch`` if TLC may compare two values of a shared field and cannot."""
    for left, right in shared_fields(one, other):
        joined(left, right)


def shared_fields(one: RecordType, other: RecordType) -> Iterator[tuple[Type, Type]]:
    """Yield both types of each field of which TLC may compare the values in two records.

    It compares records of as many fields name by name, up to the first name that differs.
    """
    types = dict(other.fields)
    for name, type_ in one.fields:
        if len(one.fields) == len(types) and name in types:
            yield type_, types[name]
