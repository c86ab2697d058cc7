"""A participant: it promises, and then does what the coordinator decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from two_phase_commit.messages import Decision, Outcome, Vote

if TYPE_CHECKING:
    from collections.abc import Callable

    from two_phase_commit.disk import Disk

__all__ = ["Participant"]


class Participant:
    """One process. After a crash another one is made, of the same name and disk."""

    def __init__(self, name: str, disk: Disk, send: Callable[[Vote], None]) -> None:
        self.name = name
        self._disk = disk
        self._send = send
        self._state = disk.last("working")

    @property
    def outcome(self) -> Outcome | None:
        """Return how the transaction ended here; ``None`` while that is open."""
        return Outcome(self._state) if self._state in {"committed", "aborted"} else None

    def on_prepare(self, *, can_commit: bool) -> None:
        """Promise to commit, or abort, and tell the coordinator. Once is enough."""
        if self._state == "working":
            self._record("prepared" if can_commit else "aborted")
        self.vote()

    def vote(self) -> None:
        """Tell the coordinator again what was promised, as its answer is late."""
        if self._state in {"prepared", "aborted"}:
            self._send(Vote(self.name, self._state == "prepared"))

    def on_decision(self, decision: Decision) -> None:
        """Do what is decided."""
        if self.outcome is None:
            self._record(decision.outcome.value)

    def _record(self, state: str) -> None:
        self._disk.append(state)
        self._disk.flush()
        self._state = state
