"""Findings of a campaign: the shortest runs of each kind, shrunk in executors, kept as bytes."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.fuzz.engine import breeding
from krafla.fuzz.engine.runs import Kept
from krafla.pipeline.arrow import as_spark
from krafla.pipeline.campaign.rows import BRED, FINDINGS, SCHEMAS
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, Row

    from krafla.fuzz.engine.runs import Runs
    from krafla.fuzz.engine.system import System
    from krafla.pipeline.campaign.plan import CampaignPlan
    from krafla.pipeline.store import Store

__all__ = ["abstract_path", "save_findings", "shrink_batches", "shrunk_findings"]

Wanted = tuple[int, bytes | None]
"""A seed that is shrunk, with the plan of its run in a campaign that learns."""
_SHRUNK_PER_KIND: Final = 2
_KINDS_SHRUNK: Final = 40


def shrunk_findings(
    plan: CampaignPlan, store: Store, load: str, runs: DataFrame
) -> list[dict[str, Any]]:
    """Return one finding for each kind; its shortest runs are shrunk, in executors.

    The table ``findings`` of a load gets a row for each kind and abstract path.
    """
    kinds = _kinds(runs)
    shortest = _shortest(runs) if kinds else []
    chosen = {tuple(one["finding"]) for one in kinds[:_KINDS_SHRUNK]}
    seeds = [one["seed"] for one in shortest if tuple(one["finding"]) in chosen]
    if seeds:
        plans = _plans(store, seeds) if plan.learns else {}
        wanted = [(seed, plans.get(seed)) for seed in seeds]
        store.write(FINDINGS, load, _shrunk(store, plan.runs, wanted))
    return _summed(plan, kinds, store.written(FINDINGS, load) if seeds else None)


def save_findings(store: Store, folder: Path, *loads: str) -> list[str]:
    """Write the files of the smallest finding of each kind into a folder; return their names.

    ``loads`` are the campaigns of the store whose findings are asked for.
    """
    best: dict[tuple[str, ...], Row] = {}
    for row in _ordered(store.read(FINDINGS)):
        if row["load"] in loads:
            best.setdefault(tuple(row["kind"]), row)
    saved = []
    for row in best.values():
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in sorted(row["files"].items()):
            if "/" in name or name.startswith("."):
                raise KraflaError(f"{name!r} is no name of a kept file", store.uri)
            (folder / name).write_bytes(content)
            saved.append(name)
    return saved


def abstract_path(system: System, run: Any) -> list[str]:
    """Return what the steps of a run are, without their parameters; of a plan, kinds of faults."""
    trace = system.trace(run)
    if trace is None:
        return [fault.kind for fault in run.case.plan or ()]
    return [step.action for step in trace.steps[1:]]


def shrink_batches(
    runs: Runs, seeds: Sequence[Wanted], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the shrunk run of each seed, whose places in ``seeds`` are in the first column.

    A seed is given with the plan of its run, if it has one.
    """
    for batch in batches:
        for place in batch.column(0).to_pylist():
            row = _shrink(runs, *seeds[place])
            yield pa.RecordBatch.from_pylist([row], schema=SCHEMAS[FINDINGS])


def _shrink(runs: Runs, seed: int, plan: bytes | None) -> dict[str, Any]:
    runs.load(brief=True)
    run = runs.play(seed) if plan is None else breeding.tried(runs, plan).run
    failure = runs.failure(seed, run).shrunk(lambda _: None)
    with scratch_folder("found") as scratch:
        kept = failure.save(scratch)
        files = {name: (scratch / name).read_bytes() for name in kept.saved}
    told = asdict(kept)
    del told["saved"]
    path = abstract_path(runs.system, failure.smallest)
    return {**told, "kind": run.kind, "path": path, "seeds": [seed], "files": list(files.items())}


def _shrunk(store: Store, runs: Runs, seeds: list[Wanted]) -> DataFrame:
    """Return the findings of the runs of seeds, shrunk; of equal ones the smallest."""
    from pyspark.sql import functions as f

    schema = as_spark(SCHEMAS[FINDINGS])
    places = store.spark.range(0, len(seeds), 1, len(seeds))
    found = places.mapInArrow(partial(shrink_batches, runs, seeds), schema)
    same = found.groupBy("kind", "path").agg(
        f.array_sort(f.flatten(f.collect_list("seeds"))).alias("all_seeds"),
        f.min_by(f.struct(*found.columns), f.struct("smallest", "number")).alias("least"),
    )
    others = [one for one in found.columns if one != "seeds"]
    return same.select(f.col("all_seeds").alias("seeds"), *(f"least.{one}" for one in others))


def _plans(store: Store, seeds: list[int]) -> dict[int, bytes]:
    """Return the plans of the runs of some seeds."""
    from pyspark.sql import functions as f

    rows = store.read(BRED).where(f.col("seed").isin(seeds)).select("seed", "plan")
    return {row["seed"]: bytes(row["plan"]) for row in rows.collect()}


def _kinds(runs: DataFrame) -> list[Row]:
    """Return each kind of finding with its number of seeds and its shortest run, by name."""
    from pyspark.sql import functions as f

    wrong = runs.where(f.col("verdict") == Verdict.VIOLATED.value)
    run = f.struct("steps", "seed", "profile", "detail")
    kinds = wrong.groupBy("finding").agg(f.count("*").alias("seeds"), f.min(run).alias("least"))
    return sorted(kinds.collect(), key=lambda row: tuple(row["finding"]))


def _shortest(runs: DataFrame) -> list[Row]:
    """Return the seeds of the shortest runs of each kind."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    wrong = runs.where(f.col("verdict") == Verdict.VIOLATED.value)
    place = f.row_number().over(Window.partitionBy("finding").orderBy("steps", "seed"))
    ranked = wrong.select("finding", "seed", place.alias("place"))
    return sorted(ranked.where(f.col("place") <= _SHRUNK_PER_KIND).collect())


def _summed(plan: CampaignPlan, kinds: list[Row], shrunk: DataFrame | None) -> list[dict[str, Any]]:
    """Return a finding of each kind: its smallest run if it was shrunk, else its shortest."""
    best: dict[tuple[str, ...], Row] = {}
    for row in () if shrunk is None else _ordered(shrunk):
        best.setdefault(tuple(row["kind"]), row)
    findings = []
    for one in kinds:
        kind, least = tuple(one["finding"]), one["least"]
        kept = Kept(
            least["seed"], least["profile"], least["steps"], kind[1], least["detail"],
            plan.runs.system.unit,
        )  # fmt: skip
        known = best.get(kind)
        if known is not None:
            told = {name: known[name] for name in Kept.__slots__ if name != "saved"}
            kept = Kept(**told, saved=_names(known))
        findings.append({"kind": list(kind), "seeds": one["seeds"], **asdict(kept)})
    return findings


def _names(row: Row) -> tuple[str, ...]:
    """Return the names of the files of a finding, a trace before its run."""
    return tuple(row["files"])


def _ordered(findings: DataFrame) -> list[Row]:
    return sorted(findings.collect(), key=lambda row: (row["smallest"], row["number"]))
