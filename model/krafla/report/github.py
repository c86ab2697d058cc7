"""Answers for a run of GitHub Actions: annotations of files, and a summary of the step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.report.entries import one_line, shown_path, writable
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from krafla.report.entries import Entry

__all__ = ["annotation_lines", "step_summary"]

# GitHub refuses the summary of a step above 1 MiB; another command of the step may write one, too.
_SUMMARY_MAX: Final = 200_000
_STORY_LINES_MAX: Final = 120
_ROWS_MAX: Final = 200
_ORDER: Final = (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HELD)
_HEADS: Final = ("verdict", "question", "why, or the evidence", "ask again")


def annotation_lines(entries: Sequence[Entry], root: Path) -> Iterator[str]:
    """Yield the workflow command that annotates each answer which is not held.

    A violated question and one that could not be asked is an error, an inconclusive one a warning.
    Paths are relative to ``root``, the root of the repository. GitHub shows ten errors and ten
    warnings of a step; the worst come first.
    """
    for entry in _worst_first(entries):
        if entry.verdict is Verdict.HELD:
            continue
        is_error = entry.verdict is Verdict.VIOLATED or not entry.could_run
        properties = {}
        if entry.places:
            place = entry.places[0]
            properties["file"] = shown_path(place.path, root)
            if place.line is not None:
                properties["line"] = str(place.line)
        properties["title"] = f"{entry.word}: {entry.name}"
        given = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
        lines = [one for one in (entry.story or (entry.title, *entry.reasons)) if one.strip()]
        text = _data("\n".join(dict.fromkeys(lines[:_STORY_LINES_MAX])))
        yield f"::{'error' if is_error else 'warning'} {given}::{text}"


def _data(text: str) -> str:
    """Return a text that ends with its line and cannot begin another workflow command."""
    return writable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(name: str, verdict: str, entries: Sequence[Entry]) -> str:
    """Return Markdown for the summary of a step: a table of all answers, then each failure whole.

    ``verdict`` is the word of the command's exit status. Answers beyond a few hundred rows, and
    stories beyond 200,000 bytes, are only counted.
    """
    counts = Counter(entry.word for entry in _worst_first(entries))
    told = ", ".join(f"{count:,} {word}" for word, count in counts.items())
    parts = [f"### {_inline(name)}: {verdict}\n\n{told or 'nothing was asked'}\n\n"]
    rows = _worst_first(entries)
    if rows:
        parts.append(f"| {' | '.join(_HEADS)} |\n|{'---|' * len(_HEADS)}\n")
        parts += map(_row, rows[:_ROWS_MAX])
        if len(rows) > _ROWS_MAX:
            parts.append(f"\n{len(rows) - _ROWS_MAX:,} more are not listed.\n")
    size, left_out = sum(map(_size, parts)), 0
    for entry in rows:
        if entry.verdict is Verdict.HELD or not entry.story:
            continue
        story = _story(entry)
        size += _size(story)
        if size > _SUMMARY_MAX:
            left_out += 1
        else:
            parts.append(story)
    if left_out:
        parts.append(f"\n{left_out:,} more of these stories are in the output of the step.\n")
    return "".join((*parts, "\n"))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _worst_first(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (_ORDER.index(entry.verdict), entry.could_run))


def _row(entry: Entry) -> str:
    why = [entry.title] if entry.verdict is not Verdict.HELD else [entry.bounds, *entry.evidence]
    again = _code(entry.reproduce) if entry.reproduce else ""
    cells = (entry.word, _inline(entry.name), _inline("; ".join(filter(None, why))), again)
    return f"| {' | '.join(cells)} |\n"


def _story(entry: Entry) -> str:
    lines = entry.story
    if len(lines) > _STORY_LINES_MAX:
        more = f"... {len(lines) - _STORY_LINES_MAX:,} more lines"
        lines = (*lines[:_STORY_LINES_MAX], more)
    text = writable("\n".join(lines))
    border = _border(text, "```")
    return f"\n#### {_inline(entry.name)}: {entry.word}\n\n{border}text\n{text}\n{border}\n"


def _border(text: str, shortest: str) -> str:
    """Return more backticks than stand anywhere in a row in the text, so that none of it ends."""
    while shortest in text:
        shortest += "`"
    return shortest


def _inline(text: str) -> str:
    """Return a text as Markdown that shows it as it is, in one line and one cell of a table."""
    line = one_line(text)
    plain = "".join(f"\\{letter}" if letter in "\\`*_{}[]()#+!|~$" else letter for letter in line)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(text: str) -> str:
    """Return a text in the type of code, with as many backticks around as it needs."""
    line = one_line(text).replace("|", "\\|")
    border = _border(line, "`")
    return f"{border} {line} {border}" if "`" in line else f"`{line}`"
