"""The kinds of requests that operators send, each by its name, for a plan that says which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.sim.raft.kinds import FaultKind
from kraft.sim.stack.edge_requests import EDGE_OPERATIONS
from kraft.sim.stack.requests import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.stack.requests import Ask


REQUESTS: Final[dict[str, Callable[[Ask], Any]]] = {
    name: make for _, name, make in (*OPERATIONS, *EDGE_OPERATIONS)
}
"""Each kind of request; it makes none for an image for which the kind makes no sense."""
REQUEST_KINDS: Final = {
    name: FaultKind(
        name, "operator", f"An operator asks: {name.replace('-', ' ')}.", (), is_default=False
    )
    for name in REQUESTS
}
"""The same as entries of a plan, which has faults besides."""
