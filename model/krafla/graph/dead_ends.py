"""States from which no step leads to another state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.oracle import OUTSIDE

if TYPE_CHECKING:
    from krafla.graph.state_graph import StateGraph

__all__ = ["DeadEnds", "dead_ends"]


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """States from which no step leads to another state of the model, nearest first.

    ``stepless``: without any step, TLC's deadlock. ``bounded``: the only steps to other states
    lead out of the model's bounds. ``looping``: the only steps lead back to the state itself.
    """

    stepless: tuple[int, ...]
    bounded: tuple[int, ...]
    looping: tuple[int, ...]


def dead_ends(graph: StateGraph) -> DeadEnds:
    """Return the dead ends among the states whose steps are known."""
    known = graph.found.expanded
    goes_on, goes_out, loops = (bytearray(known) for _ in range(3))
    for source, target in zip(graph.found.sources, graph.found.targets, strict=True):
        (goes_out if target == OUTSIDE else loops if target == source else goes_on)[source] = 1
    ends = [state for state in range(known) if not goes_on[state]]
    return DeadEnds(
        tuple(state for state in ends if not goes_out[state] and not loops[state]),
        tuple(state for state in ends if goes_out[state]),
        tuple(state for state in ends if loops[state] and not goes_out[state]),
    )
