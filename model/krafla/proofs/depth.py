"""How deeply the expressions of a module may be nested."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from krafla.oracle.sources import Place
from krafla.oracle.syntax import Apply, Call, Let, Name
from krafla.proofs.errors import Untranslatable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["MOST_LEVELS", "MOST_PARTS", "TOO_LARGE", "deeply_nested"]

MOST_LEVELS = 1_000
"""The most expressions inside each other, with the bodies of the operators that they call."""
MOST_PARTS = 100_000
"""The most expressions in one translation, of a predicate or an action, with those of operators.

An operator is translated wherever it is used. In a chain of operators that each use the one before
twice, the number doubles with each. The lease needs 6,000.
"""
TOO_LARGE = f"has more than {MOST_PARTS:,} parts, with the operators that it uses"
_FRAMES = 20_000
"""Python's frames: a level needs ten or more. A stack of 8 MB bears at least twice as many."""


@contextmanager
def deeply_nested() -> Iterator[None]:
    """Bear deeply nested expressions, in a block or, as a decorator, in a function.

    Expressions are walked by functions that call themselves, and Python's own limit ends a sum of
    200 terms. The translation stops after ``MOST_LEVELS``. Of the other walks ``Untranslatable``
    names the place that they reached.
    """
    around = sys.getrecursionlimit()
    sys.setrecursionlimit(max(around, _FRAMES))
    try:
        yield
    except RecursionError as error:
        frames = []
        traceback = error.__traceback__
        while traceback is not None:
            frames.append(traceback.tb_frame)
            traceback = traceback.tb_next
        found = next(filter(None, map(_walked, reversed(frames))), None)
        if found is None:
            raise
        raise Untranslatable(found[0], "is nested too deeply", found[1]) from None
    finally:
        sys.setrecursionlimit(around)


def _walked(frame: FrameType) -> tuple[str, Place] | None:
    """Return the name and the place of the expression that a function was at."""
    for value in frame.f_locals.values():
        if isinstance(value, Apply):
            return value.operator, value.place
        if isinstance(value, Call):
            return value.definition.name, value.place
        if isinstance(value, Let | Name):
            return type(value).__name__, value.place
        if isinstance(value, Place):
            return "an expression", value
    return None
