"""The observer that checks every property of the stack after each step of a simulation.

Raft's properties come first: what controllers and brokers must do rests on what is committed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated, Violation
from krafla.fuzz.raft.checks import PROPERTIES as RAFT_PROPERTIES
from krafla.fuzz.raft.checks import Checks
from krafla.fuzz.raft.history import name_of
from krafla.fuzz.stack.answer_checks import ANSWER_PROPERTIES, AnswerChecks
from krafla.fuzz.stack.broker_checks import BROKER_PROPERTIES, BrokerChecks
from krafla.fuzz.stack.committed_log import CommittedLog
from krafla.fuzz.stack.controller_checks import CONTROLLER_PROPERTIES, ControllerChecks
from krafla.fuzz.stack.data_checks import DATA_PROPERTIES, DataChecks
from krafla.fuzz.stack.hosting_checks import HOSTING_PROPERTIES, HostingChecks
from krafla.fuzz.stack.image_agreement import AGREEMENT_PROPERTIES, ImageAgreement
from krafla.fuzz.stack.isr_checks import ISR_PROPERTIES
from krafla.fuzz.stack.log_judge import LOG_PROPERTIES, LogJudge
from krafla.fuzz.stack.progress_checks import PROGRESS_PROPERTIES, ProgressChecks
from krafla.fuzz.stack.soft_state_checks import SOFT_STATE_PROPERTIES, SoftStateChecks
from krafla.fuzz.stack.token_checks import TOKEN_PROPERTIES, TokenChecks
from kraft.controller.effects import CreateSnapshot
from kraft.raft.effects import HandleCommit

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable

    from kraft.sim.raft.steps import ListenerStep, SimStep
    from kraft.sim.raft.workload import Acknowledged

__all__ = ["PROPERTIES", "StackChecks"]

PROPERTIES: Final = (
    *RAFT_PROPERTIES, *CONTROLLER_PROPERTIES, *LOG_PROPERTIES, *ANSWER_PROPERTIES,
    *ISR_PROPERTIES,
    *SOFT_STATE_PROPERTIES, *PROGRESS_PROPERTIES, *BROKER_PROPERTIES, *DATA_PROPERTIES,
    *AGREEMENT_PROPERTIES, *TOKEN_PROPERTIES, *HOSTING_PROPERTIES,
)  # fmt: skip


class StackChecks:
    """Checks every property in each step of a simulation, and keeps the first violation."""

    def __init__(self, *, stable: bool = False) -> None:
        self.raft = Checks(stable=stable, hosted=True)
        self.committed_log = CommittedLog()
        self.log_judge = LogJudge()
        self.agreement = ImageAgreement(self.committed_log, self.log_judge)
        self.controllers = ControllerChecks(self.committed_log)
        self.progress = ProgressChecks()
        self.hosting = HostingChecks()
        self.brokers = BrokerChecks(self.committed_log)
        self.data = DataChecks(self.committed_log)
        self._of_controllers = (
            self.controllers,
            AnswerChecks(self.committed_log, self.brokers),
            SoftStateChecks(self.committed_log),
            TokenChecks(),
            self.progress,
        )
        self.violation: Violation | None = None

    @property
    def hazards(self) -> Counter[str]:
        """The properties of Raft that broke after its promises had ended, by name."""
        return self.raft.hazards

    @property
    def unpromised(self) -> int:
        """The number of steps after Raft's promises had ended."""
        return self.raft.unpromised

    def finish(self, _acknowledged: Iterable[Acknowledged]) -> None:
        """Check at the end what the spec of the lease and the audit's image say of the whole log.

        What clients were told is checked as they are told.
        """
        if self._is_promised:
            self._guarded(self.log_judge.finish, None)
        if self._is_promised and self.violation is None:
            self._guarded(self.agreement.finish, None)

    def observe(self, step: SimStep) -> None:
        """Check a step, unless a property is broken already."""
        if self.violation is not None:
            return
        if step.listener is not None:
            if step.listener.kind == "controller":
                self._guarded(partial(self.hosting.check, step, step.listener), step)
            if self._is_promised and self.violation is None:
                self._guarded(partial(self._listener, step, step.listener), step)
            return
        self.raft.observe(step)
        self.data.observe(step)
        self.violation = self.raft.violation
        if step.kind in ("event", "start") and self.violation is None:
            self._guarded(partial(self.hosting.raft, step), step)
        if step.kind == "crash":
            for each in (*self._of_controllers, self.hosting, self.brokers):
                each.forget(step.incarnation)
        elif step.effects and self.violation is None and self._is_promised:
            self._guarded(partial(self._committed, step), step)

    @property
    def _is_promised(self) -> bool:
        """Whether what is committed stays committed: no damaged disk has ended that promise."""
        return not (self.raft.history.unsafe or self.raft.history.suspended)

    def _guarded(self, check: Callable[[], None], step: SimStep | None) -> None:
        """Run a check; what it raises becomes the violation of the run."""
        try:
            check()
        except Violated as broken:
            if step is None:
                self.violation = Violation(broken.name, broken.text, 0, 0, "the log")
            else:
                name = name_of(step.replica)
                self.violation = Violation(broken.name, broken.text, step.number, step.time, name)

    def _committed(self, step: SimStep) -> None:
        self.progress.raft(step)
        for effect in step.effects:
            if isinstance(effect, HandleCommit):
                self.log_judge.add(effect.batches)

    def _listener(self, step: SimStep, listener: ListenerStep) -> None:
        if listener.kind == "controller":
            for effect in listener.effects:
                if isinstance(effect, CreateSnapshot):
                    self.controllers.check_snapshot(effect)
            for each in self._of_controllers:
                each.check(step, listener)
        elif listener.kind == "broker":
            self.brokers.check(step, listener)
            if listener.effects:
                self.data.check(step, listener)
