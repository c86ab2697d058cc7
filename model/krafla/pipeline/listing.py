"""The files to read, on any storage, listed where the storage is at hand: by Spark, in its tasks.

A local file system is listed by our own code: Hadoop's follows links in circles, takes a FIFO for a
file, and loses names that are not UTF-8. Any other storage is listed by Spark's ``binaryFile``,
with the access that Spark has to it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.sources import FileKind, Listing, Source, classified, find_sources
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["absolute", "binary_files", "is_local", "list_files"]

_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://?")
_LISTED: Final = pa.schema(
    [
        ("path", pa.binary()), ("kind", pa.string()), ("bytes", pa.int64()),
        ("changed_ns", pa.int64()), ("facts", pa.string()),
    ]
)  # fmt: skip
_ROWS: Final = 10_000
_BESIDE: Final = "{meta.properties,bootstrap.checkpoint}"


def is_local(uri: str) -> bool:
    """Return whether a URI or a path names a file of a local file system."""
    match = _URI.match(uri)
    return match is None or match[1] == "file"


def _local_path(uri: str) -> str:
    """Return the path that a local URI names."""
    return re.sub(r"^file:(//)?(?=/)", "", uri)


def absolute(uri: str) -> str:
    """Return a source or an output as everything else names it: a path from the root, or a URI."""
    if is_local(uri):
        return os.path.abspath(_local_path(uri))  # noqa: PTH100 - Path.absolute keeps ".." in it
    return uri.rstrip("/")


def list_files(spark: SparkSession, sources: Sequence[str]) -> Listing:
    """Return the files at or below sources, each an absolute path or a URI, each file once.

    ``KraflaError`` if a source does not exist or cannot be listed.
    """
    local = [one for one in sources if is_local(one)]
    found = [_local(spark, local)] if local else []
    found += [_other(spark, one) for one in sources if not is_local(one)]
    merged = {source.path: source for one in found for source in one.sources}
    left_out: dict[str, int] = {}
    for suffix, count in (pair for one in found for pair in one.left_out.items()):
        left_out[suffix] = left_out.get(suffix, 0) + count
    return Listing(
        tuple(sources),
        tuple(merged[path] for path in sorted(merged)),
        tuple(sorted({log for one in found for log in one.logs})),
        dict(sorted(left_out.items())),
        tuple(sorted({link for one in found for link in one.links})),
    )


def _local(spark: SparkSession, paths: list[str]) -> Listing:
    """List local paths in a task: its machine has them, which the driver of a cluster may not."""
    frame = spark.createDataFrame([(json.dumps(paths),)], "paths string").coalesce(1)
    sources, facts = [], {}
    for row in frame.mapInArrow(_listed, as_spark(_LISTED)).collect():
        if row["facts"] is not None:
            facts = json.loads(row["facts"])
            continue
        path = os.fsdecode(bytes(row["path"]))
        sources.append(Source(path, FileKind(row["kind"]), row["bytes"], row["changed_ns"]))
    return Listing(
        tuple(paths), tuple(sources), tuple(facts["logs"]), facts["left_out"],
        tuple(facts["links"]),
    )  # fmt: skip


def _listed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for asked in batch.column("paths").to_pylist():
            found = find_sources([Path(path) for path in json.loads(asked)])
            rows: list[dict[str, Any]] = [
                {"path": os.fsencode(one.path), "kind": one.kind.value, "bytes": one.bytes,
                 "changed_ns": one.changed_ns}
                for one in found.sources
            ]  # fmt: skip
            told = {"logs": found.logs, "left_out": found.left_out, "links": found.links}
            rows.append({"path": b"", "facts": json.dumps(told)})
            for start in range(0, len(rows), _ROWS):
                yield pa.RecordBatch.from_pylist(rows[start : start + _ROWS], _LISTED)


def _other(spark: SparkSession, uri: str) -> Listing:
    rows = _binary_rows(spark, uri)
    if rows is None:
        raise KraflaError("there is no such file or folder", printable(uri))
    beside = uri.rsplit("/", 1)[0]
    # The files that name a log's owner lie beside it, perhaps outside the source.
    rows += (_binary_rows(spark, f"{beside}/{_BESIDE}") or []) if beside.count("/") > 2 else []
    return classified(uri, rows)


def _binary_rows(spark: SparkSession, uri: str) -> list[tuple[str, int, int]] | None:
    """Return path, bytes and time of each file at or below a URI, ``None`` if nothing is there."""
    from pyspark.errors import AnalysisException

    try:
        frame = binary_files(spark, [uri]).selectExpr(
            "path", "length", "unix_micros(modificationTime) * 1000 AS changed_ns"
        )
        return [(row["path"], row["length"], row["changed_ns"]) for row in frame.collect()]
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return None
        raise


def binary_files(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """Return Spark's own reading of the files at or below URIs, hidden ones too.

    The columns are ``path``, ``modificationTime``, ``length`` and ``content``.
    """
    return (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        # Without it nothing in __cluster_metadata-0 is seen: its name begins with an underscore.
        .option("ignoredPathSegmentRegex", "")
        .load([*uris])
    )
