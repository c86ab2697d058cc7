"""Seeded bugs of brokers: what they send to controllers, and what they believe they are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from krafla.fuzz.engine.mutant import seed_bug
from kraft.broker.lease import BrokerState, is_live, is_waiting
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["PROCESSES"]

PROCESSES: Final[list[Mutant]] = []
_seed = partial(seed_bug, PROCESSES)
_STOPS: Final = (("broker-shutdown", 700),)


@_seed(
    "shutdown-waits-for-its-turn",
    "KAFKA-13167",
    "kraft.broker.lifecycle_manager:begin_controlled_shutdown",
    "A broker says only in its next regular heartbeat that it wants to shut down.",
    _STOPS,
)
def _waits_its_turn(right: Any, probe: Probe) -> Any:
    def begin_controlled_shutdown(process: Any, now_ms: int) -> Any:
        turn = right(process, now_ms)
        late = replace(
            turn.process,
            communication_ms=process.communication_ms,
            wants_sooner=process.wants_sooner,
        )
        asks = turn.process.lifecycle.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        return replace(turn, process=probe.choose(turn.process, late if asks else turn.process))

    return begin_controlled_shutdown


@_seed(
    "does-not-wait-for-the-answer",
    "KAFKA-15950",
    "kraft.broker.lifecycle_manager:_sooner",
    "A broker with news sends a second heartbeat while one is in flight.",
)
def _does_not_wait(right: Any, probe: Probe) -> Any:
    def _sooner(process: Any, now_ms: int) -> Any:
        waits = is_live(process.lifecycle) and is_waiting(process.lifecycle)
        probe.trigger(different=waits)
        if not waits:
            return right(process, now_ms)
        return right(replace(process, lifecycle=replace(process.lifecycle, request=None)), now_ms)

    return _sooner


@_seed(
    "leads-on-when-another-does",
    "KAFKA-14296",
    "kraft.broker.partition_leader:is_news",
    "A broker ignores that another broker leads now.",
)
def _leads_on(right: Any, probe: Probe) -> Any:
    def is_news(broker_id: Any, view: Any, partition: Any) -> Any:
        leaves = partition is None or partition.leader != broker_id
        found = right(broker_id, view, partition)
        return probe.choose(found, found and not leaves)

    return is_news


@_seed(
    "same-leader-epoch-is-no-news",
    "KAFKA-13790",
    "kraft.broker.partition_leader:is_news",
    "A leader ignores a newer partition epoch if its leader epoch is the same.",
)
def _no_news(right: Any, probe: Probe) -> Any:
    def is_news(broker_id: Any, view: Any, partition: Any) -> Any:
        found = right(broker_id, view, partition)
        same = view is not None and partition is not None
        same = same and view.leader_epoch == partition.leader_epoch
        return probe.choose(found, found and not same)

    return is_news


@_seed(
    "deleted-topic-is-led-on",
    "KAFKA-12403",
    "kraft.broker.partitions:learn",
    "A broker still leads the partitions of a deleted topic.",
)
def _deleted(right: Any, probe: Probe) -> Any:
    def learn(own: Any, before: Any, image: Any, *disks: Any) -> Any:
        found, changes = right(own, before, image, *disks)
        kept = {
            key: one
            for key, one in own.replicas.items()
            if key not in image.partitions and getattr(one.role, "view", None)
        }
        probe.trigger(different=bool(kept))
        changes = tuple(one for one in changes if one.key not in kept)
        return structs.replace(found, replicas=found.replicas.update(kept)), changes

    return learn


@_seed(
    "slot-stays-taken",
    "KAFKA-14010",
    "kraft.sim.stack.replicas:Replicas.wanted",
    "A leader whose request failed waits for its answer for ever.",
)
def _slot_taken(right: Any, probe: Probe) -> Any:
    def wanted(self: Any, epoch: Any, now_ms: int) -> Any:
        unanswered = self.asks
        asked = right(self, epoch, now_ms)
        dropped = unanswered & self.asks
        probe.trigger(different=bool(dropped))
        for key in dropped:
            del self._unanswered[key]
        return tuple(one for one in asked if (one.topic_id, one.partition_index) not in dropped)

    return wanted


@_seed(
    "ineligible-is-waited-for",
    "KAFKA-14010",
    "kraft.broker.partition_leader:on_alter_partition_response",
    "A leader still waits for a member that was refused as ineligible.",
    (("broker-shutdown", 500), ("quick-restart", 900)),
)
def _ineligible(right: Any, probe: Probe) -> Any:
    def on_alter_partition_response(view: Any, error_code: Any, answer: Any) -> Any:
        found = right(view, error_code, answer)
        ineligible = answer is not None and answer.error_code is ErrorCode.INELIGIBLE_REPLICA
        return probe.choose(found, view if ineligible else found)

    return on_alter_partition_response


@_seed(
    "epoch-is-read-when-asking",
    "KAFKA-15221",
    "kraft.sim.stack.replicas:Replicas.wanted",
    "A leader names a member by its present broker epoch although it fetched under an earlier one.",
    (("quick-restart", 500),),
)
def _epoch_reread(right: Any, probe: Probe) -> Any:
    def wanted(self: Any, epoch: Any, now_ms: int) -> Any:
        heard, registered = self.own, self._learned.brokers
        reread = {}
        for key in self.leads:
            replica = heard.replicas[key]
            followers = {
                one: structs.replace(known, broker_epoch=registered[one].epoch)
                for one, known in replica.role.followers.items()
                if known.broker_epoch >= 0 and one in registered
            }
            role = structs.replace(replica.role, followers=replica.role.followers.update(followers))
            reread[key] = structs.replace(replica, role=role)
        self.own = structs.replace(heard, replicas=heard.replicas.update(reread))
        is_other = self.own != heard
        asked = right(self, epoch, now_ms)
        probe.trigger(different=bool(asked) and is_other)
        return asked

    return wanted


@_seed(
    "told-directory-is-told-no-more",
    "KIP-858",
    "kraft.broker.lifecycle_manager:_communicate",
    "A failed directory is reported only once, to a controller that may forget it.",
    (("lost-directory", 2_000),),
)
def _told_once(right: Any, probe: Probe) -> Any:
    def _communicate(process: Any, now_ms: int) -> Any:
        left = tuple(one for one in process.offline_directories if not one.is_delivered)
        probe.trigger(different=left != process.offline_directories)
        turn = right(replace(process, offline_directories=left), now_ms)
        kept = replace(turn.process, offline_directories=process.offline_directories)
        return replace(turn, process=kept)

    return _communicate


@_seed(
    "stops-without-leave",
    "BrokerLease!RequestShutdown",
    "kraft.broker.lease:on_heartbeat_response",
    "A broker in controlled shutdown stops at the first answer, whatever it says.",
    _STOPS,
)
def _without_leave(right: Any, probe: Probe) -> Any:
    def on_heartbeat_response(state: Any, correlation_id: Any, response: Any) -> Any:
        leaves = state.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        leaves = leaves and response.error_code is ErrorCode.NONE
        probe.trigger(different=leaves and not response.should_shut_down)
        given = replace(response, should_shut_down=True) if leaves else response
        return right(state, correlation_id, given)

    return on_heartbeat_response


@_seed(
    "runs-while-fenced",
    "BrokerLease!StatusAfter",
    "kraft.broker.lease:state_after",
    "A broker that has caught up believes that it is unfenced and does not ask for it.",
)
def _runs_fenced(right: Any, probe: Probe) -> Any:
    def state_after(current: Any, response: Any) -> Any:
        found = right(current, response)
        return probe.choose(found, BrokerState.RUNNING if found is BrokerState.RECOVERY else found)

    return state_after


@_seed(
    "gives-up-after-an-error",
    "sabotage",
    "kraft.broker.lifecycle_manager:_after_failure",
    "A broker whose heartbeat fails never sends another one.",
)
def _gives_up(right: Any, probe: Probe) -> Any:
    def _after_failure(process: Any, now_ms: int, chance: int) -> Any:
        found = right(process, now_ms, chance)
        return probe.choose(found, replace(found, communication_ms=None))

    return _after_failure
