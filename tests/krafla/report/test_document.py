"""A report in chapters, as a page and as Markdown."""

from __future__ import annotations

import pytest
from tests.browser import faults

from krafla.report.chart import HEIGHT, WIDTH, columns
from krafla.report.document import (
    BarFigure,
    Case,
    Chapter,
    ColumnFigure,
    CommandLines,
    Document,
    Fold,
    Grid,
    Head,
    LineFigure,
    Note,
    Panels,
)
from krafla.report.document_markdown import markdown_document
from krafla.report.page import document_page, picture

MARKUP = "<b>&`|*[x](y)"
GRID = Grid("Grid", (Head("n", "number"), Head("p", "path"), Head("v", "verdict"), Head("t")),
            [[12_345, MARKUP, "held", None], [0, "a/b", "violated", MARKUP]])  # fmt: skip
SERIES = (("good", "held", [3, 0, 1]), ("bad", "violated", [0, 0, 2]))
TIMES = [f"12:38:{second}" for second in range(10, 38)]
BARS = BarFigure("Bars", [("much", 75), ("little", 25), ("none", 0)], share=True)
DOCUMENT = Document(
    f"Title {MARKUP}",
    "violated",
    "a subject",
    (("things", 1_234),),
    (
        Chapter(
            "one",
            "One",
            (
                Note("A paragraph.", "soft"),
                Panels((GRID, BARS)),
                LineFigure("Line", ("seeds", "states"), [(0, 0), (10, 5_000)], 0),
                ColumnFigure("Columns", "load", ["a", "b", MARKUP], SERIES),
                ColumnFigure("Time", "time, UTC", TIMES, (("records", "", [*range(28)]),)),
            ),
        ),
        Chapter(
            "two",
            "Two",
            (
                Case("found", "violated", "A sentence.", ("a note",), f"0 text\n| {MARKUP}",
                     ("krafla x",), is_open=True),
                Fold("More", (GRID, Note("B."))),
                CommandLines(("krafla y", "krafla z")),
            ),
        ),
    ),
)  # fmt: skip


def test_a_page_shows_every_block_well_and_escapes_every_text(tmp_path):
    page = document_page(DOCUMENT)
    assert faults({"the page": page}, tmp_path) == []
    assert faults({"the page": page}, tmp_path, dark=True) == []
    assert "<b>&" not in page
    assert page.count("&lt;b&gt;&amp;`|*[x](y)") >= 6
    assert '<td class="violated">violated</td>' in page
    assert "75 (75.0%)" in page
    assert '<td class="number never">never</td>' in page
    assert "<td>-</td>" in page
    assert "a: 3 good, 0 bad" in page


def test_markdown_has_the_numbers_of_the_page_and_no_markup_of_a_text():
    text = markdown_document(DOCUMENT)
    quoted = r"\<b\>\&\`\|\*\[x\](y)"
    assert text.startswith(f"# Title {quoted}\n\n**violated**: a subject\n\n- things: 1,234\n")
    for row in (
        "| 12,345 | ``<b>&`\\|*[x](y)`` | held | - |",
        "| much | 75 | 75.0% |",
        "| none | never | 0.0% |",
        "| 10 | 5,000 |",
        f"| {quoted} | 1 | 2 |",
        "### found\n\nA sentence.\n\na note\n\n```\n0 text\n| <b>&`|*[x](y)\n```\n\n```\nkrafla x",
        "### More\n\nGrid:",
        "```\nkrafla y\nkrafla z\n```\n",
    ):
        assert row in text, row


def test_a_figure_is_a_picture_of_its_own():
    drawn = picture(ColumnFigure("Columns", "load", ["a", "b", MARKUP], SERIES))
    svg = drawn._repr_svg_()
    assert svg.startswith("<svg xmlns=")
    assert svg.endswith("</svg>")
    assert "<b>" not in svg
    assert "--violated: #" in svg
    assert repr(drawn) == "Picture()"
    assert "path" in picture(LineFigure("Line", ("a", "b"), [(0, 0), (1, 2)]))._repr_svg_()


@pytest.mark.parametrize("count", [1, 7, 200])
@pytest.mark.parametrize("label", ["1", "2026-11-28 13:00"])
def test_columns_are_piles_in_proportion_and_all_of_it_is_inside_the_figure(count, label):
    series = (("a", [10 * n for n in range(count)]), ("b", [5] * count))
    drawn = columns([label] * count, series)
    first, second = ([p for p in drawn.parts if p.series == n] for n in (0, 1))
    assert (len(first), len(second)) == (count - 1, count)
    for lower, upper in zip(first, second[1:], strict=True):
        assert lower.x == upper.x
        assert lower.y == pytest.approx(upper.y + upper.height)
    if count > 2:
        assert first[1].height == pytest.approx(2 * first[0].height)
    assert all(drawn.left <= p.x and p.x + p.width <= WIDTH for p in drawn.parts)
    assert all(p.y >= 0 and p.y + p.height <= HEIGHT for p in drawn.parts)
    ends = [drawn.columns[0].at, drawn.columns[-1].at]
    assert all(0 <= one <= WIDTH for one in ends)
    gaps = [b.at - a.at for a, b in zip(drawn.columns, drawn.columns[1:], strict=False)]
    assert all(gap > 7 * len(label) for gap in gaps)
    assert len(drawn.told) == count
