"""What ends a program from outside, and whether an error came of it."""

from __future__ import annotations

__all__ = ["Terminated", "interruption_in"]


class Terminated(SystemExit):
    """SIGTERM asks this process to end. Code that leaves by ``sys.exit`` raises no such error."""


def interruption_in(error: BaseException) -> BaseException | None:
    """Return the interruption that an error is or came of; ``None`` if it came of none.

    It may be a cause, a context or a part of the error: a library that meets it may fail in turn.
    """
    left: list[BaseException | None] = [error]
    known = set()
    while left:
        one = left.pop()
        if one is None or id(one) in known:
            continue
        if isinstance(one, KeyboardInterrupt | Terminated):
            return one
        known.add(id(one))
        left += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            left += one.exceptions
    return None
