"""MetadataLogSteps loaded for a cluster, and its state in the course of a run.

States are TLC's. None is fingerprinted: of each only what a node shows is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.oracle import EvaluationError
from krafla.oracle.state import State
from krafla.refinement.common.generated_spec import load_generated
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.oracle import Spec
    from krafla.oracle.explain import Explanation
    from krafla.values import Value

__all__ = ["ACTIONS", "MODULE", "NEVER_TAKEN", "SELDOM", "Action", "RefusalError", "StackSpecRun"]

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
"""The actions that each campaign should come to, whatever its seed."""
SELDOM: Final = ("LoadOlderSnapshot",)
"""Those that a campaign may well not come to."""
NEVER_TAKEN: Final = (
    "Claim", "LoseTail", "ClaimWithOpenTransaction", "BeginTransaction", "EndTransaction",
)  # fmt: skip
"""The actions of MetadataLog that no run takes.

ClaimWrittenLog is Claim, an election loses a tail, too, and nothing writes a transaction of several
batches.
"""


class Action(NamedTuple):
    """An action of the spec with its parameters in order."""

    name: str
    parameters: tuple[Value, ...]


class RefusalError(Exception):
    """The spec does not take an action; `explanation` says why."""

    def __init__(self, action: Action, explanation: Explanation) -> None:
        super().__init__(action.name)
        self.action = action
        self.explanation = explanation


@lru_cache(maxsize=16)
def _load(controllers: frozenset[str], brokers: frozenset[str]) -> Spec:
    text = _TEXT.format(controllers=fmt(controllers), brokers=fmt(brokers))
    return load_generated(_ROOT, text, _SETTINGS, MODULE)


class StackSpecRun:
    """Where the spec is in a run."""

    def __init__(self, controllers: Iterable[str], brokers: Iterable[str]) -> None:
        self.spec = _load(frozenset(controllers), frozenset(brokers))
        self._state: Any = self.spec.initial_states()[0].java
        self._action_class = self.spec.classes("tlc2.tool.Action")
        self._bodies: dict[str, tuple[Any, Any]] = {}

    def take(self, action: Action) -> None:
        """Go where an action leads. RefusalError if it is not enabled."""
        spec = self.spec
        definition, body = self._body(action.name)
        asked = self._action_class(body, spec.bind(definition, action.parameters), definition)
        try:
            reached = spec.asked(spec.tool.getNextStates, asked, self._state)
            refused = not reached.size()
        except EvaluationError:
            refused = True
        if refused:
            state = State(spec, self._state)
            explanation = spec.explain(state, action.name, action.parameters)
            raise RefusalError(action, explanation)
        self._state = reached.elementAt(0)

    def value(self, operator: str, *parameters: Value) -> Value:
        """Return the value of an operator where the spec is."""
        spec = self.spec
        definition, body = self._body(operator)
        context = spec.bind(definition, parameters)
        return spec.converter.to_python(spec.asked(spec.tool.eval, body, context, self._state))

    def _body(self, name: str) -> tuple[Any, Any]:
        known = self._bodies.get(name)
        if known is None:
            definition = self.spec.definition(name)
            known = self._bodies[name] = definition, definition.getBody()
        return known
