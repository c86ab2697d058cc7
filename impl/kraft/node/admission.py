"""How many requests are read at once: their values take far more memory than their bytes.

Kafka: RequestChannel, whose queue has `queued.max.requests` places.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from kraft.errors import LimitExceededError
from kraft.wire.apis import CONTROLLER_APIS

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FETCH_BYTES: Final = 2048
"""The longest Fetch: a replica asks for one partition, and may let its request wait for long."""
BUDGET_BYTES: Final = 120 * 1024 * 1024
_BYTES_PER_BYTE: Final = 400
"""What the values of a small request take at most for each of its bytes."""
_MOST_BYTES: Final = 80 * 1024 * 1024
"""What they take at most with as many elements as `kraft.wire.element_count` allows."""
_SMALL_BYTES: Final = 8192 * _BYTES_PER_BYTE
_ROOM_FOR_SMALL: Final = 20 * 1024 * 1024
_FETCH_KEY: Final = 1
_KEY_BYTES: Final = 2


def cost_of(frame: bytes) -> int:
    """Return how many bytes the values of a request may take. A Fetch costs nothing here.

    Raises LimitExceededError for a Fetch that is too long.
    """
    if int.from_bytes(frame[:_KEY_BYTES], "big") != _FETCH_KEY:
        return min(_BYTES_PER_BYTE * len(frame), _MOST_BYTES)
    if len(frame) > MAX_FETCH_BYTES:
        name, size = CONTROLLER_APIS[_FETCH_KEY].name, len(frame)
        raise LimitExceededError(
            f"a {name} of {size} bytes, the limit is {MAX_FETCH_BYTES}", position=0
        )
    return 0


class Admission:
    """Lets requests in, each kind in its order, as long as their values fit into the budget.

    A small request goes before all larger ones, and some room is always left for it: no flood of
    the largest requests keeps a heartbeat waiting.
    """

    __slots__ = ("_budget", "_is_admitting", "_large", "_small", "taken")

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._small: deque[tuple[int, Callable[[], None]]] = deque()
        self._large: deque[tuple[int, Callable[[], None]]] = deque()
        self._is_admitting = False
        self.taken = 0

    def enter(self, cost: int, go: Callable[[], None]) -> None:
        """Call `go` once a request of this cost may be read: now, or after others have left."""
        (self._large if cost > _SMALL_BYTES else self._small).append((cost, go))
        self._admit()

    def leave(self, cost: int) -> None:
        """Note that a request has been answered, and let others in."""
        self.taken -= cost
        self._admit()

    def _admit(self) -> None:
        # A request that is answered at once leaves before the next one enters.
        if self._is_admitting:
            return
        self._is_admitting = True
        try:
            while (entering := self._next()) is not None:
                cost, go = entering
                self.taken += cost
                go()
        finally:
            self._is_admitting = False

    def _next(self) -> tuple[int, Callable[[], None]] | None:
        """Return the next request that fits."""
        for waiting, budget in (
            (self._small, self._budget),
            (self._large, self._budget - _ROOM_FOR_SMALL),
        ):
            if waiting and self.taken + waiting[0][0] <= budget:
                return waiting.popleft()
        return None
