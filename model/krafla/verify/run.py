"""Ask every question, models side by side and the rest one after the other."""

from __future__ import annotations

import threading
import time
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from krafla.tlc.side_by_side import jobs_at_once, side_by_side
from krafla.verdict import KraflaError, Verdict
from krafla.verify.rows import Report, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.verify.rows import Question

__all__ = ["verify"]


def verify(
    questions: Iterable[Question],
    *,
    progress: Callable[[str], None] = lambda _: None,
    answered: Callable[[Row], None] = lambda _: None,
) -> Report:
    """Return the rows of all questions, in their order.

    ``progress`` gets a few words on the current activity, ``answered`` each row once it and all
    rows before it are there. Questions that may be asked beside others are, one for each processor.
    A question that could not be asked is an inconclusive row with the error as its reason, and the
    others are asked all the same. ``KeyboardInterrupt`` passes through.
    """
    started = time.monotonic()
    one_at_a_time = threading.Lock()

    def told(text: str) -> None:
        with one_at_a_time:
            progress(text)

    rows = []
    for beside, group in groupby(questions, key=lambda question: question.beside):
        asked = [partial(_asked, question, told) for question in group]
        jobs = jobs_at_once() if beside else 1
        for row in side_by_side(asked, jobs) if jobs > 1 else (ask() for ask in asked):
            with one_at_a_time:
                answered(row)
            rows.append(row)
    return Report(tuple(rows), time.monotonic() - started)


def _asked(question: Question, progress: Callable[[str], None]) -> Row:
    started = time.monotonic()
    try:
        return question.ask(progress)
    except KraflaError as error:
        return Row(
            kind=question.kind,
            name=question.name,
            verdict=Verdict.INCONCLUSIVE,
            bounds="",
            evidence=(),
            reasons=(f"could not run: {error}",),
            reproduce=question.reproduce,
            seconds=time.monotonic() - started,
            could_run=False,
        )
