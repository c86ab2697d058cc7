"""One step of a simulation that is driven by choices: what was, what is, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, Generic, TypeVar

ClusterT = TypeVar("ClusterT")
ChoiceT = TypeVar("ChoiceT")


@dataclass(frozen=True, slots=True)
class Done:
    """The choice was possible, and the step was this action of the spec."""

    action: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The choice was not possible at this moment, and nothing changed."""

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
