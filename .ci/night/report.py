"""The page of a night: what was asked, what was found, how long it took, what has changed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from night.answers import word_of
from night.outcomes import compare
from night.stages import Night

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from night.outcomes import Comparison, Outcome, Record

# More findings of one stage are in the JSON.
SHOWN = 20


def page(record: Record, stages: int, before: Record | None, *, is_whole: bool) -> Iterator[str]:
    """Yield the lines of the page, in Markdown."""
    machine = record.machine
    yield f"# Night of {machine.get('date', 'an unknown day')}"
    yield ""
    yield from head(record, stages, is_whole=is_whole)
    yield ""
    yield from (f"* {name}: {text}" for name, text in machine.items())
    yield ""
    yield from since(record, before)
    yield "## Stages"
    yield ""
    over_commits = len(record.commits) > 1
    yield "| verdict | stage | asked | seen | findings | took |" + " commit |" * over_commits
    yield "|---|---|---|---|---|---|" + "---|" * over_commits
    yield from (row(one, over_commits=over_commits) for one in record.outcomes)
    yield ""
    yield from findings(record.outcomes)


def head(record: Record, stages: int, *, is_whole: bool) -> Iterator[str]:
    """Yield the verdict, and what limits it."""
    counts: dict[str, int] = {}
    for one in record.outcomes:
        counts[one.answer.word] = counts.get(one.answer.word, 0) + 1
    told = ", ".join(f"{count} {word}" for word, count in counts.items()) or "none asked"
    total = duration(sum(one.seconds for one in record.outcomes))
    verdict = word_of(record.exit_status) if is_whole else "interrupted"
    yield f"**{verdict}**: {len(record.outcomes)} of {stages} stages in {total}: {told}."
    settings = record.settings
    scale = settings["scale"]
    if scale < 1:
        yield (
            f"This night is scaled to {scale:.2%} of a whole one: fewer models, seeds, seconds, "
            "tests and mutants. A witness or action that it missed is not a finding."
        )
    if len(record.commits) > 1:
        days = sorted({one.date for one in record.outcomes})
        yield (
            f"Its stages were asked at {len(record.commits)} commits, from {days[0]} to {days[-1]}."
        )
    yield (
        f"Seed {settings['seed']}; {settings['fuzz_seconds'] * scale:g} s of fuzzing for each "
        f"system. The same again, in a new folder: `{again(settings)}`."
    )


def again(settings: dict[str, Any]) -> str:
    """Return the command of a night with these settings, without those that are the usual ones."""
    usual = Night(Path(), settings["seed"])
    options = {"--scale": "scale", "--graph-states": "graph_states"}
    told = " ".join(
        f"{option} {settings[name]:g}"
        for option, name in options.items()
        if settings[name] != getattr(usual, name)
    )
    variables = {"FUZZ_SEED": str(settings["seed"])}
    if settings["fuzz_seconds"] != usual.fuzz_seconds:
        variables["FUZZ_SECONDS"] = f"{settings['fuzz_seconds']:g}"
    if told:
        variables["NIGHTLY_ARGS"] = told
    if settings["pytest"]:
        variables["PYTEST_ARGS"] = shlex.join(settings["pytest"])
    words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    return " ".join(["make nightly", *words, "NIGHT=FOLDER"])


def since(record: Record, before: Record | None) -> Iterator[str]:
    """Yield what has changed since another night."""
    if before is None:
        yield "There is no earlier night to compare with."
        yield ""
        return
    found: Comparison = compare(record, before)
    day, commit = before.machine.get("date"), before.machine.get("commit")
    yield f"## Since the night of {day}, commit {commit}"
    yield ""
    lists = {
        "New findings": found.findings,
        "Findings that are gone": found.gone,
        "Verdicts that changed": found.verdicts,
        "Times that doubled": found.times,
    }
    for title, sentences in lists.items():
        yield f"* {title}: {'none' if not sentences else len(sentences)}"
        yield from (f"  * {one}" for one in cut(sentences))
    if record.settings["scale"] != before.settings["scale"]:
        yield "* The scales differ, so that times are not compared."
    yield ""


def row(outcome: Outcome, *, over_commits: bool) -> str:
    """Return the row of a stage, with its commit if others have another."""
    answer = outcome.answer
    seen = "; ".join(answer.facts)
    if outcome.problem:
        seen = "; ".join(filter(None, [seen, outcome.problem]))
    cells = [
        answer.word, outcome.stage, outcome.asked, seen, str(len(answer.findings) or ""),
        duration(outcome.seconds), *([outcome.commit] if over_commits else []),
    ]  # fmt: skip
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def findings(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the findings of each stage, with the commands that show them again."""
    for outcome in outcomes:
        if not outcome.answer.findings and not outcome.problem and not outcome.gone:
            continue
        yield f"## {outcome.stage}: {outcome.answer.word}"
        yield ""
        if outcome.problem:
            yield f"* {outcome.problem}"
            yield f"  again: `{outcome.again}`"
        for one in outcome.answer.findings[:SHOWN]:
            yield f"* {one.text}"
            if one.again:
                yield f"  again: `{one.again}`"
        more = len(outcome.answer.findings) - SHOWN
        if more > 0:
            yield f"* and {more} more, in the JSON"
        yield from (f"* gone since it was found at {one}" for one in outcome.gone.values())
        yield ""


def cut(sentences: list[str]) -> Iterator[str]:
    """Yield the first sentences, and how many there are besides."""
    yield from sentences[:SHOWN]
    if len(sentences) > SHOWN:
        yield f"and {len(sentences) - SHOWN} more"


def duration(seconds: float) -> str:
    """Return a time in the unit that fits."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
