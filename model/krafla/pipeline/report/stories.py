"""The story of each finding of a campaign, in the words of ``krafla explain``, told in executors.

A thin client has no Java to ask the spec with, and the files of a finding are in a table.
"""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.fuzz.engine.run_file import replay_file
from krafla.report.explain.account import Account, account_lines
from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.view import view_of
from krafla.scratch import scratch_folder
from krafla.traces.ndjson import read_whole_trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame

__all__ = ["story_batches", "story_of", "told_stories"]

_WIDTH: Final = 100
_COLUMNS: Final = "kind array<string>, number long, path array<string>, story string"


def told_stories(findings: DataFrame, count: int) -> DataFrame:
    """Return the kind, the number, the path and the story of each finding; ``count`` of them."""
    kept = findings.select("kind", "number", "path", "files").repartition(max(1, count))
    return kept.mapInArrow(story_batches, _COLUMNS)


def story_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield findings with their stories in place of their files."""
    for batch in batches:
        stories = [story_of(dict(files)) for files in batch.column("files").to_pylist()]
        told = batch.drop_columns(["files"])
        yield told.append_column("story", pa.array(stories, pa.string()))


def story_of(files: Mapping[str, bytes]) -> str:
    """Return what a finding is and the steps that lead there, as lines of text.

    Its trace is explained; a run without a trace is played again. A file that cannot be told says
    why.
    """
    with scratch_folder("story") as folder:
        paths = []
        for number, (name, content) in enumerate(sorted(files.items(), reverse=True)):
            # A name in a table is no place: only its suffix counts.
            path = folder / f"{number}{'.ndjson' if name.endswith('.ndjson') else '.json'}"
            path.write_bytes(content)
            paths.append(path)
        if not paths:
            return ""
        try:
            return dedent("\n".join(_lines(paths[0])))
        except KraflaError as error:
            return f"This finding cannot be told: {error.message}"


def _lines(path: Path) -> Iterator[str]:
    if path.suffix == ".json":
        replay = replay_file(path)
        yield replay.sentence
        yield from (text for text, _ in account_lines(replay.account, _WIDTH))
        return
    trace = read_whole_trace(path)
    outcome = outcome_of(trace)
    yield from (
        text for text, _ in account_lines(Account(outcome, view_of(trace, outcome)), _WIDTH)
    )
