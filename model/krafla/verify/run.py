"""Ask every question, one after the other, and gather the answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

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

    ``progress`` is told in a few words what is going on, ``answered`` each row once it is there.
    A question that could not be asked is an inconclusive row with the error as its reason: the
    others are asked all the same. ``KeyboardInterrupt`` passes through.
    """
    started = time.monotonic()
    rows = []
    for question in questions:
        row = _asked(question, progress)
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
