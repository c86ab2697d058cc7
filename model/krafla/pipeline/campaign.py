"""A campaign over many processes: each seed counts exactly once, whatever dies on the way.

A committed seed is never played again. The result is the set of the seeds' results: it is the same
for any number of workers and any interruption, and one digest proves it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.fuzz.engine.campaign import BRIEF_STEPS
from krafla.fuzz.engine.runs import Kept
from krafla.fuzz.engine.seen import Seen
from krafla.pipeline import sketch
from krafla.pipeline.campaign_task import ChunkTask, ShrinkTask, load_task, play_chunk, shrink_seed
from krafla.pipeline.chunks import Chunk, chunks_of, committed, read_chunk, rows_digest
from krafla.pipeline.folders import MANIFEST, exclusive, opened, seal, write_whole
from krafla.verdict import KraflaError, Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from krafla.fuzz.engine.runs import Runs
    from krafla.pipeline.chunks import ChunkResults, SeedRow
    from krafla.pipeline.pool import Session

__all__ = [
    "CAMPAIGN",
    "SEED",
    "CampaignPlan",
    "CampaignResult",
    "parse_seeds",
    "read_outcome",
    "run_campaign",
]

CAMPAIGN: Final = "campaign"
SEED: Final = 0
"""The seed of every campaign: its run n is run n of `krafla fuzz --seed 0`."""
SEEDS_MAX: Final = 10_000_000
_SEEDS: Final = re.compile(r"(\d{1,12})\.\.(\d{1,12})", re.ASCII)
_PLAN: Final = "_plan.json"
_FORMAT: Final = 5
_FOLDERS: Final = ("results", "found")
_SHRUNK_PER_KIND: Final = 2
_KINDS_SHRUNK: Final = 40


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """Which seeds are played, how, and in chunks of how many."""

    first: int
    last: int
    runs: Runs
    chunk: int

    @property
    def chunks(self) -> list[Chunk]:
        """Return the chunks, in order."""
        return chunks_of(self.first, self.last, self.chunk)

    @property
    def count(self) -> int:
        """Return how many seeds there are."""
        return self.last - self.first + 1

    def is_brief(self, processes: int) -> bool:
        """Return whether each of these processes plays too little for an optimising compiler."""
        return self.count // processes * self.runs.judged_steps < BRIEF_STEPS


class _Claim(msgspec.Struct, forbid_unknown_fields=True):
    """The description of a campaign in its folder: everything that decides its results."""

    system: str
    first: int
    last: int
    chunk: int
    runs: dict[str, Any]
    judged_by: str


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """The result of a campaign. ``digest`` covers the results of all seeds, in order.

    ``tallies`` has the counts over all seeds, ``summary`` sums them up in a line. ``findings`` has
    one entry for each kind: its number of seeds, the shortest run, the files kept. ``doubts`` says
    why the campaign shows less than it should, ``missed`` what no seed came by.
    """

    out: Path
    system: str
    verdict: Verdict
    digest: str
    counts: dict[str, int]
    tallies: dict[str, dict[str, int]]
    coverage: tuple[str, ...]
    summary: str
    findings: tuple[dict[str, Any], ...]
    doubts: tuple[str, ...]
    missed: tuple[str, ...]
    reproduce: str

    def requiring_coverage(self) -> CampaignResult:
        """Return the result of the same campaign if what was missed makes it inconclusive."""
        held_no_more = self.missed and self.verdict is Verdict.HELD
        return replace(
            self,
            verdict=Verdict.INCONCLUSIVE if held_no_more else self.verdict,
            doubts=self.doubts + self.missed,
            missed=(),
            reproduce=f"{self.reproduce} --require-coverage",
        )


def parse_seeds(text: str) -> tuple[int, int]:
    """Return the first and the last seed of ``A..B``; ``KraflaError`` for anything else."""
    match = _SEEDS.fullmatch(text)
    if match is None:
        raise KraflaError(f"seeds are a first and a last number, as in 0..4999, not {text!r}")
    first, last = int(match[1]), int(match[2])
    if last < first:
        raise KraflaError(f"the last seed, {last}, comes before the first, {first}")
    if last - first >= SEEDS_MAX:
        raise KraflaError(f"a campaign has at most {SEEDS_MAX:,} seeds")
    return first, last


def run_campaign(
    plan: CampaignPlan,
    out: Path,
    session: Session,
    progress: Callable[[str], None] = lambda _: None,
) -> CampaignResult:
    """Play the seeds that no earlier call with this plan has played; return the campaign's result.

    ``KraflaError`` if the folder holds something else, ``JobError`` if a task failed for good:
    committed results stay.
    """
    # An executor may run in another directory.
    out = out.absolute()
    _claim(plan, out)
    if (out / MANIFEST).exists():
        return read_outcome(out)
    with exclusive(out):
        # The first task also shows whether an executor can load the spec at all.
        is_brief = plan.is_brief(session.parallelism)
        session.map(load_task, [(plan.runs, is_brief)])
        _discard_broken(out / "results")
        _play(plan, out, session, progress)
        results = list(_gather(plan, out))
        findings = _shrink(plan, results, out, session, progress)
        facts = _facts(plan, results, findings)
        shutil.rmtree(out / "attempts", ignore_errors=True)
        seal(out, CAMPAIGN, facts, _FOLDERS)
    return read_outcome(out)


def read_outcome(out: Path) -> CampaignResult:
    """Return the result of a finished campaign; ``KraflaError`` if the folder holds none."""
    facts = opened(out, CAMPAIGN).facts
    if facts.get("format") != _FORMAT:
        raise KraflaError("this campaign is of another krafla, which alone can read it",
                          printable(str(out)))  # fmt: skip
    return CampaignResult(
        out,
        facts["system"],
        Verdict(facts["verdict"]),
        facts["digest"],
        facts["counts"],
        facts["tallies"],
        tuple(facts["coverage"]),
        facts["summary"],
        tuple(facts["findings"]),
        tuple(facts["doubts"]),
        tuple(facts["missed"]),
        facts["reproduce"],
    )


def read_results(out: Path) -> list[ChunkResults]:
    """Return the chunks of a finished campaign in the order of their seeds."""
    opened(out, CAMPAIGN)
    found = [read_chunk(path) for paths in committed(out / "results").values() for path in paths]
    return sorted((one for one in found if one is not None), key=lambda one: one.chunk)


def _claim(plan: CampaignPlan, out: Path) -> None:
    """Make the folder, or see that it is of the same campaign."""
    runs = plan.runs
    wanted = _Claim(runs.name, plan.first, plan.last, plan.chunk, runs.plan, runs.judged_by())
    path = out / _PLAN
    if path.exists():
        try:
            before = msgspec.json.decode(path.read_bytes(), type=_Claim)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise KraflaError("this plan of a campaign cannot be read", str(path)) from None
        if before != wanted:
            what = _difference(before, wanted)
            raise KraflaError(f"this holds another campaign ({what}); choose another directory",
                              printable(str(out)))  # fmt: skip
        return
    if out.exists() and any(out.iterdir()):
        raise KraflaError("this directory is not empty and holds no campaign; choose another",
                          printable(str(out)))  # fmt: skip
    for name in (*_FOLDERS, "attempts"):
        (out / name).mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(wanted)) + b"\n")


def _difference(before: _Claim, wanted: _Claim) -> str:
    """Return in words what has changed since the campaign began."""
    if before.system != wanted.system:
        return f"it is of {before.system}"
    old, new = ({**one.runs, **msgspec.structs.asdict(one)} for one in (before, wanted))
    names = sorted(key for key in old | new if old.get(key) != new.get(key))
    if names == ["judged_by"]:
        return "the code or the spec has changed since"
    named = ", ".join(name for name in names if name not in {"judged_by", "runs"})
    return f"other {named}: asked again, it must be the same"


def _discard_broken(folder: Path) -> None:
    """Remove every file that is no whole chunk: its seeds are played again."""
    for path in folder.glob(".*.draft"):
        path.unlink()
    for paths in committed(folder).values():
        for path in paths:
            if read_chunk(path) is None:
                path.unlink()


def _play(plan: CampaignPlan, out: Path, session: Session, progress: Callable[[str], None]) -> None:
    there = committed(out / "results")
    waiting = [chunk for chunk in plan.chunks if chunk not in there]
    is_brief = plan.is_brief(session.parallelism)
    tasks = [ChunkTask(chunk, plan.runs, str(out), is_brief) for chunk in waiting]

    def show() -> None:
        done = sum(len(chunk.seeds) for chunk in committed(out / "results"))
        progress(f"{done:,} of {plan.count:,} seeds played")

    session.map(play_chunk, tasks, show)


def _gather(plan: CampaignPlan, out: Path) -> Iterable[ChunkResults]:
    """Yield every chunk once; ``KraflaError`` if one is missing or has two results."""
    there = committed(out / "results")
    for chunk in plan.chunks:
        paths = there.pop(chunk, [])
        found = [one for one in map(read_chunk, paths) if one is not None]
        if len(found) > 1:
            seed = _first_difference(found[0].rows, found[1].rows)
            raise KraflaError(f"seed {seed} gave two results: its runs are not reproducible",
                              printable(str(out)))  # fmt: skip
        if not found:
            raise KraflaError(f"the seeds {chunk.first} to {chunk.last} have no result",
                              printable(str(out)))  # fmt: skip
        yield found[0]
    if there:
        raise KraflaError(f"results of seeds that are not of this campaign: {min(there)}",
                          printable(str(out)))  # fmt: skip


def _first_difference(left: Sequence[SeedRow], right: Sequence[SeedRow]) -> int:
    return next((one.seed for one, other in zip(left, right, strict=True)
                 if one.digest != other.digest), left[0].seed)  # fmt: skip


def _shrink(
    plan: CampaignPlan,
    results: Sequence[ChunkResults],
    out: Path,
    session: Session,
    progress: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Return one finding for each kind; its shortest run is shrunk in an executor."""
    kinds: dict[tuple[str, ...], list[SeedRow]] = {}
    for row in (row for one in results for row in one.rows):
        if row.verdict == Verdict.VIOLATED.value:
            kinds.setdefault(tuple(row.finding), []).append(row)
    chosen = {
        kind: sorted(rows, key=lambda row: (row.steps, row.seed))[:_SHRUNK_PER_KIND]
        for kind, rows in sorted(kinds.items())[:_KINDS_SHRUNK]
    }
    tasks = [
        ShrinkTask(row.seed, plan.runs, str(out / "found"))
        for rows in chosen.values()
        for row in rows
    ]
    progress(f"shrinking {len(tasks)} runs")
    shrunk: dict[int, Kept] = {one.number: one for one in session.map(shrink_seed, tasks)}
    findings = []
    for kind, rows in sorted(kinds.items()):
        known = [shrunk[row.seed] for row in chosen.get(kind, ())]
        best = min(known, key=lambda one: (one.smallest, one.number), default=None)
        for other in known:
            for name in other.saved if other is not best else ():
                (out / "found" / name).unlink()
        shortest = min(rows, key=lambda row: (row.steps, row.seed))
        entry = Kept(
            shortest.seed, shortest.profile, shortest.steps, kind[1], shortest.detail,
            plan.runs.system.unit,
        )  # fmt: skip
        findings.append({"kind": list(kind), "seeds": len(rows), **asdict(best or entry)})
    return findings


def _facts(
    plan: CampaignPlan,
    results: Sequence[ChunkResults],
    findings: list[dict[str, Any]],
) -> dict[str, Any]:
    rows = [row for one in results for row in one.rows]
    assert [row.seed for row in rows] == list(range(plan.first, plan.last + 1))
    states = reduce(sketch.merged, (one.states for one in results))
    seen = Seen(states=sketch.estimate(states), is_estimate=True)
    for row in rows:
        seen.add(row.steps, row.tallies)
    lost = [row for row in rows if row.verdict == Verdict.INCONCLUSIVE.value]
    doubts = [*_lost(lost), *seen.doubts]
    verdict = Verdict.VIOLATED if findings else Verdict.INCONCLUSIVE if doubts else Verdict.HELD
    found = "".join(f"{one['kind']} {one['smallest']} {one['detail']}\n" for one in findings)
    content = f"{rows_digest(rows)}\n{hashlib.sha256(states).hexdigest()}\n{found}"
    return {
        "format": _FORMAT,
        "system": plan.runs.name,
        "verdict": verdict.value,
        "digest": hashlib.sha256(content.encode()).hexdigest(),
        "first": plan.first,
        "last": plan.last,
        "runs": plan.runs.plan,
        "counts": {
            "seeds": len(rows),
            "held": sum(row.verdict == Verdict.HELD.value for row in rows),
            "violated": sum(row.verdict == Verdict.VIOLATED.value for row in rows),
            "inconclusive": len(lost),
            **seen.totals,
            "properties": len(plan.runs.system.properties),
        },
        "tallies": seen.tallies,
        "coverage": list(seen.lines()),
        "summary": seen.summary(),
        "findings": findings,
        "doubts": doubts,
        "missed": seen.missed,
        "reproduce": _command(plan),
    }


def _lost(lost: Sequence[SeedRow]) -> list[str]:
    doubts = [f"seed {row.seed} {row.finding[0]}: {row.detail}" for row in lost[:20]]
    if len(lost) > len(doubts):
        doubts.append(f"and {len(lost) - len(doubts)} more seeds")
    return doubts


def _command(plan: CampaignPlan) -> str:
    seeds = f"--seeds {plan.first}..{plan.last}"
    return f"krafla campaign {plan.runs.name} {seeds}{plan.runs.arguments}"
