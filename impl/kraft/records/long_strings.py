"""Finding a string that is too long for Kafka's messages, in any record or request.

Kafka: MessageDataGenerator, which writes the `addSize` and `read` methods of messages.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kraft.records.limits import MAX_STRING_BYTES, is_too_long

if TYPE_CHECKING:
    from collections.abc import Iterator


class LongStringError(ValueError):
    """A record has a string that Kafka's serializer refuses; `path` names it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is too long to be serialized: {MAX_STRING_BYTES} bytes at most")
        self.path = path


def check_strings(value: object) -> None:
    """Check every string in a value made of records, requests, tuples, sets and mappings.

    Raises LongStringError for the first string that is too long.
    """
    for path, text in _strings(value, ""):
        if is_too_long(text):
            raise LongStringError(path.removeprefix("."))


def _is_short(value: object) -> bool:
    """Return whether no string in a value can be too long.

    As JSON no string is shorter, and JSON is made fast: nearly all values end here.
    """
    try:
        return len(_ENCODER.encode(value)) <= MAX_STRING_BYTES
    except (TypeError, ValueError):
        # Not everything that can be here has a form in JSON.
        return False


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain)


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each string below a value that may be too long with its path, in their order."""
    if _is_short(value):
        return
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _strings(key, f"{path}{{}}")
            yield from _strings(one, f"{path}[{key!r:.40}]")
    elif names := _names(type(value)):
        for name in names:
            yield from _strings(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, (tuple, list, frozenset)):
        for index, one in enumerate(value):
            yield from _strings(one, f"{path}[{index}]")


def _names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of a class of records, requests or their parts."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    if dataclasses.is_dataclass(kind):
        return tuple(one.name for one in dataclasses.fields(kind))
    return tuple(getattr(kind, "_fields", ()))
