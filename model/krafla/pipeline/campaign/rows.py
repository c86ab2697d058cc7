"""The tables of a campaign, and one seed as a row; docs/internals/pipeline.md explains the columns.

Whatever decides a result is in the row's digest. So a seed that was played twice, because a process
or a driver died, gives the same row; if it ever gave another, its runs are not reproducible.
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.fuzz.engine.seen import TALLIES
from krafla.pipeline.arrow import as_spark
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql.types import StructType

    from krafla.fuzz.engine.novelty import Tried
    from krafla.fuzz.engine.runs import Run

__all__ = [
    *("BRED", "COVERAGE", "DIED", "DIGEST_BLOCK", "FINDINGS", "LEARNED", "PLAYED", "RUNS"),
    *("SCHEMAS", "UNJUDGED"),
    *("SeedRow", "batch_of", "blocks_digest", "lost_row", "row_of", "spark_schemas", "worker_name"),
]

DIED: Final = "process died"
"""The finding of a seed whose process died several times."""
UNJUDGED: Final = "could not be judged"
"""The finding of a seed whose run ended in an error of ours."""
RUNS: Final = "runs"
COVERAGE: Final = "coverage"
FINDINGS: Final = "findings"
BRED: Final = "bred"
DIGEST_BLOCK: Final = 10_000
"""How many seeds are digested together: the digest of many is made of theirs."""
_COUNTS: Final = pa.map_(pa.string(), pa.int64())
_RUN: Final = pa.schema(
    [
        pa.field("seed", pa.int64()),
        pa.field("profile", pa.string()),
        pa.field("steps", pa.int64()),
        pa.field("verdict", pa.string()),
        pa.field("finding", pa.list_(pa.string())),
        pa.field("detail", pa.string()),
        pa.field("run", pa.string()),
        pa.field("digest", pa.string()),
        *(pa.field(name, _COUNTS) for name in TALLIES),
        pa.field("milliseconds", pa.int32()),
        pa.field("worker", pa.string()),
    ]
)
PLAYED: Final = _RUN.append(pa.field("states", pa.list_(pa.int64())))
"""What a task gives back of a seed: its row in `RUNS`, and the states that it visited."""
_OF_BRED: Final = (
    pa.field("plan", pa.binary()),
    pa.field("features", pa.map_(pa.int64(), pa.int64())),
)
LEARNED: Final = pa.schema([*PLAYED, *_OF_BRED])
"""The same in a campaign that learns, which also keeps what later rounds are bred from."""
SCHEMAS: Final[dict[str, pa.Schema]] = {
    RUNS: _RUN,
    # Of a campaign that learns: the plan of each run, and the places of its features.
    BRED: pa.schema([pa.field("seed", pa.int64()), pa.field("verdict", pa.string()), *_OF_BRED]),
    # The states that the seeds of a wave visited, as a HyperLogLog of Spark's.
    COVERAGE: pa.schema(
        [
            pa.field("first", pa.int64()),
            pa.field("last", pa.int64()),
            pa.field("states", pa.binary()),
        ]
    ),
    FINDINGS: pa.schema(
        [
            pa.field("kind", pa.list_(pa.string())),
            pa.field("path", pa.list_(pa.string())),
            pa.field("seeds", pa.list_(pa.int64())),
            pa.field("number", pa.int64()),
            pa.field("profile", pa.string()),
            pa.field("steps", pa.int64()),
            pa.field("property", pa.string()),
            pa.field("detail", pa.string()),
            pa.field("unit", pa.string()),
            pa.field("size", pa.int64()),
            pa.field("smallest", pa.int64()),
            pa.field("files", pa.map_(pa.string(), pa.binary())),
        ]
    ),
}


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One seed as it is stored: see ``docs/internals/pipeline.md``.

    What took ``milliseconds``, and in which ``worker``, is no part of the digest.
    """

    seed: int
    profile: str
    steps: int
    verdict: str
    finding: list[str]
    detail: str
    run: str
    digest: str
    milliseconds: int
    worker: str
    tallies: dict[str, dict[str, int]]
    states: tuple[int, ...] = ()
    plan: bytes | None = None
    features: Mapping[int, int] | None = None


def row_of(
    seed: int, run: Run, milliseconds: int, worker: str, tried: Tried | None = None
) -> SeedRow:
    """Return the stored row of a run; ``tried`` is how it came about, in a campaign that learns."""
    return SeedRow(
        seed,
        run.profile,
        run.steps,
        (Verdict.HELD if run.finding is None else Verdict.VIOLATED).value,
        list(run.kind),
        run.detail,
        run.digest,
        run.result_digest(seed),
        milliseconds,
        worker,
        {name: dict(run.tallies.get(name, {})) for name in TALLIES},
        tuple(sorted(run.states)),
        None if tried is None else tried.plan,
        None if tried is None else tried.features,
    )


def lost_row(seed: int, profile: str, finding: str, detail: str, worker: str) -> SeedRow:
    """Return the stored row of a run without a result, which proves nothing."""
    digest = hashlib.sha256(f"{seed} {finding} {detail}".encode()).hexdigest()
    return SeedRow(seed, profile, 0, Verdict.INCONCLUSIVE.value, [finding], detail, "", digest,
                   0, worker, {name: {} for name in TALLIES})  # fmt: skip


def worker_name() -> str:
    """Return what this process is called in rows."""
    return f"{socket.gethostname()}/{os.getpid()}"


def blocks_digest(blocks: Iterable[tuple[int, str]]) -> str:
    """Return the SHA-256 of the digests of blocks of seeds, in any order."""
    text = "".join(f"{number} {digest}\n" for number, digest in sorted(blocks))
    return hashlib.sha256(text.encode()).hexdigest()


def batch_of(rows: Sequence[SeedRow], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with the columns of ``PLAYED`` or of ``LEARNED``."""
    columns = ([_stored(row, field.name) for row in rows] for field in schema)
    arrays = [pa.array(one, field.type) for one, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def spark_schemas() -> dict[str, StructType]:
    """Return the columns of each table as Spark has them."""
    return {name: as_spark(schema) for name, schema in SCHEMAS.items()}


def _stored(row: SeedRow, column: str) -> Any:
    if column in TALLIES:
        return list(row.tallies[column].items())
    if column == "features":
        return sorted((row.features or {}).items())
    return getattr(row, column)
