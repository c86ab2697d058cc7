"""Text of a module or of a cfg without its comments."""

from __future__ import annotations

import re

__all__ = ["without_comments"]

_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_VISIBLE = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return a text with spaces for its comments: all else stays at its line and column."""
    return _COMMENT.sub(lambda found: _VISIBLE.sub(" ", found[0]), text)
