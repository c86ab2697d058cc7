"""What participants and coordinator send to each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Decision", "Outcome", "Vote"]


class Outcome(Enum):
    """How a transaction ends."""

    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class Vote:
    """A participant promises to commit, or says that it has aborted."""

    participant: str
    is_yes: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """The coordinator says how the transaction ends."""

    outcome: Outcome
