"""What the steps of each action change: an action often does one thing or another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle import OUTSIDE

if TYPE_CHECKING:
    from krafla.graph.state_graph import StateGraph

__all__ = ["first_effects"]


def first_effects(graph: StateGraph) -> dict[tuple[str, tuple[str, ...]], int]:
    """Return each action with each set of variables that a step of it changes, and the first step.

    Steps are in order of discovery, so the first one begins in a nearest state. Steps out of the
    model's bounds do not count. Under SYMMETRY a step ends in a state that stands for others, which
    may differ in more variables than the step has changed.
    """
    found = graph.found
    columns = [(name, found.values(name)[0]) for name in found.spec.variables]
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    steps = zip(found.sources, found.targets, found.labels, strict=True)
    for step, (source, target, label) in enumerate(steps):
        if target == OUTSIDE:
            continue
        changed = tuple(name for name, column in columns if column[source] != column[target])
        first.setdefault((found.actions[label], changed), step)
    order = {name: number for number, name in enumerate(found.actions)}
    return dict(sorted(first.items(), key=lambda pair: (order[pair[0][0]], pair[1])))
