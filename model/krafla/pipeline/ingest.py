"""An ingest: files of any origin into tables, each file counted exactly once.

Tasks write parts into a staging folder beside the output and record the fate of each file in a
ledger. When every ledger is there and everything adds up, the folder gets its manifest and its
name, in one rename. If a driver is killed, the next one with the same files continues its work.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.folders import MANIFEST, exclusive, opened, seal
from krafla.pipeline.ingest_task import GOOD, QUARANTINED, Slice, ledger_at, read_slice
from krafla.pipeline.parts import count_rows, write_table
from krafla.pipeline.sources import find_sources, slices
from krafla.pipeline.tables import BATCHES, CONTENT, EVENTS, FILES, QUARANTINE, RECORDS, SCHEMAS
from krafla.verdict import KraflaError, Verdict
from kraft.errors import printable
from kraft.records.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krafla.pipeline.pool import Session
    from krafla.pipeline.sources import Listing
    from kraft.records.limits import Limits

__all__ = ["INGEST", "Ingested", "Plan", "ingest", "plan_ingest", "read_summary"]

INGEST: Final = "ingest"
_SLICE_BYTES: Final = 8 * 1024 * 1024
_SLICES_MIN: Final = 8
_SLICES_MAX: Final = 4_000
_COUNTED: Final = (BATCHES, RECORDS, EVENTS)


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to read and the output folder, with a digest that identifies them."""

    out: Path
    listing: Listing
    limits: Limits
    digest: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """The content of an output: counts of files and rows, and of files left out or quarantined.

    ``new`` is false if the output existed before.
    """

    out: Path
    files: int
    good: int
    left_out: int
    bytes: int
    rows: dict[str, int]
    quarantined: tuple[tuple[str, str], ...]
    new: bool = True

    @property
    def verdict(self) -> Verdict:
        """Return held if every file was read, inconclusive if one is in quarantine."""
        return Verdict.INCONCLUSIVE if self.quarantined else Verdict.HELD


def plan_ingest(
    paths: Sequence[Path], out: Path, file_bytes_max: int = DEFAULT_LIMITS.file_bytes
) -> Plan:
    """Return the plan to ingest these paths.

    No file may have more bytes than ``file_bytes_max``, decompressed. ``KraflaError`` if a path
    does not exist, if there is nothing to read, or if the output lies within the input.
    """
    listing, limits = find_sources(paths), replace(DEFAULT_LIMITS, file_bytes=file_bytes_max)
    target = out.absolute()
    for root in map(Path, listing.roots):
        if target == root or root in target.parents:
            raise KraflaError(f"the output must not lie in what is read, {root}", str(out))
    if not listing.sources and not listing.logs:
        raise KraflaError(
            "no file that this reads: metadata directories, segments, checkpoints, server logs"
            " (.log), traces (.ndjson)",
            printable(str(paths[0])),
        )
    content = hashlib.sha256(repr((listing.roots, listing.logs, asdict(limits))).encode())
    for source in listing.sources:
        content.update(f"{source.id} {source.kind} {source.bytes} {source.changed_ns}\n".encode())
    for link in listing.links:
        content.update(os.fsencode(f"link {link}\n"))
    return Plan(target, listing, limits, content.hexdigest())


def ingest(
    plan: Plan, session: Session, progress: Callable[[str], None] = lambda _: None
) -> Ingested:
    """Read the files of a plan that are not read yet; return the content of the output.

    ``KraflaError`` if the output exists and holds something else, ``JobError`` if a task failed
    for good: the next call continues from there.
    """
    out = plan.out
    if out.exists() and any(out.iterdir()):
        return _known(plan)
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = out.with_name(f".{out.name}.staging-{plan.digest[:16]}")
    # The bytes of a metadata log hold what its users keep secret.
    staging.mkdir(mode=0o700, exist_ok=True)
    with exclusive(staging):
        for name in (*SCHEMAS, "slices"):
            (staging / name).mkdir(exist_ok=True)
        work = _work(plan, staging)
        waiting = [one for one in work if not ledger_at(staging, one.number).exists()]
        session.map(
            read_slice, waiting, lambda: progress(f"read {_done(staging)} of {len(work)} parts")
        )
        _close(plan, staging, work)
    staging.rename(out)
    return read_summary(out)


def read_summary(out: Path) -> Ingested:
    """Return the content of a finished output; ``KraflaError`` if it is not one."""
    facts = opened(out, INGEST).facts
    return Ingested(
        out,
        facts["files"],
        facts["good"],
        sum(facts["left_out"].values()),
        facts["bytes"],
        facts["rows"],
        tuple((path, reason) for path, reason in facts["quarantined"]),
    )


def _known(plan: Plan) -> Ingested:
    """Return the content read before, if the files are the same and have not changed."""
    if not (plan.out / MANIFEST).exists():
        raise KraflaError("this is no output of krafla and not empty; choose another directory",
                          printable(str(plan.out)))  # fmt: skip
    if opened(plan.out, INGEST).facts["plan"] != plan.digest:
        raise KraflaError(
            "this holds the ingest of other files, or of an earlier state of them;"
            " choose another directory",
            printable(str(plan.out)),
        )
    before = read_summary(plan.out)
    return Ingested(**{name: getattr(before, name) for name in before.__slots__[:-1]}, new=False)


def _work(plan: Plan, staging: Path) -> list[Slice]:
    """Return the tasks: always the same for a plan."""
    total = sum(source.bytes for source in plan.listing.sources)
    count = min(max(_SLICES_MIN, total // _SLICE_BYTES), _SLICES_MAX, len(plan.listing.sources))
    parts = slices(plan.listing.sources, count)
    return [Slice(n, part, str(staging), plan.limits) for n, part in enumerate(parts)]


def _done(staging: Path) -> int:
    return sum(1 for _ in (staging / "slices").glob("*.json"))


def _close(plan: Plan, staging: Path, work: Sequence[Slice]) -> None:
    """Check that every file was counted once, write the ledger as tables, and the manifest."""
    lines: list[dict[str, Any]] = []
    milliseconds = []
    for one in work:
        ledger = json.loads(ledger_at(staging, one.number).read_bytes())
        lines += ledger["files"]
        milliseconds.append(ledger["milliseconds"])
    lines.sort(key=lambda line: str(line["path"]))
    counted = sorted(line["file_id"] for line in lines)
    if counted != sorted(source.id for source in plan.listing.sources):
        raise AssertionError("a file was counted twice or not at all")
    write_table(staging, FILES, [_file_row(line) for line in lines])
    write_table(staging, QUARANTINE, [_quarantine_row(line) for line in lines if line["fault"]])
    rows = {name: sum(line[name] for line in lines) for name in _COUNTED}
    for name, count in rows.items():
        if not any(path.name.startswith("part-") for path in (staging / name).iterdir()):
            write_table(staging, name, [])
        stored = count_rows(staging / name)
        if stored != count:
            raise AssertionError(f"{name} has {stored} rows, its files say {count}")
    bad = [line for line in lines if line["fault"]]
    facts = {
        "plan": plan.digest,
        "roots": [printable(root) for root in plan.listing.roots],
        "logs": [printable(log) for log in plan.listing.logs],
        "files": len(lines),
        "good": len(lines) - len(bad),
        "left_out": plan.listing.left_out,
        "links": [printable(link) for link in plan.listing.links],
        "bytes": sum(line["bytes"] for line in lines),
        "rows": rows,
        "quarantined": [[printable(line["path"]), _reason(line)] for line in bad],
        "milliseconds": milliseconds,
    }
    if not any((staging / CONTENT).iterdir()):
        write_table(staging, CONTENT, [])
    shutil.rmtree(staging / "slices")
    for draft in staging.rglob(".*.draft"):
        draft.unlink()
    seal(staging, INGEST, facts, SCHEMAS)


def _reason(line: dict[str, Any]) -> str:
    _, reason, place = line["fault"]
    return f"{reason} ({place})" if place else reason


def _file_row(line: dict[str, Any]) -> tuple[Any, ...]:
    status = QUARANTINED if line["fault"] else GOOD
    columns = ("file_id", "path", "kind", "bytes", "sha256")
    return (*(line[name] for name in columns), status, line["note"],
            *(line[name] for name in _COUNTED))  # fmt: skip


def _quarantine_row(line: dict[str, Any]) -> tuple[Any, ...]:
    return (line["file_id"], line["path"], line["kind"], line["bytes"], *line["fault"])
