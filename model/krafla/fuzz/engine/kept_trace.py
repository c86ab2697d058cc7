"""A kept trace on both sides: replayed on its spec, and taken by the implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.fuzz.engine.choice_system import play_plan
from krafla.fuzz.lease.follow import follow
from krafla.match.corpus import Corpus, read_index
from krafla.match.corpus_result import CorpusResult
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.match.corpus import Entry
    from krafla.traces import Trace

__all__ = ["NotAsListed", "check_corpus", "check_kept", "does_not_follow", "still_done"]


class NotAsListed(Exception):  # noqa: N818 - a finding about the corpus, not an error of this program
    """A trace does not come to what the index says; ``trace`` is what was replayed."""

    def __init__(self, objection: str, trace: Trace) -> None:
        super().__init__(objection)
        self.trace = trace


def check_kept(entry: Entry) -> CorpusResult:
    """Return the judged trace; ``NotAsListed`` if it comes to something else than is listed.

    ``KraflaError`` if the file cannot be read or the spec cannot be asked.
    """
    kept = CorpusResult.judged(entry)
    objection = kept.objection
    if objection is None and entry.implementation:
        objection = does_not_follow(kept.trace)
    if objection is None and entry.kind == "rejected":
        objection = still_done(kept.trace)
    if objection is not None:
        raise NotAsListed(objection, kept.trace)
    return kept


def check_corpus(
    folder: Path,
    progress: Callable[[str], None] = lambda _: None,
    *,
    within: Path | None = None,
) -> Corpus:
    """Return whether every trace of a corpus, or those within a folder, is as its index says.

    ``KraflaError`` if the index and the files do not match each other.
    """
    chosen = (within or folder).resolve()
    entries = tuple(
        entry for entry in read_index(folder) if entry.path.resolve().is_relative_to(chosen)
    )
    steps, reasons = 0, []
    for entry in entries:
        progress(f"replaying {entry.path.name}")
        try:
            steps += check_kept(entry).steps
        except NotAsListed as found:
            reasons.append(f"{entry.path.name}: {found}")
    return Corpus(entries, steps, tuple(reasons))


def still_done(trace: Trace) -> str | None:
    """Return what the spec has against a run of the implementation that is to be mended.

    A trace that a run of the simulator left behind holds the choices of that run. Once the
    implementation is mended, the same choices give a run that the spec agrees to: ``None``.
    """
    if trace.origin is None or trace.origin.plan is None:
        return None
    _, run = play_plan(trace, "the plan of the trace")
    return None if run.finding is None else f"the implementation does it still\n{run.detail}"


def does_not_follow(trace: Trace) -> str | None:
    """Return why the implementation does not take the steps of a trace; ``None`` if it does.

    If the trace claims a violation, the implementation must come to it, too.
    """
    followed = follow(trace)
    if followed.verdict is Verdict.HELD or followed.is_as_claimed:
        return None
    why = followed.finding or followed.apart
    return followed.sentence if why is None else f"{followed.sentence}\n{why}"
