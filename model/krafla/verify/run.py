"""Ask every question: those that may be asked beside others on the processors that are free."""

from __future__ import annotations

import threading
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING

from krafla.tlc.side_by_side import jobs_at_once, under_way
from krafla.tlc.warm_java import warm_javas
from krafla.verdict import KraflaError, Verdict
from krafla.verify.rows import InterruptedWithRow, Report, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krafla.verify.kept_rows import KeptRows
    from krafla.verify.pace import Pace
    from krafla.verify.rows import Question

__all__ = ["verify"]


def verify(
    questions: Sequence[Question],
    pace: Pace,
    kept: KeptRows | None = None,
    answered: Callable[[Row], object] = lambda _: None,
) -> Report:
    """Return the rows of all questions, in their order.

    ``pace`` gets the news of each question, ``answered`` each row as soon as it is there; neither
    is called from two threads at once. An answer in ``kept`` is taken for a question that rests on
    the same, and new answers are kept there. A question that could not be asked is an inconclusive
    row with the error as its reason, and the others are asked all the same. Ctrl-C ends the
    questions under way; the report has what was answered until then.
    """
    started = time.monotonic()
    asking = _Asking(pace, kept, answered)
    beside = [one for one in questions if one.beside]
    jobs = jobs_at_once()
    is_interrupted = False
    try:
        with (
            warm_javas(),
            under_way([partial(asking.answer_beside, one) for one in beside], jobs) as futures,
        ):
            try:
                # This thread asks, too, and then leaves its processor to the others.
                if jobs > 1:
                    asking.processors.release(jobs - 1)
                for question in questions:
                    if not question.beside and not question.at_end:
                        asking.answer(question)
                asking.processors.release()
                for future in futures:
                    future.result()
            except BaseException:
                asking.end()
                raise
        for question in questions:
            if question.at_end:
                asking.answer(question)
    except KeyboardInterrupt:
        is_interrupted = True
    rows = [asking.rows[one.title] for one in questions if one.title in asking.rows]
    missing = len(questions) - len(rows)
    assert is_interrupted or not missing, "every question has a row"
    return Report(tuple(rows), time.monotonic() - started, missing)


class _Asking:
    """The answers so far. ``processors`` counts those on which a question may be asked beside."""

    def __init__(
        self, pace: Pace, kept: KeptRows | None, answered: Callable[[Row], object]
    ) -> None:
        self.rows: dict[str, Row] = {}
        self.processors = threading.Semaphore(0)
        self.is_over = False
        self._pace = pace
        self._kept = kept
        self._answered = answered
        self._one_at_a_time = threading.Lock()

    def end(self) -> None:
        """Let nothing more be asked or recorded, and nothing wait for a processor."""
        self.is_over = True
        self.processors.release()

    def answer_beside(self, question: Question) -> None:
        """Answer a question once a processor is free."""
        with self.processors:
            if not self.is_over:
                self.answer(question)

    def answer(self, question: Question) -> None:
        """Answer a question: with a kept row, or by asking it."""
        digest = None if self._kept is None else self._kept.digest(question)
        row = self._recalled(question, digest)
        if row is not None:
            self._record(question, row, digest)
            return
        try:
            row = _asked(question, partial(self._tell, question))
        except InterruptedWithRow as interrupt:
            self._record(question, interrupt.row, digest)
            raise
        self._record(question, row, digest)

    def _recalled(self, question: Question, digest: str | None) -> Row | None:
        row = None if self._kept is None else self._kept.find(question, digest)
        if row is None:
            return None
        try:
            question.recall()
        except (KraflaError, OSError):
            # What it rests on changes just now.
            return None
        return row

    def _record(self, question: Question, row: Row, digest: str | None) -> None:
        with self._one_at_a_time:
            if self.is_over:
                # It was killed with the rest, which says nothing of its answer.
                return
            self.rows[question.title] = row
            self._pace.end(question, is_kept=row.kept_on is not None)
            self._answered(row)
            if self._kept is not None and row.kept_on is None:
                self._kept.add(question, digest, row)

    def _tell(self, question: Question, text: str) -> None:
        with self._one_at_a_time:
            self._pace.tell(question, text)


def _asked(question: Question, progress: Callable[[str], None]) -> Row:
    started = time.monotonic()
    try:
        return question.ask(progress)
    except KraflaError as error:
        reason = str(error)
    except OSError as error:
        # A full disk, as a rule. The next question may need none.
        said = error.strerror or str(error)
        reason = f"{error.filename}: {said}" if error.filename else said
    except Exception as error:  # noqa: BLE001 - one question must not hide the others
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = (
            f"krafla crashed at {place.filename}:{place.lineno}: {type(error).__name__}: {error}; "
            f"all of it: {question.reproduce}"
        )
    return Row(
        kind=question.kind,
        name=question.name,
        verdict=Verdict.INCONCLUSIVE,
        bounds="",
        evidence=(),
        reasons=(reason,),
        reproduce=question.reproduce,
        seconds=time.monotonic() - started,
        could_run=False,
    )
