"""What an audit of logs says, in chapters: verdicts, findings with their sentences, coverage."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from krafla.counted import counted
from krafla.pipeline.report.tables import ROWS_MAX
from krafla.report.document import Case, Chapter, CommandLines, Fold, Grid, Head, Note, Panels
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krafla.pipeline.report.tables import ReportTables, Row
    from krafla.report.document import Block

__all__ = ["SHOWN", "Shorten", "audit_chapters", "most_rows"]

SHOWN: Final = 25
"""How many rows of a long list stand before the rest is folded."""
Shorten: TypeAlias = "Callable[[str | None], str | None]"
"""Tells a path as the report does: from its source on, if there is one source."""
_HELD: Final = Verdict.HELD.value
_TONES: Final = {
    "violation": Verdict.VIOLATED.value,
    "unreadable": Verdict.INCONCLUSIVE.value,
    "inconclusive": Verdict.INCONCLUSIVE.value,
}
_OPEN: Final = 3
"""How many kinds of findings are shown without being asked for."""
_HELD_SHOWN: Final = 5
"""How many clusters that held stand below others that did not."""


def audit_chapters(
    tables: ReportTables, short: Shorten, later: int, command: str
) -> Iterator[Chapter]:
    """Yield the chapters on the latest audit.

    ``later`` files came after it; ``command`` judges them.
    """
    stale: list[Block] = []
    if later:
        told = f"{counted(later, 'file')} came after this audit. This judges them too:"
        stale = [Note(told, "inconclusive"), CommandLines((command,))]
    yield Chapter("verdicts", "Verdicts", (*stale, *_verdicts(tables, short)))
    yield Chapter("findings", "Findings", (*_findings(tables, short),))
    yield Chapter("asked", "What was asked", (*_asked(tables),))


def _verdicts(tables: ReportTables, short: Shorten) -> Iterator[Block]:
    clusters = tables["clusters"]
    if not clusters:
        yield Note("There is no metadata log here.", "soft")
        return
    counts = {one.value: 0 for one in (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HELD)}
    for row in clusters:
        counts[row["verdict"]] += 1
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)
    (audit,) = tables["audit"]
    yield Note(
        f"{counted(len(clusters), 'cluster')}: {told}."
        f" {audit['judged_records']:,} of {counted(audit['records'], 'record')} were judged, in"
        f" {counted(audit['histories'], 'history', 'histories')} of"
        f" {counted(audit['directories'], 'directory', 'directories')}."
    )
    if audit["judged_records"] < audit["records"]:
        yield Note(
            "A record is not judged if it comes before the first checkpoint of its log, or after"
            " what ended its judging.",
            "soft",
        )
    bad = [row for row in clusters if row["verdict"] != _HELD]
    held = [row for row in clusters if row["verdict"] == _HELD]
    if len(held) > (_HELD_SHOWN if bad else SHOWN):
        if bad:
            yield _clusters(bad, short)
        yield Fold(f"{counted(len(held), 'cluster')} held", (_clusters(held, short),))
    else:
        yield _clusters([*bad, *held], short)
    heads = (
        Head("verdict", "verdict"), Head("directory", "path"), Head("records", "number"),
        Head("judged from", "number"), Head("to", "number"), Head("checkpoints", "number"),
        Head("the same history as", "path"),
    )  # fmt: skip
    names = ("records", "judged_from", "judged_to", "checkpoints")
    rows = [
        [row["verdict"], short(row["path"]), *(row[one] for one in names),
         short(row["same_history_as"])]
        for row in tables["directories"]
    ]  # fmt: skip
    caption = "A log is judged from one offset to before another one"
    yield Fold(
        most_rows(audit["directories"], "directory", "directories"), (Grid(caption, heads, rows),)
    )


def _clusters(rows: Sequence[Row], short: Shorten) -> Grid:
    heads = (
        Head("verdict", "verdict"), Head("cluster", "path"), Head("folder", "path"),
        Head("directories", "number"), Head("records", "number"), Head("judged", "number"),
        Head("violations", "number"), Head("findings", "number"),
    )  # fmt: skip
    names = ("directories", "records", "judged_records", "violations", "findings")
    cells = [
        [row["verdict"], row["cluster_id"] or "of unknown id", short(row["folder"]),
         *(row[one] for one in names)]
        for row in rows
    ]  # fmt: skip
    return Grid("", heads, cells)


def _findings(tables: ReportTables, short: Shorten) -> Iterator[Block]:
    if not tables["rules"]:
        yield Note("The audit found nothing, and has nothing to note.", "soft")
        return
    rows = {key: [*some] for key, some in groupby(tables["findings"], _rule)}
    order = 0
    for row in tables["rules"]:
        count = counted(row["findings"], "finding")
        where = f" in {counted(row['clusters'], 'cluster')}" if row["clusters"] else ""
        told = f"{row['statement']} ({count}{where})" if row["statement"] else f"{count}{where}"
        is_bad = row["weight"] in _TONES
        found = rows.get(_rule(row), [])
        yield Case(
            f"{row['weight']}: {row['rule']}",
            _TONES.get(row["weight"], ""),
            told,
            text="\n\n".join(_told(one, short) for one in found[:SHOWN]),
            notes=_rest(row["findings"], min(SHOWN, len(found))),
            is_open=is_bad and order < _OPEN,
            wraps=True,
        )
        order += is_bad


def _rule(row: Row) -> tuple[str, str]:
    return row["weight"], row["rule"]


def _rest(count: int, shown: int) -> tuple[str, ...]:
    """Return what is said where a list does not show all that there is."""
    if shown == count:
        return ()
    return (f"The first {shown:,} of {count:,}; the store's table findings has all.",)


def _told(row: Row, short: Shorten) -> str:
    """Return a finding in lines: where it lies, what it is, the record to blame."""
    numbers = [
        f"{name} {row[name]:,}" for name in ("offset", "byte", "line") if row[name] is not None
    ]
    cluster = row["cluster_id"] and f"cluster {row['cluster_id']}"
    place = short(row["path"] or row["directory"])
    lines = [", ".join(filter(None, (place, *numbers, cluster)))]
    lines += [f"  {text}" for text in row["detail"].splitlines()]
    for name in ("record", "expected", "known_bug"):
        if row[name]:
            lines.append(f"  {name.replace('_', ' ')}: {row[name]}")
    return "\n".join(filter(None, lines))


def _asked(tables: ReportTables) -> Iterator[Block]:
    rows = tables["asked"]
    never = [row for row in rows if not row["asked"]]
    told = f"{len(rows) - len(never)} of {len(rows)} invariants and rules were asked of these logs."
    if never:
        told += " The others are about records, files or releases that are not here."
    yield Note(told)
    heads = (
        Head("invariant or rule"), Head("it says", "prose"), Head("times asked", "number"),
        Head("clusters", "number"),
    )  # fmt: skip
    yield Fold(
        f"How often each of the {len(rows)} invariants and rules was asked",
        (
            Grid(
                "",
                heads,
                [[row["rule"], row["statement"], row["asked"], row["clusters"]] for row in rows],
            ),
        ),
    )
    if never:
        listed = Grid("", heads[:2], [[row["rule"], row["statement"]] for row in never])
        yield Fold(f"The {counted(len(never), 'invariant')} never asked", (listed,))
    stepped = Grid(
        "Records that are steps of a spec; one that a spec passes over is no step of it",
        (Head("spec"), Head("steps", "number"), Head("records judged", "number"),
         Head("passed over", "number")),
        [[row["spec"], row["steps"], row["records"], row["passed_over"]]
         for row in tables["stepped"]],
    )  # fmt: skip
    reasons = Grid(
        "Why records were passed over",
        (Head("spec"), Head("reason", "prose"), Head("records", "number")),
        [[row["spec"], row["reason"], row["records"]] for row in tables["passed_over"]],
    )
    if stepped.rows:
        yield Panels((stepped, reasons) if reasons.rows else (stepped,))


def most_rows(count: int, one: str, several: str) -> str:
    """Return how many rows there are, and that a table of a report has not all, if so."""
    told = counted(count, one, several)
    return f"The first {ROWS_MAX:,} of {told}" if count > ROWS_MAX else told
