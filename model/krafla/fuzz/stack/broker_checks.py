"""Checks of each step of a broker: its image, its leadership, and its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.directory_checks import DIRECTORY_PROPERTIES, DirectoryChecks
from kraft.broker import lifecycle_manager as broker
from kraft.broker.lease import BrokerState, is_live
from kraft.controller.memory import visible_of
from kraft.errors import ErrorCode
from kraft.rpc import BrokerHeartbeatResponse
from kraft.rpc.alter_partition import AlterPartitionResponse
from kraft.rpc.replica_fetch import ReplicaFetchRequest

if TYPE_CHECKING:
    from krafla.fuzz.stack.committed_log import CommittedLog
    from kraft.broker.partitions import PartitionKey
    from kraft.ids import TopicId
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.steps import ListenerStep, SimStep
    from kraft.sim.stack.broker_host import BrokerView

__all__ = ["BROKER_PROPERTIES", "BrokerChecks"]

BROKER_PROPERTIES: Final = (
    "AskedIsAnsweredProp", "BrokerShowsCommittedInv", "BrokerSpeaksInv", "BrokerStatesProp",
    "FailedDirectoriesToldProp", "HighWatermarkInLogInv", "LeadershipFollowsImageInv",
    "OneRequestInFlightProp", "ShutdownAskedAtOnceProp", *DIRECTORY_PROPERTIES,
)  # fmt: skip


class BrokerChecks:
    """The last view of each broker process, and images that the committed log has not reached.

    ``fetched`` has the fetches that reached a leader in its leader epoch: by leader, topic,
    partition, leader epoch, replica and the replica's broker epoch. ``epochs`` has the broker id of
    each process with every broker epoch that it has had, by its incarnation.
    """

    def __init__(self, committed_log: CommittedLog) -> None:
        self._committed_log = committed_log
        self.fetched: set[tuple[int, TopicId, int, int, int, int]] = set()
        self.epochs: dict[int, set[tuple[int, int]]] = {}
        self._directories = DirectoryChecks()
        self._views: dict[int, BrokerView] = {}
        self._ahead: dict[int, MetadataImage] = {}
        self._refused: dict[int, set[PartitionKey]] = {}

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a broker. Raises Violated."""
        after: BrokerView = listener.after
        if isinstance(listener.event, ReplicaFetchRequest):
            self._note_fetch(after, listener.event)
        before = self._views.get(step.incarnation)
        self._views[step.incarnation] = after

        if before is None or before.memory is not after.memory:
            self._note_image(after)
        if before is None or before.own.replicas is not after.own.replicas:
            _check_high_watermarks(after)
        self._check_images()
        self._directories.check(before, after)
        if not is_live(after.life.lifecycle):
            if before is not None:
                _check_state(before, after, step, listener)
            return
        now = after.life.lifecycle.broker_id, after.life.broker_epoch
        self.epochs.setdefault(step.incarnation, set()).add(now)
        _check_leading(after)
        _check_sends(after)
        if before is not None:
            _check_state(before, after, step, listener)
            _check_requests(before, after, step, listener)
            self._check_isr_requests(step.incarnation, after, listener)

    def _note_fetch(self, view: BrokerView, fetch: ReplicaFetchRequest) -> None:
        leader_id = view.life.lifecycle.broker_id
        replica = fetch.replica_id, fetch.replica_epoch
        for one in fetch.partitions:
            leads = view.leading.get((one.topic_id, one.partition_index))
            if leads is not None and leads.leader_epoch == one.current_leader_epoch:
                at = one.topic_id, one.partition_index, one.current_leader_epoch
                self.fetched.add((leader_id, *at, *replica))

    def _note_image(self, view: BrokerView) -> None:
        memory = visible_of(view.memory)
        known = self._ahead.setdefault(memory.end, memory.image)
        if known is not memory.image and known != memory.image:
            raise Violated(
                "BrokerShowsCommittedInv", f"two brokers show different images at {memory.end}"
            )

    def _check_images(self) -> None:
        for end in [one for one in self._ahead if one <= self._committed_log.end]:
            image = self._ahead.pop(end)
            self._committed_log.compare("BrokerShowsCommittedInv", end, image, "a broker")

    def _check_isr_requests(
        self, incarnation: int, after: BrokerView, listener: ListenerStep
    ) -> None:
        """Check that a leader requests the ISR it waits for, unless a refusal makes it wait."""
        waits = {key: one.pending for key, one in after.leading.items() if one.pending}
        refused = self._refused.get(incarnation, set()) | _refused_in(listener.event)
        self._refused[incarnation] = refused & set(waits)
        lost = sorted(set(waits) - refused - after.asks)
        if lost:
            raise Violated(
                "AskedIsAnsweredProp",
                f"a leader waits for the ISR {list(waits[lost[0]])} of partition {lost[0][1]}, but "
                "has no request for it",
            )

    def are_of_one_process(self, epochs: set[tuple[int, int]]) -> bool:
        """Return whether one process has had all these broker epochs, each with its broker id."""
        return any(epochs <= had for had in self.epochs.values())

    def forget(self, incarnation: int) -> None:
        """Forget a process that has ended."""
        self._refused.pop(incarnation, None)
        self._views.pop(incarnation, None)


def _check_high_watermarks(view: BrokerView) -> None:
    """Check that no replica's high watermark goes beyond its log."""
    for (topic_id, index), replica in view.own.replicas.items():
        if not 0 <= replica.high_watermark <= replica.log.end_offset:
            raise Violated(
                "HighWatermarkInLogInv",
                f"partition {index} of topic {topic_id} on broker {view.own.broker_id} has high "
                f"watermark {replica.high_watermark} and only {replica.log.end_offset} records",
            )


def _check_leading(view: BrokerView) -> None:
    """Check that a broker leads exactly what its image says, in that epoch."""
    image, broker_id = visible_of(view.memory).image, view.life.lifecycle.broker_id
    for key, leading in view.leading.items():
        partition = image.partitions.get(key)
        if partition is None or partition.leader != broker_id:
            leader = "no broker" if partition is None else partition.leader
            raise Violated(
                "LeadershipFollowsImageInv",
                f"broker {broker_id} believes that it leads partition {key[1]} of topic "
                f"{key[0]}; by its own image {leader} leads it",
            )
        there = partition.leader_epoch, partition.partition_epoch
        isr = list(partition.isr)
        known = leading.leader_epoch, leading.partition_epoch
        if (
            known[0] != there[0]
            or known[1] < there[1]
            or (known == there and leading.isr != partition.isr)
        ):
            raise Violated(
                "LeadershipFollowsImageInv",
                f"broker {broker_id} leads partition {key[1]} with (leader epoch, partition epoch) "
                f"{known} and ISR {list(leading.isr)}, its image has {there} and {isr}",
            )
    if not view.begun:
        return
    led = {
        key
        for key, partition in image.partitions.items()
        if partition.leader == broker_id and key not in view.own.offline
    }
    if led != set(view.leading):
        raise Violated(
            "LeadershipFollowsImageInv",
            f"broker {broker_id} leads {len(view.leading)} partitions, and {len(led)} in online "
            f"directories by its image: {sorted(led ^ set(view.leading))}",
        )


def _check_sends(view: BrokerView) -> None:
    """Check that a live broker awaits an answer, or has a time at which it sends next."""
    life = view.life
    if life.lifecycle.request is None and life.communication_ms is None:
        state = life.lifecycle.state
        if state is not BrokerState.NOT_RUNNING:
            raise Violated(
                "BrokerSpeaksInv", f"a broker that is {state.name} will never send again"
            )


_MOVES: Final = {
    (BrokerState.NOT_RUNNING, BrokerState.STARTING): None,
    (BrokerState.STARTING, BrokerState.RECOVERY): "is_caught_up",
    (BrokerState.RECOVERY, BrokerState.RUNNING): "is_fenced",
    (BrokerState.RUNNING, BrokerState.PENDING_CONTROLLED_SHUTDOWN): None,
    (BrokerState.PENDING_CONTROLLED_SHUTDOWN, BrokerState.SHUTTING_DOWN): "should_shut_down",
}
"""The state changes of a broker, with the field of a heartbeat's answer that causes each."""


def _check_state(
    before: BrokerView, after: BrokerView, step: SimStep, listener: ListenerStep
) -> None:
    """Check that a broker changes its state as it is told, and stops only if it may."""
    was, now = before.life.lifecycle.state, after.life.lifecycle.state
    if was is now:
        return
    answer = listener.event
    said = isinstance(answer, BrokerHeartbeatResponse) and answer.error_code is ErrorCode.NONE
    if (was, now) not in _MOVES:
        early = now is BrokerState.SHUTTING_DOWN and listener.event in {"shutdown", "due"}
        if not early or was is BrokerState.NOT_RUNNING:
            raise Violated("BrokerStatesProp", f"a broker goes from {was.name} to {now.name}")
        return
    word = _MOVES[was, now]
    awaited = before.life.lifecycle.request
    if word is None or (now is BrokerState.SHUTTING_DOWN and listener.event == "due"):
        if now is BrokerState.PENDING_CONTROLLED_SHUTDOWN:
            _check_shutdown_sent_at_once(after)
        return
    answers = None if step.received is None else step.received.correlation_id
    mine = awaited is not None and answers == awaited.correlation_id
    if not said or not mine or getattr(answer, word) == (word == "is_fenced"):
        raise Violated(
            "BrokerStatesProp", f"a broker goes from {was.name} to {now.name} on {answer}"
        )


def _check_shutdown_sent_at_once(view: BrokerView) -> None:
    life = view.life
    soon = life.communication_ms is not None and life.communication_ms <= view.now_ms
    if not soon and not (life.lifecycle.request is not None and life.wants_sooner):
        raise Violated(
            "ShutdownAskedAtOnceProp",
            f"a broker wants to shut down and says so at {life.communication_ms}; "
            f"now is {view.now_ms}",
        )


def _check_requests(
    before: BrokerView, after: BrokerView, step: SimStep, listener: ListenerStep
) -> None:
    """Check that only one request is in flight, and that it names all failed directories."""
    was, now = before.life.lifecycle, after.life.lifecycle
    sent = now.next_correlation_id - was.next_correlation_id
    waits = was.request
    if waits is not None and now.request != waits:
        received = step.received
        answered = received is not None and received.correlation_id == waits.correlation_id
        timeout_ms = after.life.settings.broker_session_timeout_ms
        given_up = listener.event == "due" and after.now_ms >= waits.sent_ms + timeout_ms
        if not answered and not given_up:
            raise Violated(
                "OneRequestInFlightProp",
                f"request {waits.correlation_id} has no answer and is no longer awaited",
            )
    if not sent:
        return
    if sent > 1:
        raise Violated("OneRequestInFlightProp", f"{sent} requests are sent at once")
    failed = {one.directory_id for one in after.life.offline_directories}
    if broker.is_registered(after.life) and failed != set(after.life.reported):
        raise Violated(
            "FailedDirectoriesToldProp",
            f"directories {sorted(failed)} have failed; reported are {sorted(after.life.reported)}",
        )


def _refused_in(answer: Any) -> set[PartitionKey]:
    """Return the partitions whose new ISR an answer refuses, each for its own reason."""
    if not isinstance(answer, AlterPartitionResponse) or answer.error_code is not ErrorCode.NONE:
        return set()
    return {
        (one.topic_id, one.partition_index)
        for one in answer.partitions
        if one.error_code not in {ErrorCode.NONE, ErrorCode.INELIGIBLE_REPLICA}
    }
