"""The lease as a Hypothesis state machine: rules draw choices, the spec judges every step.

Hypothesis explores and shrinks, so use it to search from within pytest; ``krafla fuzz`` covers
more ground a second. Subclass ``LeaseMachine`` to add rules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from krafla.fuzz.engine.choice_run import ChoiceCase, Player
from krafla.fuzz.lease.system import SYSTEM, conditions_met
from krafla.report.explain.account import account_lines
from kraft.ids import Offset
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import is_running
from kraft.sim.lease.configuration import Configuration, broker_ids, processes
from kraft.sim.lease.random_driver import OF_BROKERS, OF_MESSAGES, is_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster

__all__ = ["LeaseMachine", "LeaseViolationError"]

_IDENTITIES = processes(2, 2)
_UNITS = st.integers(0, 3)
_WIDTH = 100


class LeaseViolationError(AssertionError):
    """The implementation and the spec came apart; the message has the run and the reason."""


def _proposals(kind: Any, cluster: Cluster) -> Iterable[Choice]:
    """Return the choices of a kind, the plainest first: an example shrinks towards it."""
    incarnations = [one.incarnation_id for one in _IDENTITIES]
    if kind in OF_MESSAGES:
        return [kind(envelope.message_id) for envelope in cluster.network]
    if kind in OF_BROKERS:
        return [kind(broker_id) for broker_id in broker_ids(cluster.configuration)]
    if kind is choices.SendHeartbeat:
        return [kind(one, want_fence) for one in incarnations for want_fence in (False, True)]
    if kind is choices.ReplayMetadata:
        last_offset = len(cluster.log) - 1
        offsets = range(last_offset, max(-1, last_offset - 3), -1)
        return [kind(one, Offset(offset)) for one in incarnations for offset in offsets]
    return [kind(one) for one in incarnations]


def _rule_of(kind: Any) -> Callable[..., None]:
    """Return the rule that draws a choice of this kind among those that are possible now."""

    def take(self: LeaseMachine, data: st.DataObject) -> None:
        self.take(data.draw(st.sampled_from(self.possible(kind)), label=kind.__name__))

    take.__name__ = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    take.__doc__ = f"Take a step that is {kind.__name__}."
    drawn: Callable[..., None] = rule(data=st.data())(take)
    return precondition(lambda self: bool(self.possible(kind)))(drawn)


class LeaseMachine(RuleBasedStateMachine):
    """Two broker ids with two processes each, under every fault there is.

    Spec: ``BrokerLease!Next``.
    """

    player: Player

    @initialize(self_fence=st.booleans(), reorder=st.booleans())
    def begin(self, *, self_fence: bool, reorder: bool) -> None:
        """Draw the configuration first: which faults there can be in this run."""
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
        also = conditions_met(configuration, anything_may_come)
        self.player = Player(SYSTEM, ChoiceCase(configuration, (), also))

    start_broker = _rule_of(choices.StartBroker)
    send_registration = _rule_of(choices.SendRegistration)
    send_heartbeat = _rule_of(choices.SendHeartbeat)
    deliver = _rule_of(choices.Deliver)
    deliver_another = _rule_of(choices.Deliver)
    lose_message = _rule_of(choices.LoseMessage)
    duplicate_message = _rule_of(choices.DuplicateMessage)
    request_timeout = _rule_of(choices.RequestTimeout)
    replay_metadata = _rule_of(choices.ReplayMetadata)
    request_shutdown = _rule_of(choices.RequestShutdown)
    crash = _rule_of(choices.Crash)
    fence_stale_broker = _rule_of(choices.FenceStaleBroker)
    unregister_broker = _rule_of(choices.UnregisterBroker)
    elect_leader = _rule_of(choices.ElectLeader)

    @rule()
    def fail_over(self) -> None:
        """Make another controller active."""
        self.take(choices.FailOver())

    @rule(by_controller_ms=_UNITS, by_broker_ms=st.tuples(_UNITS, _UNITS, _UNITS, _UNITS))
    def tick(self, by_controller_ms: int, by_broker_ms: tuple[int, ...]) -> None:
        """Let time pass, by clocks that may differ more than they are allowed to."""
        player = self.player
        running = tuple(
            (one.incarnation_id, ms)
            for one, ms in zip(_IDENTITIES, by_broker_ms, strict=True)
            if player.cluster.configuration.max_skew_ms
            and is_running(player.cluster.processes[one.incarnation_id])
        )
        self.take(choices.Tick(by_controller_ms, running))

    def possible(self, kind: Any) -> list[Choice]:
        """Return the choices of a kind that the implementation would not refuse now."""
        cluster = self.player.cluster
        return [one for one in _proposals(kind, cluster) if not is_refused(cluster, one)]

    def take(self, choice: Choice) -> None:
        """Take a step; ``LeaseViolationError`` if the spec denies it."""
        self.player.step(choice)
        finding = self.player.finding
        if finding is not None:
            run = self.player.run
            note(f"plan: {run.case.recording.decode()}")
            lines = account_lines(SYSTEM.account(run), _WIDTH)
            raise LeaseViolationError("\n".join(text for text, _ in lines))
