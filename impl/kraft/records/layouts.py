"""Layouts: the fields of a schema as one version has them, which is all that a codec looks at.

Kafka: MessageDataGenerator, which writes code for ranges of versions.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from kraft.errors import UnsupportedVersionError
from kraft.records.schema import FIXED_FORMATS, Field, Fields, FieldType

if TYPE_CHECKING:
    from kraft.records.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A struct of one version of a message.

    `fields` has its fields in schema order, `plain` the untagged ones, `tagged` the others by
    ascending tag. Each is as this version has it: `nullable` or not, and the default of a single
    struct is a dict. `inner` has the layouts of fields that are structs or arrays of them.
    `absent` has the fields that only other versions have. A struct takes `least_bytes` or more,
    and an element of an array `element_bytes`, by the name of its field.
    """

    fields: tuple[Field, ...]
    plain: tuple[Field, ...]
    tagged: dict[int, Field]
    inner: dict[str, Layout]
    absent: dict[str, Field]
    is_flexible: bool
    least_bytes: int
    element_bytes: dict[str, int]

    def default(self) -> Fields:
        """Return the fields of a struct that says nothing: a new dict at each call."""
        return {f.name: self.default_of(f) for f in self.fields}

    def default_of(self, f: Field) -> object:
        """Return the default of a field; that of a single struct is a new dict at each call."""
        return self.inner[f.name].default() if is_single_struct(f) else f.default


def is_single_struct(f: Field) -> bool:
    """Return whether the value of a field is one struct, not an array of them."""
    return f.type is FieldType.STRUCT and not f.array


@lru_cache(maxsize=512)
def layout_of(schema: Schema, version: int) -> Layout:
    """Return the layout of a message in one of its versions.

    Raises UnsupportedVersionError if the schema does not have this version.
    """
    if not schema.supports(version):
        known = f"versions {schema.oldest} to {schema.newest} are known"
        raise UnsupportedVersionError(f"{schema.name} version {version}, {known}")
    return _layout(schema.fields, version, is_flexible=schema.is_flexible(version))


def _layout(fields: tuple[Field, ...], version: int, *, is_flexible: bool) -> Layout:
    inner: dict[str, Layout] = {}
    found: list[Field] = []
    for f in fields:
        if not f.is_in(version):
            continue
        default = f.default
        if f.members:
            inner[f.name] = _layout(f.members, version, is_flexible=is_flexible)
            default = inner[f.name].default() if is_single_struct(f) else default
        found.append(
            replace(
                f,
                since=0,
                until=None,
                nullable=f.nullable and f.nullable_since <= version,
                default=default,
                members=inner[f.name].fields if f.members else (),
            )
        )
    plain = tuple(f for f in found if f.tag is None)
    tagged = sorted((f.tag, f) for f in found if f.tag is not None)
    return Layout(
        tuple(found),
        plain,
        dict(tagged),
        inner,
        {f.name: f for f in fields if not f.is_in(version)},
        is_flexible,
        sum(_least_bytes_of(f, inner.get(f.name), is_flexible=is_flexible) for f in plain)
        + is_flexible,
        {
            f.name: _least_bytes_of_element(f, inner.get(f.name), is_flexible=is_flexible)
            for f in found
            if f.array
        },
    )


def _least_bytes_of(f: Field, inner: Layout | None, *, is_flexible: bool) -> int:
    if f.array:
        return 1 if is_flexible else 4
    if inner is not None:
        return inner.least_bytes
    if f.type in FIXED_FORMATS:
        return struct.calcsize(">" + FIXED_FORMATS[f.type])
    if is_flexible:
        return 1
    return 2 if f.type is FieldType.STRING else 4


def _least_bytes_of_element(f: Field, inner: Layout | None, *, is_flexible: bool) -> int:
    return max(1, _least_bytes_of(replace(f, array=False), inner, is_flexible=is_flexible))


def is_default(f: Field, value: object) -> bool:
    """Return whether a value is the default of its field; a struct may leave fields out.

    Kafka: MessageDataGenerator.generateNonDefaultValueCheck.
    """
    if is_single_struct(f) and isinstance(value, dict):
        members = {member.name: member for member in f.members}
        return all(name in members and is_default(members[name], value[name]) for name in value)
    if f.array and isinstance(value, list):
        return tuple(value) == f.default
    return value == f.default
