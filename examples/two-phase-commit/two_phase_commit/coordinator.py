"""The coordinator: it decides once all votes are there, or once it waits for them no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from two_phase_commit.messages import Decision, Outcome, Vote

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from two_phase_commit.disk import Disk

__all__ = ["Coordinator"]


class Coordinator:
    """One process. After a crash another one is made, with the same disk."""

    def __init__(
        self, participants: Collection[str], disk: Disk, send: Callable[[Decision], None]
    ) -> None:
        self._participants = frozenset(participants)
        self._disk = disk
        self._send = send
        self._votes: set[str] = set()
        self._decision = disk.last("none")

    def on_vote(self, vote: Vote) -> None:
        """Count a vote; decide if it is the last one, or a no."""
        if not vote.is_yes:
            self._decide(Outcome.ABORTED)
        else:
            self._votes.add(vote.participant)
            if self._votes == self._participants:
                self._decide(Outcome.COMMITTED)
        self.announce()

    def on_timeout(self) -> None:
        """Wait no longer: what is not decided is aborted."""
        self._decide(Outcome.ABORTED)
        self.announce()

    def announce(self) -> None:
        """Send the decision, if there is one; again if it was sent before."""
        if self._decision != "none":
            self._send(Decision(Outcome(self._decision)))

    def _decide(self, outcome: Outcome) -> None:
        if self._decision == "none":
            self._record(outcome.value)
            self._decision = outcome.value

    def _record(self, decision: str) -> None:
        """Write a decision; it must not be lost once a participant may have heard of it."""
        self._disk.append(decision)
        self._disk.flush()
