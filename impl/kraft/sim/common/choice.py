"""What the choices of all simulations have in common."""

from __future__ import annotations

import msgspec


class BaseChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="choice"):
    """An immutable, hashable choice; as JSON its tag is the name of its class."""
