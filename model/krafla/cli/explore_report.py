"""``krafla explore --report``: the graphs of many models, one after another, on one page."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.cli.check_selection import Selection
from krafla.cli.ci.checks import survey_entries
from krafla.cli.ci.reports import tell
from krafla.cli.explore_view import reporter
from krafla.counted import counted
from krafla.files import check_writable, write_text
from krafla.graph.survey import UNPINNED, as_json, select, survey
from krafla.manifest import load
from krafla.report.explain.meaning import Meanings
from krafla.report.page import render
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from krafla.graph.survey import Row, Survey, Unasked
    from krafla.manifest import Model
    from krafla.oracle import Exploration
    from krafla.verdict import ExitCode

__all__ = ["ReportRequest", "report"]


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The options of ``krafla explore --report``."""

    path: Path
    tier: str | None
    models: tuple[str, ...]
    states_max: int


def _why_not(unasked: list[Unasked]) -> str:
    """Return why no model is explored, with what helps."""
    first = unasked[0]
    more = f", and {len(unasked) - 1:,} more have a reason, too" if len(unasked) > 1 else ""
    unpinned = any(one.reason == UNPINNED for one in unasked)
    remedy = "krafla check --pin writes the numbers" if unpinned else "see --tier and --max-states"
    return f"{first.model}: {first.reason}{more}; {remedy}"


def report(request: ReportRequest) -> ExitCode:
    """Explore the models, print a line for each, write the page and its data; return the status."""
    page, data = request.path, request.path.with_suffix(".json")
    if page.suffix != ".html":
        raise KraflaError("the report is a page: name a file that ends in .html", str(page))
    for path in (page, data):
        check_writable(path)
    models = Selection(request.models, (), request.tier).models(load())
    chosen, unasked = select(models, request.states_max)
    if not chosen:
        raise KraflaError(f"no model is left to explore: {_why_not(unasked)}")
    console, number = screen.stdout(), 0
    with screen.LiveLine() as live:

        def begun(model: Model) -> Callable[[Exploration], None]:
            live.show(f"[{number + 1}/{len(chosen)}] {model.name}: loading")
            return reporter(live, model.distinct, f"[{number + 1}/{len(chosen)}] {model.name}: ")

        def answered(row: Row) -> None:
            nonlocal number
            number += 1
            live.erase()
            _show(console, row)

        # One more than may be: a model with as many states as that is whole.
        states_max = request.states_max + 1
        found = survey(
            chosen, unasked=unasked, states_max=states_max, begun=begun, answered=answered
        )
    write_text(data, [json.dumps(as_json(found), indent=1)])
    text = render(
        "explore_report.html",
        title=_title(found),
        survey=found,
        made=time.strftime("%Y-%m-%d"),
        tier=request.tier,
        data=data.name,
    )
    write_text(page, [text])
    tell(survey_entries, found)
    _show_end(console, found, (page, data))
    return found.exit_code


def _title(found: Survey) -> str:
    """Return what went wrong in the first of the models with the worst verdict."""
    if found.verdict is Verdict.HELD:
        return f"State graphs: {counted(len(found.rows), 'model')}, nothing wrong"
    worst = [row for row in found.rows if row.verdict is found.verdict]
    more = f", and {counted(len(worst) - 1, 'other model')}" if len(worst) > 1 else ""
    told = worst[0].reasons[0]
    name = told.removesuffix(" is violated")
    meaning = Meanings(worst[0].spec).of(name) if name != told else ""
    told = f"Violated: {meaning}" if meaning else told[:1].upper() + told[1:]
    return f"{told} ({worst[0].model}{more})"


def _show(console: Console, row: Row) -> None:
    word = (f"{row.verdict.value:<12}", screen.VERDICT_STYLES[row.verdict])
    told = f" {row.model}: {counted(row.states, 'state')}"
    told += f", {counted(row.components, 'component')}"
    told += f", {counted(row.ends, 'dead end')}, {row.seconds:.1f} s"
    screen.line(console, word, told)
    if row.verdict is not Verdict.HELD:
        for reason in row.reasons:
            screen.line(console, f"    {reason}")


def _show_end(console: Console, found: Survey, written: tuple[Path, ...]) -> None:
    screen.line(console, "")
    for action in found.untaken:
        screen.line(console, f"no model here takes {action[1]} of {action[0]}")
    word = (found.verdict.name, screen.VERDICT_STYLES[found.verdict])
    told = f"  {counted(len(found.rows), 'model')} explored, "
    told += f"{len(found.unasked)} not asked; {found.seconds:.0f} s"
    screen.line(console, word, told)
    for path in written:
        screen.line(console, f"    written: {path}")
