"""A report as Markdown: every number of the page, figures as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.report.document import (
    BarFigure,
    Case,
    ColumnFigure,
    CommandLines,
    Fold,
    Grid,
    Head,
    LineFigure,
    Note,
)
from krafla.report.explain.markdown import block, code, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.report.document import Block, Cell, Document

__all__ = ["markdown_document"]


def markdown_document(document: Document) -> str:
    """Return a report as Markdown. No text in it has an effect as markup."""
    lines = [f"# {plain(document.title)}", ""]
    lines += [f"**{document.verdict}**: {plain(document.subject)}", ""]
    lines += [f"- {plain(name)}: {count:,}" for name, count in document.counts]
    for chapter in document.chapters:
        lines += ["", f"## {plain(chapter.title)}"]
        for one in chapter.blocks:
            lines += ["", *_block(one)]
    return "\n".join(lines) + "\n"


def _block(one: Block) -> Iterator[str]:
    match one:
        case Note(text, tone):
            yield f"**{plain(text)}**" if tone not in {"", "soft"} else plain(text)
        case Grid(caption, heads, rows):
            yield from _table(caption, heads, rows)
        case BarFigure(caption):
            yield from _bars(one)
        case LineFigure(caption, names, points):
            heads = (Head(names[0], "number"), Head(names[1], "number"))
            yield from _table(caption, heads, points)
        case ColumnFigure(caption, axis, labels, series):
            heads = (Head(axis), *(Head(name, "number") for name, _, _ in series))
            counts = zip(*(counts for _, _, counts in series), strict=True)
            rows = [(label, *some) for label, some in zip(labels, counts, strict=True)]
            yield from _table(caption, heads, rows)
        case CommandLines(lines):
            yield from block("\n".join(lines))
        case Case():
            yield from _case(one)
        case Fold(summary, blocks):
            yield f"### {plain(summary)}"
            yield from _below(blocks)
        case _:
            yield from _below(one.blocks, is_first=True)


def _below(blocks: Sequence[Block], *, is_first: bool = False) -> Iterator[str]:
    for number, one in enumerate(blocks):
        if number or not is_first:
            yield ""
        yield from _block(one)


def _bars(figure: BarFigure) -> Iterator[str]:
    heads = (Head("what"), Head("how often", "number"), Head("share", "number"))
    rows = [(name, count or "never", share) for name, count, share in figure.rows]
    width = 3 if figure.share else 2
    yield from _table(figure.caption, heads[:width], [row[:width] for row in rows])


def _case(case: Case) -> Iterator[str]:
    yield f"### {plain(case.title)}"
    for text in filter(None, (case.sentence, *case.notes)):
        yield ""
        yield plain(text)
    for text in filter(None, (case.text, "\n".join(case.commands))):
        yield ""
        yield from block(text)


def _table(caption: str, heads: Sequence[Head], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    if caption:
        yield f"{plain(caption)}:"
        yield ""
    yield f"| {' | '.join(plain(head.name) for head in heads)} |"
    yield f"|{'|'.join('--:' if head.form == 'number' else '---' for head in heads)}|"
    for row in rows:
        cells = (_cell(head, cell) for head, cell in zip(heads, row, strict=True))
        yield f"| {' | '.join(cells)} |"


def _cell(head: Head, cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    if head.form == "path" and cell:
        return code(cell).replace("|", "\\|")
    return plain(cell)
