"""``krafla verify``: everything at once, one table, one verdict."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli import screen, verify_view
from krafla.cli.ci.reports import reported, tell
from krafla.cli.ci.verify import verify_entries
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.counted import counted
from krafla.tlc.jar import find_jar
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations
from krafla.verify import KeptRows, Pace, all_questions, first_questions, rows_file, verify

if TYPE_CHECKING:
    from krafla.verify import Row

__all__ = ["command"]


@reported()
def command(
    full: Annotated[
        bool, typer.Option("--full", help="Ask every question, as CI does: five to six minutes.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask every question again; use no kept answer.")
    ] = False,
    as_json: Json = False,
) -> ExitCode:
    r"""Judge the models, the implementation and recorded logs.

    The first verdict takes up to two minutes: for each protocol a model and a refinement
    in small bounds, and each system fuzzed for seconds; three models that must
    show a known error of Kafka; the recorded traces, on the spec and on the implementation; the
    logs of a real cluster; two proofs. --full asks everything: every smoke model, every
    recorded log, every proof, and runs that must take every action and reach every witness.

    Ends with a row for each question: verdict, bounds, evidence, and the command that asks
    it again. An answer that held is kept (in ~/.cache/krafla). Until a file that it depends on
    changes, it is not asked again, and its row says so. After Ctrl-C the table shows what
    was answered, and the next run goes on from there. If the variable CI is set, every
    question is asked.

    Exit status: 0 if all held; 1 if something was violated; else 2 if something could not run;
    else 3 if something could not be decided; 130: Ctrl-C.

    \b
    Examples:
      krafla verify
      krafla verify --full
      krafla verify --fresh --json > report.json
      krafla verify --full --junit report.xml
    """
    # Without it nearly every question would say the same.
    find_jar()
    questions = all_questions() if full else first_questions()
    kept = KeptRows(rows_file(), is_fresh=fresh or bool(os.environ.get("CI")))
    with screen.LiveLine() as live:
        # The first question tells how far it is only after some seconds.
        live.begin(f"asking {counted(len(questions), 'question')}")
        pace = Pace(questions, kept.seconds, live.show)

        def answered(row: Row) -> None:
            live.erase()
            verify_view.show_answer(row, pace)

        report = verify(questions, pace, kept, answered)
    if kept.fault is not None:
        screen.line(screen.stderr(), f"krafla: {kept.fault}")
    if as_json:
        text = json.dumps(report.as_json(), indent=2)
        screen.stdout().print(text, markup=False, soft_wrap=True)
    else:
        verify_view.show(screen.stdout(), report, is_fresh=fresh)
    tell(verify_entries, report)
    return report.exit_code
