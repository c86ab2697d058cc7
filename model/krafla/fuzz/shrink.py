"""A shorter run with the same finding: choices are taken away as long as it stays.

A choice names a message by its id, and ids shift when an earlier choice is gone. So a message
is named here by the choice that put it in flight; if that is gone, so is whatever names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.fuzz.play import Player, Run
from kraft.sim.choices import Deliver, DuplicateMessage, LoseMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kraft.sim.choices import Choice

__all__ = ["shrink"]

_REPLAYS: Final = 2_000


@dataclass(frozen=True, slots=True)
class _Named:
    """A choice, its place in the original run, and the place that put its message in flight."""

    place: int
    choice: Choice
    origin: int | None = None


def shrink(run: Run, progress: Callable[[int], None] | None = None) -> Run:
    """Return the shortest run found whose finding is of the same kind as that of ``run``."""
    assert run.finding is not None, "nothing was found"
    attempts = _Attempts(run, progress)
    kept = _named(run)
    chunk = max(1, len(kept) // 2)
    while chunk and attempts.left > 0:
        shorter = _without_chunks(kept, chunk, attempts)
        # What a pass takes away can make something earlier removable: single choices go again.
        if chunk > 1 or len(shorter) == len(kept):
            chunk //= 2
        kept = shorter
    return attempts.best


class _Attempts:
    """Plays candidates, and remembers the best one."""

    def __init__(self, run: Run, progress: Callable[[int], None] | None) -> None:
        assert run.finding is not None
        self.best = run
        self.left = _REPLAYS
        self._kind = run.finding.kind
        self._progress = progress

    def fails(self, candidate: Sequence[_Named]) -> bool:
        """Return whether a candidate shows the same finding."""
        self.left -= 1
        run = _play_named(self.best, candidate)
        if run.finding is None or run.finding.kind != self._kind:
            return False
        if run.steps < self.best.steps:
            self.best = run
            if self._progress is not None:
                self._progress(run.steps)
        return True


def _without_chunks(kept: list[_Named], chunk: int, attempts: _Attempts) -> list[_Named]:
    """Return what is left after trying to do without each chunk, the last one first."""
    for end in range(len(kept), 0, -chunk):
        candidate = kept[: max(0, end - chunk)] + kept[end:]
        if attempts.left > 0 and attempts.fails(candidate):
            kept = candidate
    return kept


def _named(run: Run) -> list[_Named]:
    """Return the choices of a run with their messages named by where they came from."""
    player = Player(run.recording.configuration, run.also)
    origins: dict[int, int] = {}
    named = []
    for place, choice in enumerate(run.recording.choices):
        origin = None
        if isinstance(choice, Deliver | LoseMessage | DuplicateMessage):
            origin = origins.get(choice.message_id)
        named.append(_Named(place, choice, origin))
        before = player.cluster.next_message_id
        player.take(choice)
        origins.update(dict.fromkeys(range(before, player.cluster.next_message_id), place))
    return named


def _play_named(run: Run, candidate: Sequence[_Named]) -> Run:
    player = Player(run.recording.configuration, run.also)
    messages: dict[int, int] = {}
    for one in candidate:
        choice = one.choice
        if isinstance(choice, Deliver | LoseMessage | DuplicateMessage):
            if one.origin is None or one.origin not in messages:
                continue
            choice = type(choice)(messages[one.origin])
        before = player.cluster.next_message_id
        player.take(choice)
        if player.finding is not None:
            break
        if player.cluster.next_message_id > before:
            messages[one.place] = before
    return player.run
