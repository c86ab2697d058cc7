"""One run of ``krafla mutate specs``, from the request to the verdict."""

from __future__ import annotations

import json
import os
import shlex
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.cli import screen
from krafla.cli.ci.checks import mutation_entries
from krafla.cli.ci.reports import tell
from krafla.cli.shipped_notice import tell_of_shipped
from krafla.counted import counted
from krafla.files import check_writable
from krafla.manifest import TIERS, on_these_specs
from krafla.mutate.population import Choice
from krafla.mutate.run import plan_of, run_plan, snapshot
from krafla.mutate.summary import Fate
from krafla.mutate.survivors import explanations
from krafla.project.asked import names_asked
from krafla.project.at_hand import at_hand
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from rich.console import Console

    from krafla.mutate.mutants import Mutant
    from krafla.mutate.results import Results
    from krafla.mutate.run import MutationReport, Plan
    from krafla.mutate.summary import Outcome, Row
    from krafla.mutate.trial import Trial
    from krafla.mutate.workspace import Workspace

__all__ = ["AT_HAND", "Request", "run"]

# The subject that means the project at hand.
AT_HAND = "specs"

_WORDS = (
    "killed by name: by a property, by a witness, or because TLC has no value; "
    "noticed: also by pinned numbers only"
)
# Where a line of a table stops being read.
_WHAT_MAX = 96


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``krafla mutate``, as in its help."""

    subject: str
    tier: str
    size: int | None
    seed: int | None
    every: bool
    only: tuple[str, ...]
    rooms: tuple[str, ...]
    modules: tuple[str, ...]
    operators: tuple[str, ...]
    workers: int
    timeout: float
    results: Path | None
    lists: bool
    show: str | None
    as_json: bool


def run(request: Request) -> ExitCode:
    """Make the mutants, list or show or try them, print, and return the exit status."""
    if request.tier not in TIERS:
        raise KraflaError(f"--tier is one of {', '.join(TIERS)}; not {request.tier!r}")
    if request.results is not None:
        check_writable(request.results)
    console = screen.stdout()
    looks = request.lists or request.show is not None
    names = names_asked((request.subject,)) if request.subject != AT_HAND else ()
    tell_of_shipped("krafla mutate", names)
    # Of the project itself, not of its copy, so that an error names the file that is at fault.
    explained = explanations(at_hand().folder)
    with screen.LiveLine() as live, snapshot(at_hand(), names, live.show) as work:
        live.show("reading the specs")
        plan = plan_of(
            work.folder,
            Choice(request.tier, request.rooms, request.modules, request.operators),
            size=request.size,
            seed=request.seed,
            only=request.only if request.show is None else (request.show,),
            takes_all=request.every or (looks and request.size is None),
            explained=explained,
            unpinned=work.unpinned,
            progress=lambda read, models: live.show(
                f"reading the specs: {read} of {models} models"
            ),
        )
        if looks:
            live.erase()
            _show(console, plan) if request.show is not None else _list(console, plan, work)
            return ExitCode.HELD
        began = time.monotonic()
        report = run_plan(
            plan,
            workers=request.workers,
            timeout=request.timeout,
            path=request.results,
            progress=_reporter(live, plan, began),
        )
    tell(mutation_entries, report, work.original, request.subject)
    if request.as_json:
        console.print(json.dumps(_data(report), indent=2), markup=False, soft_wrap=True)
    else:
        _print(console, request.subject, report, work, time.monotonic() - began)
    return report.summary.verdict.exit_code


def _reporter(
    live: screen.LiveLine, plan: Plan, began: float
) -> Callable[[Trial | None, Results], None]:
    """Return a function that shows the progress: mutants settled, trials made, the time left."""
    total = sum(len(mutant.models) for mutant in plan.mutants)
    models = {mutant.id: len(mutant.models) for mutant in plan.mutants}
    made = 0
    saved = 0
    killed: set[str] = set()
    told = 0.0

    def report(trial: Trial | None, results: Results) -> None:
        nonlocal made, saved, told
        now = time.monotonic()
        if trial is not None:
            made += 1
            if trial.answer.is_last:
                killed.add(trial.mutant)
                saved += models[trial.mutant] - len(results.of(trial.mutant))
        elif now - told < 1.0:
            return
        told = now
        done = len(results.trials) + saved
        text = f"{len(killed)} of {len(plan.mutants)} mutants killed, {counted(made, 'trial')}"
        if not made:
            # The last line of a short run would say that nothing was killed.
            text = f"trying {counted(len(plan.mutants), 'mutant')}"
        elif total > done:
            left = (now - began) * (total - done) / (made + saved)
            text += f", at most {total - done} to go, about {left:,.0f} s"
        live.show(text)

    return report


def _list(console: Console, plan: Plan, work: Workspace) -> None:
    for mutant in plan.mutants:
        screen.line(console, f"{mutant.id}  {_place(mutant, work)}  {_short(mutant.what)}")
    screen.line(console, "")
    screen.line(console, f"{len(plan.mutants):,} mutants of {len(plan.population.mutants):,}")


def _place(mutant: Mutant, work: Workspace) -> str:
    """Return the file of the project that a mutant changes, from the working directory."""
    return f"{os.path.relpath(work.original(mutant.file))}:{mutant.line}"


def _show(console: Console, plan: Plan) -> None:
    for mutant in plan.mutants:
        screen.line(console, (mutant.id, "bold"), f"  {mutant.what}")
        screen.line(console, f"    tried on {', '.join(mutant.models) or 'no model'}")
        reason = plan.explained.reason(mutant.id)
        if reason is not None:
            screen.line(console, f"    survives: {' '.join(reason.split())}")
        for line in mutant.diff(plan.population.specs).splitlines():
            style = {"+": "green", "-": "red"}.get(line[:1], "")
            screen.line(console, (f"    {line}", style))


def _print(
    console: Console, subject: str, report: MutationReport, work: Workspace, seconds: float
) -> None:
    summary = report.summary
    for name, rows in (("folder", summary.rooms), ("operator", summary.operators)):
        _table(console, name, (*rows, summary.whole))
        screen.line(console, "")
    for name, message in sorted(report.broken.items()):
        screen.line(console, ("NOT TRIED", "bold yellow"), f"  {name}: {message}")
    by_fate = {fate: [one for one in summary.outcomes if one.fate is fate] for fate in Fate}
    fates = (Fate.UNPARSABLE, Fate.NUMBERS, Fate.EQUIVALENT, Fate.UNKNOWN, Fate.SAME)
    for fate in (*fates, Fate.SURVIVED):
        for one in by_fate[fate]:
            reason = report.plan.explained.reason(one.mutant.id)
            _outcome(console, one, reason, _place(one.mutant, work))
    for entry, why in summary.stale:
        place = f"{os.path.relpath(report.plan.explained.path)}:{entry.line}"
        screen.line(console, ("STALE", "bold red"), f"  {place}: {entry.id}: {why}")
    _verdict(console, subject, report, seconds)


def _outcome(console: Console, one: Outcome, reason: str | None, place: str) -> None:
    mutant = one.mutant
    is_silent = one.fate not in (Fate.NUMBERS, Fate.SAME, Fate.EQUIVALENT) and reason is None
    style = "bold red" if is_silent else ""
    screen.line(console, (one.fate.value, style), f"  {mutant.id}  {place}")
    screen.line(console, f"    {_short(mutant.what)}; {one.because}")
    if reason is not None:
        screen.line(console, f"    because {' '.join(reason.split())}")


def _table(console: Console, name: str, rows: Iterable[Row]) -> None:
    fates = [fate for fate in Fate if fate is not Fate.UNPARSABLE]
    head = f"{name:24}{'mutants':>9}" + "".join(f"{fate.value:>15}" for fate in fates)
    screen.line(console, f"{head}{'killed':>9}{'noticed':>9}")
    for row in rows:
        counts = "".join(f"{row.counts[fate]:>15,}" for fate in fates)
        screen.line(
            console,
            f"{row.name:24}{row.total:>9,}{counts}{row.killed_share:>9.0%}"
            f"{row.noticed_share:>9.0%}",
        )


def _verdict(console: Console, subject: str, report: MutationReport, seconds: float) -> None:
    summary, explained = report.summary, report.plan.explained
    whole, verdict = summary.whole, summary.verdict
    noticed = f"{whole.noticed:,} of {whole.total:,} mutants noticed ({whole.noticed_share:.1%}"
    killed = f"{whole.killed:,} killed by name ({whole.killed_share:.1%}"
    survived = counted(whole.counts[Fate.SURVIVED], "survivor")
    counts = f"no threshold is set: {noticed}), {killed}), {survived}"
    if explained.is_there:
        counts = (
            f"{noticed}, at least {explained.noticed_least:.0%} must be), "
            f"{killed}, at least {explained.killed_least:.0%}); {len(summary.unexplained)} "
            f"without a reason, {len(summary.stale)} stale reasons"
        )
    style = screen.VERDICT_STYLES[verdict]
    screen.line(console, (verdict.name, style), f"  {counts}; {seconds:,.0f} s")
    screen.line(console, f"    {_WORDS}")
    numbers = sum(one.is_of_numbers for one in summary.outcomes)
    if numbers:
        names = " ".join(map(shlex.quote, sorted(report.plan.unpinned)))
        pin = names if subject == AT_HAND else shlex.quote(subject)
        again = on_these_specs(f"krafla check {pin} --pin")
        screen.line(
            console,
            f"    not noticed: {numbers:,} that only change numbers, of models that pin none; "
            f"to notice them: {again}",
        )
    same, unparsable = whole.counts[Fate.SAME], whole.counts[Fate.UNPARSABLE]
    if same:
        screen.line(console, f"    not counted: {same:,} without any difference within the bounds")
    if unparsable:
        screen.line(console, f"    not counted: {unparsable:,} that would be no TLA+")
    _advise(console, subject, report)


def _advise(console: Console, subject: str, report: MutationReport) -> None:
    """Say what a survivor asks for, where its reason goes, and how to see it again."""
    summary, explained = report.summary, report.plan.explained
    file = os.path.relpath(explained.path)
    if not explained.is_there:
        screen.line(
            console,
            f"    to set one: with a file {file}, even an empty one, the status is 1 "
            f"unless {explained.noticed_least:.0%} are noticed, {explained.killed_least:.0%} "
            "killed by name, and all others have a reason",
        )
    if not summary.unexplained:
        return
    survivors = [one for one in summary.unexplained if one.fate is Fate.SURVIVED]
    mutant = (survivors or summary.unexplained)[0].mutant
    if survivors and not explained.is_there:
        screen.line(console, "    a survivor asks for a property that is false of it")
    if explained.is_there:
        screen.line(
            console, f"    each asks for a property that is false of it, or a reason in {file}:"
        )
        for line in (
            "[[survivor]]    # [[equivalent]]: the same spec, whatever the bounds; not counted",
            f"id = {json.dumps(mutant.id)}",
            f"text = {json.dumps(mutant.original, ensure_ascii=False)}    # what it changes",
            'reason = "..."',
        ):
            screen.line(console, f"      {line}")
        screen.line(console, "    a [[survivor]] with a reason still counts as not noticed")
    again = f"krafla mutate {shlex.quote(subject)} --{{}} {mutant.id}"
    screen.line(console, f"    see: {on_these_specs(again.format('show'))}")
    screen.line(console, f"    reproduce: {on_these_specs(again.format('only'))}")


def _short(text: str) -> str:
    return text if len(text) <= _WHAT_MAX else f"{text[: _WHAT_MAX - 3]}..."


def _data(report: MutationReport) -> dict[str, Any]:
    summary = report.summary
    return {
        "verdict": summary.verdict.value,
        "killed": summary.whole.killed,
        "noticed": summary.whole.noticed,
        "total": summary.whole.total,
        "broken": dict(sorted(report.broken.items())),
        "stale": [{"id": entry.id, "why": why} for entry, why in summary.stale],
        "mutants": [_row(one, report) for one in summary.outcomes],
    }


def _row(one: Outcome, report: MutationReport) -> dict[str, Any]:
    mutant: Mutant = one.mutant
    trial = one.decisive
    return {
        "id": mutant.id, "room": mutant.room, "module": mutant.module, "action": mutant.action,
        "operator": mutant.operator, "file": mutant.file, "line": mutant.line,
        "original": mutant.original, "what": mutant.what, "fate": one.fate.value,
        "model": None if trial is None else trial.model,
        "detail": None if trial is None else trial.detail,
        "reason": report.plan.explained.reason(mutant.id),
    }  # fmt: skip
