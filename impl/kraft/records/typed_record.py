"""Records as values of their own types, and their conversion from and to fields of the schemas.

A class has an attribute for each field of its record's newest version, in any order. The attribute
is the field's name in Python's spelling, unless `NAMES` says otherwise. A field that an older
version lacks has its default, in Kafka as here.

Kafka: the message classes generated from `common/metadata/*.json`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from kraft.records.schema import FieldType, fields_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Field, Fields, Schema


# No cycle can go through a value: Python's collector need not look at each of a large log.
class Message(msgspec.Struct, frozen=True, gc=False):
    """A struct of a schema as a value: of a record, or of an element in one of its arrays.

    `NAMES` has the schema's names of attributes that are not called as their fields are,
    `ELEMENTS` the class of the elements of each attribute that is an array of structs.
    """

    NAMES: ClassVar[dict[str, str]] = {}
    ELEMENTS: ClassVar[dict[str, type[Message]]] = {}


class TypedRecord(Message, frozen=True):
    """A record of the metadata log as a value, all of its fields included."""

    SCHEMA: ClassVar[Schema]

    def to_fields(self, version: int | None = None) -> Fields:
        """Return the fields of a version, the newest by default, under Kafka's names, in order.

        Raises ValueError if the record says something that this version cannot say.
        """
        schema = self.SCHEMA
        return _writer(type(self), schema.fields, schema.newest if version is None else version)(
            self
        )

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Return the record with these fields; a field of no older version has its default.

        Raises TypeError if a field is missing that every version has. Tagged fields that no schema
        names are left out.
        """
        record: Self = _reader(cls, cls.SCHEMA.fields)(fields)
        return record


def attributes_of(cls: type[Message], fields: tuple[Field, ...]) -> dict[str, Field]:
    """Return for each attribute of a class, in its order, the field of the schema that it has.

    Raises TypeError if a field has no attribute, or an attribute no field.
    """
    by_name = {f.name: f for f in fields}
    named = {one: cls.NAMES.get(one) or _camel(one) for one in cls.__struct_fields__}
    if sorted(named.values()) != sorted(by_name):
        odd = sorted(set(named.values()) ^ set(by_name))
        raise TypeError(f"{cls.__name__} and its schema differ in {', '.join(odd)}")
    return {attribute: by_name[name] for attribute, name in named.items()}


def _camel(attribute: str) -> str:
    first, *others = attribute.split("_")
    return first + "".join(word.capitalize() for word in others)


@cache
def _reader(cls: type[Any], fields: tuple[Field, ...]) -> Callable[[Fields], Any]:
    """Return a function from fields under Kafka's names to an instance of a class."""
    plain: dict[str, str] = {}
    nested: dict[str, tuple[str, Callable[[Fields], Any]]] = {}
    for attribute, f in attributes_of(cls, fields).items():
        if f.type is FieldType.STRUCT:
            nested[f.name] = attribute, _reader(cls.ELEMENTS[attribute], f.members)
        else:
            plain[f.name] = attribute

    def read(given: Fields) -> Any:
        values = {plain[name]: value for name, value in given.items() if name in plain}
        for name, (attribute, read_one) in nested.items():
            if name in given:
                values[attribute] = tuple(read_one(one) for one in given[name])
        return cls(**values)

    return read


@cache
def _writer(cls: type[Any], fields: tuple[Field, ...], version: int) -> Callable[[Any], Fields]:
    """Return a function from an instance of a class to the fields of a version."""
    there = fields_of(fields, version)
    attributes = {f.name: attribute for attribute, f in attributes_of(cls, fields).items()}
    nested = {
        f.name: _writer(cls.ELEMENTS[attributes[f.name]], f.members, version)
        for f in there
        if f.type is FieldType.STRUCT
    }
    newer = tuple(f for f in fields if f not in there)

    def write(instance: Any) -> Fields:
        for f in newer:
            if getattr(instance, attributes[f.name]) != f.default:
                raise ValueError(f"version {version} of {cls.__name__} has no {f.name}")
        written: Fields = {}
        for f in there:
            value = getattr(instance, attributes[f.name])
            write_one = nested.get(f.name)
            written[f.name] = value if write_one is None else tuple(write_one(one) for one in value)
        return written

    return write
