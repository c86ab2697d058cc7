"""A driver without a plan: any choice at any moment, and clocks that move by single units.

The scheduler's runs are like those of real clusters, where two things rarely happen in the same
millisecond. Here they do: a session ends exactly at its timeout, a heartbeat overtakes another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.ids import Offset
from kraft.sim.common.step import Refused
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import is_running
from kraft.sim.lease.configuration import broker_ids
from kraft.sim.lease.step import step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from kraft.ids import IncarnationId
    from kraft.sim.common.step import StepResult
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster
    from kraft.sim.lease.configuration import Configuration
    from kraft.sim.lease.network import Envelope

# How often each kind is drawn. Faults are rare, and each is off in every second run: a cluster
# that everything befalls at once never gets as far as where things can go wrong.
_WEIGHTS: Final[dict[type[Choice], int]] = {
    choices.Deliver: 400,
    choices.SendHeartbeat: 300,
    choices.Tick: 120,
    choices.ReplayMetadata: 120,
    choices.SendRegistration: 80,
    choices.FenceStaleBroker: 80,
    choices.ElectLeader: 80,
    choices.StartBroker: 20,
}
_FAULTS: Final[dict[type[Choice], int]] = {
    choices.DuplicateMessage: 80,
    choices.RequestTimeout: 30,
    choices.LoseMessage: 15,
    choices.RequestShutdown: 10,
    choices.FailOver: 6,
    choices.UnregisterBroker: 4,
    choices.Crash: 4,
}
_AS_EVER: Final[Mapping[type[Choice], int]] = {}
OF_MESSAGES: Final = {choices.Deliver, choices.LoseMessage, choices.DuplicateMessage}
"""The kinds of choices that name a message."""
OF_BROKERS: Final = {choices.FenceStaleBroker, choices.UnregisterBroker, choices.ElectLeader}
"""The kinds of choices that name a broker id."""
_REFUSED_PERMILLE: Final = 50
_CONFLICT: Final = 0.02
_DRAWS: Final = 30
_HELD_MAX: Final = 120  # steps


class RandomDriver:
    """Draws the next choice at random.

    ``without`` names kinds of choice it never makes, ``often`` how often it makes others.
    """

    def __init__(
        self,
        configuration: Configuration,
        random: Random,
        without: tuple[type[Choice], ...] = (),
        often: Mapping[type[Choice], int] = _AS_EVER,
    ) -> None:
        self._configuration = configuration
        self._random = random
        self._brokers = broker_ids(configuration)
        self._processes = sorted(one.incarnation_id for one in configuration.processes)
        self._taken = 0
        self._held_until: dict[int, int] = {}
        faults = [kind for kind in _FAULTS if random.random() < 0.5 and kind not in without]
        weights = {**_WEIGHTS, **{kind: _FAULTS[kind] for kind in faults}, **often}
        self._kinds = [*weights]
        self._weights = [*weights.values()]

    def next_choice(self, cluster: Cluster) -> Choice:
        """Return a choice, one in twenty times even if it should be refused."""
        random = self._random
        accepts_refused = random.randrange(1_000) < _REFUSED_PERMILLE
        for _ in range(_DRAWS):
            choice = self._drawn(cluster)
            if choice is None:
                continue
            if accepts_refused or not is_refused(cluster, choice):
                return choice
        return choices.Tick(1)

    def observe(self, result: StepResult[Cluster, Choice]) -> None:  # noqa: ARG002 - drivers are told
        """Count the steps; every choice is drawn anew."""
        self._taken += 1

    def _drawn(self, cluster: Cluster) -> Choice | None:
        random = self._random
        kind: Any
        (kind,) = random.choices(self._kinds, self._weights)
        choice: Choice | None
        if kind is choices.Tick:
            choice = self._tick(cluster)
        elif kind is choices.FailOver:
            choice = choices.FailOver()
        elif kind in OF_MESSAGES:
            arrivable = [one.message_id for one in cluster.network if not self._is_held(one)]
            choice = kind(random.choice(arrivable)) if arrivable else None
        elif kind in OF_BROKERS:
            choice = kind(random.choice(self._brokers))
        else:
            # Mostly a process that runs: little can be asked of one that does not.
            running = [one for one in self._processes if is_running(cluster.processes[one])]
            wanted = self._processes if kind is choices.StartBroker or not running else running
            choice = self._of_process(kind, cluster, random.choice(wanted))
        return choice

    def _is_held(self, envelope: Envelope) -> bool:
        """Return whether a message is held back: now and then one is, to arrive much later."""
        message_id = envelope.message_id
        until = self._held_until.get(message_id)
        if until is None:
            delay = self._random.randint(1, _HELD_MAX) if self._random.random() < 0.2 else 0
            until = self._held_until[message_id] = self._taken + delay
        return self._taken < until

    def _of_process(
        self, kind: Any, cluster: Cluster, incarnation_id: IncarnationId
    ) -> Choice | None:
        random = self._random
        if kind is choices.ReplayMetadata:
            last_offset = len(cluster.log) - 1
            if random.random() < 0.3:
                last_offset = random.randint(0, len(cluster.log))
            return choices.ReplayMetadata(incarnation_id, Offset(last_offset))
        if kind is choices.SendHeartbeat:
            return choices.SendHeartbeat(incarnation_id, random.random() < 0.7)
        if kind is choices.StartBroker and self._is_served(cluster, incarnation_id):
            return None
        choice: Choice = kind(incarnation_id)
        return choice

    def _is_served(self, cluster: Cluster, incarnation_id: IncarnationId) -> bool:
        """Return whether another process of the id runs, which a second one seldom joins."""
        broker_id = cluster.processes[incarnation_id].lifecycle.broker_id
        return self._random.random() >= _CONFLICT and any(
            is_running(process) and process.lifecycle.broker_id == broker_id
            for process in cluster.processes.values()
        )

    def _tick(self, cluster: Cluster) -> Choice:
        random, skew_ms = self._random, self._configuration.max_skew_ms
        by_controller_ms = random.choice((0, 1, 1, 1, 2))
        if not skew_ms or random.random() < 0.3:
            return choices.Tick(by_controller_ms)
        return choices.Tick(
            by_controller_ms,
            tuple(
                (one, max(0, by_controller_ms + random.randint(-skew_ms, skew_ms)))
                for one in self._processes
                if is_running(cluster.processes[one])
            ),
        )


def is_refused(cluster: Cluster, choice: Choice) -> bool:
    """Return whether the implementation refuses a choice."""
    try:
        return isinstance(step(cluster, choice).outcome, Refused)
    except Exception:  # noqa: BLE001 - the step itself fails the same way, for its caller to see
        return False
