"""The frames of a stack trace that are worth a look: not krafla's own."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from krafla.verdict import KraflaError

__all__ = ["without_own_frames"]

_OWN: Final = Path(__file__).parents[1]


def without_own_frames(error: KraflaError) -> KraflaError:
    """Return an error whose sentence says all, without the lines of krafla that raised it."""
    return error.with_traceback(_of_others(error.__traceback__))


def _of_others(frames: TracebackType | None) -> TracebackType | None:
    if frames is None:
        return None
    rest = _of_others(frames.tb_next)
    if Path(frames.tb_frame.f_code.co_filename).is_relative_to(_OWN):
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)
