"""Text of a module or of a cfg without its comments."""

from __future__ import annotations

import re

__all__ = ["without_comments"]

# A text may have in it what begins a comment elsewhere.
_TEXT = r'"(?:\\.|[^"\\\n])*"'
_TOKEN = re.compile(rf"{_TEXT}|\(\*|\*\)|\\\*[^\n]*")
_VISIBLE = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return a text with spaces for its comments: all else stays at its line and column.

    Comments in parentheses nest. One that is not closed, as before the first module of a file, is
    none.
    """
    kept: list[str] = []
    position = 0
    while (found := _TOKEN.search(text, position)) is not None:
        end = found.end()
        if found[0] == "(*":
            end = _end_of_comment(text, end)
        is_comment = end > found.end() or found[0].startswith("\\*")
        kept.append(text[position : found.start()])
        piece = text[found.start() : end]
        kept.append(_VISIBLE.sub(" ", piece) if is_comment else piece)
        position = end
    return "".join([*kept, text[position:]])


def _end_of_comment(text: str, start: int) -> int:
    """Return where a comment ends whose inside begins at ``start``; that, if it is not closed."""
    depth, position = 1, start
    while depth:
        opening, closing = text.find("(*", position), text.find("*)", position)
        if closing < 0:
            return start
        if 0 <= opening < closing:
            depth, position = depth + 1, opening + 2
        else:
            depth, position = depth - 1, closing + 2
    return position
