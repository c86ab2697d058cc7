"""Decoders compiled from the schemas: one straight-line function per message and version.

A compiled decoder returns exactly the fields that `codec.decode_body` returns. It raises `Mismatch`
(or one of DECODE_FAILURES) for exactly the bytes that `codec` refuses, and names no fault.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from kraft.ids import uuid_text
from kraft.records.decoders import (
    DecoderEmitter,
    Mismatch,
    array_layout,
    is_one_string,
)
from kraft.records.schema import FIXED_FORMATS, UNKNOWN_TAGGED_FIELDS, Field, Fields
from kraft.wire.layouts import Layout, layout_of, least_bytes_of_element

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Schema

_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from


def uvarint32(data: bytes, position: int) -> tuple[int, int]:
    """Return an unsigned varint of 32 bits and the position after it."""
    value = 0
    for shift in (0, 7, 14, 21, 28):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 32:
                break
            return value, position
    raise Mismatch


@lru_cache(maxsize=512)
def body_decoder(schema: Schema, version: int) -> Callable[[bytes, int], Fields]:
    """Return the compiled decoder of a message: (bytes, start of its body) to fields.

    Raises UnsupportedVersionError if the schema does not have this version.
    """
    layout = layout_of(schema, version)
    source, formats = decoder_source(layout)
    names: dict[str, object] = {
        "Mismatch": Mismatch,
        "wide_uvarint": uvarint32,
        "array_layout": array_layout,
        "uuid_text": uuid_text,
        "int16": _INT16,
        "int32": _INT32,
        **{f"layout_{i}": struct.Struct(code).unpack_from for i, code in enumerate(formats)},
        **{f"rows_{i}": struct.Struct(code).iter_unpack for i, code in enumerate(formats)},
    }
    name = f"<decoder {schema.name}.{version}>"
    exec(compile(source, name, "exec"), names)  # noqa: S102 - own tables
    return cast("Callable[[bytes, int], Fields]", names["decode"])


def decoder_source(layout: Layout) -> tuple[str, tuple[str, ...]]:
    """Return the Python source of a decoder, and the struct formats it calls by number."""
    return _Emitter(layout).function(layout.fields)


class _Emitter(DecoderEmitter):
    """Writes the source of the decoder of a message, whose layout may not be flexible."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(version=0)
        self.is_flexible = layout.is_flexible
        self.inner: dict[tuple[Field, ...], Layout] = {}
        self.unknown: list[str] = []
        self._find(layout)

    def _find(self, layout: Layout) -> None:
        for inner in layout.inner.values():
            self.inner[inner.fields] = inner
            self._find(inner)

    def length(self, name: str, f: Field | None = None) -> None:
        """Emit the reading of a size, or of the length of a field plus one (0 for null)."""
        if f is None or self.is_flexible:
            super().length(name, f)
            return
        is_string = is_one_string(f)
        self.emit(f"{name} = {'int16' if is_string else 'int32'}(d, p)[0] + 1")
        self.emit(f"if {name} < 0: raise Mismatch")
        self.emit(f"p += {2 if is_string else 4}")

    def struct(self, fields: tuple[Field, ...]) -> str:
        """Emit the reading of a struct; return the expression that has its dict."""
        expression = super().struct(fields)
        if not self.is_flexible:
            return expression
        unknown, name = self.unknown.pop(), self.variable()
        self.emit(f"{name} = {expression}")
        self.emit(f"if {unknown}: {name}[{UNKNOWN_TAGGED_FIELDS!r}] = tuple({unknown})")
        return name

    def tags(self, known: dict[int, Field], values: dict[str, str]) -> None:
        """Emit the tagged section, if this version has one.

        A variable has the number of tagged fields, and then a list of the unknown ones.
        """
        if not self.is_flexible:
            return
        for f in known.values():
            values[f.name] = self.variable()
            self.emit(f"{values[f.name]} = {f.default!r}")
        unknown, count, last, stop = (self.variable() for _ in range(4))
        self.unknown.append(unknown)
        self.length(unknown)
        self.emit(f"if {unknown}:")
        self.indent += 1
        self.emit(f"{count} = {unknown}")
        self.emit(f"{unknown} = []")
        self.emit(f"{last} = -1")
        self.emit(f"for _ in range({count}):")
        self.indent += 1
        self.length("tag")
        self.emit(f"if tag <= {last}: raise Mismatch")
        self.emit(f"{last} = tag")
        self.length("size")
        self.emit(f"{stop} = p + size")
        self.emit(f"if {stop} > end: raise Mismatch")
        self.known_or_unknown(known, values, unknown, stop)
        self.indent -= 2

    def known_or_unknown(
        self, known: dict[int, Field], values: dict[str, str], unknown: str, stop: str
    ) -> None:
        """Emit the reading of one tagged field, which must end at `stop`."""
        for tag, f in known.items():
            self.emit(f"if tag == {tag}:")
            self.indent += 1
            self.tagged_value(f, values)
            self.emit(f"if p != {stop}: raise Mismatch")
            self.emit("continue")
            self.indent -= 1
        self.emit(f"{unknown}.append((tag, d[p:{stop}]))")
        self.emit(f"p = {stop}")

    def array(self, f: Field, name: str, least: int = 1) -> None:
        """Emit the elements, each of `least` bytes or more, of an array of length `n` - 1."""
        inner = self.inner[f.members] if f.members else None
        least = max(least, least_bytes_of_element(f, inner, is_flexible=self.is_flexible))
        if inner is not None and is_row(inner):
            self.rows(f, inner, name, least)
        else:
            super().array(f, name, least)

    def rows(self, f: Field, inner: Layout, name: str, least: int) -> None:
        """Emit the elements of an array of rows: all at once, unless one has a tagged field."""
        code = row_format(inner)
        size = struct.calcsize(code)
        self.emit(f"q = p + {size} * (n - 1)")
        self.emit("if q > end: raise Mismatch")
        if inner.is_flexible:
            self.emit(f"if any(d[p + {size - 1}:q:{size}]):")
            self.indent += 1
            super().array(f, name, least)
            self.indent -= 1
            self.emit("else:")
            self.indent += 1
        columns = [f"c{i}" for i, _ in enumerate(inner.plain)]
        items = ", ".join(
            f"{f.name!r}: {self.converted(f.type, column)}"
            for f, column in zip(inner.plain, columns, strict=True)
        )
        rows = f"rows_{self.layout_index(code)}(d[p:q])"
        self.emit(f"{name} = tuple([{{{items}}} for {', '.join(columns)}, in {rows}])")
        self.emit("p = q")
        if inner.is_flexible:
            self.indent -= 1


def is_row(layout: Layout) -> bool:
    """Return whether every struct of a layout has the same size, if it has no tagged fields."""
    only_fixed = all(f.type in FIXED_FORMATS and not f.array for f in layout.plain)
    return only_fixed and bool(layout.plain) and not layout.tagged


def row_format(layout: Layout) -> str:
    """Return the struct format of a row; the number of its tagged fields is a byte to skip."""
    codes = "".join(FIXED_FORMATS[f.type] for f in layout.plain)
    return f">{codes}{'x' if layout.is_flexible else ''}"
