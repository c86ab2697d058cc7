"""Readers for one shape of record: all lengths are known, so one unpacking takes every value.

A shape (see `shape`) is a promise: the structural bytes are those of a record that was read in full
before. A reader only takes the content from its places and makes the record. The generated source
depends on the schemas, the version, and the places of the content in that record.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, cast

from kraft.ids import uuid_text
from kraft.records.codec import decode_body
from kraft.records.layouts import layout_of
from kraft.records.primitives import ANY_BYTE, Reader
from kraft.records.schema import FIXED_FORMATS, UNKNOWN_TAGGED_FIELDS, FieldType
from kraft.records.typed_record import attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.records.schema import Field
    from kraft.records.typed_record import Message, TypedRecord

    Path = tuple[str, ...]


def reader_of(
    record: type[TypedRecord], version: int, value: bytes, body: int, shift: int
) -> Callable[[bytes, int], TypedRecord] | None:
    """Return the reader of all values that have the shape of one that decodes.

    `body` is where the fields begin in `value`. `shift` is the number of bytes before the value,
    from the position that the reader is given. None if the value has tagged fields that no schema
    names: a record cannot hold those.
    """
    reader = _PlacingReader(value, body)
    fields = decode_body(layout_of(record.SCHEMA, version), reader)
    if _has_strangers(fields):
        return None
    return _Source(reader.places, shift).function(record, fields)


def _has_strangers(value: Any) -> bool:
    if isinstance(value, dict):
        return UNKNOWN_TAGGED_FIELDS in value or any(map(_has_strangers, value.values()))
    return isinstance(value, tuple) and any(map(_has_strangers, value))


class _PlacingReader(Reader):
    """A reader that notes which part of the message each piece of content is of."""

    __slots__ = ("places",)

    def __init__(self, data: bytes, position: int) -> None:
        super().__init__(data, position)
        self.places: dict[Path, tuple[int, str]] = {}

    def fixed(self, kind: FieldType) -> object:
        self.places[tuple(self.path)] = self.position, FIXED_FORMATS[kind]
        return super().fixed(kind)

    def raw(self, length: int, what: str, mask: int = ANY_BYTE) -> bytes:
        self.places[tuple(self.path)] = self.position, f"{length}s"
        return super().raw(length, what, mask)


class _Source:
    """Writes the source of one reader."""

    def __init__(self, places: Mapping[Path, tuple[int, str]], shift: int) -> None:
        self._variables = {path: f"v{number}" for number, path in enumerate(places)}
        self._names: dict[str, object] = {"uuid_text": uuid_text}
        layout, position = [">"], -shift
        for start, code in places.values():
            layout += [f"{start - position}x", code]
            position = start + struct.calcsize(">" + code)
        self._layout = struct.Struct("".join(layout))

    def function(
        self, record: type[TypedRecord], fields: Mapping[str, Any]
    ) -> Callable[[bytes, int], TypedRecord]:
        made = self._struct(record, record.SCHEMA.fields, fields, ())
        lines = ["def read(data, position):"]
        if self._variables:
            lines.append(f"    {', '.join(self._variables.values())}, = unpack(data, position)")
        lines.append(f"    return {made}")
        names = {**self._names, "unpack": self._layout.unpack_from}
        source = compile("\n".join(lines), f"<shape of {record.__name__}>", "exec")
        exec(source, names)  # noqa: S102 - own tables
        return cast("Callable[[bytes, int], TypedRecord]", names["read"])

    def _struct(
        self, made: type[Message], fields: tuple[Field, ...], values: Mapping[str, Any], path: Path
    ) -> str:
        self._names[made.__name__] = made
        arguments = [
            f"{attribute}={self._value(made, attribute, f, values[f.name], (*path, '.' + f.name))}"
            for attribute, f in attributes_of(made, fields).items()
            if f.name in values
        ]
        return f"{made.__name__}({', '.join(arguments)})"

    def _value(self, made: type[Message], attribute: str, f: Field, value: Any, path: Path) -> str:
        if f.type is FieldType.STRUCT and value is not None:
            element = made.ELEMENTS[attribute]
            parts = [
                self._struct(element, f.members, one, (*path, f"[{index}]"))
                for index, one in enumerate(value)
            ]
            return _tuple(parts)
        if isinstance(value, tuple):
            return _tuple(
                [self._leaf(f.type, (*path, f"[{index}]"), one) for index, one in enumerate(value)]
            )
        return self._leaf(f.type, path, value)

    def _leaf(self, kind: FieldType, path: Path, value: Any) -> str:
        """Return the expression of a value; one without bytes is the same in each record."""
        variable = self._variables.get(path)
        if variable is None:
            return repr(value)
        if kind is FieldType.UUID:
            return f"uuid_text({variable})"
        if kind is FieldType.BOOL:
            return f"{variable} != 0"
        return f"{variable}.decode()" if kind is FieldType.STRING else variable


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)},)" if parts else "()"
