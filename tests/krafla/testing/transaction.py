"""Two-phase commit in memory, right and with mistakes; votes are on their way unseen."""

from __future__ import annotations

from typing import Any

from krafla.testing import Refused

__all__ = ["TRANSACTION_MISTAKES", "Transaction", "TransactionDriver", "driving"]


class Transaction:
    """A coordinator with participants, which send it their votes through a mailbox."""

    def __init__(self, names: tuple[str, ...] = ("p1", "p2")) -> None:
        self.state = dict.fromkeys(names, "working")
        self.decision = "none"
        self.mailbox: list[str] = []

    def prepare(self, name: str) -> None:
        """Vote for the commit."""
        if self.state[name] != "working":
            raise Refused
        self.state[name] = "prepared"
        self.mailbox.append(name)

    def give_up(self, name: str) -> None:
        """Abort before a vote."""
        if self.state[name] != "working":
            raise Refused
        self.state[name] = "aborted"

    def commit(self) -> None:
        """Decide, if all have voted."""
        if self.decision != "none" or not self.may_commit():
            raise Refused
        self.decision = "commit"

    def may_commit(self) -> bool:
        """Return whether all votes are there."""
        return set(self.mailbox) == set(self.state)

    def abort(self) -> None:
        """Decide against it."""
        if self.decision != "none":
            raise Refused
        self.decision = "abort"

    def learn(self, name: str) -> None:
        """Do what was decided."""
        if self.decision == "none" or self.state[name] != "prepared":
            raise Refused
        self.state[name] = "committed" if self.decision == "commit" else "aborted"


class _CommitsAtTheFirstVote(Transaction):
    def may_commit(self) -> bool:
        return bool(self.mailbox)


class _GivesUpAfterTheVote(Transaction):
    def give_up(self, name: str) -> None:
        if self.state[name] not in {"working", "prepared"}:
            raise Refused
        self.state[name] = "aborted"


class _DecidesTwice(Transaction):
    def abort(self) -> None:
        self.decision = "abort"


class _LearnsWithoutAVote(Transaction):
    def learn(self, name: str) -> None:
        if self.decision == "none":
            raise Refused
        self.state[name] = "committed" if self.decision == "commit" else "aborted"


class _AbortsAreCommits(Transaction):
    def learn(self, name: str) -> None:
        if self.decision == "none" or self.state[name] != "prepared":
            raise Refused
        self.state[name] = "committed"


# Each with the text that tells it.
TRANSACTION_MISTAKES: dict[type[Transaction], str] = {
    _CommitsAtTheFirstVote: "arrived = Participant",
    _GivesUpAfterTheVote: 'state[p] = "working"',
    _DecidesTwice: 'decision = "none"',
    _LearnsWithoutAVote: 'state[p] = "prepared"',
    _AbortsAreCommits: "state' = [state EXCEPT ![p] = IF decision",
}


class TransactionDriver:
    """Shows the participants and the decision; what arrived, only the spec knows."""

    spec = "specs/TwoPhase.tla"
    hidden = ("Arrive",)
    code: type[Transaction] = Transaction

    def __init__(self) -> None:
        self.made = self.code()

    def prepare(self, name: str) -> None:
        """Take the action of this name."""
        self.made.prepare(name)

    def give_up(self, name: str) -> None:
        """Take the action of this name."""
        self.made.give_up(name)

    def commit(self) -> None:
        """Take the action of this name."""
        self.made.commit()

    def abort(self) -> None:
        """Take the action of this name."""
        self.made.abort()

    def learn(self, name: str) -> None:
        """Take the action of this name."""
        self.made.learn(name)

    def observe(self) -> dict[str, Any]:
        """Return what can be seen from outside."""
        return {"state": self.made.state, "decision": self.made.decision}


def driving(wrong: type[Transaction]) -> type[TransactionDriver]:
    """Return a driver of a transaction with a mistake."""
    return type(f"{wrong.__name__.strip('_')}Driver", (TransactionDriver,), {"code": wrong})
