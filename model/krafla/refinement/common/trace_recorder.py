"""A judged run as a trace of its spec, which every tool here can show, replay and keep."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from krafla.match.claims import claim_of
from krafla.match.spec_source import text_of
from krafla.oracle.digest import spec_digest
from krafla.oracle.loader import find_module
from krafla.refinement.common.judgement import Agreed, Divergence, Failed
from krafla.testing import Claim, ClaimKind, Step, Trace
from krafla.traces.trace import INITIAL, Origin
from krafla.values import Function

if TYPE_CHECKING:
    from krafla.oracle.properties import Properties
    from krafla.refinement.common.judged_spec import JudgedSpec
    from krafla.refinement.common.judgement import Finding, Judgement
    from krafla.traces.spec_text import SpecText
    from krafla.traces.trace import Event

__all__ = ["TraceRecorder"]

_MADE_BY: Final = "simulator"


class TraceRecorder:
    """Collects the steps of a run as the implementation took them, without stuttering steps.

    A protocol whose trace tells more than the spec overrides `_event`.
    """

    def __init__(self, judged: JudgedSpec[Any], first: Any) -> None:
        self._judged = judged
        self._steps = [Step(INITIAL, (), self._state(first), event=self._event(None))]
        self._finding: Finding | None = None

    def record(self, _choice: Any, result: Any, judgement: Judgement) -> None:
        """Add the step that a choice led to, if any, and what the spec says of it."""
        if not isinstance(judgement, Agreed):
            self._finding = judgement
        if not isinstance(judgement, Failed) and judgement.action is not None:
            assert result is not None, "what was judged is a step"
            action, state = judgement.action, self._state(result.after)
            self._steps.append(
                Step(action.name, action.parameters, state, event=self._event(result))
            )

    def trace(self, profile: str, seed: str, plan: str) -> Trace:
        """Return the run so far. Without a finding it claims to be a behaviour of the spec.

        ``profile`` and ``seed`` drew the run; they are empty for a run that was not drawn. ``plan``
        is its recording.
        """
        judged = self._judged
        digest, text = _digest_and_text(judged.module)
        if judged.text is not None:
            digest, text = judged.text.digest, judged.text
        origin = Origin(_MADE_BY, profile or None, seed or None, plan, digest)
        constants = tuple(sorted(judged.constants.items()))
        claim = _claimed_by(self._finding, judged.properties)
        return Trace(judged.module, tuple(self._steps), constants, claim, origin=origin, text=text)

    def _state(self, cluster: Any) -> Function:
        return Function(self._judged.mapping.variables(cluster))

    def _event(self, _result: Any) -> Event | None:
        """Return what only the implementation knows of a step; the first state has no result."""
        return None


def _claimed_by(finding: Finding | None, properties: Properties) -> Claim:
    """Return what the trace claims: that the run is a behaviour, or what was found in it."""
    if finding is None:
        return Claim(ClaimKind.BEHAVIOUR)
    if isinstance(finding, Failed):
        return Claim(ClaimKind.FAILURE, finding.error)
    if isinstance(finding, Divergence):
        return claim_of(ClaimKind.DIVERGENCE, finding.action.name, finding.explanation)
    is_of_step = finding.name in properties.steps
    kind = ClaimKind.ACTION_PROPERTY if is_of_step else ClaimKind.INVARIANT
    return claim_of(kind, finding.name, finding.explanation)


@cache
def _digest_and_text(module: str) -> tuple[str, SpecText | None]:
    return spec_digest(module), text_of(find_module(module, None))
