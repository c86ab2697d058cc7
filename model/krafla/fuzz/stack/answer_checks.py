"""Checks that the answers to clients and brokers are true by the committed log.

An answer rests on all that was in memory when it was made. When it is sent, that is committed, so
the committed log decides whether it is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.controller_effects import appended_by, replies_of, response_of
from krafla.fuzz.stack.isr_checks import IsrChecks
from krafla.fuzz.stack.operation_checks import COMMITTED, check_topic
from krafla.fuzz.stack.part_checks import check_parts
from krafla.fuzz.stack.refusal_checks import check_refusals
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.operations.registration_checks import KRAFT_VERSION
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.ids import PartitionId
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)
from kraft.rpc.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.stack.broker_checks import BrokerChecks
    from krafla.fuzz.stack.committed_log import CommittedLog
    from kraft.ids import BrokerId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["ANSWER_PROPERTIES", "CHECKS", "AnswerChecks"]

ANSWER_PROPERTIES: Final = (
    "ActiveAnswersProp", "AlteredIsCommittedInv", "AnsweredIsCommittedInv",
    "EveryRequestIsAnsweredProp", "FeaturesSupportedProp", "GrantedIsOutProp",
    "RefusalIsTrueProp", "RefusedWritesNothingProp",
)  # fmt: skip


class AnswerChecks:
    """The requests of each process by token, and the end of the log that each answer rests on."""

    def __init__(self, committed_log: CommittedLog, brokers: BrokerChecks) -> None:
        self._committed_log = committed_log
        self._isrs = IsrChecks(brokers)
        self._asked: dict[tuple[int, object], tuple[Any, int]] = {}

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check what a step of a controller answers. Raises Violated."""
        event, after = listener.event, listener.after
        if isinstance(event, events.RequestReceived):
            reads = isinstance(event.request, ListPartitionReassignmentsRequest)
            end = after.stable_end if reads else after.write_end
            self._asked[step.incarnation, event.token] = event.request, end
            _check_refused(listener, event)
            if isinstance(event.request, AlterPartitionRequest):
                self._isrs.check(listener, event)
            elif isinstance(event.request, BrokerRegistrationRequest):
                _check_features(listener, event)
            _check_reasons(listener, event)
        _check_waiting(listener)
        _check_active(listener)
        for effect in listener.effects:
            if isinstance(effect, does.Reply):
                asked = self._asked.pop((step.incarnation, effect.token), None)
                if asked is None or isinstance(effect.response, does.Failure):
                    continue
                request, end = asked
                image = self._committed_log.stable_images.get(end)
                check = CHECKS.get(type(request))
                if image is not None and check is not None and not _only_validates(request):
                    check(image, request, effect.response)

    def forget(self, incarnation: int) -> None:
        """Forget the requests of a process that has ended."""
        self._asked = {at: one for at, one in self._asked.items() if at[0] != incarnation}


def _only_validates(request: Any) -> bool:
    """Return whether a request changes nothing whatever it is answered."""
    return bool(getattr(request, "validate_only", False))


def _check_refused(listener: ListenerStep, event: events.RequestReceived) -> None:
    """Check that a request is answered, and that what is refused writes nothing."""
    response, records = response_of(listener, event.token), appended_by(listener)
    name = type(event.request).__name__
    if response is None:
        raise Violated("EveryRequestIsAnsweredProp", f"{name} is neither answered nor deferred")
    code = getattr(response, "error_code", ErrorCode.NONE)
    if records and code is not ErrorCode.NONE:
        raise Violated(
            "RefusedWritesNothingProp",
            f"{name} is refused with {code.name}, yet {len(records)} records are written",
        )
    if isinstance(response, does.Failure):
        return
    # The request was judged by this image: no task and no commit comes before it in its step.
    check_parts(listener.before.written.image, event.request, response, records)


def _check_reasons(listener: ListenerStep, event: events.RequestReceived) -> None:
    """Check that a refusal is true of the image that the request was judged by."""
    before, response = listener.before, response_of(listener, event.token)
    if not isinstance(response, does.Failure):
        quorum = before.configuration.defaults.quorum_node_ids
        check_refusals(before.written.image, event.request, response, quorum)


def _check_features(listener: ListenerStep, event: events.RequestReceived) -> None:
    """Check that a broker registers if, and only if, it supports every finalized feature.

    Raft has the level of kraft.version, the image has all others.

    Kafka: ClusterControlManager.registerBroker.
    """
    request: BrokerRegistrationRequest = event.request
    code = getattr(response_of(listener, event.token), "error_code", None)
    if code not in {ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION}:
        return
    image = listener.before.written.image
    levels = {**image.features, KRAFT_VERSION: event.kraft_version}
    ranges = {one.name: (one.minimum, one.maximum) for one in request.features}
    unsupported = []
    for name in sorted({*levels, *ranges}):
        lowest, highest = ranges.get(name, (0, 0))
        if not lowest <= levels.get(name, 0) <= highest:
            unsupported.append(f"{name} {levels.get(name, 0)}")
    if bool(unsupported) != (code is ErrorCode.UNSUPPORTED_VERSION):
        raise Violated(
            "FeaturesSupportedProp",
            f"broker {request.broker_id} is answered {code.name}, but "
            + (
                f"does not support {', '.join(unsupported)}"
                if unsupported
                else "supports every finalized feature"
            ),
        )


def _check_waiting(listener: ListenerStep) -> None:
    """Check that every deferred answer waits for something that is still to come."""
    before, after = listener.before, listener.after
    if after.deferred and after.deferred[0].end <= after.stable_end:
        one = after.deferred[0]
        raise Violated(
            "EveryRequestIsAnsweredProp",
            f"an answer waits for offset {one.end}, though all before {after.stable_end} is stable",
        )
    if before.deferred and len(before.deferred) > len(after.deferred):
        answered = replies_of(listener)
        left = {one.token for one in after.deferred}
        for one in before.deferred:
            if one.token not in answered and one.token not in left:
                raise Violated(
                    "EveryRequestIsAnsweredProp",
                    f"the answer that waits for offset {one.end} is forgotten",
                )


def _check_active(listener: ListenerStep) -> None:
    """Check that a controller that stays active refers no request to another controller.

    Kafka: QuorumController.ControllerWriteEvent.run.
    """
    before, after = listener.before, listener.after
    if not (is_active(before) and is_active(after) and before.claim_epoch == after.claim_epoch):
        return
    for effect in listener.effects:
        response = effect.response if isinstance(effect, does.Reply) else None
        if isinstance(response, does.Failure) and response.error_code is ErrorCode.NOT_CONTROLLER:
            raise Violated(
                "ActiveAnswersProp",
                f"the active controller of epoch {after.claim_epoch} answers NOT_CONTROLLER",
            )


def _untrue(text: str, name: str = "AnsweredIsCommittedInv") -> Violated:
    return Violated(name, text)


def _altered(image: MetadataImage, _request: Any, response: Any) -> None:
    for one in response.partitions:
        if one.error_code is not ErrorCode.NONE:
            continue
        key = one.topic_id, one.partition_index
        partition = image.partitions.get(key)
        told = (
            one.leader_id, one.leader_epoch, one.isr, one.leader_recovery_state, one.partition_epoch
        )  # fmt: skip
        there = None if partition is None else (
            partition.leader, partition.leader_epoch, partition.isr,
            partition.leader_recovery_state, partition.partition_epoch,
        )  # fmt: skip
        if told != there:
            raise _untrue(
                f"a leader is told (leader, epoch, ISR, recovery, partition epoch) {told}, "
                f"committed is {there}",
                "AlteredIsCommittedInv",
            )


def _heartbeat(image: MetadataImage, request: Any, response: Any) -> None:
    if response.error_code is not ErrorCode.NONE:
        return
    broker_id, registration = request.broker_id, image.brokers.get(request.broker_id)
    if registration is None or registration.epoch != request.broker_epoch:
        raise _untrue(f"broker {broker_id} is answered for an epoch that is not registered")
    if response.is_fenced != registration.fenced:
        raise _untrue(
            f"broker {broker_id} is told that it is {_fenced(response.is_fenced)}, "
            f"committed is that it is {_fenced(registration.fenced)}"
        )
    if not response.should_shut_down:
        return
    for key, partition in image.partitions.items():
        if partition.leader == broker_id or (broker_id in partition.isr and len(partition.isr) > 1):
            raise _untrue(
                f"broker {broker_id} may shut down, but leads or is in sync in partition {key[1]}: "
                f"leader {partition.leader}, ISR {list(partition.isr)}",
                "GrantedIsOutProp",
            )


def _fenced(is_fenced: bool) -> str:
    return "fenced" if is_fenced else "unfenced"


def _registration(image: MetadataImage, request: Any, response: Any) -> None:
    if response.error_code is not ErrorCode.NONE:
        return
    registration = image.brokers.get(request.broker_id)
    told = request.incarnation_id, response.broker_epoch
    there = registration and (registration.incarnation_id, registration.epoch)
    if told != there:
        raise _untrue(f"a broker is told that it is registered as {told}, committed is {there}")


def _topics(image: MetadataImage, request: Any, response: Any) -> None:
    asked = {topic.name: topic for topic in request.topics}
    for one in response.topics:
        if one.error_code is ErrorCode.NONE:
            check_topic(image, asked[one.name], one)


def _partitions(image: MetadataImage, request: Any, response: Any) -> None:
    topics = {topic.name: topic for topic in request.topics}
    for one in response.results:
        if one.error_code is not ErrorCode.NONE:
            continue
        asked = topics[one.name]
        topic_id = image.topic_ids.get(asked.name)
        count = 0 if topic_id is None else len(image.topics[topic_id].partition_ids)
        if count != asked.count:
            raise _untrue(
                f"the answer says that topic {asked.name} has {asked.count} partitions; "
                f"it has {count}"
            )
        first = count - len(asked.assignments or ())
        for index, wanted in enumerate(asked.assignments or (), start=first):
            partition = topic_id and image.partitions.get((topic_id, PartitionId(index)))
            there = partition and partition.replicas
            if there != wanted:
                raise _untrue(
                    f"the answer says that {asked.name}-{index} has the replicas {list(wanted)}; "
                    f"they are {there}"
                )


def _deleted(image: MetadataImage, _request: Any, response: Any) -> None:
    for topic_id, code in response.responses:
        if code is ErrorCode.NONE and topic_id in image.topics:
            name = image.topics[topic_id].name
            raise _untrue(f"the answer says that topic {name} was deleted; it still exists")


def _unregistered(image: MetadataImage, request: Any, response: Any) -> None:
    if response.error_code is ErrorCode.NONE and request.broker_id in image.brokers:
        raise _untrue(
            f"the answer says that broker {request.broker_id} was unregistered; it was not"
        )


def _reassigned(image: MetadataImage, request: Any, response: Any) -> None:
    for asked, one in zip(request.partitions, response.responses, strict=True):
        if one.error_code is not ErrorCode.NONE:
            continue
        topic_id = image.topic_ids.get(asked.name)
        partition = topic_id and image.partitions.get((topic_id, asked.partition_index))
        if not partition:
            raise _untrue(
                f"the answer says that {asked.name}-{asked.partition_index} moves; there is no "
                "such partition"
            )
        if asked.replicas is None and (partition.adding_replicas or partition.removing_replicas):
            raise _untrue(
                f"the answer says that the move of {asked.name} was cancelled; it goes on"
            )
        if asked.replicas and not _moves_to(partition, asked.replicas):
            raise _untrue(
                f"the answer says that {asked.name}-{asked.partition_index} moves to "
                f"{list(asked.replicas)}; its replicas are {list(partition.replicas)}, of which "
                f"{list(partition.removing_replicas)} go"
            )


def _moves_to(partition: Partition, target: tuple[BrokerId, ...]) -> bool:
    """Return whether a partition has the replicas of a target first, and all others go.

    What an earlier move removes may be a target now, and goes all the same, once the move is
    complete: see PartitionChange!NewAssignment.
    """
    wanted = tuple(one for one in target if one in partition.replicas)
    is_moving = bool(partition.adding_replicas or partition.removing_replicas)
    others = {*partition.replicas} - {*wanted, *partition.removing_replicas}
    return (
        bool(wanted)
        and partition.replicas[: len(wanted)] == wanted
        and not others
        and not (is_moving and len(wanted) < len(target))
    )


def _listed(image: MetadataImage, request: Any, response: Any) -> None:
    told = {
        (one.name, one.partition_index): (one.replicas, one.adding_replicas, one.removing_replicas)
        for one in response.topics
    }
    asked = None if request.topics is None else dict(request.topics)
    there = {
        (image.topics[topic_id].name, index): (
            one.replicas, one.adding_replicas, one.removing_replicas,
        )
        for (topic_id, index), one in image.partitions.items()
        if (one.adding_replicas or one.removing_replicas)
        and (asked is None or index in asked.get(image.topics[topic_id].name, ()))
    }  # fmt: skip
    if told != there:
        raise _untrue(f"the answer lists the moves {sorted(told)}; committed are {sorted(there)}")


CHECKS: Final[dict[type[Any], Callable[[MetadataImage, Any, Any], None]]] = {
    **COMMITTED,
    AlterPartitionRequest: _altered,
    AlterPartitionReassignmentsRequest: _reassigned,
    BrokerHeartbeatRequest: _heartbeat,
    BrokerRegistrationRequest: _registration,
    CreatePartitionsRequest: _partitions,
    CreateTopicsRequest: _topics,
    DeleteTopicsRequest: _deleted,
    ListPartitionReassignmentsRequest: _listed,
    UnregisterBrokerRequest: _unregistered,
}
