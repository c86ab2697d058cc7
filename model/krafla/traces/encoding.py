"""TLA+ values as JSON and back, without loss.

Booleans, numbers, strings and sequences are themselves. A record is an object. Other values
have a tag: ``{"#model": "r1"}``, ``{"#set": [...]}``, ``{"#map": [[argument, result], ...]}``.
"""

from __future__ import annotations

import re
from typing import Any

from krafla.traces.limits import MAX_DEPTH, MAX_INTEGER, MAX_MEMBERS, MAX_TEXT, MIN_INTEGER
from krafla.values import Function, ModelValue, Value, function, sort_key, sorted_values

__all__ = [
    "check_characters",
    "check_integer",
    "check_text",
    "decode",
    "encode",
    "function_of",
    "set_of",
]

# Control characters, which a terminal would obey, and halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def encode(value: Value) -> Any:
    """Return the value as JSON data; equal values give equal data.

    ``ValueError`` for a value whose data ``decode`` would refuse.
    """
    return _encode(value, MAX_DEPTH)


def _encode(value: Value, depth: int) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return check_integer(value)
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, ModelValue):
        return {"#model": check_text(value.name)}
    _check_size(len(value), depth)
    if isinstance(value, tuple):
        return [_encode(member, depth - 1) for member in value]
    if isinstance(value, frozenset):
        return {"#set": [_encode(member, depth - 1) for member in sorted_values(value)]}
    if all(isinstance(field, str) and not field.startswith("#") for field in value):
        return {check_text(field): _encode(value[field], depth - 1) for field in map(str, value)}
    pairs = value.items()
    return {"#map": [[_encode(key, depth - 1), _encode(one, depth - 1)] for key, one in pairs]}


def decode(data: Any) -> Value:
    """Return the value that ``encode`` turned into this data.

    ``ValueError`` names the first thing that is wrong.
    """
    return _decode(data, MAX_DEPTH)


def _decode(data: Any, depth: int) -> Value:
    kind = type(data)
    if kind is bool:
        return bool(data)
    if kind is int:
        return check_integer(data)
    if kind is str:
        return check_text(data)
    if kind is list:
        _check_size(len(data), depth)
        return tuple([_decode(member, depth - 1) for member in data])
    if kind is dict:
        _check_size(len(data), depth)
        return _decode_object(data, depth)
    raise ValueError(f"{data!r} stands for no TLA+ value")


def _decode_object(data: dict[str, Any], depth: int) -> Value:
    tags = [key for key in data if key.startswith("#")]
    if not tags:
        if not data:
            raise ValueError("an object without fields stands for no TLA+ value")
        return Function({check_text(key): _decode(one, depth - 1) for key, one in data.items()})
    if len(data) != 1:
        raise ValueError(f"{tags[0]!r} must be the only key of its object")
    return _tagged(tags[0], data[tags[0]], depth)


def _tagged(tag: str, data: Any, depth: int) -> Value:
    if tag == "#model" and type(data) is str:
        return ModelValue(check_text(data))
    if tag not in ("#set", "#map") or type(data) is not list:
        raise ValueError(f"{tag!r} with {type(data).__name__} stands for no TLA+ value")
    _check_size(len(data), depth)
    if tag == "#set":
        return set_of([_decode(member, depth - 1) for member in data])
    if not all(type(pair) is list and len(pair) == 2 for pair in data):
        raise ValueError("'#map' takes a list of pairs")
    return function_of([(_decode(key, depth - 1), _decode(one, depth - 1)) for key, one in data])


def set_of(members: list[Value]) -> Value:
    """Return the set of these members; ``ValueError`` if two are equal, in TLA+ or in Python."""
    _check_distinct(members, "a set lists a member")
    return frozenset(members)


def function_of(pairs: list[tuple[Value, Value]]) -> Value:
    """Return the function of these pairs; ``ValueError`` if it gives two results for one."""
    _check_distinct([argument for argument, _ in pairs], "a function lists an argument")
    return function(pairs)


def _check_distinct(members: list[Value], who: str) -> None:
    if len(set(members)) == len(members):
        return
    if len({sort_key(member) for member in members}) != len(members):
        raise ValueError(f"{who} twice")
    # TRUE and 1 are equal in Python, which would lose one of them; TLC cannot compare them.
    raise ValueError(f"{who} and another that differs only in TRUE and 1, or FALSE and 0")


def _check_size(size: int, depth: int) -> None:
    if depth <= 0:
        raise ValueError(f"values are nested deeper than {MAX_DEPTH} levels")
    if size > MAX_MEMBERS:
        raise ValueError(f"a value has {size} parts; the most is {MAX_MEMBERS}")


def check_integer(number: int) -> int:
    """Return the number if TLC can compute with it; ``ValueError`` otherwise."""
    if not MIN_INTEGER <= number <= MAX_INTEGER:
        raise ValueError(f"{_digits(number)} is outside the 32 bits that TLC computes with")
    return number


def _digits(number: int) -> str:
    return str(number) if number.bit_length() <= 128 else "a number of many digits"


def check_text(text: str) -> str:
    """Return the text if it can stand in a value; ``ValueError`` says why it cannot."""
    if len(text) > MAX_TEXT:
        raise ValueError(f"a string has {len(text)} characters; the most is {MAX_TEXT}")
    return check_characters(text)


def check_characters(text: str) -> str:
    """Return a text of any length without control characters and halves of surrogate pairs.

    ``ValueError`` names the first one in it. Tab, line feed, form feed and carriage
    return are allowed: TLA+ has escapes for them.
    """
    if not text.isprintable():
        found = _FORBIDDEN.search(text)
        if found is not None:
            raise ValueError(f"a string holds the character U+{ord(found[0]):04X}")
    return text
