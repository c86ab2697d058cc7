r"""Records as the JSON text that Kafka prints: its field names, its order, its omissions.

A tagged field with its default value is left out, bytes are base64, a UUID is its 22 characters.
Text stays on one line and cannot steer a terminal: an unprintable character appears as `\uXXXX`.

Kafka: MetadataJsonConverters, printed by Jackson.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kraft.records.schema import FieldType, fields_of

if TYPE_CHECKING:
    from kraft.records.schema import Field, Fields

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-f]{4})|.)")
_FIRST_SURROGATE: Final = 0xD800
_LAST_BMP: Final = 0xFFFF
_NEVER: Final = object()


def fields_json(schema_fields: tuple[Field, ...], version: int, values: Fields) -> str:
    """Return the JSON object of a message's fields, on one line of printable characters."""
    text = msgspec.json.encode(_plain_struct(schema_fields, version, values)).decode("utf-8")
    if "\\u" in text:
        text = _ESCAPE.sub(_uppercase, text)
    return text if text.isprintable() else "".join(map(_visible, text))


def java_double(value: float) -> str:
    """Return a floating point number the way Java prints a double, as JSON.

    What JSON has no number for is a string, as Jackson has it.
    Kafka: Double.toString.
    """
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = repr(value)
        return text if "e" not in text else f"{value:f}"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole) - 1 if whole.strip("0") else -1 - (len(fraction) - len(digits))
    power = leading + int(exponent or "0")
    return f"{sign}{digits[0]}.{digits[1:].rstrip('0') or '0'}E{power}"


def _plain_struct(schema_fields: tuple[Field, ...], version: int, values: Fields) -> Fields:
    plain: Fields = {}
    for name, omitted, special in _plan(schema_fields, version):
        value = values[name]
        if value != omitted:
            plain[name] = value if special is None else _plain_value(special, version, value)
    return plain


@lru_cache(maxsize=256)
def _plan(
    schema_fields: tuple[Field, ...], version: int
) -> tuple[tuple[str, object, Field | None], ...]:
    """Return for each field: its name, the value it is left out at, itself if it needs a hand."""
    return tuple(
        (
            f.name,
            _NEVER if f.tag is None else f.default,
            f if f.type in (FieldType.STRUCT, FieldType.FLOAT64) else None,
        )
        for f in fields_of(schema_fields, version)
    )


def _plain_value(f: Field, version: int, value: Any) -> Any:
    if f.type is FieldType.STRUCT:
        if f.array:
            return [_plain_struct(f.members, version, element) for element in value]
        return _plain_struct(f.members, version, value)
    if f.type is FieldType.FLOAT64:
        return msgspec.Raw(java_double(value).encode("ascii"))
    return value


def _uppercase(match: re.Match[str]) -> str:
    digits = match[1]
    return match[0] if digits is None else "\\u" + digits.upper()


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code <= _LAST_BMP:
        return f"\\u{code:04X}"
    code -= _LAST_BMP + 1
    return f"\\u{_FIRST_SURROGATE + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"
