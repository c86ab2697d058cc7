"""One step of a moving partition: `step(cluster, choice)`.

An impossible choice is refused and changes nothing, so every list of choices has exactly one run.
Every change of the partition is a replayed record of the controller.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kraft.broker import partition_leader
from kraft.controller.operations import (
    alter_partition,
    elections,
    leadership,
    reassignments,
    topics,
)
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.leader_eligibility import is_active
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch
from kraft.image.replay import replay
from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionRequest, BrokerState
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, UNCLEAN_ELECTION, ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraft.sim.common.step import UNKNOWN_MESSAGE, Done, Refused, StepResult, done
from kraft.sim.reassignment import choices
from kraft.sim.reassignment.cluster import (
    PARTITION_ID,
    TOPIC,
    TOPIC_ID,
    Cluster,
    Envelope,
    partition_of,
    registration_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.ids import BrokerId
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc.alter_partition import AlterPartitionResponse
    from kraft.sim.common.step import Outcome
    from kraft.sim.reassignment.choices import Choice

_DEFAULTS: Final = Defaults()
_UNKNOWN_BROKER: Final = Refused("no such broker is registered")
# The election wrote no record, but that is no refusal of the choice.
_NONE_AVAILABLE: Final = {
    ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
    ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
}


def step(cluster: Cluster, choice: Choice) -> StepResult[Cluster, Choice]:
    """Return the cluster after a choice; an impossible choice is refused.

    Spec: Reassignment!Next.
    """
    after, outcome = _HANDLERS[type(choice)](cluster, choice)
    return StepResult(cluster, after, choice, outcome)


_Result = tuple[Cluster, "Outcome"]


def _write(cluster: Cluster, records: Iterable[TypedRecord]) -> Cluster:
    # Records are committed at once here.
    return replace(cluster, image=replay(cluster.image, records))


def _reassign(cluster: Cluster, target: tuple[BrokerId, ...] | None, action: str) -> _Result:
    asked = ReassignablePartition(TOPIC, PARTITION_ID, target)
    result = reassignments.alter_partition_reassignments(
        cluster.image, _DEFAULTS, AlterPartitionReassignmentsRequest((asked,))
    )
    (answer,) = result.response.responses
    if answer.error_code is not ErrorCode.NONE:
        return cluster, Refused(f"{answer.error_code.name}: {answer.error_message}")
    return _write(cluster, result.records), done(action)


def _start(cluster: Cluster, choice: choices.StartReassignment) -> _Result:
    return _reassign(cluster, choice.target, "StartReassignment")


def _cancel(cluster: Cluster, _: choices.CancelReassignment) -> _Result:
    return _reassign(cluster, None, "CancelReassignment")


def _elect(cluster: Cluster, election_type: int, action: str) -> _Result:
    request = ElectLeadersRequest(election_type, ((TOPIC, PARTITION_ID),))
    result = elections.elect_leaders(cluster.image, _DEFAULTS, request)
    (answer,) = result.response.replica_election_results
    if answer.error_code not in {ErrorCode.NONE, *_NONE_AVAILABLE}:
        return cluster, Refused(f"{answer.error_code.name}: {answer.error_message}")
    return _write(cluster, result.records), done(action)


def _elect_preferred(cluster: Cluster, _: choices.ElectPreferredLeader) -> _Result:
    return _elect(cluster, PREFERRED_ELECTION, "ElectPreferredLeader")


def _elect_unclean(cluster: Cluster, _: choices.ElectUncleanLeader) -> _Result:
    return _elect(cluster, UNCLEAN_ELECTION, "ElectUncleanLeader")


def _delete_topic(cluster: Cluster, _: choices.DeleteTopic) -> _Result:
    result = topics.delete_topics(cluster.image, (TOPIC_ID,))
    code = result.response[TOPIC_ID]
    if code is not ErrorCode.NONE:
        return cluster, Refused(code.name)
    return _write(cluster, result.records), done("DeleteTopic")


def _unregister(cluster: Cluster, choice: choices.UnregisterBroker) -> _Result:
    if choice.broker_id not in cluster.image.brokers:
        return cluster, _UNKNOWN_BROKER
    records = leadership.unregister_broker(cluster.image, _DEFAULTS, choice.broker_id)
    return _write(cluster, records), done("UnregisterBroker")


def _fence(cluster: Cluster, choice: choices.FenceBroker) -> _Result:
    registration = cluster.image.brokers.get(choice.broker_id)
    if registration is None or registration.fenced:
        return cluster, Refused("no such broker is unfenced")
    records = leadership.fence_broker(cluster.image, _DEFAULTS, choice.broker_id)
    return _write(cluster, records), done("FenceBroker")


def _unfence(cluster: Cluster, choice: choices.UnfenceBroker) -> _Result:
    registration = cluster.image.brokers.get(choice.broker_id)
    if registration is None or not registration.fenced:
        return cluster, Refused("no such broker is fenced")
    if registration.in_controlled_shutdown and not cluster.configuration.late_heartbeats:
        return cluster, Refused("the broker is shutting down")
    records = leadership.unfence_broker(cluster.image, _DEFAULTS, choice.broker_id)
    return _write(cluster, records), done("UnfenceBroker")


def _shut_down(cluster: Cluster, choice: choices.BeginControlledShutdown) -> _Result:
    if not is_active(cluster.image, choice.broker_id):
        return cluster, Refused("no such broker is active")
    records = leadership.begin_controlled_shutdown(cluster.image, _DEFAULTS, choice.broker_id)
    return _write(cluster, records), done("BeginControlledShutdown")


def _register(cluster: Cluster, choice: choices.RegisterBroker) -> _Result:
    broker_id = choice.broker_id
    last = cluster.last_epochs.get(broker_id)
    if last is None:
        return cluster, Refused("no such broker")
    registration = cluster.image.brokers.get(broker_id)
    if registration is not None and not registration.fenced:
        return cluster, Refused("its predecessor is not fenced")
    epoch = BrokerEpoch(last + 1)
    records = leadership.register_broker(
        cluster.image, _DEFAULTS, registration_of(broker_id, epoch)
    )
    restarted = _write(cluster, records)
    leading = cluster.leading
    return replace(
        restarted,
        last_epochs=cluster.last_epochs.set(broker_id, epoch),
        leading=leading.delete(broker_id) if broker_id in leading else leading,
        # Responses to the old process are lost.
        network=tuple(
            one
            for one in cluster.network
            if one.response is None or one.request.broker_id != broker_id
        ),
    ), done("RegisterBroker")


def _learn(cluster: Cluster, choice: choices.LearnPartition) -> _Result:
    broker_id, partition = choice.broker_id, partition_of(cluster)
    view = cluster.leading.get(broker_id)
    if not partition_leader.is_news(broker_id, view, partition):
        return cluster, Refused("it knows the latest metadata")
    learned = partition_leader.learn_partition(broker_id, partition)
    return _with_view(cluster, broker_id, learned), done("LearnPartition")


def _with_view(
    cluster: Cluster, broker_id: BrokerId, view: partition_leader.PartitionLeader | None
) -> Cluster:
    leading = cluster.leading
    if view is None:
        return replace(cluster, leading=leading.delete(broker_id))
    return replace(cluster, leading=leading.set(broker_id, view))


def _send(cluster: Cluster, choice: choices.SendAlterPartition) -> _Result:
    broker_id = choice.broker_id
    view = cluster.leading.get(broker_id)
    if view is None or not partition_leader.may_ask_for(broker_id, view, choice.isr):
        return cluster, Refused("it does not lead, awaits a response, or may not ask for that")
    waiting, asked = partition_leader.send_alter_partition(
        TOPIC_ID, PARTITION_ID, view, choice.isr, cluster.last_epochs
    )
    request = AlterPartitionRequest(broker_id, cluster.last_epochs[broker_id], (asked,))
    return _put(_with_view(cluster, broker_id, waiting), request), done("SendAlterPartition")


def _put(cluster: Cluster, request: AlterPartitionRequest) -> Cluster:
    envelope = Envelope(cluster.next_message_id, request)
    return replace(
        cluster,
        network=(*cluster.network, envelope),
        next_message_id=cluster.next_message_id + 1,
    )


def find(cluster: Cluster, message_id: int) -> Envelope | None:
    """Return the message in flight with this id, or None."""
    return next((one for one in cluster.network if one.message_id == message_id), None)


def _retry(cluster: Cluster, choice: choices.RetryAlterPartition) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None or envelope.response is not None:
        return cluster, UNKNOWN_MESSAGE
    request = envelope.request
    (asked,) = request.partitions
    view = cluster.leading.get(request.broker_id)
    wanted = {member.broker_id for member in asked.new_isr_with_epochs}
    if not partition_leader.is_awaited(view, asked) or view is None or set(view.pending) != wanted:
        return cluster, Refused("its response is not awaited")
    return _put(cluster, request), done("RetryAlterPartition")


def _stray(cluster: Cluster, choice: choices.SendStrayRequest) -> _Result:
    asked = AlterPartitionData(
        TOPIC_ID,
        PARTITION_ID,
        choice.leader_epoch,
        choice.partition_epoch,
        tuple(BrokerState(*member) for member in choice.isr),
        choice.leader_recovery_state,
    )
    request = AlterPartitionRequest(choice.broker_id, choice.broker_epoch, (asked,))
    return _put(cluster, request), done("SendStrayRequest")


def _deliver(cluster: Cluster, choice: choices.Deliver) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    left = tuple(one for one in cluster.network if one is not envelope)
    without = replace(cluster, network=left)
    if envelope.response is not None:
        return _answered(without, envelope.request, envelope.response)
    request = envelope.request
    result = alter_partition.alter_partition(cluster.image, _DEFAULTS, request)
    after = _write(without, result.records)
    if cluster.last_epochs[request.broker_id] == request.broker_epoch:
        # The process that sent the request still runs.
        reply = replace(envelope, response=result.response)
        after = replace(after, network=(*left, reply))
    return after, done(_answer_of(result.response))


def _answer_of(response: AlterPartitionResponse) -> str:
    granted = {ErrorCode.NONE, ErrorCode.NEW_LEADER_ELECTED}
    codes = {response.error_code, *(one.error_code for one in response.partitions)}
    return "GrantAlterPartition" if codes <= granted else "RefuseAlterPartition"


def _answered(
    cluster: Cluster, request: AlterPartitionRequest, response: AlterPartitionResponse
) -> tuple[Cluster, Done]:
    (asked,) = request.partitions
    view = cluster.leading.get(request.broker_id)
    action = done("HandleAlterPartitionResponse")
    if view is None or not partition_leader.is_awaited(view, asked):
        return cluster, action
    answer = response.partitions[0] if response.partitions else None
    heard = partition_leader.on_alter_partition_response(view, response.error_code, answer)
    return _with_view(cluster, request.broker_id, heard), action


_HANDLERS: Final[dict[type[Any], Callable[[Cluster, Any], _Result]]] = {
    choices.StartReassignment: _start,
    choices.CancelReassignment: _cancel,
    choices.ElectPreferredLeader: _elect_preferred,
    choices.ElectUncleanLeader: _elect_unclean,
    choices.DeleteTopic: _delete_topic,
    choices.UnregisterBroker: _unregister,
    choices.FenceBroker: _fence,
    choices.UnfenceBroker: _unfence,
    choices.BeginControlledShutdown: _shut_down,
    choices.RegisterBroker: _register,
    choices.LearnPartition: _learn,
    choices.SendAlterPartition: _send,
    choices.RetryAlterPartition: _retry,
    choices.SendStrayRequest: _stray,
    choices.Deliver: _deliver,
}
