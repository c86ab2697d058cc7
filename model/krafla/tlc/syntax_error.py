"""What SANY says of a module that does not parse, as one sentence wherever it is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["syntax_error"]

_EXPECTED: Final = re.compile(r"^Was expecting .*$", re.MULTILINE)
_ENCOUNTERED: Final = re.compile(
    r"^Encountered .* at line (?P<line>\d+), column \d+(?: and token .*)?$", re.MULTILINE
)
# The forms that the parser was in, the innermost first.
_FORM: Final = re.compile(
    r"^(?P<what>\S.*? starting at line (?P<line>\d+), column \d+)\.\s*$", re.MULTILINE
)
_MODULE: Final = "Module "
# A line of this length is told whole.
_LINE_MAX: Final = 72


def syntax_error(said: str, path: Path | None) -> str | None:
    """Return SANY's complaint about syntax as one sentence; None if ``said`` has no such complaint.

    It names what was expected and encountered, the innermost form if that begins on another line,
    and the text of that line of the module in ``path``, if it is short: there the mistake is.
    """
    encountered = _ENCOUNTERED.search(said)
    if encountered is None:
        return None
    expected = _EXPECTED.search(said)
    parts = [expected[0].strip()] if expected else []
    parts.append(encountered[0].strip())
    sentence, line = " ".join(parts), encountered["line"]
    form = _FORM.search(said, encountered.end())
    if form is not None and not form["what"].startswith(_MODULE) and form["line"] != line:
        sentence, line = f"{sentence}, in {form['what']}", form["line"]
    text = _text(path, int(line))
    return f"{sentence}: {text}" if 0 < len(text) <= _LINE_MAX else sentence


def _text(path: Path | None, line: int) -> str:
    """Return the text of a line; nothing if the file cannot be read or has no such line."""
    try:
        lines = [] if path is None else path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    return " ".join(lines[line - 1].split()) if 0 < line <= len(lines) else ""
