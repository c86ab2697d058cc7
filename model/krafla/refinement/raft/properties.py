"""The properties of KRaft that a lockstep checks in every state and step.

Models show that the steps of the spec keep them. A run goes further than a model: it has more
replicas, longer logs and more epochs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.conjunction import Conjunction
from krafla.testing import EvaluationError, State
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection

    from krafla.testing import Explanation, Spec

__all__ = ["INVARIANTS", "STEPS", "RaftProperties"]

INVARIANTS: Final = (
    "ElectionSafetyInv",
    "OneLeaderPerEpochInv",
    "VoteWrittenBeforeAnsweredInv",
    "RoleMatchesStateInv",
    "NoIllegalStateInv",
    "OneRequestPerConnectionInv",
    "LogMatchingInv",
    "EpochsAscendInv",
    "OnlyLeaderOwesFlushInv",
    "NotedIsDurableInv",
    "StateMachineSafetyInv",
    "LeaderCompletenessInv",
    "HighWatermarkWithinLogInv",
    "SnapshotAtLogStartInv",
    "SnapshotCommittedInv",
)
"""Checked in every state.

CommittedOnMajorityInv is too strong for sole voters and while voters change.
"""

STEPS: Final = (
    "MonotonicEpochProp",
    "VoteOncePerEpochProp",
    "LeaderRememberedProp",
    "LeaderAppendOnlyProp",
    "NoTruncationBelowHighWatermarkProp",
    "NewLeaderForgetsHighWatermarkProp",
    "CommittedOnlyGrowsProp",
    "NeverCommitOldEpochDirectlyProp",
    "LeaderNeverLoadsSnapshotProp",
)
"""Checked in every step. A start may be several actions, so its properties are left to models."""


class RaftProperties:
    """The properties of one loaded spec, checked on TLC's states."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._all = Conjunction(spec, INVARIANTS, STEPS)

    def broken_by(
        self, before: Any, after: Any, changed: Collection[str]
    ) -> tuple[str, Explanation] | None:
        """Return the first property that a step breaks, and how; None if it keeps all.

        `changed` names every variable that the step changed.
        """
        old, new = State(self._spec, before, 0), State(self._spec, after, 0)
        try:
            if self._all.holds_in(new, changed) and self._all.permits(old, new, changed):
                return None
        except EvaluationError:
            pass  # Which property it is, and why, is found below.
        return self._first_broken(old, new)

    def _first_broken(self, old: State, new: State) -> tuple[str, Explanation]:
        spec = self._spec
        for name in INVARIANTS:
            found = spec.explain_invariant(name, new)
            if found.reasons:
                return name, found
        for name in STEPS:
            found = spec.explain_action_property(name, old, new)
            if found.reasons:
                return name, found
        raise KraflaError("TLC finds a property broken, but each holds alone: a bug of krafla")
