"""Schemas of Kafka's messages: fields with types, versions, tags, defaults and nullability.

Values in Python: BOOL bool; the integers int; FLOAT64 float; UUID the 22 character text of
`kraft.ids`; STRING str; BYTES bytes; an array a tuple; a struct a dict in schema order. All
records are "flexible": lengths are unsigned varints and every struct ends with a section of tagged
fields. Old versions of requests and responses are not (`kraft.wire`).

Kafka: MessageSpec, read from `common/metadata/*.json` and `common/message/*.json`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from kraft.ids import ZERO_UUID

UNKNOWN_TAGGED_FIELDS: Final = "_unknownTaggedFields"
"""Key in a decoded struct for tagged fields no schema names: a tuple of (tag, bytes)."""

Fields = dict[str, Any]


class FieldType(enum.Enum):
    """The wire type of one field, or of the elements of an array field."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    FLOAT64 = "float64"
    UUID = "uuid"
    STRING = "string"
    BYTES = "bytes"
    STRUCT = "struct"


FIXED_FORMATS: Final[dict[FieldType, str]] = {
    FieldType.BOOL: "B",
    FieldType.INT8: "b",
    FieldType.INT16: "h",
    FieldType.UINT16: "H",
    FieldType.INT32: "i",
    FieldType.UINT32: "I",
    FieldType.INT64: "q",
    FieldType.FLOAT64: "d",
    FieldType.UUID: "16s",
}
"""Format characters of the `struct` module, for the types of a fixed size."""

_ZERO_VALUES: Final[dict[FieldType, object]] = {
    FieldType.BOOL: False,
    FieldType.FLOAT64: 0.0,
    FieldType.UUID: ZERO_UUID,
    FieldType.STRING: "",
    FieldType.BYTES: b"",
}


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of a message, present in versions `since` to `until`; with a `tag` a tagged field.

    Without `until` every later version has it. A `nullable` field may be null in the versions from
    `nullable_since` on. A reader sees `default` when a tagged field is absent. What an `ignorable`
    field says may be left out of a version that lacks it. A field equals only itself, which makes
    the caches below cheap.
    """

    name: str
    type: FieldType
    since: int = 0
    array: bool = False
    nullable: bool = False
    tag: int | None = None
    default: object = None
    members: tuple[Field, ...] = ()
    until: int | None = None
    nullable_since: int = 0
    ignorable: bool = False

    def is_in(self, version: int) -> bool:
        """Return whether `version` has this field."""
        return self.since <= version and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """One kind of message: its name and id as Kafka gives them, its versions `oldest`..`newest`.

    Versions from `flexible_since` on are flexible, none if that is None. A schema equals only
    itself, as a field does.
    """

    name: str
    api_key: int
    newest: int
    fields: tuple[Field, ...]
    oldest: int = 0
    flexible_since: int | None = 0

    def supports(self, version: int) -> bool:
        """Return whether this schema has `version`."""
        return self.oldest <= version <= self.newest

    def is_flexible(self, version: int) -> bool:
        """Return whether `version` has compact lengths and tagged fields (KIP-482)."""
        return self.flexible_since is not None and self.flexible_since <= version


def field(
    name: str,
    type_: FieldType,
    *,
    since: int = 0,
    until: int | None = None,
    tag: int | None = None,
    default: object = ...,
    nullable: bool = False,
    nullable_since: int = 0,
    ignorable: bool = False,
) -> Field:
    """Return a plain field; without a `default` it is the zero value of its type."""
    if default is ...:
        default = _ZERO_VALUES.get(type_, 0)
    return Field(
        name,
        type_,
        since,
        nullable=nullable or nullable_since > 0,
        tag=tag,
        default=default,
        until=until,
        nullable_since=nullable_since,
        ignorable=ignorable,
    )


def array(
    name: str,
    element: FieldType | tuple[Field, ...],
    *,
    since: int = 0,
    until: int | None = None,
    tag: int | None = None,
    default: object = ...,
    nullable: bool = False,
    ignorable: bool = False,
) -> Field:
    """Return an array field of a type or of structs; a nullable one is null by default."""
    members = element if isinstance(element, tuple) else ()
    type_ = FieldType.STRUCT if isinstance(element, tuple) else element
    if default is ...:
        default = None if nullable else ()
    return Field(
        name,
        type_,
        since,
        array=True,
        nullable=nullable,
        tag=tag,
        default=default,
        members=members,
        until=until,
        ignorable=ignorable,
    )


def struct_field(
    name: str, members: tuple[Field, ...], *, since: int = 0, tag: int | None = None
) -> Field:
    """Return a field that is a single struct."""
    return Field(name, FieldType.STRUCT, since, tag=tag, members=members)


@lru_cache(maxsize=1024)
def fields_of(fields: tuple[Field, ...], version: int) -> tuple[Field, ...]:
    """Return all fields of `version` in schema order, which is the order of Kafka's JSON."""
    return tuple(f for f in fields if f.is_in(version))
