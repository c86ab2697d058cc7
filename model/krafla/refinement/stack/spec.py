"""MetadataLogSteps loaded for controllers and brokers, and its state during a run."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.refinement.common.loading import load_generated
from krafla.refinement.common.spec_run import RefusalError, SpecRun
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.refinement.common.spec_run import Action
    from krafla.testing import Spec
    from krafla.values import Value

__all__ = ["ACTIONS", "MODULE", "NEVER_TAKEN", "SELDOM", "StackSpecRun"]

MODULE: Final = "MetadataLogSteps"
_ROOT: Final = "MetadataLogLockstep"

_TEXT: Final = """---- MODULE MetadataLogLockstep ----
EXTENDS MetadataLogSteps
TheControllers == {controllers}
TheBrokers == {brokers}
NoRequest == {{}}
====
"""
_SETTINGS: Final = """CONSTANTS
  Nil = Nil
  Controller <- TheControllers
  Broker <- TheBrokers
  Request <- NoRequest
  InitialImage = 0
  Replay <- ReplayChange
  Records <- RecordsOfAsked
  Result <- ResultOfAsked
  AnswersWith <- AnswersOfAsked
  ReplayLog <- ReplayLogByHalves
INIT Init
NEXT Next
CHECK_DEADLOCK FALSE
"""
ACTIONS: Final = (
    "Elect", "LoseLeadership", "Commit", "ClaimEmptyLog", "ClaimWrittenLog", "Renounce", "Ask",
    "RefuseRequest", "RefuseAppend", "HandleWrite", "AnswerUnchanged", "DelayUnchanged", "RunTask",
    "AnswerRead", "HandleCommit", "ReplayCommitted", "CreateSnapshot", "LoadSnapshot", "Restart",
    "StartAnew",
)  # fmt: skip
"""The actions that every campaign should take, whatever its seed."""
SELDOM: Final = ("LoadOlderSnapshot",)
"""The actions that a campaign may well never take."""
NEVER_TAKEN: Final = (
    "Claim", "LoseTail", "ClaimWithOpenTransaction", "BeginTransaction", "EndTransaction",
)  # fmt: skip
"""The actions of MetadataLog that no run takes.

ClaimWrittenLog stands for Claim, Elect also loses a tail, and no operation writes a transaction of
several batches.
"""


@lru_cache(maxsize=16)
def _load(controllers: frozenset[str], brokers: frozenset[str]) -> Spec:
    text = _TEXT.format(controllers=fmt(controllers), brokers=fmt(brokers))
    return load_generated(_ROOT, text, _SETTINGS, MODULE, shares_classes=True)


class StackSpecRun(SpecRun):
    """MetadataLogSteps in its current state."""

    def __init__(self, controllers: Iterable[str], brokers: Iterable[str]) -> None:
        super().__init__(_load(frozenset(controllers), frozenset(brokers)))

    def take(self, action: Action) -> None:
        """Take an action. Raises RefusalError if it is not enabled."""
        reached = self.successor(action, self.state)
        if reached is None:
            raise RefusalError(action, self.state)
        self.state = reached

    def value(self, operator: str, *parameters: Value) -> Value:
        """Return the value of an operator in the current state. Raises EvaluationError."""
        return self.spec.converter.to_python(self.evaluate(operator, self.state, *parameters))
