"""A judged run of any game but the lease as a trace of its spec.

The lease has more to tell: what it chose, and the times and messages of each step
(`krafla.refinement.lease.trace_recorder`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.digest import spec_digest
from krafla.refinement.common.judgement import Agreed, Failed
from krafla.refinement.lease.trace_recorder import SIMULATOR, claimed_by
from krafla.traces import Origin, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import Function

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.refinement.common.judged_spec import JudgedSpec
    from krafla.refinement.common.judgement import Finding, Judgement
    from krafla.values import Value

__all__ = ["GameRecorder"]


class GameRecorder:
    """Collects the steps of a run as the implementation took them; stutters are left out.

    ``module_of`` and ``constants_of`` say of a configuration which module judges it, and with which
    constants.
    """

    def __init__(
        self,
        judged: JudgedSpec[Any],
        first: Any,
        *,
        module_of: Callable[[Any], str],
        constants_of: Callable[[Any], dict[str, Value]],
    ) -> None:
        self._judged = judged
        self._module = module_of(first.configuration)
        self._constants = tuple(sorted(constants_of(first.configuration).items()))
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
        origin = Origin(SIMULATOR, profile, seed, digest=spec_digest(self._module))
        claim = claimed_by(self._finding, self._judged.properties)
        return Trace(self._module, tuple(self._steps), self._constants, claim, origin=origin)

    def _state(self, cluster: Any) -> Function:
        return Function(self._judged.mapping.variables(cluster))
