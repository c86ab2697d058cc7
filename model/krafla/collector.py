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
    """Run a block, or as a decorator a function, without Python's collector of cycles.

    For two kinds of work. Long runs over states: these have no cycles, and to look through
    hundreds of thousands of them in vain took a quarter of the time. And calls of z3: they let
    other threads run, in any of which the collector may free formulas while z3 reads them, and
    z3 then ends the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
