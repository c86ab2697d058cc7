"""Answers that held, kept between runs for as long as nothing changes that they rest on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.json_lines import append_line, read_lines
from krafla.tlc.jar import ANOTHER_CACHE, cache_directory
from krafla.verdict import KraflaError, Verdict
from krafla.verify.foundations import foundation
from krafla.verify.rows import Row

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.verify.rows import Question

__all__ = ["KeptRows", "rows_file"]

# Goes up when a line would say something else.
_VERSION: Final = 2
# Beyond this size the file is begun anew: it has grown by answers that nothing asks for any more.
_SIZE_MAX: Final = 8 * 2**20


def rows_file() -> Path:
    """Return the file of this user's kept answers."""
    return cache_directory() / "verify.jsonl"


class KeptRows:
    """The answers in a file, by what they rest on.

    ``fault`` says why none can be kept, in a sentence; then there are none. ``seconds`` maps the
    key of a question to the seconds that it took before. With ``is_fresh`` no earlier answer is
    used, and new ones are kept.
    """

    def __init__(self, path: Path, *, is_fresh: bool = False) -> None:
        self._path = path
        self._rows: dict[tuple[str, str], Row] = {}
        self.seconds: dict[str, float] = {}
        self.fault: str | None = None
        self._is_fresh = is_fresh
        # What runs from here on: an edit is on the disk at once, and in this process never.
        self._began: str | None = None
        try:
            self._began = foundation()
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > _SIZE_MAX:
                path.unlink()
            append_line(path, None)
        except OSError as error:
            reason = f"{path}: {error.strerror or error}"
            self.fault = f"answers are not kept: {reason}; {ANOTHER_CACHE}"
            return
        except KraflaError as error:
            self.fault = f"answers are not kept: {error}"
            return
        try:
            read_lines(path, self._take, "kept answers")
        except KraflaError as error:
            self.fault = f"answers are not kept: {error}; remove the file to keep them again"

    @staticmethod
    def digest(question: Question) -> str | None:
        """Return a digest of all that the answer depends on now; None if it cannot be kept."""
        if question.rests_on is None:
            return None
        try:
            return question.rests_on()
        except (KraflaError, OSError):
            # A file is missing, or changes just now. Asking the question says so.
            return None

    def find(self, question: Question, digest: str | None) -> Row | None:
        """Return the answer to a question that rests on this; None if it must be asked."""
        if digest is None or self._is_fresh:
            return None
        return self._rows.get((question.key, digest))

    def add(self, question: Question, digest: str | None, row: Row) -> None:
        """Keep an answer that held, if what it rests on is still the same.

        This process may have read a spec before an edit, so that any edit since its start counts.
        """
        if (
            digest is None
            or self.fault is not None
            or row.verdict is not Verdict.HELD
            or self.digest(question) != digest
            or foundation() != self._began
        ):
            return
        today = datetime.now(tz=UTC).date().isoformat()
        line = {"version": _VERSION, "question": question.key, "rests_on": digest, "on": today}
        try:
            append_line(self._path, line | {"row": msgspec.to_builtins(row)})
        except KraflaError as error:
            self.fault = f"answers are not kept: {error}"

    def _take(self, record: dict[str, Any]) -> None:
        if record["version"] == _VERSION:
            row = msgspec.convert(record["row"], Row)
            self.seconds[record["question"]] = row.seconds
            self._rows[record["question"], record["rests_on"]] = replace(row, kept_on=record["on"])
