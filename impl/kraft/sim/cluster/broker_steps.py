"""The steps of broker processes: those of the lease, and the requests of a leader."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kraft.broker import lease as broker_lease
from kraft.broker import partition_leader
from kraft.broker.lease import BrokerState, Disconnect, Send
from kraft.controller.operations.leader_eligibility import is_active
from kraft.ids import NO_BROKER_EPOCH, Offset
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import IBP_3_0_IV1
from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationRequest, BrokerRegistrationResponse
from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kraft.rpc.node_description import SupportedFeature
from kraft.sim.cluster.cluster import (
    PARTITION_ID,
    TOPIC_ID,
    Broker,
    Cluster,
    Envelope,
    directory_of,
    is_running,
    partition_of,
)
from kraft.sim.common.step import UNKNOWN_PROCESS, Refused, done

if TYPE_CHECKING:
    from kraft.broker.partition_leader import PartitionLeader
    from kraft.controller.memory import Memory
    from kraft.ids import BrokerId, IncarnationId
    from kraft.sim.cluster import choices
    from kraft.sim.common.step import Outcome

    Result = tuple[Cluster, Outcome]

_NOT_NOW: Final = Refused("the process cannot send that now")
_LEADING_STATES: Final = {BrokerState.RUNNING, BrokerState.PENDING_CONTROLLED_SHUTDOWN}
_NEWEST_FEATURE: Final = 27
_FEATURES: Final = (SupportedFeature(METADATA_VERSION, IBP_3_0_IV1, _NEWEST_FEATURE),)
# The clock of a process; nothing here depends on it.
_NOW_MS: Final = 0


def _with(cluster: Cluster, broker: Broker, **changes: Any) -> Cluster:
    incarnation_id = broker.lifecycle.incarnation_id
    brokers = cluster.brokers.set(incarnation_id, replace(broker, **changes))
    return replace(cluster, brokers=brokers)


def _disconnected(cluster: Cluster, incarnation_id: IncarnationId) -> Cluster:
    """Drop responses to a process; its requests may still arrive. Spec: Cluster!Unawaited."""
    left = tuple(
        one
        for one in cluster.network
        if one.response is None or one.incarnation_id != incarnation_id
    )
    after = replace(cluster, network=left)
    return _with(after, after.brokers[incarnation_id], awaited=None)


def _after(cluster: Cluster, broker: Broker, taken: broker_lease.LeaseStep) -> Cluster:
    """Perform the effects of a lease step, in order; a process that ends loses its memory."""
    if broker_lease.is_live(taken.state):
        cluster = _with(cluster, broker, lifecycle=taken.state)
    else:
        cluster = _with(cluster, broker, lifecycle=taken.state, applied=None, view=None)
    for effect in taken.effects:
        match effect:
            case Send(correlation_id, request):
                cluster = _sent(cluster, taken.state.incarnation_id, _told(request), correlation_id)
            case Disconnect():
                cluster = _disconnected(cluster, taken.state.incarnation_id)
    return cluster


def _told(request: Any) -> Any:
    """Return a request with the fields that the lease does not know: features and directories."""
    if not isinstance(request, BrokerRegistrationRequest):
        return request
    return replace(request, features=_FEATURES, log_dirs=(directory_of(request.broker_id),))


def _sent(
    cluster: Cluster, incarnation_id: IncarnationId, request: Any, correlation_id: int
) -> Cluster:
    message_id = cluster.next_message_id
    envelope = Envelope(message_id, message_id, incarnation_id, correlation_id, request)
    after = replace(cluster, network=(*cluster.network, envelope), next_message_id=message_id + 1)
    return _with(after, after.brokers[incarnation_id], awaited=message_id)


def start_broker(cluster: Cluster, choice: choices.StartBroker) -> Result:
    """Start a process that never ran."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    if broker.crashed or broker.lifecycle.state is not BrokerState.NOT_RUNNING:
        return cluster, Refused("an incarnation starts once")
    return _after(cluster, broker, broker_lease.start(broker.lifecycle)), done("StartBroker")


def send_registration(cluster: Cluster, choice: choices.SendRegistration) -> Result:
    """Let a process ask for its epoch."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    if broker.crashed or not broker_lease.can_send_registration(broker.lifecycle):
        return cluster, _NOT_NOW
    taken = broker_lease.send_registration(broker.lifecycle, _NOW_MS)
    return _after(cluster, broker, taken), done("SendRegistration")


def send_heartbeat(cluster: Cluster, choice: choices.SendHeartbeat) -> Result:
    """Let a process send a heartbeat; it wants to be fenced while it is STARTING."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    lease = broker.lifecycle
    want_fence = lease.state is BrokerState.STARTING
    waits = broker.crashed or broker.awaited is not None
    if waits or not broker_lease.can_send_heartbeat(lease, want_fence=want_fence):
        return cluster, _NOT_NOW
    taken = broker_lease.send_heartbeat(lease, want_fence=want_fence, now_ms=_NOW_MS)
    return _after(cluster, broker, taken), done("SendHeartbeat")


def send_alter_partition(cluster: Cluster, choice: choices.SendAlterPartition) -> Result:
    """Let a leader ask for another ISR, by the metadata that it has replayed.

    After a granted request it waits until it has replayed the change. It may resend a pending
    request while it still wants that ISR; Kafka's leader resends it in any case.

    Kafka: AlterPartitionManager.submit.
    """
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    view, memory, isr = broker.view, broker.applied, choice.isr
    if view is None or memory is None or not _may_ask(broker, memory, isr):
        return cluster, Refused("it does not lead, awaits a response, or may not ask for that")
    waiting, asked = partition_leader.send_alter_partition(
        TOPIC_ID, PARTITION_ID, view, isr, {one: _epoch_of(memory, one) for one in isr}
    )
    lease = broker.lifecycle
    request = AlterPartitionRequest(lease.broker_id, lease.broker_epoch, (asked,))
    after = _with(cluster, broker, view=waiting)
    return _sent(after, lease.incarnation_id, request, -1), done("SendAlterPartition")


def _epoch_of(memory: Memory, broker_id: BrokerId) -> Any:
    registration = memory.image.brokers.get(broker_id)
    return NO_BROKER_EPOCH if registration is None else registration.epoch


def _may_ask(broker: Broker, memory: Memory, isr: tuple[BrokerId, ...]) -> bool:
    """Return whether a leader may ask for an ISR.

    Spec: Cluster!WantedIsrs.
    Kafka: Partition.isReplicaIsrEligible.
    """
    lease, view = broker.lifecycle, broker.view
    if lease.state not in _LEADING_STATES or lease.broker_epoch == NO_BROKER_EPOCH:
        return False
    partition = partition_of(memory)
    if view is None or broker.awaited is not None or not _is_of(view, memory):
        return False
    joining = set(isr) - set(partition.isr)
    if not joining and isr != (lease.broker_id,):
        return False
    if not all(is_active(memory.image, one) for one in joining):
        return False
    again = bool(view.pending) and isr == view.pending
    return again or partition_leader.may_ask_for(lease.broker_id, view, isr)


def _is_of(view: PartitionLeader, memory: Memory) -> bool:
    """Return whether a leader's view is the one that it has replayed."""
    partition = partition_of(memory)
    epochs = view.leader_epoch, view.partition_epoch
    return epochs == (partition.leader_epoch, partition.partition_epoch)


def request_timeout(cluster: Cluster, choice: choices.RequestTimeout) -> Result:
    """Let a process stop awaiting a response."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    if not is_running(broker) or broker.awaited is None:
        return cluster, Refused("the process awaits no response")
    action = done("RequestTimeout")
    if not broker_lease.is_waiting(broker.lifecycle):
        return _disconnected(cluster, choice.incarnation_id), action
    return _after(cluster, broker, broker_lease.on_request_timeout(broker.lifecycle)), action


def replay_metadata(cluster: Cluster, choice: choices.ReplayMetadata) -> Result:
    """Let a process replay everything committed."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    memory, known = cluster.committed, broker.applied
    if not is_running(broker) or (known is not None and known.end == memory.end):
        return cluster, Refused("the process does not run, or has replayed all")
    lease, last = broker.lifecycle, Offset(memory.end - 1)
    # An empty log has no offset to report.
    if broker_lease.can_replay_metadata(lease, last):
        lease = broker_lease.replay_metadata(lease, last).state
    view, partition = broker.view, partition_of(memory)
    if partition_leader.is_news(lease.broker_id, view, partition):
        view = partition_leader.learn_partition(lease.broker_id, partition)
    after = _with(cluster, broker, lifecycle=lease, applied=memory, view=view)
    return after, done("ReplayMetadata")


def request_shutdown(cluster: Cluster, choice: choices.RequestShutdown) -> Result:
    """Tell a RUNNING process to stop."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    if broker.lifecycle.state is not BrokerState.RUNNING:
        return cluster, Refused("the process does not run, or is shutting down already")
    taken = broker_lease.request_shutdown(broker.lifecycle)
    return _after(cluster, broker, taken), done("RequestShutdown")


def crash(cluster: Cluster, choice: choices.Crash) -> Result:
    """Kill a process. Its messages stay in flight."""
    broker = cluster.brokers.get(choice.incarnation_id)
    if broker is None:
        return cluster, UNKNOWN_PROCESS
    if not is_running(broker):
        return cluster, Refused("the process does not run")
    dead = Broker(broker_lease.without_memory(broker.lifecycle), crashed=True)
    return _disconnected(_with(cluster, dead), choice.incarnation_id), done("Crash")


def deliver_response(cluster: Cluster, envelope: Envelope) -> Result:
    """Deliver a response to the process that awaits it."""
    broker = cluster.brokers[envelope.incarnation_id]
    assert is_running(broker), "the connection of a process that ended is closed"
    left = tuple(one for one in cluster.network if one is not envelope)
    delivered = replace(cluster, network=left)
    lease, number = broker.lifecycle, envelope.correlation_id
    heard = replace(broker, awaited=None)
    match envelope.response:
        case BrokerRegistrationResponse() as response:
            taken = broker_lease.on_registration_response(lease, number, response)
            return _after(delivered, heard, taken), done("HandleRegistrationResponse")
        case BrokerHeartbeatResponse() as response:
            taken = broker_lease.on_heartbeat_response(lease, number, response)
            return _after(delivered, heard, taken), done("HandleHeartbeatResponse")
        case AlterPartitionResponse() as response:
            view = _heard(heard.view, envelope.request, response)
            return _with(delivered, heard, view=view), done("HandleAlterPartitionResponse")
        case _:
            raise AssertionError("a request is not for a process")


def _heard(
    view: PartitionLeader | None, request: Any, response: AlterPartitionResponse
) -> PartitionLeader | None:
    (asked,) = request.partitions
    if view is None or not partition_leader.is_awaited(view, asked):
        return view
    answer = response.partitions[0] if response.partitions else None
    return partition_leader.on_alter_partition_response(view, response.error_code, answer)
