"""The report on a campaign in chapters: findings first, then what the verdict rests on."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from krafla.counted import counted
from krafla.manifest import find_specs
from krafla.pipeline.campaign.result import how_shrunk
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
from krafla.report.explain.meaning import Meanings
from krafla.verdict import Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from krafla.pipeline.campaign.result import CampaignResult
    from krafla.pipeline.report.tables import ReportTables, Row
    from krafla.report.document import Block

__all__ = ["campaign_document"]

_OPEN: Final = 3
"""How many findings are shown without being asked for."""
_SHOWN: Final = 20
_DRAWN: Final = 3
"""From so many waves on, their trend is drawn."""
_WAVES: Final = 60
# The counts whose names are too short to be read alone.
_LABELS: Final = {
    "states": "distinct states, about",
    "judged": "judged by the spec",
    "unpromised": "steps that promise less",
    "simulated_seconds": "simulated seconds",
    "acknowledged": "values acknowledged",
}
_ALWAYS: Final = frozenset({"seeds", *(one.value for one in Verdict)})
_TALLIES: Final = {
    "actions": "How often each action of the spec was taken",
    "faults": "How many effects faults of each kind had",
    "witnesses": "In how many runs a state was reached that the spec asks for",
    "liveness": "How the runs came to their ends",
    "hazards": "How often a property broke where it was promised no more",
}
# The rooms of specs that name the properties of a system, if it has none of its own name.
_ROOMS: Final = {"stack": ("metadata", "raft", "lease")}


def campaign_document(
    tables: ReportTables, outcome: CampaignResult, name: str, folder: Path | None
) -> Document:
    """Return the report on a campaign whose store is called ``name``.

    ``folder`` is where the files of its findings may be.
    """
    tallies = {one: [row for row in tables["tallies"] if row["tally"] == one] for one in _TALLIES}
    chapters = [
        Chapter("findings", "Findings", (*_findings(tables, outcome, folder),)),
        Chapter("verdicts", "Verdicts", (*_verdicts(tables),)),
        Chapter("coverage", "Coverage", (*_coverage(tables, outcome, tallies),)),
    ]
    if tallies["faults"]:
        chapters.append(Chapter("faults", "Faults", (*_faults(tallies["faults"]),)))
    chapters += [
        Chapter("trend", "Trend over waves", (*_trend(tables),)),
        Chapter("throughput", "Throughput", (*_throughput(tables),)),
        Chapter("again", "Run again", (*_again(outcome),)),
    ]
    return Document(
        _title(tables, outcome),
        outcome.verdict.value,
        f"the campaign {name} of {outcome.system}",
        tuple(
            (_LABELS.get(str(row["name"]), str(row["name"])), row["value"])
            for row in tables["summary"]
            if row["value"] or row["name"] in _ALWAYS
        ),
        tuple(chapters),
    )


def _title(tables: ReportTables, outcome: CampaignResult) -> str:
    """Return what went wrong: the violated property's sentence, if it has one."""
    found = tables["findings"]
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return f"Violated: {_sentence(outcome.system, found[0]['kind'])}{more}"
    if outcome.doubts:
        return f"Inconclusive: {outcome.doubts[0]}"
    return f"Nothing found in a campaign of {outcome.system}"


def _sentence(system: str, kind: Sequence[str]) -> str:
    """Return what a kind of finding means: the sentence of its property, if that has one."""
    sort, name, *_ = (*kind, "")
    if sort == "divergence":
        return f"{name} of the implementation is no step of the spec"
    if sort == "failed":
        return f"the implementation failed: {name}"
    return _meaning(system, name) or name


def _meaning(system: str, name: str) -> str:
    """Return the sentence above a property in the rooms of a system; empty if there is none."""
    for room in _ROOMS.get(system, (system,)):
        module = min((find_specs() / room).glob("*.tla"), default=None)
        found = "" if module is None else Meanings(module.stem).of(name)
        if found:
            return found
    return ""


def _findings(
    tables: ReportTables, outcome: CampaignResult, folder: Path | None
) -> Iterator[Block]:
    found = tables["findings"]
    seeds = sum(row["value"] for row in tables["summary"] if row["name"] == "seeds")
    if not found:
        yield Note(f"Nothing was found in {counted(seeds, 'seed')}.", "soft")
    for doubt in outcome.doubts:
        yield Note(doubt, "inconclusive")
    for one in outcome.missed:
        yield Note(f"Missed: {one}", "soft")
    if len(found) > 1:
        last = max(row["first_seed"] for row in found)
        yield Note(f"{counted(len(found), 'kind')} of findings; the last of them was first found"
                   f" at seed {last:,}.")  # fmt: skip
    for number, row in enumerate(found):
        yield Case(
            " ".join(row["kind"][:2]),
            Verdict.VIOLATED.value,
            _sentence(outcome.system, row["kind"]),
            _notes(row),
            _story(row),
            (*_commands(row, outcome, folder),),
            is_open=number < _OPEN,
        )


def _story(row: Row) -> str:
    """Return the story of a finding, after its detail if the story lacks that.

    A run that was not shrunk has no story; one whose code has changed may find nothing again.
    """
    detail, story = row["detail"], row["story"] or ""
    return story if detail.split("\n")[0] in story else "\n\n".join(filter(None, (detail, story)))


def _notes(row: Row) -> tuple[str, ...]:
    told = (
        f"{counted(row['seeds'], 'seed')}, the first is {row['first_seed']:,}; shown is seed"
        f" {row['number']:,} ({row['profile']}), found at step {row['steps']:,}; {how_shrunk(row)}."
    )
    blamed = " ".join(filter(None, row["kind"][2:]))
    return (told, f"False is {blamed}.") if blamed else (told,)


def _commands(row: Row, outcome: CampaignResult, folder: Path | None) -> Iterator[str]:
    """Yield the commands that show and play a finding; first the one that saves its files."""
    names = sorted(row["files"], reverse=True)
    is_here = folder is not None and all((folder / name).is_file() for name in names)
    if names and not is_here:
        yield f"{outcome.reproduce} {shlex.quote(printable(outcome.out))} --found found"
    for name in names:
        place = printable(str(folder / name if is_here and folder else f"found/{name}"))
        verb = "explain" if name.endswith(".ndjson") else "replay"
        yield f"krafla {verb} {shlex.quote(place)}"


def _verdicts(tables: ReportTables) -> Iterator[Block]:
    rows = [
        [row[one] for one in ("profile", "held", "violated", "inconclusive", "steps")]
        for row in tables["profiles"]
    ]
    heads = (
        Head("profile"), Head("held", "number"), Head("violated", "number"),
        Head("inconclusive", "number"), Head("steps", "number"),
    )  # fmt: skip
    yield Grid("Seeds by profile", heads, rows[:_SHOWN])
    if len(rows) > _SHOWN:
        yield Fold(f"The other {counted(len(rows) - _SHOWN, 'profile')}",
                   (Grid("", heads, rows[_SHOWN:]),))  # fmt: skip


def _coverage(
    tables: ReportTables, outcome: CampaignResult, tallies: dict[str, list[Row]]
) -> Iterator[Block]:
    if outcome.summary:
        yield Note(f"{outcome.summary[:1].upper()}{outcome.summary[1:]}.")
    waves = tables["waves"]
    if len(waves) > 1 and waves[-1]["states"]:
        yield Note(_saturation(waves))
    panels: list[Block] = []
    if len(waves) >= _DRAWN and waves[-1]["states"]:
        points = [(0, 0), *((row["last"] + 1, row["states"]) for row in waves)]
        caption = "About how many distinct states of the spec the seeds had visited"
        panels.append(LineFigure(caption, ("seeds", "states"), points, 0))
    if tallies["witnesses"]:
        pairs = [(row["name"], row["runs"]) for row in tallies["witnesses"]]
        panels.append(BarFigure(_TALLIES["witnesses"], pairs))
    for name in ("liveness", "hazards", "actions"):
        if tallies[name]:
            pairs = [(row["name"], row["count"]) for row in tallies[name]]
            panels.append(BarFigure(_TALLIES[name], pairs, share=True))
    if panels:
        yield Panels(tuple(panels))


def _saturation(waves: Sequence[Row]) -> str:
    """Return how many new states the last seeds still brought."""
    first, last = waves[0], waves[-1]
    return (
        f"Of 1,000 steps of the last wave about {last['new_per_1000_steps']:,} came to a state that"
        f" no earlier wave had visited; of the first wave {first['new_per_1000_steps']:,} to a new"
        " one. Counts of states have a standard error of 0.8%."
    )


def _faults(rows: Sequence[Row]) -> Iterator[Block]:
    pairs = [(row["name"], row["count"]) for row in rows]
    yield BarFigure(_TALLIES["faults"], pairs, share=True)
    runs = [[row["name"], row["count"], row["runs"]] for row in rows]
    heads = (Head("fault"), Head("effects", "number"), Head("in runs", "number"))
    yield Fold("In how many runs each had an effect", (Grid("", heads, runs),))


def _trend(tables: ReportTables) -> Iterator[Block]:
    waves = tables["waves"]
    panels: list[Block] = []
    if len(waves) >= _DRAWN:
        last = waves[-_WAVES:]
        labels = [f"{row['last'] + 1:,}" for row in last]
        verdicts = [
            one for one in ("held", "inconclusive", "violated") if any(r[one] for r in last)
        ]
        if len(verdicts) > 1:
            series = tuple((one, one, [row[one] for row in last]) for one in verdicts)
            panels.append(ColumnFigure("Seeds of each wave", "seeds played", labels, series))
        if waves[-1]["states"]:
            new = [row["new_per_1000_steps"] for row in last]
            caption = "Of 1,000 steps of each wave, about how many came to a state first"
            panels.append(ColumnFigure(caption, "seeds played", labels, (("steps", "", new),)))
    if panels:
        yield Panels(tuple(panels))
    heads = [
        Head("wave", "number"), Head("first seed", "number"), Head("last", "number"),
        Head("held", "number"), Head("violated", "number"), Head("inconclusive", "number"),
        Head("steps", "number"), Head("steps/s of a process", "number"),
    ]  # fmt: skip
    names = ["number", "first", "last", "held", "violated", "inconclusive", "steps"]
    names.append("steps_per_second")
    if waves and waves[-1]["states"]:
        heads.append(Head("new states, about", "number"))
        names.append("new_states")
    grid = Grid("", tuple(heads), [[row[one] for one in names] for row in waves])
    yield grid if len(waves) <= _SHOWN else Fold(counted(len(waves), "wave"), (grid,))


def _throughput(tables: ReportTables) -> Iterator[Block]:
    speeds, processes = tables["speeds"], tables["processes"]
    steps = sum(row["steps"] for row in processes)
    busy_ms = sum(row["busy_ms"] for row in processes)
    rate = f", {1000 * steps // busy_ms:,} a second" if busy_ms else ""
    yield Note(
        f"{counted(len(processes), 'Python process', 'Python processes')} took"
        f" {counted(steps, 'step')} in {busy_ms / 1000:,.1f} busy seconds{rate}."
    )
    if len(speeds) >= 2 * _DRAWN:
        points = [(row["first"], row["steps_per_second"]) for row in speeds]
        caption = "Steps a second of one process; the first seeds of each are its warming up"
        yield LineFigure(caption, ("from seed", "steps/s"), points)
    heads = (
        Head("process", "path"), Head("seeds", "number"), Head("steps", "number"),
        Head("busy ms", "number"), Head("steps/s", "number"),
    )  # fmt: skip
    rows = [[*row.values()] for row in processes]
    yield Fold("By process", (Grid("", heads, rows),))


def _again(outcome: CampaignResult) -> Iterator[Block]:
    yield CommandLines((f"{outcome.reproduce} OUT",))
    yield Note(f"Digest of all results: {outcome.digest}")
