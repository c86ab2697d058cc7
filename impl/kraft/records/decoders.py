"""Decoders compiled from the schemas: one straight-line function per record type and version.

The generated source is a function of the schema tables alone. A compiled decoder returns exactly
the fields that `codec.decode_body` returns, or raises `Mismatch` (or IndexError, struct.error,
UnicodeDecodeError) when anything is out of the ordinary: a broken length, an unknown tag, an
overlong varint. The caller then asks `codec`, which accepts the bytes or names the fault. So this
module may be stricter than the reference, never more lenient.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from kraft.ids import uuid_text
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.schema import (
    FIXED_FORMATS,
    Field,
    Fields,
    FieldType,
    fields_of,
    plain_fields,
    tagged_fields,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DECODE_FAILURES: Final = (IndexError, struct.error, UnicodeDecodeError)


class Mismatch(ValueError):  # noqa: N818 - not an error: the reference codec decides
    """The bytes are not of the ordinary form a compiled decoder handles."""


def wide_uvarint(data: bytes, position: int) -> tuple[int, int]:
    """Return an unsigned varint of up to four bytes and the position after it."""
    value = 0
    for shift in (0, 7, 14, 21):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise Mismatch


def is_one_string(f: Field) -> bool:
    """Return whether the value of a field is one string, not an array of them."""
    return f.type is FieldType.STRING and not f.array


@lru_cache(maxsize=256)
def array_layout(code: str, count: int) -> struct.Struct:
    """Return the layout of `count` big-endian numbers of one format code."""
    return struct.Struct(f">{count}{code}")


@lru_cache(maxsize=128)
def body_decoder(api_key: int, version: int) -> Callable[[bytes, int], Fields]:
    """Return the compiled decoder of a record type: (value bytes, start of body) to fields.

    Raises KeyError for an unknown type or version.
    """
    schema = METADATA_SCHEMAS[api_key]
    if not schema.supports(version):
        raise KeyError(version)
    source, layouts = decoder_source(schema.fields, version)
    names: dict[str, object] = {
        "Mismatch": Mismatch,
        "wide_uvarint": wide_uvarint,
        "array_layout": array_layout,
        "uuid_text": uuid_text,
        **{f"layout_{i}": struct.Struct(code).unpack_from for i, code in enumerate(layouts)},
    }
    exec(compile(source, f"<decoder {api_key}.{version}>", "exec"), names)  # noqa: S102 - own tables
    return cast("Callable[[bytes, int], Fields]", names["decode"])


def decoder_source(fields: tuple[Field, ...], version: int) -> tuple[str, tuple[str, ...]]:
    """Return the Python source of a decoder and the struct formats it calls `layout_<n>`."""
    return DecoderEmitter(version).function(fields)


class DecoderEmitter:
    """Writes the source of one decoder, line by line."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.lines: list[str] = []
        self.indent = 0
        self.layouts: list[str] = []
        self.variables = 0

    def function(self, fields: tuple[Field, ...]) -> tuple[str, tuple[str, ...]]:
        """Return the source of `decode(d, p)`, and the struct formats it calls `layout_<n>`."""
        self.emit("def decode(d, p):")
        self.indent += 1
        self.emit("end = len(d)")
        expression = self.struct(fields)
        self.emit("if p != end: raise Mismatch")
        self.emit(f"return {expression}")
        return "\n".join(self.lines) + "\n", tuple(self.layouts)

    def emit(self, line: str) -> None:
        """Add a line at the current indent."""
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        """Return a name that no other value has."""
        self.variables += 1
        return f"v{self.variables}"

    def struct(self, fields: tuple[Field, ...]) -> str:
        """Emit the reading of a struct; return the expression that builds its dict."""
        values: dict[str, str] = {}
        run: list[Field] = []
        for f in plain_fields(fields, self.version):
            if f.type in FIXED_FORMATS and not f.array:
                run.append(f)
                continue
            self.fixed_run(run, values)
            run = []
            values[f.name] = self.variable_field(f)
        self.fixed_run(run, values)
        self.tags(tagged_fields(fields, self.version), values)
        items = ", ".join(f"{f.name!r}: {values[f.name]}" for f in fields_of(fields, self.version))
        return f"{{{items}}}"

    def fixed_run(self, run: list[Field], values: dict[str, str]) -> None:
        """Emit one unpacking for consecutive fields of fixed size."""
        if not run:
            return
        code = ">" + "".join(FIXED_FORMATS[f.type] for f in run)
        names = [self.variable() for _ in run]
        self.emit(f"{', '.join(names)}, = layout_{self.layout_index(code)}(d, p)")
        self.emit(f"p += {struct.calcsize(code)}")
        for f, name in zip(run, names, strict=True):
            values[f.name] = self.converted(f.type, name)

    def layout_index(self, code: str) -> int:
        """Return the number of a struct format."""
        if code not in self.layouts:
            self.layouts.append(code)
        return self.layouts.index(code)

    def converted(self, kind: FieldType, expression: str) -> str:
        """Return the expression of a value that was unpacked as another type."""
        if kind is FieldType.UUID:
            return f"uuid_text({expression})"
        if kind is FieldType.BOOL:
            return f"{expression} != 0"
        return expression

    def length(self, name: str, f: Field | None = None) -> None:
        """Emit the reading of a size, or of the length of a field plus one (0 for null)."""
        most = MAX_STRING_BYTES + 1 if f is not None and is_one_string(f) else None
        self.emit(f"{name} = d[p]")
        self.emit("p += 1")
        self.emit(f"if {name} >= 128:")
        self.indent += 1
        self.emit(f"{name}, p = wide_uvarint(d, p - 1)")
        if most is not None:
            self.emit(f"if {name} > {most}: raise Mismatch")
        self.indent -= 1

    def variable_field(self, f: Field) -> str:
        """Emit the reading of a string, bytes, struct or array; return the value's expression."""
        if f.type is FieldType.STRUCT and not f.array:
            return self.struct(f.members)
        name = self.variable()
        self.length("n", f)
        self.emit("if n == 0:")
        self.indent += 1
        self.emit(f"{name} = None" if f.nullable else "raise Mismatch")
        self.indent -= 1
        self.emit("else:")
        self.indent += 1
        if f.array:
            self.array(f, name)
        else:
            self.emit("q = p + n - 1")
            self.emit("if q > end: raise Mismatch")
            decode = ".decode()" if f.type is FieldType.STRING else ""
            self.emit(f"{name} = d[p:q]{decode}")
            self.emit("p = q")
        self.indent -= 1
        return name

    def array(self, f: Field, name: str, least: int = 1) -> None:
        """Emit the elements, each of `least` bytes or more, of an array of length `n` - 1."""
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
        else:
            needed = "n - 1" if least == 1 else f"(n - 1) * {least}"
            self.emit(f"if {needed} > end - p: raise Mismatch")
            items = self.variable()
            self.emit(f"{items} = []")
            self.emit("for _ in range(n - 1):")
            self.indent += 1
            element = self.element(f)
            self.emit(f"{items}.append({element})")
            self.indent -= 1
            self.emit(f"{name} = tuple({items})")

    def element(self, f: Field) -> str:
        """Emit the reading of an element of an array; return the value's expression."""
        if f.type is FieldType.STRUCT:
            return self.struct(f.members)
        return self.variable_field(Field(f.name, f.type))

    def tags(self, known: dict[int, Field], values: dict[str, str]) -> None:
        """Emit the tagged section; tags out of order or unknown are left to the reference."""
        if not known:
            self.emit("if d[p]: raise Mismatch")
            self.emit("p += 1")
            return
        for f in known.values():
            values[f.name] = self.variable()
            self.emit(f"{values[f.name]} = {f.default!r}")
        self.emit("count = d[p]")
        self.emit("p += 1")
        self.emit("last = -1")
        self.emit("while count:")
        self.indent += 1
        self.emit("count -= 1")
        self.emit("tag = d[p]")
        self.emit("if tag <= last: raise Mismatch")
        self.emit("last = tag")
        self.emit("p += 1")
        self.length("size")
        self.emit("stop = p + size")
        for index, (tag, f) in enumerate(known.items()):
            self.emit(f"{'el' if index else ''}if tag == {tag}:")
            self.indent += 1
            self.tagged_value(f, values)
            self.indent -= 1
        self.emit("else: raise Mismatch")
        self.emit("if p != stop: raise Mismatch")
        self.indent -= 1

    def tagged_value(self, f: Field, values: dict[str, str]) -> None:
        """Emit the reading of a tagged field into its variable."""
        target = values[f.name]
        plain: dict[str, str] = {}
        if f.type in FIXED_FORMATS and not f.array:
            self.fixed_run([f], plain)
        else:
            plain[f.name] = self.variable_field(f)
        self.emit(f"{target} = {plain[f.name]}")
