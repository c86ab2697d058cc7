"""A judged run of a cluster as a trace of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.digest import spec_digest
from krafla.refinement.judgement import Agreed, Failed
from krafla.refinement.together.together_spec import MODULE, constants_of
from krafla.refinement.tracing import SIMULATOR, claimed_by
from krafla.traces import Origin, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import Function

if TYPE_CHECKING:
    from krafla.refinement.judged_spec import JudgedSpec
    from krafla.refinement.judgement import Finding, Judgement
    from krafla.refinement.together.mapping import TogetherMapping
    from kraft.sim.together.cluster import Cluster

__all__ = ["TogetherRecorder"]


class TogetherRecorder:
    """Collects the steps of a run as the implementation took them; stutters are left out."""

    def __init__(self, judged: JudgedSpec[TogetherMapping], first: Cluster) -> None:
        self._judged = judged
        self._configuration = first.configuration
        self._steps = [Step(INITIAL, (), self._state(first))]
        self._finding: Finding | None = None

    def record(self, _choice: Any, result: Any, judgement: Judgement) -> None:
        """Take note of the step a choice led to, if any, and of what was said of it."""
        if not isinstance(judgement, Agreed):
            self._finding = judgement
        if not isinstance(judgement, Failed) and judgement.action is not None:
            assert result is not None, "what was judged is a step"
            action = judgement.action
            self._steps.append(Step(action.name, action.parameters, self._state(result.after)))

    def trace(self, *, profile: str | None = None, seed: str | None = None) -> Trace:
        """Return the run up to now. Without a finding it claims to be a behaviour of the spec."""
        constants = tuple(sorted(constants_of(self._configuration).items()))
        origin = Origin(SIMULATOR, profile, seed, digest=spec_digest(MODULE))
        claim = claimed_by(self._finding, self._judged.properties)
        return Trace(MODULE, tuple(self._steps), constants, claim, origin=origin)

    def _state(self, cluster: Cluster) -> Function:
        return Function(self._judged.mapping.variables(cluster))
