"""A kept trace on both sides: replayed on its spec, and taken by the implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.fuzz.recorded import play_trace
from krafla.refinement.kept import Kept

if TYPE_CHECKING:
    from krafla.refinement.corpus import Entry
    from krafla.traces import Trace

__all__ = ["NotAsListed", "check_kept", "does_not_follow"]


class NotAsListed(Exception):  # noqa: N818 - a finding about the corpus, not an error of this program
    """A trace does not come to what the index says; ``trace`` is what was replayed."""

    def __init__(self, objection: str, trace: Trace) -> None:
        super().__init__(objection)
        self.trace = trace


def check_kept(entry: Entry) -> Kept:
    """Return the judged trace; ``NotAsListed`` if it comes to something else than is listed.

    ``KraflaError`` if the file cannot be read or the spec cannot be asked.
    """
    kept = Kept.judged(entry)
    objection = kept.objection
    if objection is None and entry.implementation:
        objection = does_not_follow(kept.trace)
    if objection is not None:
        raise NotAsListed(objection, kept.trace)
    return kept


def does_not_follow(trace: Trace) -> str | None:
    """Return why the implementation does not take the steps of a trace; ``None`` if it does."""
    run = play_trace(trace)
    if run.finding is not None:
        return f"the implementation parts from the spec: {run.finding}"
    left = len(trace.steps) - 1 - run.steps
    return f"the implementation does not take {left} of the steps" if left else None
