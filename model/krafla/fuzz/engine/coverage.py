"""What a campaign has seen of the spec: actions taken, witnesses reached, states visited."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krafla.refinement.common.judged_spec import JudgedSpec
    from krafla.refinement.common.judgement import Agreed
    from krafla.refinement.common.lockstep import Judge

__all__ = ["Coverage"]


class Coverage:
    """Counts what the spec agreed to, over many runs."""

    def __init__(self) -> None:
        self.actions: Counter[str] = Counter()
        self.steps = 0
        self.witnesses: dict[str, int] = {}
        self.all_actions: tuple[str, ...] = ()
        self.all_witnesses: tuple[str, ...] = ()
        self._states: set[int] = set()
        self._judges: list[JudgedSpec[Any]] = []

    def observe(self, judge: Judge, judgement: Agreed) -> None:
        """Take note of a step; a witness is noted with the step that first reached it."""
        self.steps += 1
        if judge.judged not in self._judges:
            self.expect(judge.judged)
        if judgement.action is None:
            return
        self.actions[judgement.action.name] += 1
        self._states.add(judge.state.fingerprint)
        if len(self.witnesses) < len(self.all_witnesses):
            for name in judge.judged.properties.witnesses:
                if name not in self.witnesses and judge.reaches(name):
                    self.witnesses[name] = self.steps

    def expect(self, judged: JudgedSpec[Any]) -> None:
        """Expect what a spec has; runs of one campaign may be judged by several."""
        self._judges.append(judged)
        actions = (*self.all_actions, *(action.name for action in judged.spec.actions))
        witnesses = (*self.all_witnesses, *judged.properties.witnesses)
        self.all_actions = tuple(dict.fromkeys(actions))
        self.all_witnesses = tuple(dict.fromkeys(witnesses))

    @property
    def states(self) -> int:
        """Return how many distinct states of the spec were visited."""
        return len(self._states)

    @property
    def fingerprints(self) -> frozenset[int]:
        """Return the fingerprints of the distinct states that were visited."""
        return frozenset(self._states)

    @property
    def missed_actions(self) -> tuple[str, ...]:
        """Return the actions of the spec that were never taken."""
        return tuple(name for name in self.all_actions if not self.actions[name])

    @property
    def missed_witnesses(self) -> tuple[str, ...]:
        """Return the witnesses that no state reached."""
        return tuple(name for name in self.all_witnesses if name not in self.witnesses)
