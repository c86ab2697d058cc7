"""The base class of the choices of all simulations."""

from __future__ import annotations

import msgspec


class BaseChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="choice"):
    """An immutable, hashable choice; in JSON its tag is the name of its class."""
