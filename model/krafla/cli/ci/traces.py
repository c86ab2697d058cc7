"""The entries of what is said of recordings: ``replay``, ``validate``, ``fuzz``, ``campaign``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.cli.ci.accounts import SpecFiles, told_by
from krafla.report.entries import Entry, FilePlace, Rule, places_named
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.fuzz.engine.campaign import Report
    from krafla.fuzz.engine.mutant_search import Search
    from krafla.match import MatchReport
    from krafla.pipeline.campaign.result import CampaignResult
    from krafla.report.explain.account import Account
    from krafla.testing.machine_search import SearchReport

__all__ = [
    "campaign_entries", "fuzz_entry", "machine_entry", "mutant_entries", "refused_entry",
    "replay_entry", "validate_entry",
]  # fmt: skip

_LINE = re.compile(r"(?P<path>.+):(?P<line>\d+)")


def refused_entry(path: Path, error: KraflaError) -> Entry:
    """Return the entry of a file that could not be judged."""
    return Entry(
        "trace", str(path), Verdict.INCONCLUSIVE, (str(error),), could_run=False,
        places=places_named(str(error)) or (FilePlace(path),),
    )  # fmt: skip


def replay_entry(
    path: Path, verdict: Verdict, sentence: str, lines: Iterable[str], account: Account | None
) -> Entry:
    """Return the entry of a recording that was replayed, with what is said of it."""
    told = tuple(filter(None, (sentence, *lines)))
    is_held = verdict is Verdict.HELD
    return Entry(
        "trace", str(path), verdict, () if is_held else told, evidence=told if is_held else (),
        reproduce=f"krafla replay {path}",
        **told_by(account, SpecFiles(), _spec_of(account), (FilePlace(path),)),
    )  # fmt: skip


def validate_entry(path: Path, report: MatchReport) -> Entry:
    """Return the entry of a partial trace that was compared with the behaviours of its spec.

    The first place is the observation that fits no step, the next the false conjunct.
    """
    from krafla.match.render import text_lines
    from krafla.report.explain.match_account import account_of_match

    account = account_of_match(report)
    told = told_by(account, SpecFiles(), report.trace.spec)
    lines = tuple(text_lines(report))
    is_held = report.verdict is Verdict.HELD
    headline = () if account is None or account.outcome is None else (account.outcome.headline,)
    places = (_observed(path, report), *told.pop("places"))
    return Entry(
        "trace", str(path), report.verdict, () if is_held else (*headline, *lines),
        evidence=lines if is_held else (), reproduce=f"krafla validate {path}", places=places,
        **told,
    )  # fmt: skip


def _observed(path: Path, report: MatchReport) -> FilePlace:
    """Return where the observation that fits no step was read; of a trace that fits, its file."""
    if report.accepted < len(report.trace):
        found = _LINE.fullmatch(report.trace.observations[report.accepted].place)
        if found is not None and Path(found["path"]).is_file():
            return FilePlace(Path(found["path"]), int(found["line"]))
    return FilePlace(path)


def _spec_of(account: Account | None) -> str:
    return "" if account is None or account.view is None else account.view.trace.spec


def fuzz_entry(report: Report, saved: Iterable[str]) -> Entry:
    """Return the entry of a campaign of runs; ``saved`` are the files that keep its finding."""
    runs, failure = report.campaign.runs, report.failure
    files = tuple(FilePlace(Path(name)) for name in saved)
    told: dict[str, Any] = {"places": files}
    reasons = report.doubts
    if failure is not None:
        account = failure.account()
        told = told_by(account, SpecFiles(), _spec_of(account), files)
        told.setdefault("broken", Rule(f"{runs.name}!{failure.run.found_by}"))
        reasons = (f"{failure.run.found_by}: {failure.place}",)
    missed = (f"missed: {'; '.join(report.seen.missed)}",) if report.seen.missed else ()
    return Entry(
        "fuzz", runs.name, report.verdict, reasons,
        evidence=(report.progress, *missed, f"digest {report.digest}"), bounds=runs.bounds,
        reproduce=report.reproduce, seconds=report.seconds, **told,
    )  # fmt: skip


def machine_entry(report: SearchReport, verdict: Verdict, reproduce: str) -> Entry:
    """Return the entry of a machine of ``krafla.testing``; ``verdict`` is that of the command."""
    tally, violation = report.tally, report.violation
    missed = (f"never taken: {', '.join(tally.missed)}",) if tally.missed else ()
    told: dict[str, Any] = {}
    if violation is not None:
        told = told_by(violation.account, SpecFiles(), _spec_of(violation.account))
    if report.calls:
        calls = ("", "  the calls that lead there", *(f"    {call}" for call in report.calls))
        told["story"] = (*told.get("story", ()), *calls)
    return Entry(
        "fuzz", report.machine, verdict, tuple(filter(None, (report.sentence, *missed))),
        evidence=(f"{tally.runs_told}, {tally.judged} judged", *missed),
        reproduce=reproduce, seconds=report.seconds, **told,
    )  # fmt: skip


def mutant_entries(name: str, searches: Iterable[Search]) -> Iterator[Entry]:
    """Yield an entry for each seeded bug that was searched for in the system of that name."""
    for each in searches:
        is_found = each.failure is not None
        by = each.failure.run.found_by if each.failure is not None else "nothing"
        yield Entry(
            "seeded bug", each.mutant.name, Verdict.HELD if is_found else Verdict.VIOLATED,
            () if is_found else (f"not found in {each.examples:,} runs: {each.mutant.sentence}",),
            evidence=(f"{each.examples:,} runs, found by {by}",), seconds=each.seconds,
            reproduce=f"krafla fuzz {name} --mutants {each.mutant.name}",
        )  # fmt: skip


def campaign_entries(result: CampaignResult) -> Iterator[Entry]:
    """Yield an entry for each kind of finding of a campaign, and one for the whole."""
    counts = result.counts
    for one in result.findings:
        name = " ".join(one["kind"])
        yield Entry(
            "campaign", name, Verdict.VIOLATED,
            (f"{name}: seed {one['number']} ({one['profile']}) at step {one['steps']:,}",),
            broken=Rule(f"{result.system}!{one['kind'][-1]}"), reproduce=f"{result.reproduce} OUT",
            story=tuple(one["detail"].splitlines()),
        )  # fmt: skip
    verdict = Verdict.INCONCLUSIVE if result.doubts else Verdict.HELD
    yield Entry(
        "campaign", result.system, verdict, result.doubts,
        evidence=(f"{counts['seeds']:,} seeds, {counts['held']:,} of them held", result.summary),
        reproduce=f"{result.reproduce} OUT",
    )  # fmt: skip
