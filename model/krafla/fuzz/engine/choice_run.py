"""One run that is driven by choices: a driver or a list makes them, and each step is judged."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from krafla.collector import gc_paused
from krafla.fuzz.engine.runs import Run
from krafla.refinement.common.judgement import Agreed
from kraft.sim.common.recording import Recording, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.refinement.common.judgement import Finding, Judgement

__all__ = ["ChoiceCase", "Driver", "Player", "Profile", "play_seed"]


class Driver(Protocol):
    """Makes the choices of a run."""

    def next_choice(self, cluster: Any) -> Any:
        """Return what happens next."""

    def observe(self, result: Any) -> None:
        """Take note of the step that the choice led to."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of run: a configuration, and the driver of its choices.

    The name seeds the random numbers of its runs, so it never changes. ``sentence`` says what is
    special. ``also`` names the conditional properties whose condition the configuration and the
    driver meet.
    """

    name: str
    sentence: str
    configuration: Any
    driver: Callable[[Any, Random], Driver]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceCase:
    """The configuration and the choices of a run, and the conditional properties asked of it.

    ``profile`` and ``seed`` say where it came from, if it was drawn.
    """

    configuration: Any
    choices: tuple[Any, ...] = ()
    also: tuple[str, ...] = ()
    profile: str = ""
    seed: str = ""

    @property
    def size(self) -> int:
        """Return how many choices there are."""
        return len(self.choices)

    @property
    def recording(self) -> bytes:
        """Return the configuration and the choices as a JSON object."""
        return to_json(Recording(self.configuration, self.choices))

    @property
    def encoded(self) -> bytes:
        """Return what is kept in a file, as a JSON object."""
        return b'%s,"also":%s}' % (self.recording[:-1], msgspec.json.encode(self.also))


class Player:
    """Plays a run step by step until its first finding, and counts what the spec agreed to.

    ``case`` has the configuration; its choices are left to the caller. Witnesses are looked for
    but for those in ``reached``; None looks for no witness.
    """

    def __init__(
        self, system: ChoiceSystem, case: ChoiceCase, reached: Collection[str] | None = None
    ) -> None:
        self.judge = system.judge(case.configuration, case.also)
        self.cluster: Any = system.first_cluster(case.configuration)
        self.choices: list[Any] = []
        self._system = system
        self._case = case
        self._judged = 0
        self._actions: Counter[str] = Counter()
        self._states: set[int] = set()
        self._first_reached: dict[str, int] = {}
        witnesses = () if reached is None else self.judge.judged.properties.witnesses
        self._missing = [name for name in witnesses if name not in (reached or ())]

    @property
    def finding(self) -> Finding | None:
        """Return what ended the run."""
        return self.judge.finding

    @property
    def run(self) -> Run:
        """Return the run up to now."""
        case, judged = replace(self._case, choices=tuple(self.choices)), self.judge.judged
        every = dict.fromkeys((action.name for action in judged.spec.actions), 0)
        faults, taken = self._system.faults, self._actions
        tallies = {
            "actions": every | taken,
            "witnesses": {
                name: int(name in self._first_reached) for name in judged.properties.witnesses
            },
            "faults": {told: taken[name] for name, told in faults.items() if taken[name]},
            "totals": {"judged": self._judged, "refused": self._judged - taken.total()},
        }
        return Run(
            case, self.finding, len(self.choices),
            hashlib.sha256(case.recording).hexdigest(), tallies,
            frozenset(self._states), dict(self._first_reached),
        )  # fmt: skip

    def step(self, choice: Any) -> tuple[Any, Judgement]:
        """Take a choice; return the implementation's step, None if it raised, and the judgement.

        A choice that is rightly refused is left out of the run.
        """
        try:
            result = self._system.step(self.cluster, choice)
        except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a finding
            self.choices.append(choice)
            return None, self.judge.fail(choice, error)
        judgement = self.judge.judge(result)
        self.cluster = result.after
        if not isinstance(judgement, Agreed):
            self.choices.append(choice)
            return result, judgement
        self._judged += 1
        if judgement.action is not None:
            self.choices.append(choice)
            self._count(judgement.action.name)
        return result, judgement

    def _count(self, action: str) -> None:
        self._actions[action] += 1
        self._states.add(self.judge.state.fingerprint)
        for name in [one for one in self._missing if self.judge.reaches(one)]:
            self._first_reached[name] = self._judged
            self._missing.remove(name)


def play_seed(
    system: ChoiceSystem,
    profile: Profile,
    seed: int | str,
    steps: int,
    reached: Collection[str] | None = None,
) -> Run:
    """Return the run that a seed gives in a profile, at most ``steps`` choices long.

    Witnesses are looked for but for those in ``reached``; None looks for no witness.
    """
    random = Random(f"{profile.name} {seed}")  # noqa: S311 - to be reproducible, not secret
    driver = profile.driver(profile.configuration, random)
    case = ChoiceCase(profile.configuration, (), profile.also, profile.name, str(seed))
    with gc_paused():
        player = Player(system, case, reached)
        for _ in range(steps):
            result, judgement = player.step(driver.next_choice(player.cluster))
            if result is None or not isinstance(judgement, Agreed):
                break
            driver.observe(result)
        return player.run
