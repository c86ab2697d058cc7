"""TLA+ values as JSON and back, without loss.

Booleans, numbers, strings and sequences are themselves. A record is an object. The rest
wears a tag: ``{"#model": "r1"}``, ``{"#set": [...]}``, ``{"#map": [[argument, result], ...]}``.
"""

from __future__ import annotations

from typing import Any

from krafla.values import Function, ModelValue, Value, function, sort_key, sorted_values

__all__ = ["decode", "encode"]


def encode(value: Value) -> Any:
    """Return the value as JSON data; equal values give equal data."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, ModelValue):
        return {"#model": value.name}
    if isinstance(value, tuple):
        return [encode(member) for member in value]
    if isinstance(value, frozenset):
        return {"#set": [encode(member) for member in sorted_values(value)]}
    if all(isinstance(field, str) and not field.startswith("#") for field in value):
        return {str(field): encode(result) for field, result in value.items()}
    return {"#map": [[encode(argument), encode(result)] for argument, result in value.items()]}


def decode(data: Any) -> Value:
    """Return the value that ``encode`` gave as this data.

    ``ValueError`` says what is wrong, first reason first.
    """
    if isinstance(data, bool | int | str):
        return data
    if isinstance(data, list):
        return tuple(decode(member) for member in data)
    if isinstance(data, dict):
        return _decode_object(data)
    raise ValueError(f"{data!r} stands for no TLA+ value")


def _decode_object(data: dict[str, Any]) -> Value:
    tags = [key for key in data if key.startswith("#")]
    if not tags:
        if not data:
            raise ValueError("an object without fields stands for no TLA+ value")
        return function({field: decode(result) for field, result in data.items()})
    if len(data) != 1:
        raise ValueError(f"{tags[0]!r} must be the only key of its object")
    return _tagged(tags[0], data[tags[0]])


def _tagged(tag: str, data: Any) -> Value:
    if tag == "#model" and isinstance(data, str):
        return ModelValue(data)
    if tag == "#set" and isinstance(data, list):
        members = [decode(member) for member in data]
        if len({sort_key(member) for member in members}) != len(members):
            raise ValueError("a set lists a member twice")
        return frozenset(members)
    if tag == "#map" and isinstance(data, list):
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in data):
            raise ValueError("'#map' takes a list of pairs")
        pairs = [(decode(argument), decode(result)) for argument, result in data]
        if len({sort_key(argument) for argument, _ in pairs}) != len(pairs):
            raise ValueError("a function lists an argument twice")
        decoded: Value = function(pairs)
        assert isinstance(decoded, Function | tuple)
        return decoded
    raise ValueError(f"{tag!r} with {type(data).__name__} stands for no TLA+ value")
