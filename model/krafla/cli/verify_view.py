"""What ``krafla verify`` prints: a line for each answer as it comes, then the table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from krafla.cli import screen
from krafla.counted import counted
from krafla.verdict import Verdict, worst

if TYPE_CHECKING:
    from rich.console import Console

    from krafla.verify import Pace, Report, Row

__all__ = ["show", "show_answer"]

# Below this width five columns break every sentence into crumbs.
_TABLE_WIDTH_MIN = 140
_WORD = len("could not run")


def show_answer(row: Row, pace: Pace) -> None:
    """Print one answer, as soon as it is there, beside the progress."""
    word = (row.word, screen.VERDICT_STYLES[row.verdict])
    head = f"[{pace.done}/{pace.total}] "
    screen.line(screen.stderr(), head, word, f" {row.kind.value} {row.name}, {row.remark}")


def show(console: Console, report: Report, *, is_fresh: bool = False) -> None:
    """Print the closing table, or a list where the screen is too narrow; failures come first.

    ``is_fresh`` says that no kept answer was used.
    """
    rows = sorted(report.rows, key=lambda row: (_SEVERITY[row.verdict], row.could_run))
    if console.is_terminal and console.width >= _TABLE_WIDTH_MIN:
        console.print(_table(rows), soft_wrap=False)
    else:
        for row in rows:
            _show_row(console, row)
    _show_end(console, report, rows, is_fresh=is_fresh)


_SEVERITY = {Verdict.VIOLATED: 0, Verdict.INCONCLUSIVE: 1, Verdict.HELD: 2}


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0), header_style="dim")
    # The name of a model is copied, so that it stands on one line.
    widths = {"question": max(len(row.name) for row in rows)} if rows else {}
    widths["again"] = max((len(word) for row in rows for word in row.reproduce.split()), default=0)
    for name in ("verdict", "question", "bounds", "evidence", "again"):
        table.add_column(name, overflow="fold", min_width=widths.get(name))
    for row in rows:
        told = [*row.evidence, row.remark]
        if row.verdict is not Verdict.HELD:
            told = [*row.reasons, *told]
        table.add_row(
            Text(row.word, style=screen.VERDICT_STYLES[row.verdict]),
            Text.assemble((row.name, "bold"), f"\n{row.kind.value}"),
            Text(row.bounds),
            Text("\n".join(told)),
            Text(row.reproduce),
        )
    return table


def _show_row(console: Console, row: Row) -> None:
    word = (f"{row.word:<{_WORD}}", screen.VERDICT_STYLES[row.verdict])
    screen.line(console, word, (f" {row.name}", "bold"), f"  {row.kind.value}, {row.remark}")
    if row.verdict is not Verdict.HELD:
        for reason in row.reasons:
            screen.line(console, ("     why       ", "dim"), reason)
    for title, text in (
        ("bounds", row.bounds),
        ("evidence", "; ".join(row.evidence)),
        ("again", row.reproduce),
    ):
        if text:
            screen.line(console, (f"     {title:<10}", "dim"), text)


def _show_end(console: Console, report: Report, rows: list[Row], *, is_fresh: bool) -> None:
    """Print the verdict of all; ``rows`` are those of the report, the worst first."""
    answered = worst(row.verdict for row in report.rows)
    counts = [
        f"{number:,} {word}" for word, number in Counter(row.word for row in reversed(rows)).items()
    ]
    kept = sum(row.kept_on is not None for row in report.rows)
    if kept:
        counts[0] += f" ({kept} of them from an earlier run, same digest; --fresh asks again)"
    screen.line(console, "")
    if report.unanswered:
        all_of_them = len(report.rows) + report.unanswered
        word = "INTERRUPTED" if answered is not Verdict.VIOLATED else "VIOLATED"
        style = screen.VERDICT_STYLES[worst([answered, Verdict.INCONCLUSIVE])]
        told = ", ".join(counts) or "none yet"
        text = f"  {len(report.rows)} of {all_of_them} questions answered: {told}"
        again = "the next run goes on from there" if report.rows else ""
        if is_fresh:
            again = f"without --fresh, {again}" if again else "without --fresh, the next run"
            again += " and takes the other answers that earlier runs kept"
        screen.line(console, (word, style), text, f"; {again}" if again else "")
        return
    verdict = report.verdict
    asked = counted(len(report.rows), "question")
    screen.line(
        console,
        (report.exit_code.word.upper(), screen.VERDICT_STYLES[verdict]),
        f"  {asked}: {', '.join(counts)}; {report.seconds:.0f} s",
    )
