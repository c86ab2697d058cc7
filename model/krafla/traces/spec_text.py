"""The text of a spec, as a trace carries it: what judges the trace where the spec is another."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["SpecText", "modules_digest"]


@dataclass(frozen=True, slots=True)
class SpecText:
    """All modules that judge a trace, by name, and which of them is loaded.

    ``config`` is the configuration under which a model was checked; without it the constants of
    the trace configure the module.
    """

    root: str
    modules: tuple[tuple[str, str], ...]
    config: str | None = None

    @property
    def digest(self) -> str:
        """Return the digest of the modules."""
        return modules_digest({name: text.encode("utf-8") for name, text in self.modules})


def modules_digest(modules: dict[str, bytes]) -> str:
    """Return the SHA-256 over modules of TLA+, by name; equal digests mean equal texts."""
    content = hashlib.sha256()
    for name in sorted(modules):
        content.update(f"{name}\0".encode())
        content.update(hashlib.sha256(modules[name]).digest())
    return content.hexdigest()
