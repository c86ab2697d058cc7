"""What the caller of an audit knows about server logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_SKEW_MS: Final = 100


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller knows of the clusters: how far stamps may be off, the session timeout.

    Without a timeout it is read from server.properties.
    """

    skew_ms: int = DEFAULT_SKEW_MS
    session_timeout_ms: int | None = None
