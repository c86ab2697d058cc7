"""Questions to tasks: each is answered where the files that it is about are laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.known_files import INGEST
from krafla.pipeline.layout import LAID
from krafla.pipeline.tables import CONTENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame

    from krafla.pipeline.session import Session
    from krafla.pipeline.store import Store

    Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

__all__ = [
    "STATE_ROW",
    "FilePart",
    "Inquiry",
    "LogFile",
    "answer_row",
    "answers_to",
    "ask",
    "whole",
]

_ANSWER: Final = pa.schema(
    [("slot", pa.int32()), ("number", pa.int32()), ("answer", pa.binary()), ("state", pa.binary())]
)
_FIRST: Final = -2
"""The position of the row that has the question of a task, before all files."""
STATE_ROW: Final = -1
"""The position of a row that comes right after the question."""
_TASKS_EACH: Final = 4
"""Tasks for each that runs at once, if the questions are small."""
_QUESTION_BYTES: Final = 512 * 1024
"""How many bytes are audited in the time that a question costs besides."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that an audit looks at, as the table ``files`` has it."""

    path: str
    kind: str
    file_id: str | None
    bytes: int

    @property
    def folder(self) -> str:
        """Return the folder or the URI that the file lies in."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class FilePart:
    """What is laid out of a file, at its place in it: some or all pieces of its content.

    Those that end behind the byte ``after``, and of these only such as may have a batch in front of
    the offset ``before``. With ``is_hollow`` the file has its size and no content.
    """

    file: LogFile
    after: int = -1
    before: int | None = None
    is_hollow: bool = False


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a task is asked: about a path, with a value, and the files that are laid out for it."""

    path: str
    value: bytes
    parts: Sequence[FilePart]

    @property
    def bytes(self) -> int:
        """Return about how many bytes are laid out, what the question costs besides included."""
        return _QUESTION_BYTES + sum(0 if one.is_hollow else one.file.bytes for one in self.parts)


def whole(files: Iterable[LogFile]) -> list[FilePart]:
    """Return all of some files, each once."""
    return [FilePart(file) for file in dict.fromkeys(files)]


def ask(session: Session, store: Store, questions: Sequence[Inquiry], task: Task) -> list[bytes]:
    """Return the answers to questions, in their order; the first questions begin first.

    Each question has one answer. Else as ``answers_to``.
    """
    if not questions:
        return []
    rows = answers_to(session, store, questions, task).select("slot", "answer").collect()
    found = {row["slot"]: bytes(row["answer"]) for row in rows}
    if sorted(found) != [*range(len(questions))] or len(rows) != len(questions):
        raise AssertionError("a question has no answer, or two")
    return [found[slot] for slot in range(len(questions))]


def answers_to(
    session: Session,
    store: Store,
    questions: Sequence[Inquiry],
    task: Task,
    more: DataFrame | None = None,
) -> DataFrame:
    """Return the frame of ``answer_row`` by which a task answers questions.

    A slot is the number of a question. ``task`` gets the rows of ``LAID`` sorted by slot, those of
    a slot with the question first. Small questions share a task, unless there are ``more``: rows of
    ``LAID`` beside the files.
    """
    spark = session.spark
    each = [*range(len(questions))]
    tasks = each if more is not None else _tasks(questions, session.parallelism)
    parts = [(slot, part) for slot, one in enumerate(questions) for part in one.parts]
    rows: list[tuple[Any, ...]] = [
        (slot, None, one.path, _FIRST, one.value) for slot, one in enumerate(questions)
    ]
    rows += [
        (slot, part.file.kind, part.file.path, part.file.bytes, b"")
        if part.is_hollow
        else (slot, part.file.kind, part.file.path, 0, None)
        for slot, part in parts
        if part.is_hollow or part.file.file_id is None
    ]
    places = [
        (slot, part.file.kind, part.file.path, part.file.file_id, part.after, part.before)
        for slot, part in parts
        if not part.is_hollow and part.file.file_id is not None
    ]
    named = spark.createDataFrame(
        places,
        "slot int, kind string, path string, file_id string, after long, before_offset long",
    )
    pieces = store.read(CONTENT, INGEST).select("file_id", "position", "first_offset", "content")
    # The table of content is large, and its rows go to their slots only once.
    laid = pieces.join(named.hint("broadcast"), "file_id").where(
        "(after < 0 OR position + length(content) > after)"
        " AND (before_offset IS NULL OR first_offset IS NULL OR first_offset < before_offset)"
    )
    united = spark.createDataFrame(rows, LAID).unionByName(
        laid.select("slot", "kind", "path", "position", "content")
    )
    if more is not None:
        united = united.unionByName(more)
    if tasks == each:
        spread = united.repartitionById(len(questions), "slot")
    else:
        shared = spark.createDataFrame([*enumerate(tasks)], "slot int, task int").hint("broadcast")
        spread = united.join(shared, "slot").repartitionById(tasks[-1] + 1, "task").drop("task")
    return spread.sortWithinPartitions("slot", "position").mapInArrow(task, as_spark(_ANSWER))


def _tasks(questions: Sequence[Inquiry], parallelism: int) -> list[int]:
    """Return the number of each question's task: a task has some that follow one another.

    A Spark task costs more than a small cluster's audit.
    """
    room = sum(one.bytes for one in questions) / (_TASKS_EACH * parallelism)
    numbers: list[int] = []
    number, size = -1, 0
    for one in questions:
        if number < 0 or size + one.bytes > room:
            number, size = number + 1, 0
        size += one.bytes
        numbers.append(number)
    return numbers


def answer_row(
    slot: int, answer: bytes, number: int = 0, state: bytes | None = None
) -> pa.RecordBatch:
    """Return an answer to the question of a slot; several have numbers.

    ``state`` is for another task, and does not come by the driver.
    """
    row = {"slot": slot, "number": number, "answer": answer, "state": state}
    return pa.RecordBatch.from_pylist([row], _ANSWER)
