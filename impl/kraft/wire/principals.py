"""The principal of a client, as the bytes by which a broker vouches for it in an envelope.

Kafka: DefaultKafkaPrincipalBuilder.serialize, .deserialize. KIP-590.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from kraft.errors import CorruptMessageError
from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, field
from kraft.wire.messages import decode_message

_VERSION: Final = struct.Struct(">h")
_NO_API: Final = -1
PRINCIPAL: Final = Schema(
    "DefaultPrincipalData",
    _NO_API,
    0,
    flexible_since=0,
    fields=(field("type", T.STRING), field("name", T.STRING), field("tokenAuthenticated", T.BOOL)),
)
"""Kafka: DefaultPrincipalData."""


class ForwardedPrincipal(NamedTuple):
    """A principal, its type, `:` and its name, and whether a delegation token authenticated it."""

    principal: str
    token_authenticated: bool = False


def read_principal(data: bytes) -> ForwardedPrincipal:
    """Return the principal in an envelope. Raises CorruptMessageError for bytes that are none."""
    if len(data) < _VERSION.size:
        raise CorruptMessageError("the principal has no version", position=0)
    (version,) = _VERSION.unpack_from(data)
    if version != 0:
        raise CorruptMessageError(f"a principal of version {version}", position=0)
    fields = decode_message(PRINCIPAL, version, data, _VERSION.size)
    principal = f"{fields['type']}:{fields['name']}"
    return ForwardedPrincipal(principal, fields["tokenAuthenticated"])
