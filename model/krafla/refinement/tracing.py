"""A judged run as a trace of the spec: what every tool here can show, replay and keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.refinement.judgement import Agreed, Divergence, PropertyViolated
from krafla.refinement.properties import MODULE
from krafla.traces import Claim, ClaimKind, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import Function

if TYPE_CHECKING:
    from krafla.refinement.judgement import Finding, Judgement
    from krafla.refinement.lease_spec import LeaseSpec
    from kraft.sim.cluster import Cluster

__all__ = ["TraceRecorder"]


class TraceRecorder:
    """Collects the steps of a run as the implementation took them; stutters are left out."""

    def __init__(self, lease: LeaseSpec, first: Cluster) -> None:
        self._lease = lease
        self._steps = [Step(INITIAL, (), self._state(first))]
        self._finding: Finding | None = None

    def record(self, after: Cluster, judgement: Judgement) -> None:
        """Take note of a step and of what was said of it."""
        if not isinstance(judgement, Agreed):
            self._finding = judgement
        if isinstance(judgement, Agreed | Divergence | PropertyViolated):
            action = judgement.action
            if action is not None:
                self._steps.append(Step(action.name, action.parameters, self._state(after)))

    def trace(self) -> Trace:
        """Return the run up to now. Without a finding it claims to be a behaviour of the spec.

        A trace that ends in a divergence claims nothing: its last step is what the spec denies.
        """
        constants = self._lease.mapping.vocabulary.constants
        return Trace(MODULE, tuple(self._steps), tuple(sorted(constants.items())), self._claim())

    def _claim(self) -> Claim | None:
        finding = self._finding
        if finding is None:
            return Claim(ClaimKind.BEHAVIOUR)
        if not isinstance(finding, PropertyViolated):
            return None
        is_of_step = finding.name in self._lease.properties.steps
        kind = ClaimKind.ACTION_PROPERTY if is_of_step else ClaimKind.INVARIANT
        return Claim(kind, finding.name)

    def _state(self, cluster: Cluster) -> Function:
        return Function(self._lease.mapping.variables(cluster))
