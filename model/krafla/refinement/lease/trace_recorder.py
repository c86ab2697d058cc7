"""A judged run of the lease as a trace, with each step's time and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.refinement.common.trace_recorder import TraceRecorder
from krafla.traces.trace import Event
from kraft.sim.lease.choices import Deliver, DuplicateMessage, LoseMessage
from kraft.sim.lease.network import find, is_request

if TYPE_CHECKING:
    from krafla.refinement.common.judged_spec import JudgedSpec
    from krafla.refinement.lease.mapping import LeaseMapping
    from krafla.values import Value
    from kraft.sim.common.step import StepResult
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster

__all__ = ["LeaseTraceRecorder"]


class LeaseTraceRecorder(TraceRecorder):
    """The recorder of a run of the lease."""

    def __init__(self, judged: JudgedSpec[LeaseMapping], first: Cluster) -> None:
        super().__init__(judged, first)
        self._vocabulary = judged.mapping.vocabulary

    def _event(self, result: StepResult[Cluster, Choice] | None) -> Event:
        if result is None:
            return Event(time_ms=0)
        sent = range(result.before.next_message_id, result.after.next_message_id)
        taken = None
        if isinstance(result.choice, Deliver | LoseMessage):
            taken = result.choice.message_id
        return Event(self._node(result), tuple(sent), taken, result.after.controller_time_ms)

    def _node(self, result: StepResult[Cluster, Choice]) -> Value | None:
        """Return the process or broker that a choice names; the controller has no name."""
        choice, vocabulary = result.choice, self._vocabulary
        if isinstance(choice, Deliver):
            envelope = find(result.before.network, choice.message_id)
            if envelope is None or is_request(envelope):
                return None
            return vocabulary.processes[envelope.incarnation_id]
        if isinstance(choice, LoseMessage | DuplicateMessage):
            return None
        process = getattr(choice, "incarnation_id", None)
        return None if process is None else vocabulary.processes.get(process)
