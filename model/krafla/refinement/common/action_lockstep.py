"""A lockstep that reads every step of a run as actions of a spec.

There are two kinds of lockstep, and they share little. In the five protocols whose runs are lists
of choices, a choice names the action and a mapping gives the whole state of the spec:
`krafla.refinement.common.lockstep.Judge` looks both up among the spec's steps. In a simulation of
processes (Raft, the stack) a step shows only what one process did. A reader finds out which actions
that was, the spec takes them, and only what the process shows is compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from krafla.refinement.common.judgement import (
    Agreed,
    Divergence,
    Finding,
    Judgement,
    SpecAction,
    variables_of,
)
from krafla.refinement.common.spec_run import RefusalError, SpecRun

if TYPE_CHECKING:
    from krafla.testing import Explanation

__all__ = ["ActionLockstep"]

Run = TypeVar("Run", bound=SpecRun)


class ActionLockstep(ABC, Generic[Run]):
    """The judge of one run. It stops at its first finding: later steps have nothing to compare.

    ``coverage`` counts the actions that were taken, ``steps`` the steps that were judged.
    """

    def __init__(self, spec_run: Run) -> None:
        self.coverage: Counter[str] = Counter()
        self.finding: Finding | None = None
        self.steps = 0
        self.spec_run = spec_run

    def judge(self, step: Any) -> Judgement:
        """Return what the spec says of the next step of the run."""
        assert self.finding is None, "a run is not judged beyond its finding"
        self.steps += 1
        try:
            judgement = self._judge(step)
        except RefusalError as refusal:
            action = self.spec_run.spec_action(refusal.action)
            judgement = self._divergence(action, self.spec_run.explain(refusal))
        if not isinstance(judgement, Agreed):
            self.finding = judgement
        return judgement

    @abstractmethod
    def _judge(self, step: Any) -> Judgement:
        """Judge a step. Raises RefusalError if the spec refuses one of its actions."""

    def _divergence(self, action: SpecAction | None, explanation: Explanation) -> Divergence:
        """Return the finding that the spec disagrees; ``None`` if the step was no action."""
        variables = self._variables_of(explanation)
        return Divergence(self.steps, action or SpecAction("", ()), explanation, variables)

    def _variables_of(self, explanation: Explanation) -> tuple[str, ...]:
        """Return the names of the variables that differ."""
        return variables_of(explanation.differences)
