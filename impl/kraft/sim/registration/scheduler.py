"""The scheduler: it draws random choices from a seed, most of them possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.sim.common.step import Refused
from kraft.sim.registration import choices
from kraft.sim.registration.cluster import Cluster, Configuration, ProcessState, controllers_of
from kraft.sim.registration.step import step

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from kraft.sim.common.step import StepResult
    from kraft.sim.registration.choices import Choice

_WEIGHTS: Final = {
    "deliver": 12,
    "elsewhere": 3,
    "lose": 3,
    "duplicate": 6,
    "send": 25,
    "replay": 25,
    "time_out": 4,
    "start": 6,
    "crash": 0.7,
    "elect": 4,
    "raise": 2,
    "unregister": 4,
    "remove": 2,
    "add": 2,
}
# The share of refused choices that are made, to see that the spec refuses them too.
_REFUSED_TOO: Final = 0.05
# After all processes have ended, no choice is possible.
_TRIES: Final = 60
_OF_MESSAGES: Final[dict[str, Callable[..., Choice]]] = {
    "deliver": choices.Deliver,
    "elsewhere": choices.DeliverElsewhere,
    "lose": choices.LoseMessage,
    "duplicate": choices.DuplicateMessage,
}
_OF_VOTERS: Final[dict[str, Callable[..., Choice]]] = {
    "unregister": choices.UnregisterController,
    "remove": choices.RemoveVoter,
    "add": choices.AddVoter,
}
_OF_PROCESSES: Final[dict[str, Callable[..., Choice]]] = {
    "send": choices.SendRegistration,
    "replay": choices.ReplayMetadata,
    "time_out": choices.RequestTimeout,
    "crash": choices.Crash,
    "elect": choices.BecomeActive,
}


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Draws the choices of one run."""

    configuration: Configuration
    random: Random

    def next_choice(self, cluster: Cluster) -> Choice:
        """Return a choice; now and then one that is refused."""
        for _ in range(_TRIES):
            choice = self._any_choice(cluster)
            refused = isinstance(step(cluster, choice).outcome, Refused)
            if not refused or self.random.random() < _REFUSED_TOO:
                return choice
        return self._any_choice(cluster)

    def _any_choice(self, cluster: Cluster) -> Choice:
        while True:
            (kind,) = self.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
            choice = self._draw(kind, cluster)
            if choice is not None:
                return choice

    def observe(self, result: StepResult[Cluster, Choice]) -> None:
        """Ignore the result of a choice: the next choice does not depend on it."""

    def _draw(self, kind: str, cluster: Cluster) -> Choice | None:
        random, configuration = self.random, self.configuration
        if kind in _OF_MESSAGES:
            if not cluster.network:
                return None
            return _OF_MESSAGES[kind](random.choice(cluster.network).message_id)
        if kind in _OF_VOTERS:
            if not configuration.changes_voters:
                return None
            return _OF_VOTERS[kind](random.choice(controllers_of(configuration)))
        if kind == "raise":
            return choices.RaiseMetadataVersion(random.choice(configuration.levels))
        wanted = ProcessState.NOT_RUNNING if kind == "start" else ProcessState.RUNNING
        found = [
            one.incarnation_id
            for one in configuration.processes
            if cluster.processes[one.incarnation_id].state is wanted
        ]
        if not found:
            # The last process ended: only refusals are left.
            anybody = configuration.processes[0].incarnation_id
            return choices.SendRegistration(anybody) if kind == "send" else None
        if kind == "start":
            # Start in the order of the configuration, so that a run can promise upgrades only.
            own = {one.incarnation_id: one.controller_id for one in configuration.processes}
            first = {own[one]: one for one in reversed(found)}
            return choices.StartController(first[random.choice(sorted(first))])
        return _OF_PROCESSES[kind](random.choice(found))
