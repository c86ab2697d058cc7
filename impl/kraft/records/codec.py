"""The schema-driven codec: bytes of one message body to a dict of fields, and back.

This is the reference: it reads a schema field by field and names the field in every refusal.
`compiled` decodes the same bytes to the same fields faster and leaves every refusal to this module.

Raises `CorruptRecordError` for bytes that are not a body of the given schema and version, and
`ValueError` for fields that cannot be encoded.

Kafka: MessageDataGenerator, which writes the `read` and `write` methods of messages.
"""

from __future__ import annotations

import struct
from typing import Any

from kraft.ids import uuid_bytes
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.schema import (
    UNKNOWN_TAGGED_FIELDS,
    Field,
    Fields,
    FieldType,
    Schema,
    fields_of,
    plain_fields,
    tagged_fields,
)
from kraft.records.wire import Reader, encode_uvarint, fixed_layout


def decode_body(schema: Schema, version: int, reader: Reader) -> Fields:
    """Return the fields of a message body, which must fill the reader exactly.

    The dict has every field of `version` in schema order, absent tagged ones with their default,
    and `UNKNOWN_TAGGED_FIELDS` last if there are any.
    """
    fields = _decode_struct(schema.fields, version, reader)
    if reader.position != reader.end:
        raise reader.corrupt(f"{reader.end - reader.position} bytes left over after the last field")
    return fields


def encode_body(schema: Schema, version: int, fields: Fields) -> bytes:
    """Return the body of a message; fields that are absent take their default.

    Raises ValueError for an unknown field name, a value outside its type, or null where the schema
    does not allow it. Tagged fields with their default value are left out, as Kafka does.
    """
    out = bytearray()
    _encode_struct(schema.fields, version, fields, out, schema.name)
    return bytes(out)


def _decode_struct(fields: tuple[Field, ...], version: int, reader: Reader) -> Fields:
    values: Fields = {f.name: f.default for f in fields_of(fields, version)}
    for f in plain_fields(fields, version):
        reader.path.append("." + f.name)
        values[f.name] = _decode_value(f, version, reader)
        reader.path.pop()
    unknown = _decode_tagged(fields, version, reader, values)
    if unknown:
        values[UNKNOWN_TAGGED_FIELDS] = tuple(unknown)
    return values


def _decode_tagged(
    fields: tuple[Field, ...], version: int, reader: Reader, values: Fields
) -> list[tuple[int, bytes]]:
    known = tagged_fields(fields, version)
    unknown: list[tuple[int, bytes]] = []
    last_tag = -1
    count = reader.uvarint("the number of tagged fields")
    if count > (reader.end - reader.position) // 2:
        raise reader.corrupt(f"{count} tagged fields cannot fit the bytes that are left")
    for _ in range(count):
        start = reader.position
        tag = reader.uvarint("a tag")
        if tag <= last_tag:
            raise reader.corrupt(f"tag {tag} after tag {last_tag}: tags must ascend", start)
        last_tag = tag
        size = reader.uvarint(f"the size of tag {tag}")
        reader.require(size, f"tag {tag}")
        if tag not in known:
            unknown.append((tag, reader.raw(size, f"tag {tag}")))
            continue
        _decode_known_tag(known[tag], version, reader, size, values)
    return unknown


def _decode_known_tag(f: Field, version: int, reader: Reader, size: int, values: Fields) -> None:
    outer_end = reader.end
    reader.end = reader.position + size
    reader.path.append("." + f.name)
    values[f.name] = _decode_value(f, version, reader)
    if reader.position != reader.end:
        raise reader.corrupt(f"{reader.end - reader.position} bytes left over in tag {f.tag}")
    reader.path.pop()
    reader.end = outer_end


def _decode_value(f: Field, version: int, reader: Reader) -> Any:
    if f.array:
        return _decode_array(f, version, reader)
    return _decode_element(f, version, reader, nullable=f.nullable)


def _decode_array(f: Field, version: int, reader: Reader) -> tuple[Any, ...] | None:
    start = reader.position
    length = reader.uvarint("an array length") - 1
    if length < 0:
        if f.nullable:
            return None
        raise reader.corrupt("null where the schema allows none", start)
    layout = None if f.type in _VARIABLE else fixed_layout(f.type)
    smallest = 1 if layout is None else layout.size
    left = reader.end - reader.position
    if length * smallest > left:
        raise reader.corrupt(f"an array of {length} elements, {left} bytes are left", start)
    elements = []
    for index in range(length):
        reader.path.append(f"[{index}]")
        elements.append(_decode_element(f, version, reader, nullable=False))
        reader.path.pop()
    return tuple(elements)


_VARIABLE = frozenset({FieldType.STRING, FieldType.BYTES, FieldType.STRUCT})


def _decode_element(f: Field, version: int, reader: Reader, *, nullable: bool) -> Any:
    if f.type is FieldType.STRUCT:
        return _decode_struct(f.members, version, reader)
    if f.type not in _VARIABLE:
        return reader.fixed(f.type)
    start = reader.position
    length = reader.uvarint(f"a length of {f.type.value}") - 1
    if length < 0:
        if nullable:
            return None
        raise reader.corrupt("null where the schema allows none", start)
    if f.type is FieldType.STRING:
        if length > MAX_STRING_BYTES:
            reason = f"a string of {length} bytes, Kafka reads at most {MAX_STRING_BYTES}"
            raise reader.corrupt(reason, start)
        return reader.text(length)
    return reader.raw(length, "bytes")


def _encode_struct(
    fields: tuple[Field, ...], version: int, values: Fields, out: bytearray, path: str
) -> None:
    names = {f.name for f in fields_of(fields, version)} | {UNKNOWN_TAGGED_FIELDS}
    strangers = sorted(set(values) - names)
    if strangers:
        raise ValueError(f"{path} version {version} has no field {', '.join(strangers)}")
    for f in plain_fields(fields, version):
        _encode_value(f, version, values.get(f.name, f.default), out, f"{path}.{f.name}")
    tags: dict[int, bytes] = dict(values.get(UNKNOWN_TAGGED_FIELDS, ()))
    for tag, f in tagged_fields(fields, version).items():
        value = values.get(f.name, f.default)
        if value != f.default:
            body = bytearray()
            _encode_value(f, version, value, body, f"{path}.{f.name}")
            tags[tag] = bytes(body)
    out += encode_uvarint(len(tags))
    for tag in sorted(tags):
        out += encode_uvarint(tag) + encode_uvarint(len(tags[tag])) + tags[tag]


def _encode_value(f: Field, version: int, value: Any, out: bytearray, path: str) -> None:
    if value is None:
        if not f.nullable:
            raise ValueError(f"{path} may not be null")
        out += b"\x00"
    elif f.array:
        out += encode_uvarint(len(value) + 1)
        for index, element in enumerate(value):
            _encode_element(f, version, element, out, f"{path}[{index}]")
    else:
        _encode_element(f, version, value, out, path)


def _encode_element(f: Field, version: int, value: Any, out: bytearray, path: str) -> None:
    if f.type is FieldType.STRUCT:
        _encode_struct(f.members, version, value, out, path)
        return
    try:
        if f.type is FieldType.STRING:
            raw = _string_bytes(value, path)
            out += encode_uvarint(len(raw) + 1) + raw
        elif f.type is FieldType.BYTES:
            out += encode_uvarint(len(value) + 1) + value
        elif f.type is FieldType.UUID:
            out += uuid_bytes(value)
        else:
            out += fixed_layout(f.type).pack(value)
    except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        raise ValueError(f"{path}: not a value of type {f.type.value}: {error}") from None


def _string_bytes(text: str, path: str) -> bytes:
    raw = text.encode("utf-8")
    if len(raw) > MAX_STRING_BYTES:
        reason = f"a string of {len(raw)} bytes is too long to be serialized"
        raise ValueError(f"{path}: {reason}, {MAX_STRING_BYTES} at most")
    return raw
