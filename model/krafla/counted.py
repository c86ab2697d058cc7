"""A number of things in words, for every message and report."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return ``1 state`` or ``2,000 states``; ``several`` is the plural, by default with an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
