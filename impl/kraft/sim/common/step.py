"""One step of a simulation driven by choices: the state before and after, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, Generic, TypeVar

ClusterT = TypeVar("ClusterT")
ChoiceT = TypeVar("ChoiceT")


@dataclass(frozen=True, slots=True)
class Done:
    """The choice was possible; `action` is the action of the spec that the step took."""

    action: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The choice was not possible now, and nothing changed."""

    reason: str


Outcome = Done | Refused

done: Final = cache(Done)
UNKNOWN_PROCESS: Final = Refused("no such process")
UNKNOWN_MESSAGE: Final = Refused("no such message in flight")


@dataclass(frozen=True, slots=True)
class StepResult(Generic[ClusterT, ChoiceT]):
    """One step of a run: the cluster before and after it, the choice, and the outcome."""

    before: ClusterT
    after: ClusterT
    choice: ChoiceT
    outcome: Outcome
