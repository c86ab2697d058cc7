"""Pictures of terminals: what a command printed, with its colours, as SVG."""

from __future__ import annotations

import io
import re

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

# Fonts of the reader's machine: the format of rich fetches one from the network.
_FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono"
)
_COLOURS = [
    (39, 44, 54), (232, 98, 98), (126, 190, 104), (222, 178, 92),
    (108, 168, 240), (196, 130, 222), (92, 190, 196), (216, 222, 233),
]  # fmt: skip
_THEME = TerminalTheme((27, 31, 39), (216, 222, 233), _COLOURS, _COLOURS)
_COLUMNS_MIN, _COLUMNS_MAX = 60, 104


def svg_of(text: str, title: str) -> str:
    """Return the picture of a terminal; ``title`` stands in the bar of its window.

    ``text`` may have ANSI codes of colours. The window is as wide as its lines.
    """
    content = Text.from_ansi(text.rstrip("\n"))
    longest = max(len(line) for line in content.plain.split("\n"))
    width = min(max(longest, _COLUMNS_MIN), _COLUMNS_MAX)
    console = Console(
        record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False
    )
    console.print(content)
    return console.export_svg(title=title, theme=_THEME, code_format=_FORMAT, unique_id="terminal")
