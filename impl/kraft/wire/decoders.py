"""Decoders compiled from the schemas: one straight-line function per message and version.

A compiled decoder returns exactly the fields that `codec.decode_body` returns, or raises `Mismatch`
(or one of DECODE_FAILURES) when anything is out of the ordinary: a broken length, an unknown tag,
an overlong varint. The caller then asks `codec`, which accepts the bytes or names the fault.
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
    wide_uvarint,
)
from kraft.records.schema import FIXED_FORMATS, Field, Fields
from kraft.wire.layouts import Layout, layout_of, least_bytes_of_element

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Schema

_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from


@lru_cache(maxsize=512)
def body_decoder(schema: Schema, version: int) -> Callable[[bytes, int], Fields]:
    """Return the compiled decoder of a message: (bytes, start of its body) to fields.

    Raises UnsupportedVersionError if the schema does not have this version.
    """
    layout = layout_of(schema, version)
    source, formats = decoder_source(layout)
    names: dict[str, object] = {
        "Mismatch": Mismatch,
        "wide_uvarint": wide_uvarint,
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

    def tags(self, known: dict[int, Field], values: dict[str, str]) -> None:
        """Emit the tagged section, if this version has one."""
        if self.is_flexible:
            super().tags(known, values)

    def array(self, f: Field, name: str, least: int = 1) -> None:
        """Emit the elements, each of `least` bytes or more, of an array of length `n` - 1."""
        inner = self.inner[f.members] if f.members else None
        if inner is not None and is_row(inner):
            self.rows(inner, name)
            return
        known = least_bytes_of_element(f, inner, is_flexible=self.is_flexible)
        super().array(f, name, max(least, known))

    def rows(self, inner: Layout, name: str) -> None:
        """Emit the elements of an array of rows at once; a tag is left to the reference."""
        code = row_format(inner)
        size = struct.calcsize(code)
        self.emit(f"q = p + {size} * (n - 1)")
        self.emit("if q > end: raise Mismatch")
        if inner.is_flexible:
            self.emit(f"if any(d[p + {size - 1}:q:{size}]): raise Mismatch")
        columns = [f"c{i}" for i, _ in enumerate(inner.plain)]
        items = ", ".join(
            f"{f.name!r}: {self.converted(f.type, column)}"
            for f, column in zip(inner.plain, columns, strict=True)
        )
        rows = f"rows_{self.layout_index(code)}(d[p:q])"
        self.emit(f"{name} = tuple([{{{items}}} for {', '.join(columns)}, in {rows}])")
        self.emit("p = q")


def is_row(layout: Layout) -> bool:
    """Return whether every struct of a layout has the same size, if it has no tagged fields."""
    only_fixed = all(f.type in FIXED_FORMATS and not f.array for f in layout.plain)
    return only_fixed and bool(layout.plain) and not layout.tagged


def row_format(layout: Layout) -> str:
    """Return the struct format of a row; the number of its tagged fields is a byte to skip."""
    codes = "".join(FIXED_FORMATS[f.type] for f in layout.plain)
    return f">{codes}{'x' if layout.is_flexible else ''}"
