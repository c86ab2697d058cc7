"""Where a directory or a cluster stands after a trigger: the rows that a watch writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.audit.render import finding_document
from krafla.audit.result import Weight
from krafla.pipeline.arrow import as_spark
from krafla.pipeline.carry import told_path
from krafla.pipeline.tables import FINDINGS, SCHEMAS
from krafla.pipeline.watch.cells import ROOT
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql.types import StructType

    from krafla.audit.result import Finding

__all__ = ["KEY", "STANDING", "finding_row", "spark_standing", "verdict_of_rows", "verdict_word"]

_PLACED: Final = ("cluster", "directory")
_FINDING: Final = pa.struct([one for one in SCHEMAS[FINDINGS] if one.name not in _PLACED])

KEY: Final = ("weight", "kind", "path", "byte", "offset")
"""What makes a finding of a directory another one: not the words, which grow with what waits."""

STANDING: Final = pa.schema(
    [
        pa.field("cluster", pa.string()),
        pa.field("directory", pa.string()),
        pa.field("turn", pa.int64()),
        pa.field("verdict", pa.string()),
        pa.field("phase", pa.string()),
        pa.field("judged_from", pa.int64()),
        pa.field("judged_on", pa.string()),
        pa.field("judged_to", pa.int64()),
        pa.field("stopped_at", pa.int64()),
        pa.field("batches", pa.int64()),
        pa.field("records", pa.int64()),
        pa.field("waiting", pa.int64()),
        pa.field("repeated", pa.int64()),
        pa.field("unjudged", pa.int64()),
        pa.field("uncompared", pa.int64()),
        pa.field("news", pa.int32()),
        pa.field("findings", pa.list_(_FINDING)),
    ]
)
"""The columns of the table ``standings``; docs/internals/watch.md explains them."""


def spark_standing() -> StructType:
    """Return the columns as Spark names them."""
    return as_spark(STANDING)


def finding_row(finding: Finding, source: Path | None = None) -> dict[str, Any]:
    """Return a finding as the tables have it; `source` is its place if it has none of its own."""
    row = finding_document(finding)
    evidence = row["evidence"]
    row["evidence"] = None if evidence is None else json.dumps(evidence)
    if row["path"] is None and source is not None:
        row["path"] = str(source)
    told = {
        name: told_path(value, ROOT) if isinstance(value, str) else value
        for name, value in row.items()
    }
    return {name: told[name] for name in _FINDING_NAMES}


_FINDING_NAMES: Final = [one.name for one in _FINDING]


def verdict_word(findings: Iterable[dict[str, Any]]) -> str:
    """Return the verdict on findings, as `krafla.audit.result.verdict_of`."""
    weights = {one["weight"] for one in findings}
    if Weight.VIOLATION.value in weights:
        return Verdict.VIOLATED.value
    if weights & {Weight.UNREADABLE.value, Weight.INCONCLUSIVE.value}:
        return Verdict.INCONCLUSIVE.value
    return Verdict.HELD.value


def verdict_of_rows(rows: Iterable[dict[str, Any]]) -> Verdict:
    """Return the verdict on directories and clusters together; inconclusive without one."""
    words = {row["verdict"] for row in rows}
    if Verdict.VIOLATED.value in words:
        return Verdict.VIOLATED
    if words == {Verdict.HELD.value}:
        return Verdict.HELD
    return Verdict.INCONCLUSIVE
