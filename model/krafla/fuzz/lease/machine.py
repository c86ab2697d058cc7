"""The lease as a state machine of Hypothesis: broker processes and their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from krafla.fuzz.engine.choice_machine import ChoiceMachine
from krafla.fuzz.engine.choice_run import ChoiceCase
from krafla.fuzz.lease.system import SYSTEM, conditions_met
from kraft.ids import Offset
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import is_running
from kraft.sim.lease.configuration import Configuration, broker_ids, processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.fuzz.engine.choice_machine import Values
    from kraft.sim.lease.cluster import Cluster

__all__ = ["MACHINE", "LeaseMachine"]

_IDENTITIES = processes(2, 2)
_UNITS = st.integers(0, 3)


def _case(name: str, *, self_fence: bool, reorder: bool) -> ChoiceCase:
    configuration = Configuration(
        _IDENTITIES,
        session_timeout_ms=3,
        heartbeat_interval_ms=1,
        request_timeout_ms=2,
        broker_timeout_ms=2 if self_fence else None,
        max_skew_ms=1 if self_fence else 0,
        reorder=reorder,
    )
    # A live broker may be unregistered later on: nothing is promised but what always is.
    anything_may_come = [choices.UnregisterBroker(_IDENTITIES[0].broker_id)]
    return ChoiceCase(configuration, (), conditions_met(configuration, anything_may_come), name)


_CASES = (
    _case("in-order", self_fence=False, reorder=False),
    _case("reordered", self_fence=False, reorder=True),
    _case("self-fencing-in-order", self_fence=True, reorder=False),
    _case("self-fencing-reordered", self_fence=True, reorder=True),
)


def _missing(cluster: Cluster) -> Iterator[choices.StartBroker]:
    """Yield the processes of each broker of which none runs."""
    serving = {
        one.broker_id
        for one in cluster.configuration.processes
        if is_running(cluster.processes[one.incarnation_id])
    }
    for one in cluster.configuration.processes:
        if one.broker_id not in serving:
            yield choices.StartBroker(one.incarnation_id)


def _caught_up(cluster: Cluster) -> Iterator[choices.ReplayMetadata]:
    for one in cluster.configuration.processes:
        yield choices.ReplayMetadata(one.incarnation_id, Offset(len(cluster.log) - 1))


def _beats(cluster: Cluster) -> Iterator[choices.SendHeartbeat]:
    for one in cluster.configuration.processes:
        yield choices.SendHeartbeat(one.incarnation_id, want_fence=False)


class LeaseMachine(ChoiceMachine):
    """Two broker ids with two processes each, under every fault there is.

    Spec: ``BrokerLease!Next``.
    """

    system = SYSTEM
    fields: ClassVar[Mapping[str, Values]] = {
        "incarnation_id": lambda cluster: [
            one.incarnation_id for one in cluster.configuration.processes
        ],
        "message_id": lambda cluster: [one.message_id for one in cluster.network],
        "broker_id": lambda cluster: broker_ids(cluster.configuration),
        "want_fence": lambda _cluster: (False, True),
        "offset": lambda cluster: [
            Offset(offset)
            for offset in range(len(cluster.log) - 1, max(-1, len(cluster.log) - 4), -1)
        ],
    }
    choices_of: ClassVar[Mapping[type[Any], Values]] = {
        choices.Tick: lambda _cluster: [choices.Tick(1)]
    }
    usual = (
        _missing, choices.SendRegistration, choices.Deliver, choices.Deliver, _caught_up, _beats,
        choices.Deliver, choices.Deliver, choices.ElectLeader, choices.Tick,
    )  # fmt: skip

    def cases(self) -> st.SearchStrategy[ChoiceCase]:
        """Return the beginnings: whether brokers fence themselves, and messages overtake others."""
        kept = [one for one in _CASES if not self.profiles or one.profile in self.profiles]
        return st.sampled_from(kept)

    @rule(by_controller_ms=_UNITS, by_broker_ms=st.tuples(_UNITS, _UNITS, _UNITS, _UNITS))
    def tick(self, by_controller_ms: int, by_broker_ms: tuple[int, ...]) -> None:
        """Let time pass, by clocks that may differ more than they are allowed to."""
        cluster: Any = self.player.cluster
        running = tuple(
            (one.incarnation_id, ms)
            for one, ms in zip(_IDENTITIES, by_broker_ms, strict=True)
            if cluster.configuration.max_skew_ms
            and is_running(cluster.processes[one.incarnation_id])
        )
        self.take(choices.Tick(by_controller_ms, running))


MACHINE: Final = LeaseMachine
