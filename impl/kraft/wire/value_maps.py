"""Maps between the fields of a decoded message and values, one description for both directions.

`Fields` are as `kraft.wire.messages` reads them: Kafka's JSON names in lower camel case, only those
of their version. A `ValueMap` turns one raw entry into a value and back; a `ValuePart` does so for
some attributes of a value and some entries of its Fields.

Kafka: MessageGenerator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Protocol

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID
from kraft.records.codec import UnsupportedFieldError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Fields

NEWEST: Final = 2**15 - 1
"""A version that no message reaches: an entry that is there until NEWEST has no end."""

_LEFT_OUT: Final = object()
_CAPITAL: Final = re.compile("[A-Z]")


class ShapeError(Exception):
    """Fields that are well-formed, but that the value has no place for."""


class ValueMap(Protocol):
    """A map between one raw entry of Fields and a value."""

    def decoded(self, raw: Any, version: int, /) -> Any:
        """Return the value of a raw entry. Raises ShapeError if there is none."""

    def encoded(self, value: Any, version: int, /) -> Any:
        """Return the raw entry of a value."""


class ValuePart(Protocol):
    """A map between some entries of Fields and some attributes of a value."""

    def take(self, fields: Fields, version: int, attributes: dict[str, Any], /) -> None:
        """Add the attributes that the Fields hold. Raises ShapeError as `ValueMap.decoded`."""

    def put(self, value: Any, version: int, fields: Fields, /) -> None:
        """Add the entries that the value holds."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A map of two functions."""

    of_raw: Callable[[Any], Any]
    to_raw: Callable[[Any], Any]

    def decoded(self, raw: Any, _version: int) -> Any:
        """Return the value of a raw entry."""
        return self.of_raw(raw)

    def encoded(self, value: Any, _version: int) -> Any:
        """Return the raw entry of a value."""
        return self.to_raw(value)


@dataclass(frozen=True, slots=True)
class Array:
    """A map of the members of a tuple; null is None."""

    member: ValueMap

    def decoded(self, raw: Any, version: int) -> Any:
        """Return the values of an array."""
        if raw is None:
            return None
        return tuple([self.member.decoded(one, version) for one in raw])

    def encoded(self, value: Any, version: int) -> Any:
        """Return the array of values."""
        if value is None:
            return None
        return tuple([self.member.encoded(one, version) for one in value])


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """A map of Fields to a value of a class, whose attributes the parts name."""

    of: Callable[..., Any]
    parts: tuple[ValuePart, ...]

    def decoded(self, raw: Any, version: int) -> Any:
        """Return the value of Fields. Raises ShapeError if a part has no place for them."""
        attributes: dict[str, Any] = {}
        self.take(raw, version, attributes)
        return self.of(**attributes)

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the attributes that Fields hold. Raises ShapeError as `decoded`."""
        plan = _plan(self, version)
        if plan is None:
            for part in self.parts:
                part.take(fields, version, attributes)
            return
        present, absent = plan
        attributes.update(absent)
        for attribute, name, decoded in present:
            raw = fields[name]
            attributes[attribute] = raw if decoded is None else decoded(raw, version)

    def encoded(self, value: Any, version: int) -> Fields:
        """Return the Fields of a value."""
        fields: Fields = {}
        for part in self.parts:
            part.put(value, version, fields)
        return fields


@dataclass(frozen=True, slots=True)
class Entry:
    """A map of Fields to a plain tuple: the names of its entries in the order of the tuple."""

    names: tuple[str, ...]

    def decoded(self, raw: Any, _version: int) -> Any:
        """Return the entries as a tuple."""
        return tuple([raw[name] for name in self.names])

    def encoded(self, value: Any, _version: int) -> Fields:
        """Return the Fields of a tuple."""
        return dict(zip(self.names, value, strict=True))


def error_code(number: int) -> ErrorCode:
    """Return the error of a number; of one that is not known, UNKNOWN_SERVER_ERROR.

    Kafka: Errors.forCode.
    """
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def refuse_loss(name: str, value: object, absent: object) -> None:
    """Raise UnsupportedFieldError unless the value of a field that must not get lost is `absent`.

    Kafka: FieldSpec.generateNonIgnorableFieldCheck.
    """
    if value != absent:
        raise UnsupportedFieldError(f"{name} is {value!r}, and this version has no such field")


def attribute_of(name: str) -> str:
    """Return the name of an attribute as Python writes it: `brokerId` is `broker_id`."""
    return _CAPITAL.sub(lambda capital: "_" + capital[0].lower(), name)


def same(value: Any) -> Any:
    """Return the value itself."""
    return value


SAME: Final = Scalar(same, same)
CODE: Final = Scalar(error_code, int)
NODE_OR_NONE: Final = Scalar(
    lambda raw: None if raw < 0 else raw, lambda value: -1 if value is None else value
)
"""A node's id; none is -1. Kafka: QuorumState.leaderIdOrSentinel."""
DIRECTORY_OR_NONE: Final = Scalar(
    lambda raw: None if raw == ZERO_UUID else raw,
    lambda value: ZERO_UUID if value is None else value,
)
"""A directory's id; none is the zero UUID. Kafka: ReplicaKey.NO_DIRECTORY_ID."""


@dataclass(frozen=True, slots=True)
class Field:
    """One entry, one attribute; the entry is there in versions `since` to `until`.

    The attribute's name follows from the entry's, if it is not given. In other versions the
    attribute is `absent`; without that, it has its default. Another value is lost in them, but if
    it is not `ignorable`, it cannot be sent.
    """

    name: str
    attribute: str = ""
    map: ValueMap = SAME
    since: int = 0
    until: int = NEWEST
    absent: Any = _LEFT_OUT
    ignorable: bool = True

    def __post_init__(self) -> None:
        if not self.attribute:
            object.__setattr__(self, "attribute", attribute_of(self.name))

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the attribute."""
        if self.since <= version <= self.until:
            raw = fields[self.name]
            attributes[self.attribute] = raw if self.map is SAME else self.map.decoded(raw, version)
        elif self.absent is not _LEFT_OUT:
            attributes[self.attribute] = self.absent

    def put(self, value: Any, version: int, fields: Fields) -> None:
        """Add the entry. Raises UnsupportedFieldError if this version cannot say the value."""
        if self.since <= version <= self.until:
            held = getattr(value, self.attribute)
            fields[self.name] = held if self.map is SAME else self.map.encoded(held, version)
        elif not self.ignorable:
            refuse_loss(self.name, getattr(value, self.attribute), self.absent)


@dataclass(frozen=True, slots=True)
class Constant:
    """An entry that no attribute holds: sent with this content, and not read."""

    name: str
    content: Any
    since: int = 0
    until: int = NEWEST

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add nothing."""

    def put(self, _value: Any, version: int, fields: Fields) -> None:
        """Add the entry."""
        if self.since <= version <= self.until:
            fields[self.name] = self.content


THROTTLE: Final = Constant("throttleTimeMs", 0)
"""Nothing is throttled here."""
ERROR: Final = Field("errorCode", map=CODE)
SENTENCE: Final = Field("errorMessage")
"""What people read of an error. Kafka: ApiError.message."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A struct whose entries are attributes of the value around it, there from `since` on.

    Its parts say that, too: before it, they give what is absent.
    """

    name: str
    parts: tuple[ValuePart, ...]
    since: int = 0

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the attributes of the struct."""
        inner = fields[self.name] if version >= self.since else {}
        for part in self.parts:
            part.take(inner, version, attributes)

    def put(self, value: Any, version: int, fields: Fields) -> None:
        """Add the struct."""
        if version < self.since:
            return
        inner: Fields = {}
        for part in self.parts:
            part.put(value, version, inner)
        fields[self.name] = inner


@dataclass(frozen=True, slots=True)
class Within:
    """An attribute whose value has its entries beside those of the value around it."""

    attribute: str
    struct: Struct

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the attribute."""
        attributes[self.attribute] = self.struct.decoded(fields, version)

    def put(self, value: Any, version: int, fields: Fields) -> None:
        """Add the entries."""
        fields.update(self.struct.encoded(getattr(value, self.attribute), version))


@dataclass(frozen=True, slots=True)
class Grouped:
    """A flat tuple of values, in Fields grouped by a key: topics with their partitions.

    Values that stand side by side with the same key are a group, so the order stays; a group
    without members has no value.
    """

    name: str
    attribute: str
    key: tuple[Field, ...]
    members: str
    member: Struct

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the flat tuple."""
        values = []
        for group in fields[self.name]:
            of_key: dict[str, Any] = {}
            for field in self.key:
                field.take(group, version, of_key)
            for raw in group[self.members]:
                of_member = dict(of_key)
                self.member.take(raw, version, of_member)
                values.append(self.member.of(**of_member))
        attributes[self.attribute] = tuple(values)

    def put(self, value: Any, version: int, fields: Fields) -> None:
        """Add the groups."""
        groups = []
        for _, values in groupby(getattr(value, self.attribute), self._key_of):
            members = list(values)
            group: Fields = {}
            for field in self.key:
                field.put(members[0], version, group)
            group[self.members] = tuple([self.member.encoded(one, version) for one in members])
            groups.append(group)
        fields[self.name] = tuple(groups)

    def _key_of(self, value: Any) -> tuple[Any, ...]:
        return tuple([getattr(value, field.attribute) for field in self.key])


_Present = tuple[tuple[str, str, "Callable[[Any, int], Any] | None"], ...]


@cache
def _plan(struct: Struct, version: int) -> tuple[_Present, dict[str, Any]] | None:
    """Return the attributes of a struct that are there in a version, and the others' values.

    Each one there has its entry and how that is decoded, None if it is the value itself. None
    instead of all that is a struct with other parts than fields. Decoding takes half the time.
    """
    present, absent = [], {}
    for part in struct.parts:
        if isinstance(part, Field):
            if part.since <= version <= part.until:
                decoded = None if part.map is SAME else part.map.decoded
                present.append((part.attribute, part.name, decoded))
            elif part.absent is not _LEFT_OUT:
                absent[part.attribute] = part.absent
        elif not isinstance(part, Constant):
            return None
    return tuple(present), absent
