"""An event loop whose clock jumps to the next thing that is due, so that no test waits."""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine

PATIENCE_SECONDS = 60
VIRTUAL_PATIENCE_SECONDS = 3600
"""After so long a run has failed, in real time or in its own: no test hangs."""


class _Jump(selectors.DefaultSelector):
    """Selects what is ready now; where that is nothing, it lets the time pass instead."""

    loop: VirtualLoop
    deadline: float

    def select(self, timeout: float | None = None) -> Any:
        if time.monotonic() > self.deadline:
            self.deadline = math.inf
            raise TimeoutError(f"a run in virtual time took {PATIENCE_SECONDS} real seconds")
        ready = super().select(0)
        if not ready and timeout:
            self.loop.passed += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time. Whatever it waits for must be ready at once, or be a timer."""

    def __init__(self) -> None:
        self.passed = 0.0
        selector = _Jump()
        selector.loop = self
        selector.deadline = time.monotonic() + PATIENCE_SECONDS
        super().__init__(selector)

    def time(self) -> float:
        return self.passed


def run_virtually(main: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in virtual time and return its result. Raises TimeoutError for a hang."""

    async def in_time() -> Any:
        async with asyncio.timeout(VIRTUAL_PATIENCE_SECONDS):
            return await main

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(in_time())
