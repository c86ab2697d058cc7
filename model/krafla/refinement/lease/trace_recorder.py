"""A judged run as a trace of the spec: what every tool here can show, replay and keep."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from krafla.match.claims import claim_of
from krafla.oracle.digest import spec_digest
from krafla.refinement.common.judgement import Agreed, Divergence, Failed
from krafla.refinement.lease.properties import MODULE
from krafla.traces import Claim, ClaimKind, Event, Origin, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import Function
from kraft.sim.common.recording import Recording, to_json
from kraft.sim.lease.choices import Deliver, DuplicateMessage, LoseMessage
from kraft.sim.lease.network import find, is_request

if TYPE_CHECKING:
    from krafla.oracle.properties import Properties
    from krafla.refinement.common.judgement import Finding, Judgement
    from krafla.refinement.lease.spec import LeaseSpec
    from krafla.values import Value
    from kraft.sim.common.step import StepResult
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster

__all__ = ["SIMULATOR", "TraceRecorder", "claimed_by"]

SIMULATOR = "simulator"


class TraceRecorder:
    """Collects the steps of a run as the implementation took them; stutters are left out."""

    def __init__(self, lease: LeaseSpec, first: Cluster) -> None:
        self._lease = lease
        self._configuration = first.configuration
        self._choices: list[Choice] = []
        self._steps = [Step(INITIAL, (), self._state(first), event=Event(time_ms=0))]
        self._finding: Finding | None = None

    def record(
        self, choice: Choice, result: StepResult[Cluster, Choice] | None, judgement: Judgement
    ) -> None:
        """Take note of a choice, of the step it led to, if any, and of what was said of it."""
        if not isinstance(judgement, Agreed):
            self._finding = judgement
        if not isinstance(judgement, Failed) and judgement.action is not None:
            assert result is not None, "what was judged is a step"
            self._steps.append(
                Step(
                    judgement.action.name, judgement.action.parameters,
                    self._state(result.after), event=self._event(result),
                )
            )  # fmt: skip
        if not isinstance(judgement, Agreed) or judgement.action is not None:
            self._choices.append(choice)

    def trace(self, *, profile: str | None = None, seed: str | None = None) -> Trace:
        """Return the run up to now. Without a finding it claims to be a behaviour of the spec."""
        vocabulary = self._lease.mapping.vocabulary
        plan = to_json(Recording(self._configuration, tuple(self._choices))).decode()
        origin = Origin(SIMULATOR, profile, seed, plan, _digest())
        constants = tuple(sorted(vocabulary.constants.items()))
        claim = claimed_by(self._finding, self._lease.properties)
        return Trace(MODULE, tuple(self._steps), constants, claim, origin=origin)

    def _state(self, cluster: Cluster) -> Function:
        return Function(self._lease.mapping.variables(cluster))

    def _event(self, result: StepResult[Cluster, Choice]) -> Event:
        sent = range(result.before.next_message_id, result.after.next_message_id)
        taken = None
        if isinstance(result.choice, Deliver | LoseMessage):
            taken = result.choice.message_id
        return Event(self._node(result), tuple(sent), taken, result.after.controller_time_ms)

    def _node(self, result: StepResult[Cluster, Choice]) -> Value | None:
        """Return the process or broker that a choice names; the controller has no name."""
        choice, vocabulary = result.choice, self._lease.mapping.vocabulary
        if isinstance(choice, Deliver):
            envelope = find(result.before.network, choice.message_id)
            if envelope is None or is_request(envelope):
                return None
            return vocabulary.processes[envelope.incarnation_id]
        if isinstance(choice, LoseMessage | DuplicateMessage):
            return None
        process = getattr(choice, "incarnation_id", None)
        return None if process is None else vocabulary.processes.get(process)


def claimed_by(finding: Finding | None, properties: Properties) -> Claim:
    """Return what the trace of a run claims: that it is a behaviour, or what was found."""
    if finding is None:
        return Claim(ClaimKind.BEHAVIOUR)
    if isinstance(finding, Failed):
        return Claim(ClaimKind.FAILURE, finding.error)
    if isinstance(finding, Divergence):
        return claim_of(ClaimKind.DIVERGENCE, finding.action.name, finding.explanation)
    is_of_step = finding.name in properties.steps
    kind = ClaimKind.ACTION_PROPERTY if is_of_step else ClaimKind.INVARIANT
    return claim_of(kind, finding.name, finding.explanation)


@lru_cache(maxsize=1)
def _digest() -> str:
    return spec_digest(MODULE)
