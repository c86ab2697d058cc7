"""The reference codec: bytes of one message body to a dict of fields, and back, field by field.

It decides what is a message, and names the field in every refusal. `decoders` and `encoders` do the
same work faster and leave every refusal to this module.

Kafka: MessageDataGenerator, which writes the `read` and `write` methods of messages.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from kraft.ids import uuid_bytes
from kraft.records.layouts import is_default
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.primitives import NULL, encode_uvarint, fixed_layout
from kraft.records.schema import (
    FIXED_FORMATS,
    UNKNOWN_TAGGED_FIELDS,
    Field,
    Fields,
    FieldType,
)

if TYPE_CHECKING:
    from kraft.records.layouts import Layout
    from kraft.records.primitives import Reader


class UnsupportedFieldError(ValueError):
    """Fields that say something that the version of their message cannot say."""


def decode_body(layout: Layout, reader: Reader) -> Fields:
    """Return the fields of a message body, which must fill the reader exactly.

    The dict has every field of the version in schema order, absent tagged ones with their default,
    and `UNKNOWN_TAGGED_FIELDS` last if there are any. Raises what the reader raises: by default
    CorruptRecordError.
    """
    fields = decode_struct(layout, reader)
    if reader.position != reader.end:
        raise reader.corrupt(f"{reader.end - reader.position} bytes left over after the last field")
    return fields


def decode_struct(layout: Layout, reader: Reader) -> Fields:
    """Return the fields of a struct, and leave the reader behind it."""
    values = layout.default()
    for f in layout.plain:
        reader.path.append("." + f.name)
        values[f.name] = _decode_value(f, layout, reader)
        reader.path.pop()
    if layout.is_flexible:
        unknown = _decode_tagged(layout, reader, values)
        if unknown:
            values[UNKNOWN_TAGGED_FIELDS] = tuple(unknown)
    return values


def _decode_tagged(layout: Layout, reader: Reader, values: Fields) -> list[tuple[int, bytes]]:
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
        if tag in layout.tagged:
            _decode_known_tag(layout.tagged[tag], layout, reader, size, values)
        else:
            unknown.append((tag, reader.raw(size, f"tag {tag}")))
    return unknown


def _decode_known_tag(f: Field, layout: Layout, reader: Reader, size: int, values: Fields) -> None:
    outer_end = reader.end
    reader.end = reader.position + size
    reader.path.append("." + f.name)
    values[f.name] = _decode_value(f, layout, reader)
    if reader.position != reader.end:
        raise reader.corrupt(f"{reader.end - reader.position} bytes left over in tag {f.tag}")
    reader.path.pop()
    reader.end = outer_end


def _decode_value(f: Field, layout: Layout, reader: Reader) -> Any:
    if not f.array:
        return _decode_element(f, layout, reader, nullable=f.nullable)
    start = reader.position
    length = reader.length("an array length", is_flexible=layout.is_flexible, is_string=False)
    if length == NULL:
        return _null(reader, start, nullable=f.nullable)
    left = reader.end - reader.position
    if length * layout.element_bytes[f.name] > left:
        raise reader.corrupt(f"an array of {length} elements, {left} bytes are left", start)
    elements = []
    for index in range(length):
        reader.path.append(f"[{index}]")
        elements.append(_decode_element(f, layout, reader, nullable=False))
        reader.path.pop()
    return tuple(elements)


def _decode_element(f: Field, layout: Layout, reader: Reader, *, nullable: bool) -> Any:
    if f.type is FieldType.STRUCT:
        return decode_struct(layout.inner[f.name], reader)
    if f.type in FIXED_FORMATS:
        return reader.fixed(f.type)
    start = reader.position
    is_string = f.type is FieldType.STRING
    what = f"a length of {f.type.value}"
    length = reader.length(what, is_flexible=layout.is_flexible, is_string=is_string)
    if length == NULL:
        return _null(reader, start, nullable=nullable)
    if not is_string:
        return reader.raw(length, "bytes")
    if length > MAX_STRING_BYTES:
        reason = f"a string of {length} bytes, Kafka reads at most {MAX_STRING_BYTES}"
        raise reader.corrupt(reason, start)
    return reader.text(length)


def _null(reader: Reader, start: int, *, nullable: bool) -> None:
    if not nullable:
        raise reader.corrupt("null where this version allows none", start)


def encode_body(layout: Layout, name: str, fields: Fields) -> bytes:
    """Return the body of a message called `name`; fields that are absent take their default.

    Tagged fields with their default are left out, and so are ignorable fields that the version
    lacks. Raises UnsupportedFieldError for another field that the version lacks unless it has its
    default. Raises ValueError for an unknown field, a value outside its type, or null where the
    version does not allow it.
    """
    out = bytearray()
    _encode_struct(layout, fields, out, name)
    return bytes(out)


def _encode_struct(layout: Layout, values: Fields, out: bytearray, path: str) -> None:
    if type(values) is not dict:
        raise ValueError(f"{path}: not a value of type struct")
    _check_names(layout, values, path)
    for f in layout.plain:
        value = values[f.name] if f.name in values else layout.default_of(f)
        _encode_value(f, layout, value, out, f"{path}.{f.name}")
    if layout.is_flexible:
        _encode_tagged(layout, values, out, path)
    elif values.get(UNKNOWN_TAGGED_FIELDS):
        raise UnsupportedFieldError(f"{path}: this version has no tagged fields")


def _check_names(layout: Layout, values: Fields, path: str) -> None:
    known = {f.name for f in layout.fields} | {UNKNOWN_TAGGED_FIELDS}
    for name in values:
        if name in known:
            continue
        f = layout.absent.get(name)
        if f is None:
            raise ValueError(f"{path} has no field {name}")
        if not f.ignorable and not is_default(f, values[name]):
            reason = "this version has no such field, and the value is not its default"
            raise UnsupportedFieldError(f"{path}.{name}: {reason}")


def _encode_tagged(layout: Layout, values: Fields, out: bytearray, path: str) -> None:
    tags: dict[int, bytes] = {}
    for tag, raw in values.get(UNKNOWN_TAGGED_FIELDS, ()):
        if tag in layout.tagged or tag in tags:
            raise ValueError(f"{path}: tag {tag} is given twice")
        tags[tag] = raw
    for tag, f in layout.tagged.items():
        if f.name in values and not is_default(f, values[f.name]):
            body = bytearray()
            _encode_value(f, layout, values[f.name], body, f"{path}.{f.name}")
            tags[tag] = bytes(body)
    out += encode_uvarint(len(tags))
    for tag in sorted(tags):
        out += encode_uvarint(tag) + encode_uvarint(len(tags[tag])) + tags[tag]


def _encode_value(f: Field, layout: Layout, value: Any, out: bytearray, path: str) -> None:
    if value is None:
        if not f.nullable:
            raise ValueError(f"{path} may not be null in this version")
        out += _null_bytes(f, layout)
    elif f.array:
        if type(value) not in (tuple, list):
            raise ValueError(f"{path}: not a tuple")
        out += _length_bytes(len(value), layout, is_string=False)
        for index, element in enumerate(value):
            _encode_element(f, layout, element, out, f"{path}[{index}]")
    else:
        _encode_element(f, layout, value, out, path)


def _encode_element(f: Field, layout: Layout, value: Any, out: bytearray, path: str) -> None:
    if f.type is FieldType.STRUCT:
        _encode_struct(layout.inner[f.name], value, out, path)
        return
    try:
        if f.type is FieldType.STRING:
            raw = _string_bytes(value, path)
            out += _length_bytes(len(raw), layout, is_string=True) + raw
        elif f.type is FieldType.BYTES:
            out += _length_bytes(len(value), layout, is_string=False) + value
        elif f.type is FieldType.UUID:
            out += uuid_bytes(value)
        else:
            out += fixed_layout(f.type).pack(value)
    except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        raise ValueError(f"{path}: not a value of type {f.type.value}: {error}") from None


def _null_bytes(f: Field, layout: Layout) -> bytes:
    if layout.is_flexible:
        return b"\x00"
    return b"\xff\xff" if f.type is FieldType.STRING and not f.array else b"\xff\xff\xff\xff"


def _length_bytes(length: int, layout: Layout, *, is_string: bool) -> bytes:
    if layout.is_flexible:
        return encode_uvarint(length + 1)
    return length.to_bytes(2 if is_string else 4, "big")


def _string_bytes(text: str, path: str) -> bytes:
    raw = text.encode("utf-8")
    if len(raw) > MAX_STRING_BYTES:
        reason = f"a string of {len(raw)} bytes is too long to be serialized"
        raise ValueError(f"{path}: {reason}, {MAX_STRING_BYTES} at most")
    return raw
