"""``krafla verify``: everything at once, one table, one verdict."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from krafla.cli import screen
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.files import check_writable, write_text
from krafla.report.junit import junit_xml
from krafla.verdict import ExitCode, Verdict
from krafla.verify import Report, Row, all_questions, verify

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["command"]

# Below this width five columns break every sentence into crumbs.
_TABLE_WIDTH_MIN = 110


def command(
    fuzz_runs: Annotated[
        int, typer.Option(help="Simulated runs to judge, of 600 steps each.", min=1)
    ] = 60,
    seed: Annotated[int, typer.Option(help="Seed of the fuzzing.")] = 0,
    as_json: Json = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML.", dir_okay=False)
    ] = None,
) -> ExitCode:
    r"""Judge the models, the implementation and recorded logs.

    Checks every smoke model, those that must hold and those that must fail; replays the
    recorded traces on the spec; audits logs that real Kafka clusters wrote; and drives the
    reference implementation through faults, each step judged by the spec. Ends with a row
    for each question: verdict, bounds, evidence, and the command that asks it again.

    Exit status: 0 if all held; 1 if something was violated; else 2 if something could not run;
    else 3 if something could not be decided; 130: Ctrl-C.

    \b
    Examples:
      krafla verify
      krafla verify --fuzz-runs 1000 --seed 7
      krafla verify --json > report.json
      krafla verify --junit report.xml
    """
    check_writable(junit)
    console = screen.stdout()
    asked = all_questions(fuzz_runs=fuzz_runs, seed=seed)
    number = 0
    with screen.LiveLine() as live:

        def progress(text: str) -> None:
            live.show(f"[{number + 1}/{len(asked)}] {text}")

        def answered(row: Row) -> None:
            nonlocal number
            number += 1
            live.erase()
            screen.line(
                screen.stderr(),
                f"[{number}/{len(asked)}] ",
                (row.verdict.value, screen.VERDICT_STYLES[row.verdict]),
                f" {row.name}, {row.seconds:.1f} s",
            )

        report = verify(asked, progress=progress, answered=answered)
    if junit is not None:
        write_text(junit, [junit_xml(report)])
    if as_json:
        console.print(json.dumps(report.as_json(), indent=2), markup=False, soft_wrap=True)
    else:
        _show(console, report)
    return report.exit_code


def _show(console: Console, report: Report) -> None:
    """Print the closing table; as a list where the screen is too narrow."""
    if console.is_terminal and console.width >= _TABLE_WIDTH_MIN:
        console.print(_table(report), soft_wrap=False)
    else:
        for row in report.rows:
            _show_row(console, row)
    _show_end(console, report)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0), header_style="dim")
    for name in ("verdict", "question", "bounds", "evidence", "again"):
        table.add_column(name, overflow="fold")
    for row in report.rows:
        told = [*row.evidence, f"{row.seconds:.1f} s"]
        if row.verdict is not Verdict.HELD:
            told = [*row.reasons, *told]
        table.add_row(
            Text(row.verdict.value, style=screen.VERDICT_STYLES[row.verdict]),
            Text.assemble((row.name, "bold"), f"\n{row.kind.value}"),
            Text(row.bounds),
            Text("\n".join(told)),
            Text(row.reproduce),
        )
    return table


def _show_row(console: Console, row: Row) -> None:
    word = (f"{row.verdict.value:<12}", screen.VERDICT_STYLES[row.verdict])
    screen.line(console, word, (f" {row.name}", "bold"), f"  {row.kind.value}, {row.seconds:.1f} s")
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


def _show_end(console: Console, report: Report) -> None:
    counts = [
        f"{sum(row.verdict is verdict for row in report.rows)} {verdict.value}"
        for verdict in Verdict
        if any(row.verdict is verdict for row in report.rows)
    ]
    verdict = report.verdict
    screen.line(console, "")
    screen.line(
        console,
        (verdict.value.upper(), screen.VERDICT_STYLES[verdict]),
        f"  {len(report.rows)} questions: {', '.join(counts)}; {report.seconds:.0f} s",
    )
