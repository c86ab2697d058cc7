"""A shortest way to a state of the table: from child to parent, then forward again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions

from krafla.pipeline.frontier.task import STATES
from krafla.testing import State
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from krafla.pipeline.frontier.plan import Plan
    from krafla.pipeline.frontier.search import Level, Reached
    from krafla.pipeline.frontier.tally import Fault
    from krafla.pipeline.store import Store
    from krafla.testing import Spec

__all__ = ["path_to", "way_to_fault"]


def way_to_fault(
    place: Store, reached: Reached, plan: Plan, spec: Spec, fault: Fault
) -> tuple[tuple[str, State], ...]:
    """Return the states up to a fault, each with the action that led to it; the first is "Init"."""
    if not fault.state:
        return path_to(place, reached, plan, spec, fault.depth, fault.fp)
    before: tuple[tuple[str, State], ...] = ()
    if fault.parent is not None:
        before = path_to(place, reached, plan, spec, fault.depth, fault.parent)
    return (*before, *_states(plan, spec, [(fault.action, bytes.fromhex(fault.state))]))


def path_to(
    place: Store, reached: Reached, plan: Plan, spec: Spec, depth: int, fingerprint: int
) -> tuple[tuple[str, State], ...]:
    """Return the states up to the one at a depth with a fingerprint, a shortest way.

    A row names as its parent the very state from which its own was computed, so that each pair is
    a step of the spec, also under SYMMETRY. ``KraflaError`` if a state is missing.
    """
    back: list[tuple[int, bytes]] = []
    wanted: int | None = fingerprint
    for level in reversed(reached.levels):
        if wanted is None or depth < _first(reached, level):
            continue
        found = _walked(place, level, wanted)
        if not found:
            raise KraflaError("a state is missing where the search is kept", level.load)
        back += [(action, packed) for _, action, packed in found]
        wanted, depth = found[-1][0], depth - len(found)
    return _states(plan, spec, back[::-1])


def _first(reached: Reached, level: Level) -> int:
    """Return the least depth of the states of a load."""
    index = reached.levels.index(level)
    return reached.levels[index - 1].depth + 1 if index else 1


def _walked(place: Store, level: Level, fingerprint: int) -> list[tuple[int | None, int, bytes]]:
    """Return the rows of one load that lead to a state, the last first."""
    table = place.written(STATES, level.load).where("note IS NULL")
    if level.frontier == level.count:
        return _rows(table, [fingerprint])
    # A load of several depths, which one task found: its links fit in memory.
    links = table.select("fp", "parent").collect()
    parents = {row["fp"]: row["parent"] for row in links}
    way = []
    wanted: int | None = fingerprint
    while wanted is not None and wanted in parents:
        way.append(wanted)
        wanted = parents[wanted]
    return _rows(table, way)


def _rows(table: DataFrame, prints: list[int]) -> list[tuple[int | None, int, bytes]]:
    chosen = table.where(functions.col("fp").isin(prints))
    rows: dict[int, Any] = {row["fp"]: row for row in chosen.collect()}
    return [
        (rows[one]["parent"], rows[one]["action"], bytes(rows[one]["state"]))
        for one in prints
        if one in rows
    ]


def _states(plan: Plan, spec: Spec, rows: list[tuple[int, bytes]]) -> tuple[tuple[str, State], ...]:
    names = [action.name for action in spec.actions]
    java = plan.codec(spec).decode([packed for _, packed in rows])
    with spec.reduced():
        return tuple(
            (names[action] if action >= 0 else "Init", State(spec, one))
            for (action, _), one in zip(rows, java, strict=True)
        )
