"""What one run shows of the spec: actions taken, witnesses reached, states visited."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from krafla.refinement.common.judged_spec import JudgedSpec
    from krafla.refinement.common.judgement import Agreed
    from krafla.refinement.common.lockstep import Judge

__all__ = ["Coverage"]


class Coverage:
    """Counts what the spec agreed to in a run; the witnesses in ``reached`` are not looked for.

    ``states`` are fingerprints. ``first_reached`` has for each witness the step that reached it.
    """

    def __init__(self, reached: Collection[str] = ()) -> None:
        self.actions: Counter[str] = Counter()
        self.steps = 0
        self.first_reached: dict[str, int] = {}
        self.states: set[int] = set()
        self.all_actions: tuple[str, ...] = ()
        self.all_witnesses: tuple[str, ...] = ()
        self._reached = reached
        self._missing: list[str] = []

    def observe(self, judge: Judge, judgement: Agreed) -> None:
        """Take note of a step that the spec agreed to."""
        self.steps += 1
        if self.steps == 1:
            self._expect(judge.judged)
        if judgement.action is None:
            return
        self.actions[judgement.action.name] += 1
        self.states.add(judge.state.fingerprint)
        for name in [one for one in self._missing if judge.reaches(one)]:
            self.first_reached[name] = self.steps
            self._missing.remove(name)

    def _expect(self, judged: JudgedSpec[Any]) -> None:
        self.all_actions = tuple(dict.fromkeys(action.name for action in judged.spec.actions))
        self.all_witnesses = judged.properties.witnesses
        self._missing = [name for name in self.all_witnesses if name not in self._reached]
