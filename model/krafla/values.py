"""TLA+ values as plain Python values: immutable, hashable and in one canonical order.

============================  =====================================================
TLA+                          Python
============================  =====================================================
``BOOLEAN``, ``Int``          ``bool``, ``int``
``STRING``, model value       ``str``, ``ModelValue``
set                           ``frozenset``
tuple or sequence             ``tuple``
record, any other function    ``Function``
============================  =====================================================

A function whose domain is ``1..n`` *is* a sequence in TLA+, so ``function`` returns a
``tuple`` for it, and ``()`` for the empty function. A state is a ``Function`` from
variable names to values.

Python holds that ``True == 1``; TLA+ does not. ``same`` compares as TLA+ does, and
``sort_key`` is both the canonical order and a key in which the two differ.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar, Union

__all__ = [
    "Function",
    "ModelValue",
    "Record",
    "Value",
    "distinct",
    "fmt",
    "freeze",
    "function",
    "listed",
    "parts_of",
    "record",
    "same",
    "sort_key",
    "sorted_values",
]

T = TypeVar("T")
_UNBOUNDED: Final = sys.maxsize


@dataclass(frozen=True, slots=True, order=True)
class ModelValue:
    """A TLC model value: equal to itself and to nothing else."""

    name: str

    def __str__(self) -> str:
        return self.name


class Function(Mapping["Value", "Value"]):
    """A TLA+ function that is not a sequence; a record when its domain is strings.

    ``f[argument]`` applies it, ``f.field`` reads a field of a record (a field named like
    a method of ``Mapping`` needs ``f["items"]``), and iteration is in canonical order.
    Make one with ``function`` or ``record``: a domain of ``1..n`` raises ``ValueError``.
    """

    __slots__ = ("_key", "_map")
    _key: tuple[Any, ...] | None
    _map: dict[Value, Value]

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        entries = dict(items)
        if is_sequence_domain(entries):
            raise ValueError("a function over 1..n is a tuple: make it with function()")
        self._map = {argument: entries[argument] for argument in sorted_values(entries)}
        self._key = None

    def __getitem__(self, argument: Value) -> Value:
        return self._map[argument]

    def __getattr__(self, field: str) -> Any:
        # The result is Any: a caller who names a field knows the type of the record.
        if not field.startswith("_") and field in self._map:
            return self._map[field]
        raise AttributeError(f"no field {field!r} in {fmt(self)}")

    def __iter__(self) -> Iterator[Value]:
        return iter(self._map)

    def __len__(self) -> int:
        return len(self._map)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Function):
            return NotImplemented
        if len(self._map) != len(other._map):
            return False
        # Both are in canonical order, so the same functions agree pair by pair.
        pairs = zip(self._map.items(), other._map.items(), strict=True)
        return all(same(a, b) and same(x, y) for (a, x), (b, y) in pairs)

    def __hash__(self) -> int:
        return hash(self.sort_key())

    def __reduce__(self) -> tuple[type[Function], tuple[dict[Value, Value]]]:
        return Function, (self._map,)

    def __repr__(self) -> str:
        return f"Function({self._map!r})"

    def __str__(self) -> str:
        return fmt(self)

    def sort_key(self) -> tuple[Any, ...]:
        """Return the place in the canonical order, computed once; see ``sort_key``."""
        if self._key is None:
            entries = ((sort_key(key), sort_key(result)) for key, result in self._map.items())
            self._key = (5, len(self._map), tuple(entries))
        return self._key

    def updated(self, argument: Value, result: Value) -> Function:
        """Return the function that differs from this one at one argument.

        In TLA+, ``[f EXCEPT ![argument] = result]``; ``KeyError`` outside the domain.
        """
        if argument not in self._map:
            raise KeyError(argument)
        return Function({**self._map, argument: result})

    def replace(self, **fields: Value) -> Function:
        """Return the record with these fields changed; ``KeyError`` for a field it has not."""
        unknown = sorted(fields.keys() - self._map.keys())
        if unknown:
            raise KeyError(", ".join(unknown))
        return Function([*self._map.items(), *fields.items()])


Value: TypeAlias = Union[
    bool, int, str, ModelValue, "frozenset[Value]", "tuple[Value, ...]", Function
]


_PLAIN = frozenset({bool, int, ModelValue})
_ORDERED = frozenset({list, tuple})
# The places of plain values in the canonical order.
_RANKS: Mapping[type, int] = {bool: 0, int: 1, str: 2}
_NO_MODELS: Mapping[str, ModelValue] = MappingProxyType({})
_UNMISTAKABLE = (str, ModelValue, Function)


def is_sequence_domain(domain: Iterable[Any]) -> bool:
    """Return whether the arguments are exactly 1, 2, ..., n (n may be 0), booleans not counted."""
    arguments = list(domain)
    return all(type(argument) is int for argument in arguments) and (
        sorted(arguments) == list(range(1, len(arguments) + 1))
    )


def function(items: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Value:
    """Return the TLA+ function with these results: a ``tuple`` over 1..n, else a ``Function``."""
    entries = dict(items)
    if is_sequence_domain(entries):
        return tuple(entries[index] for index in range(1, len(entries) + 1))
    return Function(entries)


def record(**fields: Value) -> Function:
    """Return the TLA+ record with these fields, at least one."""
    return Function(fields)


class Record(Function):
    """The TLA+ record with these fields, at least one; it equals the same ``Function``.

    Its fields are names, never model values: see ``freeze``.
    """

    __slots__ = ()

    def __init__(self, **fields: Any) -> None:
        super().__init__({name: freeze(value) for name, value in fields.items()})


def freeze(plain: Any, models: Mapping[str, ModelValue] = _NO_MODELS) -> Value:
    """Return the TLA+ value of ordinary Python data: lists are sequences, dicts functions.

    A member of an ``Enum`` stands for its value, a dataclass for the record of its fields, and a
    string that is a key of ``models`` for that model value. But the strings among the keys of a
    mapping are names of fields unless all stand for model values, and the fields of a ``Record``
    and of a dataclass are names always. Sets, tuples and mappings are frozen to any depth; a value
    that has no counterpart in TLA+ (``None``, ``float``, ...) raises ``TypeError``.
    """
    kind = type(plain)
    if kind is str:
        return models.get(plain, plain)  # type: ignore[no-any-return]  # it is a str
    if kind in _PLAIN or (kind is Function and not models):
        return plain  # type: ignore[no-any-return]  # its type is one of Value
    if kind in _ORDERED:
        return tuple([freeze(element, models) for element in plain])
    if isinstance(plain, Enum):
        return freeze(plain.value, models)
    if isinstance(plain, bool | int | str | ModelValue):
        return plain
    if isinstance(plain, Record):
        return Function({name: freeze(value, models) for name, value in plain.items()})
    if isinstance(plain, Mapping):
        keys = _arguments(plain, models)
        values = (freeze(value, models) for value in plain.values())
        return function(zip(keys, values, strict=True))
    if isinstance(plain, tuple | list | deque):
        return tuple(freeze(element, models) for element in plain)
    if isinstance(plain, Set):
        return frozenset(freeze(element, models) for element in plain)
    if is_dataclass(plain) and not isinstance(plain, type):
        named = ((one.name, getattr(plain, one.name)) for one in fields(plain))
        return Function({name: freeze(value, models) for name, value in named})
    raise TypeError(f"{kind.__name__} {plain!r} has no counterpart in TLA+")


def _arguments(keys: Iterable[Any], models: Mapping[str, ModelValue]) -> list[Value]:
    """Return the keys of a mapping as values: its strings are all model values, or all names."""
    given = [key.value if isinstance(key, Enum) else key for key in keys]
    if any(isinstance(key, str) and key not in models for key in given):
        return [key if isinstance(key, str) else freeze(key, models) for key in given]
    return [freeze(key, models) for key in given]


def sort_key(value: Value) -> tuple[Any, ...]:
    """Return the place of a value in the canonical order, equal only for the same value.

    The order is booleans, numbers, strings, model values, sequences, functions, sets;
    sequences and sets by length first. It is hashable, so it serves as a memo key that
    tells ``TRUE`` from ``1``.
    """
    rank = _RANKS.get(type(value))
    if rank is not None:
        return (rank, value)
    if isinstance(value, ModelValue):
        return (3, value.name)
    if isinstance(value, tuple):
        return (4, len(value), tuple(map(sort_key, value)))
    if isinstance(value, Function):
        return value.sort_key()
    if isinstance(value, frozenset):
        return (6, len(value), tuple(sorted(map(sort_key, value))))
    for kind, place in _RANKS.items():
        # An ``IntEnum``, for one, is a number.
        if isinstance(value, kind):
            return (place, value)
    raise TypeError(f"{type(value).__name__} {value!r} is not a TLA+ value")


def sorted_values(values: Iterable[Any]) -> list[Any]:
    """Return the values in canonical order."""
    members = list(values)
    if all(type(member) is str for member in members):
        return sorted(members)
    return sorted(members, key=sort_key)


def distinct(values: Iterable[T]) -> tuple[T, ...]:
    """Return the values in their order, each once; ``TRUE`` is not ``1``."""
    return tuple({sort_key(one): one for one in values}.values())  # type: ignore[arg-type]  # they are values


def same(left: Value, right: Value) -> bool:
    """Return whether TLA+ holds the two equal; unlike in Python, ``TRUE`` is not ``1``."""
    if left is right:
        return True
    if type(left) is not type(right):
        return isinstance(left, Function) and left == right
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if left != right:
        return False
    # Sets of numbers, booleans or sequences may still hide TRUE as 1; other members cannot.
    if isinstance(left, frozenset) and not all(isinstance(m, _UNMISTAKABLE) for m in left):
        return sort_key(left) == sort_key(right)
    return True


def fmt(value: Value, room: int = _UNBOUNDED) -> str:
    """Return the value in TLA+ syntax, members and fields in canonical order.

    Functions that are not records need ``:>`` and ``@@`` of the module TLC. Of a value that takes
    more than about ``room`` characters the last members are left out, as ``listed`` does.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{escape(value)}"'
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, tuple):
        return f"<<{listed(value, fmt, room)}>>"
    if isinstance(value, frozenset):
        return f"{{{listed(sorted_values(value), fmt, room)}}}"
    if isinstance(value, Function):
        pairs = list(value.items())
        if is_record(value):
            fields = listed(pairs, lambda pair, left: f"{pair[0]} |-> {fmt(pair[1], left)}", room)
            return f"[{fields}]"
        return f"({listed(pairs, _pair, room, ' @@ ')})"
    raise TypeError(f"{type(value).__name__} {value!r} is not a TLA+ value")


def _pair(pair: tuple[Value, Value], room: int) -> str:
    return f"{fmt(pair[0])} :> {fmt(pair[1], room)}"


def listed(
    members: Sequence[T], told: Callable[[T, int], str], room: int, between: str = ", "
) -> str:
    """Return the texts of members; once they fill the room, only the number of the others.

    ``told`` returns the text of a member, given the room that is left. No text is cut, so a name
    is never cut, and the first member is always there.
    """
    texts: list[str] = []
    for number, member in enumerate(members):
        if texts and room <= 0:
            texts.append(f"... {len(members) - number} more")
            break
        texts.append(told(member, room))
        room -= len(texts[-1]) + len(between)
    return between.join(texts)


def parts_of(value: Value) -> list[Value]:
    """Return the value and everything in it."""
    inner: list[Value] = []
    if isinstance(value, tuple | frozenset):
        inner = list(value)
    elif isinstance(value, Function):
        inner = [*value, *value.values()]
    return [value, *(part for element in inner for part in parts_of(element))]


def is_record(value: Function) -> bool:
    """Return whether every argument is a string that can be written as a field name."""
    return all(
        isinstance(field, str) and field.isascii() and field.isidentifier() for field in value
    )


def escape(text: str) -> str:
    """Return the text as it stands between the quotes of a TLA+ string."""
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return text
