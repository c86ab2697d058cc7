"""Bodies of messages: bytes to a dict of fields, for every version of every API.

The dict has Kafka's JSON names in lower camel case, and the fields of one version only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptMessageError
from kraft.records import codec
from kraft.records.decoders import DECODE_FAILURES, Mismatch, body_decoder
from kraft.records.layouts import layout_of
from kraft.wire.message_reader import MessageReader

if TYPE_CHECKING:
    from kraft.records.schema import Fields, Schema

MAX_EXPLAINED_BYTES: Final = 64 * 1024
"""The longest body whose fault is named. Naming it takes several times as long as reading."""


def decode_message(schema: Schema, version: int, data: bytes, position: int = 0) -> Fields:
    """Return the fields of the message body that is `data` from `position` on.

    Raises CorruptMessageError with position and field for bytes that are not one, without the
    field if they are more than MAX_EXPLAINED_BYTES. Raises UnsupportedVersionError if the schema
    does not have this version.
    """
    decode = body_decoder(schema, version)
    try:
        return decode(data, position)
    except (Mismatch, *DECODE_FAILURES):
        if len(data) - position > MAX_EXPLAINED_BYTES:
            reason = f"no {schema.name} of version {version}"
            raise CorruptMessageError(reason, position=position) from None
        return codec.decode_body(layout_of(schema, version), MessageReader(data, position))
