"""Text of a module or of a cfg without its comments."""

from __future__ import annotations

import re

__all__ = ["without_comments"]

# A text may have in it what begins a comment elsewhere.
_TEXT = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"{_TEXT}|\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_VISIBLE = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return a text with spaces for its comments: all else stays at its line and column."""
    return _COMMENT.sub(
        lambda found: found[0] if found[0][0] == '"' else _VISIBLE.sub(" ", found[0]), text
    )
