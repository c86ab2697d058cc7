"""Encoders compiled from the schemas: one straight-line function per message and version.

A compiled encoder returns exactly the bytes that `codec.encode_body` returns, or raises one of
ENCODE_FAILURES when anything is out of the ordinary: an unknown field, a value outside its type, an
unknown tag. `encode_message` then asks `codec`, which writes the fields or names the fault.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from kraft.ids import uuid_bytes
from kraft.records.codec import encode_body
from kraft.records.decoders import array_layout, is_one_string
from kraft.records.layouts import Layout, is_default, is_single_struct, layout_of
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.primitives import encode_uvarint
from kraft.records.schema import FIXED_FORMATS, Field, Fields, FieldType

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Schema


class Unexpected(ValueError):  # noqa: N818 - not an error: the reference codec decides
    """The fields are not of the ordinary form that a compiled encoder handles."""


ENCODE_FAILURES: Final = (AttributeError, KeyError, TypeError, ValueError, struct.error)
"""What a compiled encoder may raise: Unexpected is a ValueError, as are bad text and bad UUIDs."""

SHORT_LENGTHS: Final = tuple(encode_uvarint(length) for length in range(1024))


def uvarint(value: int) -> bytes:
    """Return a varint, out of a table if it is short."""
    return SHORT_LENGTHS[value] if value < 1024 else encode_uvarint(value)


def encode_message(schema: Schema, version: int, fields: Fields) -> bytes:
    """Return the body of a message; fields that are absent take their default.

    Raises ValueError (UnsupportedFieldError for what this version cannot say) with the path of the
    field, and UnsupportedVersionError if the schema does not have this version.
    """
    encode = body_encoder(schema, version)
    try:
        return encode(fields)
    except ENCODE_FAILURES:
        return encode_body(layout_of(schema, version), schema.name, fields)


@lru_cache(maxsize=512)
def body_encoder(schema: Schema, version: int) -> Callable[[Fields], bytes]:
    """Return the compiled encoder of a message: fields to bytes.

    Raises UnsupportedVersionError if the schema does not have this version.
    """
    emitter = _Emitter(layout_of(schema, version))
    source = emitter.function()
    names: dict[str, object] = {
        "Unexpected": Unexpected,
        "array_layout": array_layout,
        "is_default": is_default,
        "reduced": reduced,
        "uuid_bytes": uuid_bytes,
        "uvarint": uvarint,
        "int16": struct.Struct(">h").pack,
        "int32": struct.Struct(">i").pack,
        **{f"pack_{i}": struct.Struct(code).pack for i, code in enumerate(emitter.formats)},
        **{f"layout_{i}": layout for i, layout in enumerate(emitter.layouts)},
        **{f"default_{i}": layout.default() for i, layout in enumerate(emitter.layouts)},
        **{f"field_{i}": f for i, f in enumerate(emitter.fields)},
    }
    name = f"<encoder {schema.name}.{version}>"
    exec(compile(source, name, "exec"), names)  # noqa: S102 - own tables
    return cast("Callable[[Fields], bytes]", names["encode"])


def reduced(layout: Layout, values: Fields) -> Fields:
    """Return the fields of a version from all of them and from ignorable ones of others.

    Raises Unexpected if there is a field that the version lacks, and `codec` may refuse.
    """
    names = {f.name for f in layout.fields}
    for name in values.keys() - names:
        f = layout.absent.get(name)
        if f is None or not (f.ignorable or is_default(f, values[name])):
            raise Unexpected
    return {name: values[name] for name in names}


class _Emitter:
    """Writes the source of one encoder, line by line.

    The encoder appends pieces to a list by `a`; a tagged field has a list of its own.
    """

    def __init__(self, layout: Layout) -> None:
        self.root = layout
        self.lines: list[str] = []
        self.indent = 0
        self.formats: list[str] = []
        self.layouts: list[Layout] = []
        self.fields: list[Field] = []
        self.variables = 0

    def function(self) -> str:
        self.emit("def encode(v):")
        self.indent += 1
        self.emit("out = []")
        self.emit("a = out.append")
        self.struct(self.root, "v")
        self.emit("return b''.join(out)")
        return "\n".join(self.lines) + "\n"

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        self.variables += 1
        return f"v{self.variables}"

    def struct(self, layout: Layout, name: str) -> None:
        """Emit the writing of the struct that a variable has."""
        index, count = len(self.layouts), len(layout.fields)
        self.layouts.append(layout)
        self.emit(f"if len({name}) != {count}:")
        self.emit(f"    {name} = default_{index} | {name}")
        self.emit(f"    if len({name}) != {count}: {name} = reduced(layout_{index}, {name})")
        run: list[Field] = []
        for f in layout.plain:
            if f.type in FIXED_FORMATS and not f.array:
                run.append(f)
                continue
            self.fixed_run(run, name)
            run = []
            self.variable_field(f, layout, f"{name}[{f.name!r}]")
        if layout.is_flexible and not layout.tagged:
            self.fixed_run(run, name, tail="x")
        else:
            self.fixed_run(run, name)
        if layout.tagged:
            self.tags(layout, name)

    def fixed_run(self, run: list[Field], name: str, tail: str = "") -> None:
        """Emit one packing for fields of fixed size, with an empty tagged section as a `tail`."""
        if not run:
            if tail:
                self.emit(r"a(b'\0')")
            return
        code = ">" + "".join(FIXED_FORMATS[f.type] for f in run) + tail
        values = ", ".join(self.converted(f.type, f"{name}[{f.name!r}]") for f in run)
        self.emit(f"a(pack_{self.format_index(code)}({values}))")

    def format_index(self, code: str) -> int:
        if code not in self.formats:
            self.formats.append(code)
        return self.formats.index(code)

    def converted(self, kind: FieldType, expression: str) -> str:
        return f"uuid_bytes({expression})" if kind is FieldType.UUID else expression

    def length(self, expression: str, f: Field) -> str:
        """Return the expression of the bytes of a length."""
        if self.root.is_flexible:
            return f"uvarint({expression} + 1)"
        return f"{'int16' if is_one_string(f) else 'int32'}({expression})"

    def variable_field(self, f: Field, layout: Layout, expression: str) -> None:
        """Emit the writing of a string, bytes, struct or array."""
        name = self.variable()
        self.emit(f"{name} = {expression}")
        if is_single_struct(f):
            self.struct(layout.inner[f.name], name)
            return
        if f.nullable:
            self.emit(f"if {name} is None:")
            self.emit(f"    a({self.null(f)!r})")
            self.emit("else:")
            self.indent += 1
        if f.array:
            self.array(f, layout, name)
        elif f.type is FieldType.STRING:
            self.text(f, name)
        else:
            self.emit(f"a({self.length(f'len({name})', f)})")
            self.emit(f"a({name})")
        if f.nullable:
            self.indent -= 1

    def null(self, f: Field) -> bytes:
        if self.root.is_flexible:
            return b"\x00"
        return b"\xff\xff" if is_one_string(f) else b"\xff\xff\xff\xff"

    def text(self, f: Field, name: str) -> None:
        self.emit(f"{name} = {name}.encode()")
        self.emit(f"n = len({name})")
        self.emit(f"if n > {MAX_STRING_BYTES}: raise Unexpected")
        self.emit(f"a({self.length('n', f)} + {name})")

    def array(self, f: Field, layout: Layout, name: str) -> None:
        """Emit the length and the elements of an array."""
        self.emit(f"if type({name}) not in (tuple, list): raise Unexpected")
        self.emit(f"a({self.length(f'len({name})', f)})")
        if f.type in FIXED_FORMATS and f.type is not FieldType.UUID:
            code = FIXED_FORMATS[f.type]
            self.emit(f"a(array_layout({code!r}, len({name})).pack(*{name}))")
            return
        element = self.variable()
        self.emit(f"for {element} in {name}:")
        self.indent += 1
        if f.type is FieldType.STRUCT:
            self.struct(layout.inner[f.name], element)
        elif f.type is FieldType.UUID:
            self.emit(f"a(uuid_bytes({element}))")
        else:
            self.variable_field(Field(f.name, f.type), layout, element)
        self.indent -= 1

    def tags(self, layout: Layout, name: str) -> None:
        """Emit the tagged section: the fields that do not have their default, by tag."""
        section = self.variable()
        self.emit(f"{section} = []")
        for tag, f in layout.tagged.items():
            self.tag(tag, f, layout, (name, section))
        self.emit(f"a(uvarint(len({section})))")
        self.emit(f"out += {section}")

    def tag(self, tag: int, f: Field, layout: Layout, names: tuple[str, str]) -> None:
        name, section = names
        value, outer = self.variable(), self.variable()
        self.emit(f"{value} = {name}[{f.name!r}]")
        if f.array and f.default == ():
            self.emit(f"if {value} != () and {value} != []:")
        elif f.array and f.default is None:
            self.emit(f"if {value} is not None:")
        elif f.array or is_single_struct(f):
            self.fields.append(f)
            self.emit(f"if not is_default(field_{len(self.fields) - 1}, {value}):")
        else:
            self.emit(f"if {value} != {f.default!r}:")
        self.indent += 1
        self.emit(f"{outer} = out")
        self.emit("out = []")
        self.emit("a = out.append")
        if f.type in FIXED_FORMATS and not f.array:
            code = self.format_index(">" + FIXED_FORMATS[f.type])
            self.emit(f"a(pack_{code}({self.converted(f.type, value)}))")
        else:
            self.variable_field(f, layout, value)
        body = self.variable()
        self.emit(f"{body} = b''.join(out)")
        self.emit(f"{section}.append({encode_uvarint(tag)!r} + uvarint(len({body})) + {body})")
        self.emit(f"out = {outer}")
        self.emit("a = out.append")
        self.indent -= 1
