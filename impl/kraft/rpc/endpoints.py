"""Where a node listens."""

from __future__ import annotations

from typing import NamedTuple


class Endpoint(NamedTuple):
    """One listener of a node: its name, host and port."""

    listener: str
    host: str
    port: int


Endpoints = tuple[Endpoint, ...]
"""A node's listeners, ordered by name; the controller's default listener is among them."""
