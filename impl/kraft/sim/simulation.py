"""A simulation to drive by hand: it holds the cluster, and remembers every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.sim import choices
from kraft.sim.cluster import Cluster, first_cluster
from kraft.sim.recording import Recording
from kraft.sim.step import StepResult, step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import IncarnationId
    from kraft.sim.choices import Choice
    from kraft.sim.configuration import Configuration


class Simulation:
    """One run in the making. Every method takes one step and returns what came of it."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.cluster: Cluster = first_cluster(configuration)
        self.results: list[StepResult] = []

    def take(self, choice: Choice) -> StepResult:
        """Take the step of a choice; one that is not possible now is refused."""
        result = step(self.cluster, choice)
        self.results.append(result)
        self.cluster = result.after
        return result

    def crash(self, incarnation_id: IncarnationId) -> StepResult:
        """Kill a process.

        Spec: BrokerLease!Crash.
        """
        return self.take(choices.Crash(incarnation_id))

    def advance(
        self, by_controller_ms: int, by_broker_ms: Mapping[IncarnationId, int] | None = None
    ) -> StepResult:
        """Let time pass; `by_broker_ms` has the processes whose clock shows another time.

        Spec: BrokerLease!Tick.
        """
        clocks = tuple(sorted((by_broker_ms or {}).items()))
        return self.take(choices.Tick(by_controller_ms, clocks))

    def lose(self, message_id: int) -> StepResult:
        """Lose one message.

        Spec: BrokerLease!LoseMessage.
        """
        return self.take(choices.LoseMessage(message_id))

    def duplicate(self, message_id: int) -> StepResult:
        """Let a request arrive once more.

        Spec: BrokerLease!DuplicateMessage.
        """
        return self.take(choices.DuplicateMessage(message_id))

    @property
    def recording(self) -> Recording:
        """The run so far, as data that reproduces it."""
        return Recording(self.configuration, tuple(result.choice for result in self.results))
