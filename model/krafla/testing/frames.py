"""The frames of a stack trace that are worth a look: not krafla's own."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import Final

from krafla.testing.errors import Inconclusive
from krafla.verdict import KraflaError

__all__ = ["says_all", "without_own_frames"]

# The packages that call the test of a machine, and a module that Hypothesis writes.
_CALLERS: Final = (
    *("_pytest.", "contextlib.", "hypothesis.", "krafla.", "pluggy.", "unittest."),
    "hypothesis_temporary_module_",
)
_OWN: Final = Path(__file__).parents[1]


def without_own_frames(error: KraflaError) -> KraflaError:
    """Return an error whose sentence says all, without the lines of krafla that raised it."""
    return error.with_traceback(_of_others(error.__traceback__))


def says_all(error: BaseException) -> bool:
    """Return whether an error is one sentence for whoever wrote a test, and no line of theirs."""
    if not isinstance(error, KraflaError | Inconclusive):
        return False
    return all(
        f"{frame.f_globals.get('__name__')}.".startswith(_CALLERS)
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _of_others(frames: TracebackType | None) -> TracebackType | None:
    if frames is None:
        return None
    rest = _of_others(frames.tb_next)
    if Path(frames.tb_frame.f_code.co_filename).is_relative_to(_OWN):
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)
