"""Metadata records with their secrets withheld.

Kafka: RecordRedactor hides SCRAM credentials and sensitive configs from its logs; here tokens too,
because a token id is half of a delegation token.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kraft.records.metadata_schemas import (
    CONFIG,
    DELEGATION_TOKEN,
    REMOVE_DELEGATION_TOKEN,
    USER_SCRAM_CREDENTIAL,
)

if TYPE_CHECKING:
    from kraft.records.record import MetadataRecord
    from kraft.records.schema import Fields

REDACTED: Final = "(redacted)"

_SECRET_FIELDS: Final[dict[int, tuple[str, ...]]] = {
    USER_SCRAM_CREDENTIAL.api_key: ("salt", "storedKey", "serverKey"),
    DELEGATION_TOKEN.api_key: ("tokenId",),
    REMOVE_DELEGATION_TOKEN.api_key: ("tokenId",),
}
_SENSITIVE_CONFIG: Final = re.compile(
    r"passw|secret|jaas|credential|token|private|(^|[._-])key$", re.IGNORECASE
)


def is_sensitive_config(name: str) -> bool:
    """Return whether a config of this name may hold a secret; in doubt, True."""
    return _SENSITIVE_CONFIG.search(name) is not None


def redacted(api_key: int, fields: Fields) -> Fields:
    """Return the fields of a metadata record with `(redacted)` in place of secrets."""
    if api_key == CONFIG.api_key:
        if fields["value"] is not None and is_sensitive_config(fields["name"]):
            return {**fields, "value": REDACTED}
        return fields
    secret = _SECRET_FIELDS.get(api_key)
    return fields if secret is None else {**fields, **dict.fromkeys(secret, REDACTED)}


def record_text(record: MetadataRecord) -> str:
    """Return a record as Kafka's JSON on one line, secrets withheld."""
    from kraft.records.dump_text import payload_text  # only where something is wrong

    return payload_text(record, redacted(record.api_key, record.fields))
