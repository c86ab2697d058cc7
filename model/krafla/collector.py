"""Work without Python's collector of cycles."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["gc_paused"]


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause Python's collector of cycles, for a block or, as a decorator, for a function.

    Two kinds of work need it. Long runs over states or records have no cycles, and looking through
    hundreds of thousands of objects in vain took up to a quarter of the time; each time JPype may
    have Java collect as well. And calls of z3 let other threads run: the collector may free
    formulas there while z3 reads them, and z3 then ends the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
