"""What counts as progress in a model, and the components in which there is none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from krafla.manifest import read_toml
from krafla.oracle import OUTSIDE
from krafla.project.at_hand import projects_about
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from krafla.graph.components import Components
    from krafla.graph.state_graph import StateGraph
    from krafla.project import Project

__all__ = ["Progress", "aimless", "progress_of", "read_progress"]

PROGRESS_NAME = "progress.toml"
VIEWS_NAME = "views.toml"
_KEYS = {"spec": str, "idle": list, "goal": str, "rest": str, "why": str}


@dataclass(frozen=True, slots=True)
class Progress:
    """What counts as progress in a spec.

    ``idle``: actions that may be taken for ever without progress. ``goal``: a predicate that is
    true where progress was made. ``rest``: a predicate of the states in which nothing more need
    happen; without it, dead ends are not compared with it. ``why`` is the reason, in a sentence.
    """

    spec: str
    idle: frozenset[str] = frozenset()
    goal: str | None = None
    rest: str | None = None
    why: str = ""


def progress_of(spec: str) -> Progress:
    """Return what the ``progress.toml`` of a room says of a spec.

    If no file names the spec, the actions that no node takes (``world`` in ``views.toml``) are
    idle.
    """
    projects = projects_about(spec)
    for project in projects:
        for room in project.rooms():
            for found in read_progress(room / PROGRESS_NAME):
                if found.spec == spec:
                    return found
    return Progress(spec, frozenset(_world(spec, projects)))


def read_progress(path: Path) -> list[Progress]:
    """Return what a file says of each spec; ``KraflaError`` if its form is wrong."""
    if not path.is_file():
        return []
    _, data = read_toml(path)
    return [_progress(table, path) for table in data.get("progress", [])]


def _progress(table: dict[str, Any], path: Path) -> Progress:
    for key, value in table.items():
        if not isinstance(value, _KEYS.get(key, ())):
            raise KraflaError(
                f"[[progress]] has no key {key!r} with the value {value!r}", str(path)
            )
    if "spec" not in table or "why" not in table:
        raise KraflaError("a [[progress]] table names its spec, and says why", str(path))
    return Progress(**{**table, "idle": frozenset(table.get("idle", ()))})


def _world(spec: str, projects: Iterable[Project]) -> list[str]:
    for project in projects:
        files = (room / VIEWS_NAME for room in project.rooms())
        tables = [read_toml(path)[1].get("view", []) for path in files if path.is_file()]
        for view in chain(project.views(), *tables):
            if view.get("spec") == spec:
                return list(view.get("world", ()))
    return []


def aimless(graph: StateGraph, parts: Components, progress: Progress) -> list[int]:
    """Return the components in which a behaviour can go on for ever without progress.

    Such a component has several states, none of which satisfies the goal. No step leaves it, and
    every step inside that changes the state is idle. (A single state with steps back to it is a
    dead end.)
    """
    found = graph.found
    idle = {label for label, name in enumerate(found.actions) if name in progress.idle}
    steps = zip(found.sources, found.targets, found.labels, strict=True)
    moving = {
        parts.of[source]
        for source, target, label in steps
        if label not in idle
        and target not in {OUTSIDE, source}
        and parts.of[source] == parts.of[target]
    }
    holds = None if progress.goal is None else graph.holds[progress.goal]
    return [
        index
        for index in parts.livelocks(holds)
        if parts.found[index].size > 1 and index not in moving
    ]
