"""Questions to a spec with a limit of time: TLA+ can ask for what takes for ever.

Nothing stops an evaluation inside Java. So another thread asks, and this one waits: after the
limit, or Ctrl-C, it goes on without the answer. That costs a question some 15 microseconds.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar, cast

from krafla.oracle.jvm import STACK_MIB
from krafla.testing.errors import Inconclusive

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.oracle import Spec

__all__ = ["answered"]

Answer = TypeVar("Answer")


class _Asker(threading.Thread):
    """A thread that asks one question after the other."""

    def __init__(self) -> None:
        super().__init__(name="krafla-asker", daemon=True)
        # Each is let go by one thread and taken by the other: a fifth of a semaphore's price.
        self._given, self._done = threading.Lock(), threading.Lock()
        self._given.acquire()
        self._done.acquire()
        self._question: Callable[[], Any] = lambda: None
        self._answer: Any = None
        self._error: BaseException | None = None
        usual = threading.stack_size(STACK_MIB << 20)
        try:
            self.start()
        finally:
            threading.stack_size(usual)

    def run(self) -> None:
        """Answer questions until the process ends."""
        __tracebackhide__ = True
        while True:
            self._given.acquire()
            self._answer = self._error = None
            try:
                self._answer = self._question()
            except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
                self._error = error
            self._done.release()

    def is_done(self, question: Callable[[], Any], limit_s: float) -> bool:
        """Ask, and return whether there is an answer within the limit."""
        self._question = question
        self._given.release()
        return self._done.acquire(timeout=limit_s)

    def has_ended(self) -> bool:
        """Return whether the question that took too long has ended; its answer is dropped."""
        return self._done.acquire(blocking=False)

    def answer(self) -> Any:
        """Return the last answer, or raise the error that it ended with."""
        __tracebackhide__ = True
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._answer


# The thread that asks nothing now.
_idle: list[_Asker] = []
# What is still evaluated cannot be asked anything else: a spec is not for several threads.
_lost: dict[Spec, tuple[str, _Asker]] = {}


def answered(
    spec: Spec, question: Callable[[], Answer], what: Callable[[], str], limit_s: float
) -> Answer:
    """Return the answer to a question to a spec; ``what`` names it.

    ``Inconclusive`` if it takes longer than ``limit_s`` seconds, and for each question to this spec
    until that one has ended after all.
    """
    __tracebackhide__ = True
    if spec in _lost:
        told, late = _lost[spec]
        if not late.has_ended():
            raise Inconclusive(told)
        del _lost[spec]
        _idle.append(late)
    if isinstance(threading.current_thread(), _Asker):
        return question()
    asker = _idle.pop() if _idle else _Asker()
    try:
        is_done = asker.is_done(question, limit_s)
    except BaseException:
        _lost[spec] = f"{what()}: the evaluation of {spec.name} was interrupted", asker
        raise
    if not is_done:
        told = (
            f"{what()}: {spec.name} was still being evaluated after {limit_s:g} s; bound what the "
            "spec enumerates there, or give the judge a longer limit_s"
        )
        _lost[spec] = told, asker
        raise Inconclusive(told)
    _idle.append(asker)
    return cast("Answer", asker.answer())
