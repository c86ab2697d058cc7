"""The report on logs in chapters: what its tables say, worst first, in sentences where they do."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from krafla.counted import counted
from krafla.pipeline.faults import sentence
from krafla.pipeline.report.audit_chapters import SHOWN, audit_chapters, most_rows
from krafla.report.document import (
    BarFigure,
    Chapter,
    ColumnFigure,
    CommandLines,
    Document,
    Fold,
    Grid,
    Head,
    Note,
    Panels,
)
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krafla.pipeline.report.audit_chapters import Shorten
    from krafla.pipeline.report.tables import ReportTables, Row
    from krafla.report.document import Block

__all__ = ["logs_document"]

_HELD: Final = Verdict.HELD.value
_TYPES: Final = 15
_LOADS_DRAWN: Final = 3
"""From so many loads on, a trend is drawn."""
_LOADS: Final = 60
_DAY_MS: Final = 86_400_000
_MINUTE_MS: Final = 60_000


def logs_document(tables: ReportTables, name: str, roots: Sequence[str], out: str) -> Document:
    """Return the report on the logs of a store.

    ``name`` is the store's in a title, ``roots`` are the sources that were read, ``out`` is the
    store as a command names it.
    """
    summary = {row["name"]: row["value"] for row in tables["summary"]}
    later = summary.pop("files since the audit")
    shown = [(one, count) for one, count in summary.items() if count or one in {"files", "records"}]
    short, command = _shortener(roots), f"krafla pipeline audit {shlex.quote(out)}"
    judged: Iterable[Chapter] = (_unaudited(command),)
    if "audit" in tables:
        judged = audit_chapters(tables, short, later, command)
    chapters = [
        *judged,
        Chapter("quarantine", "Quarantine", (*_quarantine(tables, short),)),
        Chapter("files", "Files", (*_files(tables, short),)),
        Chapter("records", "Records", (*_records(tables),)),
        Chapter("trend", "Trend", (*_trend(tables),)),
    ]
    unread = summary["in quarantine"]
    return Document(
        _title(tables, name, unread, later),
        _verdict(tables, unread + later).value,
        f"the logs of {', '.join(roots)}{', below which paths begin' if len(roots) == 1 else ''}",
        tuple(shown),
        tuple(chapters),
    )


def _verdict(tables: ReportTables, unknown: int) -> Verdict:
    """Return what is known of the logs; ``unknown`` files were not read, or not audited."""
    if "audit" not in tables:
        return Verdict.INCONCLUSIVE
    audited = Verdict(tables["audit"][0]["verdict"])
    return Verdict.INCONCLUSIVE if unknown and audited is Verdict.HELD else audited


def _title(tables: ReportTables, name: str, quarantined: int, later: int) -> str:
    """Return what went wrong, else what was done."""
    if "rules" in tables:
        broken = [row for row in tables["rules"] if row["weight"] == "violation"]
        if broken:
            more = f", and {counted(len(broken) - 1, 'more rule')}" if len(broken) > 1 else ""
            return f"Violated: {broken[0]['statement'] or broken[0]['rule']}{more}"
    if quarantined:
        return f"{counted(quarantined, 'unreadable file')} in {name}"
    if "audit" not in tables:
        return f"{name}: every file was read, and none was audited"
    if later:
        return f"{name}: {counted(later, 'file')} came after the audit"
    held = tables["audit"][0]["verdict"] == _HELD
    return f"{name}: {'every log holds' if held else 'not every log could be judged'}"


def _shortener(roots: Sequence[str]) -> Shorten:
    root = f"{roots[0]}/" if len(roots) == 1 else None

    def short(path: str | None) -> str | None:
        return path if path is None or root is None else path.removeprefix(root)

    return short


def _unaudited(command: str) -> Chapter:
    told = Note("These logs are not audited yet. This judges them:")
    return Chapter("verdicts", "Verdicts", (told, CommandLines((command,))))


def _quarantine(tables: ReportTables, short: Shorten) -> Iterator[Block]:
    reasons, files = tables["reasons"], tables["quarantined"]
    if not files:
        yield Note("Every file was read to its end.", "soft")
        return
    count = sum(row["files"] for row in reasons)
    yield Note(
        f"{counted(count, 'file')} could not be read to the end. Such a file has no row in any"
        " table of records: what it says is not judged."
    )
    if count >= 2 * len(reasons):
        yield Grid(
            "By reason; N is a number that differs",
            (Head("reason", "prose"), Head("stage"), Head("files", "number"),
             Head("bytes", "number"), Head("such as", "path")),
            [[row["reason"], row["stage"], row["files"], row["bytes"], short(row["example"])]
             for row in reasons],
        )  # fmt: skip
    listed = Grid(
        "",
        (Head("file", "path"), Head("reason", "prose"), Head("bytes", "number")),
        [
            [short(row["path"]), sentence(row["reason"], row["place"]), row["bytes"]]
            for row in files
        ],
    )
    yield listed if len(files) <= SHOWN else Fold(most_rows(count, "file", "files"), (listed,))


def _files(tables: ReportTables, short: Shorten) -> Iterator[Block]:
    kinds = Grid(
        "By kind",
        (Head("kind"), Head("read", "number"), Head("quarantined", "number"),
         Head("bytes", "number")),
        [[*row.values()] for row in tables["kinds"]],
    )  # fmt: skip
    left_out = [[row["suffix"] or "none", row["files"]] for row in tables["left_out"]]
    beside = Grid(
        "Left out: files of other kinds, by suffix", (Head("suffix"), Head("files", "number")),
        left_out,
    )  # fmt: skip
    yield Panels((kinds, beside) if left_out else (kinds,))
    slowest = tables["slowest"]
    if slowest:
        heads = (Head("file", "path"), Head("milliseconds", "number"), Head("bytes", "number"),
                 Head("records, log lines or steps", "number"))  # fmt: skip
        rows = [
            [short(row["path"]), row["milliseconds"], row["bytes"], row["records"] + row["events"]]
            for row in slowest
        ]
        yield Fold(
            f"The slowest file took {counted(rows[0][1], 'millisecond')} to decode",
            (Grid("How long the decoding of a file took, the longest first", heads, rows),),
        )


def _records(tables: ReportTables) -> Iterator[Block]:
    types, times = tables["types"], tables["times"]
    if not types:
        yield Note("There is no record.", "soft")
        return
    panels: list[Block] = []
    pairs = [(row["type"], row["records"]) for row in types]
    rest = pairs[_TYPES:]
    if len(rest) > 1:
        others = (f"{len(rest)} other types", sum(count for _, count in rest))
        pairs = [*pairs[:_TYPES], others]
    panels.append(BarFigure("Records of each type", pairs, share=True))
    if len(times) > 1:
        panels.append(_over_time(times))
    yield Panels(tuple(panels))
    if len(rest) > 1:
        heads = (Head("type"), Head("records", "number"))
        yield Fold("The other types", (Grid("", heads, [[*pair] for pair in rest]),))


def _over_time(times: Sequence[Row]) -> ColumnFigure:
    width, first, last = times[0]["width_ms"], times[0]["start_ms"], times[-1]["start_ms"]
    is_one_day = first // _DAY_MS == last // _DAY_MS
    form = "%H:%M:%S" if width < _MINUTE_MS else "%H:%M"
    if width >= _DAY_MS:
        form = "%d %b %Y"
    elif not is_one_day:
        form = f"%d %b {form}"
    day = f" on {_at(first, '%d %B %Y')}" if is_one_day else ""
    caption = f"Records by the time in their batch, in columns of {_span(width)}{day}"
    labels = [_at(row["start_ms"], form) for row in times]
    counts = [row["records"] for row in times]
    return ColumnFigure(caption, "time, UTC", labels, (("records", "", counts),))


def _at(ms: int, form: str) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime(form)


def _span(ms: int) -> str:
    """Return a width of the columns in words."""
    units = (("day", _DAY_MS), ("hour", 3_600_000), ("minute", _MINUTE_MS), ("second", 1_000))
    return next(counted(ms // size, name) for name, size in units if not ms % size)


def _trend(tables: ReportTables) -> Iterator[Block]:
    loads = tables["loads"]
    yield Note(
        "Each ingest that found something new, and each audit, is a load of the store; in order of"
        " the time at which they were written."
    )
    heads = (
        Head("load", "number"), Head("written, UTC"), Head("kind"), Head("files", "number"),
        Head("quarantined", "number"), Head("bytes", "number"), Head("new records", "number"),
        Head("held", "number"), Head("inconclusive", "number"), Head("violated", "number"),
    )  # fmt: skip
    names = ("files", "quarantined", "bytes", "new_records", "held", "inconclusive", "violated")
    rows = [
        [row["number"], _at(row["committed_ms"], "%Y-%m-%d %H:%M:%S"), row["kind"],
         *(row[one] for one in names)]
        for row in loads
    ]  # fmt: skip
    panels = [*_load_figures([row for row in loads if row["kind"] == "ingest"])]
    panels += _audit_figures([row for row in loads if row["kind"] == "audit"])
    if panels:
        yield Panels(tuple(panels))
    grid = Grid("Clusters are counted as held, inconclusive or violated", heads, rows)
    yield grid if len(rows) <= SHOWN else Fold(counted(len(rows), "load"), (grid,))


def _load_figures(loads: Sequence[Row]) -> Iterator[ColumnFigure]:
    if len(loads) < _LOADS_DRAWN:
        return
    last = loads[-_LOADS:]
    labels = [str(row["number"]) for row in last]
    records = [row["new_records"] for row in last]
    yield ColumnFigure("New records of each ingest", "load", labels, (("records", "", records),))
    bad = [row["quarantined"] for row in last]
    if any(bad):
        read = [row["files"] - row["quarantined"] for row in last]
        series = (("read", _HELD, read), ("in quarantine", "inconclusive", bad))
        yield ColumnFigure("Files of each ingest", "load", labels, series)


def _audit_figures(loads: Sequence[Row]) -> Iterator[ColumnFigure]:
    if len(loads) < _LOADS_DRAWN:
        return
    last = loads[-_LOADS:]
    verdicts = (_HELD, "inconclusive", Verdict.VIOLATED.value)
    series = tuple((one, one, [row[one] for row in last]) for one in verdicts)
    yield ColumnFigure(
        "Clusters of each audit", "load", [str(row["number"]) for row in last], series
    )
