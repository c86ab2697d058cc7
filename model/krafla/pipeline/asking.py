"""Questions to tasks: each is answered where the files that it is about are laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.pipeline.layout import LAID
from krafla.pipeline.load import INGEST
from krafla.pipeline.tables import CONTENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

    from krafla.pipeline.store import Store

    Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

__all__ = ["Inquiry", "LogFile", "answer_row", "ask"]

_ANSWER: Final = "slot int, answer binary"
_FIRST: Final = -1
"""The position of the row that has the question of a task, before all files."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that an audit looks at, as the table ``files`` has it."""

    path: str
    kind: str
    file_id: str | None

    @property
    def folder(self) -> str:
        """Return the folder or the URI that the file lies in."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a task is asked: about a path, with a value, and the files that are laid out for it."""

    path: str
    value: bytes
    files: Sequence[LogFile]


def ask(store: Store, questions: Sequence[Inquiry], task: Task) -> list[bytes]:
    """Return the answers to questions, in their order; the first questions begin first.

    ``task`` gets the rows of ``LAID`` sorted by slot, those of a slot with the question first, and
    yields one ``answer_row`` for each slot.
    """
    if not questions:
        return []
    spark = store.spark
    asked = spark.createDataFrame(
        [(slot, None, one.path, _FIRST, one.value) for slot, one in enumerate(questions)], LAID
    )
    places = spark.createDataFrame(
        [
            (slot, file.kind, file.path, file.file_id)
            for slot, one in enumerate(questions)
            for file in one.files
        ],
        "slot int, kind string, path string, file_id string",
    )
    pieces = store.read(CONTENT, INGEST).select("file_id", "position", "content")
    files = places.join(pieces, "file_id", "left").selectExpr(
        "slot", "kind", "path", "coalesce(position, 0) AS position", "content"
    )
    spread = asked.unionByName(files).repartitionById(len(questions), "slot")
    answers = spread.sortWithinPartitions("slot", "position").mapInArrow(task, _ANSWER)
    found = {row["slot"]: bytes(row["answer"]) for row in answers.collect()}
    if sorted(found) != [*range(len(questions))]:
        raise AssertionError("a question has no answer")
    return [found[slot] for slot in range(len(questions))]


def answer_row(slot: int, answer: bytes) -> pa.RecordBatch:
    """Return the answer to the question of a slot."""
    import pyarrow as pa

    schema = pa.schema([("slot", pa.int32()), ("answer", pa.binary())])
    return pa.RecordBatch.from_pylist([{"slot": slot, "answer": answer}], schema)
