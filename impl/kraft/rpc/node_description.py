"""The endpoints and supported features that a node registers."""

from __future__ import annotations

from typing import NamedTuple


class Listener(NamedTuple):
    """A listener of a node; `security_protocol` is Kafka's number, 0 for PLAINTEXT."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class SupportedFeature(NamedTuple):
    """The levels of a feature that a node supports, both ends included."""

    name: str
    minimum: int
    maximum: int
