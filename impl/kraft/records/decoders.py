"""Decoders compiled from the schemas: one straight-line function for each message and version.

A compiled decoder returns exactly the fields that `codec.decode_body` returns. It raises `Mismatch`
or one of DECODE_FAILURES for exactly the bytes that `codec` refuses, and names no fault: the caller
asks `codec` for that. The generated source is a function of the schema tables alone.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from kraft.ids import uuid_text
from kraft.records.layouts import layout_of
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.schema import FIXED_FORMATS, UNKNOWN_TAGGED_FIELDS, Field, Fields, FieldType

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.layouts import Layout
    from kraft.records.schema import Schema

DECODE_FAILURES: Final = (IndexError, struct.error, UnicodeDecodeError)

_INT16: Final = struct.Struct(">h").unpack_from
_INT32: Final = struct.Struct(">i").unpack_from


class Mismatch(ValueError):  # noqa: N818 - not an error: the reference codec decides
    """The bytes are no message of the version."""


def uvarint(data: bytes, position: int) -> tuple[int, int]:
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


def is_one_string(f: Field) -> bool:
    """Return whether the value of a field is one string, not an array of them."""
    return f.type is FieldType.STRING and not f.array


@lru_cache(maxsize=256)
def array_layout(code: str, count: int) -> struct.Struct:
    """Return the layout of `count` big-endian numbers of one format code."""
    return struct.Struct(f">{count}{code}")


@lru_cache(maxsize=512)
def body_decoder(schema: Schema, version: int) -> Callable[[bytes, int], Fields]:
    """Return the compiled decoder of a message: (bytes, start of its body) to fields.

    Raises UnsupportedVersionError if the schema does not have this version.
    """
    source, formats = decoder_source(layout_of(schema, version))
    names: dict[str, object] = {
        "Mismatch": Mismatch,
        "uvarint": uvarint,
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
    """Return the Python source of `decode(d, p)`, and the struct formats it calls by number."""
    emitter = _Emitter(is_flexible=layout.is_flexible)
    return emitter.function(layout), tuple(emitter.formats)


class _Emitter:
    """Writes the source of one decoder, line by line: `d` is the data, `p` the position."""

    def __init__(self, *, is_flexible: bool) -> None:
        self.is_flexible = is_flexible
        self.lines: list[str] = []
        self.indent = 0
        self.formats: list[str] = []
        self.variables = 0

    def function(self, layout: Layout) -> str:
        self.emit("def decode(d, p):")
        self.indent += 1
        self.emit("end = len(d)")
        expression = self.struct(layout)
        self.emit("if p != end: raise Mismatch")
        self.emit(f"return {expression}")
        return "\n".join(self.lines) + "\n"

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        self.variables += 1
        return f"v{self.variables}"

    def format_index(self, code: str) -> int:
        if code not in self.formats:
            self.formats.append(code)
        return self.formats.index(code)

    def converted(self, kind: FieldType, expression: str) -> str:
        """Return the expression of a value that was unpacked as another type."""
        if kind is FieldType.UUID:
            return f"uuid_text({expression})"
        if kind is FieldType.BOOL:
            return f"{expression} != 0"
        return expression

    def struct(self, layout: Layout) -> str:
        """Emit the reading of a struct; return the expression that has its dict."""
        values: dict[str, str] = {}
        run: list[Field] = []
        for f in layout.plain:
            if f.type in FIXED_FORMATS and not f.array:
                run.append(f)
                continue
            self.fixed_run(run, values)
            run = []
            values[f.name] = self.variable_field(f, layout)
        self.fixed_run(run, values)
        unknown = self.tags(layout, values) if self.is_flexible else None
        items = ", ".join(f"{f.name!r}: {values[f.name]}" for f in layout.fields)
        if unknown is None:
            return f"{{{items}}}"
        name = self.variable()
        self.emit(f"{name} = {{{items}}}")
        self.emit(f"if {unknown}: {name}[{UNKNOWN_TAGGED_FIELDS!r}] = tuple({unknown})")
        return name

    def fixed_run(self, run: list[Field], values: dict[str, str]) -> None:
        """Emit one unpacking for consecutive fields of fixed size."""
        if not run:
            return
        code = ">" + "".join(FIXED_FORMATS[f.type] for f in run)
        names = [self.variable() for _ in run]
        self.emit(f"{', '.join(names)}, = layout_{self.format_index(code)}(d, p)")
        self.emit(f"p += {struct.calcsize(code)}")
        for f, name in zip(run, names, strict=True):
            values[f.name] = self.converted(f.type, name)

    def size(self, name: str, most: int | None = None) -> None:
        """Emit the reading of a varint, which is refused above `most`."""
        self.emit(f"{name} = d[p]")
        self.emit("p += 1")
        self.emit(f"if {name} >= 128:")
        self.indent += 1
        self.emit(f"{name}, p = uvarint(d, p - 1)")
        if most is not None:
            self.emit(f"if {name} > {most}: raise Mismatch")
        self.indent -= 1

    def length(self, f: Field) -> None:
        """Emit the reading of the length of a field plus one as `n`; 0 is null."""
        is_string = is_one_string(f)
        if self.is_flexible:
            self.size("n", MAX_STRING_BYTES + 1 if is_string else None)
            return
        self.emit(f"n = {'int16' if is_string else 'int32'}(d, p)[0] + 1")
        self.emit("if n < 0: raise Mismatch")
        self.emit(f"p += {2 if is_string else 4}")

    def variable_field(self, f: Field, layout: Layout) -> str:
        """Emit the reading of a string, bytes, struct or array; return the value's expression."""
        if f.type is FieldType.STRUCT and not f.array:
            return self.struct(layout.inner[f.name])
        name = self.variable()
        self.length(f)
        self.emit("if n == 0:")
        self.indent += 1
        self.emit(f"{name} = None" if f.nullable else "raise Mismatch")
        self.indent -= 1
        self.emit("else:")
        self.indent += 1
        if f.array:
            self.array(f, layout, name)
        else:
            self.emit("q = p + n - 1")
            self.emit("if q > end: raise Mismatch")
            decode = ".decode()" if f.type is FieldType.STRING else ""
            self.emit(f"{name} = d[p:q]{decode}")
            self.emit("p = q")
        self.indent -= 1
        return name

    def array(self, f: Field, layout: Layout, name: str) -> None:
        """Emit the elements of an array of length `n` - 1."""
        if f.type is FieldType.UUID:
            self.emit("q = p + 16 * (n - 1)")
            self.emit("if q > end: raise Mismatch")
            self.emit(f"{name} = tuple([uuid_text(d[i:i + 16]) for i in range(p, q, 16)])")
            self.emit("p = q")
        elif f.type in FIXED_FORMATS:
            code = FIXED_FORMATS[f.type]
            self.emit(f"q = p + {struct.calcsize('>' + code)} * (n - 1)")
            self.emit("if q > end: raise Mismatch")
            self.emit(f"{name} = array_layout({code!r}, n - 1).unpack_from(d, p)")
            self.emit("p = q")
        elif f.type is FieldType.STRUCT and is_row(layout.inner[f.name]):
            self.rows(f, layout, name)
        else:
            self.elements(f, layout, name)

    def elements(self, f: Field, layout: Layout, name: str) -> None:
        """Emit the elements of an array, one after the other."""
        inner = layout.inner.get(f.name)
        least = layout.element_bytes[f.name]
        needed = "n - 1" if least == 1 else f"(n - 1) * {least}"
        self.emit(f"if {needed} > end - p: raise Mismatch")
        items = self.variable()
        self.emit(f"{items} = []")
        self.emit("for _ in range(n - 1):")
        self.indent += 1
        one = Field(f.name, f.type)
        element = self.variable_field(one, layout) if inner is None else self.struct(inner)
        self.emit(f"{items}.append({element})")
        self.indent -= 1
        self.emit(f"{name} = tuple({items})")

    def rows(self, f: Field, layout: Layout, name: str) -> None:
        """Emit the elements of an array of rows: all at once, unless one has a tagged field."""
        row = layout.inner[f.name]
        code = row_format(row)
        size = struct.calcsize(code)
        self.emit(f"q = p + {size} * (n - 1)")
        self.emit("if q > end: raise Mismatch")
        if row.is_flexible:
            self.emit(f"if any(d[p + {size - 1}:q:{size}]):")
            self.indent += 1
            self.elements(f, layout, name)
            self.indent -= 1
            self.emit("else:")
            self.indent += 1
        columns = [f"c{i}" for i, _ in enumerate(row.plain)]
        items = ", ".join(
            f"{f.name!r}: {self.converted(f.type, column)}"
            for f, column in zip(row.plain, columns, strict=True)
        )
        unpacked = f"rows_{self.format_index(code)}(d[p:q])"
        self.emit(f"{name} = tuple([{{{items}}} for {', '.join(columns)}, in {unpacked}])")
        self.emit("p = q")
        if row.is_flexible:
            self.indent -= 1

    def tags(self, layout: Layout, values: dict[str, str]) -> str:
        """Emit the tagged section; return the variable that has the unknown ones, or nothing."""
        for f in layout.tagged.values():
            values[f.name] = self.variable()
            self.emit(f"{values[f.name]} = {f.default!r}")
        unknown, count, last, stop = (self.variable() for _ in range(4))
        self.emit(f"{unknown} = d[p]")
        self.emit("p += 1")
        self.emit(f"if {unknown}:")
        self.indent += 1
        self.emit(f"{count}, p = uvarint(d, p - 1)")
        self.emit(f"{unknown} = []")
        self.emit(f"{last} = -1")
        self.emit(f"for _ in range({count}):")
        self.indent += 1
        self.size("tag")
        self.emit(f"if tag <= {last}: raise Mismatch")
        self.emit(f"{last} = tag")
        self.size("size")
        self.emit(f"{stop} = p + size")
        self.emit(f"if {stop} > end: raise Mismatch")
        for tag, f in layout.tagged.items():
            self.emit(f"if tag == {tag}:")
            self.indent += 1
            self.emit(f"{values[f.name]} = {self.tagged_value(f, layout)}")
            self.emit(f"if p != {stop}: raise Mismatch")
            self.emit("continue")
            self.indent -= 1
        self.emit(f"{unknown}.append((tag, d[p:{stop}]))")
        self.emit(f"p = {stop}")
        self.indent -= 2
        return unknown

    def tagged_value(self, f: Field, layout: Layout) -> str:
        """Emit the reading of a tagged field; return the value's expression."""
        if f.type not in FIXED_FORMATS or f.array:
            return self.variable_field(f, layout)
        values: dict[str, str] = {}
        self.fixed_run([f], values)
        return values[f.name]


def is_row(layout: Layout) -> bool:
    """Return whether every struct of a layout has the same size, if it has no tagged fields."""
    only_fixed = all(f.type in FIXED_FORMATS and not f.array for f in layout.plain)
    return only_fixed and bool(layout.plain) and not layout.tagged


def row_format(layout: Layout) -> str:
    """Return the struct format of a row; the number of its tagged fields is a byte to skip."""
    codes = "".join(FIXED_FORMATS[f.type] for f in layout.plain)
    return f">{codes}{'x' if layout.is_flexible else ''}"
