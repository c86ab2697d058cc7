"""Leaders ask for another ISR.

Kafka: ReplicationControlManager.alterPartition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.errors import ControllerError, ControllerFaultError
from kraft.controller.operations.leader_eligibility import change_of, is_active, may_elect_uncleanly
from kraft.controller.operations.partition_ask import new_isr
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH
from kraft.image.topics import merged
from kraft.records.topics import NO_LEADER_CHANGE, RECOVERED, RECOVERING
from kraft.rpc.alter_partition import AlteredPartition, AlterPartitionResponse

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.ids import BrokerId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.topics import PartitionChangeRecord
    from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionRequest


def alter_partition(
    image: MetadataImage, defaults: Defaults, request: AlterPartitionRequest
) -> Result[AlterPartitionResponse]:
    """Return the changes that a leader asks for, one answer per partition.

    If the new ISR completes a reassignment, the resulting ISR may be smaller than requested; the
    answer has the resulting one. If nothing changes, no record is written.

    Spec: Reassignment!GrantAlterPartition, Reassignment!RefuseAlterPartition.
    Kafka: ReplicationControlManager.alterPartition.
    """
    registration = image.brokers.get(request.broker_id)
    if registration is None or registration.epoch != request.broker_epoch:
        return Result((), AlterPartitionResponse(ErrorCode.STALE_BROKER_EPOCH), is_atomic=False)
    records: list[PartitionChangeRecord] = []
    answers = []
    for asked in request.partitions:
        try:
            record, answer = _alter_one(image, defaults, request.broker_id, asked)
        except ControllerError as error:
            answers.append(AlteredPartition(asked.topic_id, asked.partition_index, error.code))
            continue
        answers.append(answer)
        records += [] if record is None else [record]
    response = AlterPartitionResponse(ErrorCode.NONE, tuple(answers))
    return Result(tuple(records), response, is_atomic=False)


def _alter_one(
    image: MetadataImage, defaults: Defaults, sender: BrokerId, asked: AlterPartitionData
) -> tuple[PartitionChangeRecord | None, AlteredPartition]:
    if asked.topic_id not in image.topics:
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_ID, "unknown topic id")
    key = asked.topic_id, asked.partition_index
    partition = image.partitions.get(key)
    if partition is None:
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "unknown partition")
    validate_alter_partition(image, partition, sender, asked)
    isr = tuple(member.broker_id for member in asked.new_isr_with_epochs)
    enabled = may_elect_uncleanly(image, defaults, key)
    ask = new_isr(partition, isr, asked.leader_recovery_state, unclean_enabled=enabled)
    record = change_of(image, defaults, key, ask)
    if record is not None and record.leader not in {sender, NO_LEADER_CHANGE}:
        # The change completed a reassignment that removes the sender from the replicas.
        code = ErrorCode[defaults.profile.leader_left_out_error]
        return record, AlteredPartition(*key, code)
    return record, _granted(asked, partition if record is None else merged(partition, record))


def _granted(asked: AlterPartitionData, partition: Partition) -> AlteredPartition:
    return AlteredPartition(
        asked.topic_id,
        asked.partition_index,
        ErrorCode.NONE,
        partition.leader,
        partition.leader_epoch,
        partition.isr,
        partition.leader_recovery_state,
        partition.partition_epoch,
    )


def validate_alter_partition(
    image: MetadataImage, partition: Partition, sender: BrokerId, asked: AlterPartitionData
) -> None:
    """Check that a leader may have the ISR that it asks for; raise ControllerError otherwise.

    If several reasons apply, the error has the first one.

    Raises ControllerFaultError for a recovery state that Kafka does not have.
    Spec: PartitionChange!AlterPartitionError.
    Kafka: ReplicationControlManager.validateAlterPartitionData, LeaderRecoveryState.of.
    """
    isr = [member.broker_id for member in asked.new_isr_with_epochs]
    state = asked.leader_recovery_state
    recovering = state == RECOVERING
    known_as_recovered = partition.leader_recovery_state == RECOVERED
    refusals: tuple[tuple[bool, ErrorCode | None], ...] = (
        # A sender with a later epoch has heard from a later controller (KAFKA-14154).
        (asked.leader_epoch > partition.leader_epoch, ErrorCode.NOT_CONTROLLER),
        (asked.partition_epoch > partition.partition_epoch, ErrorCode.NOT_CONTROLLER),
        (asked.leader_epoch < partition.leader_epoch, ErrorCode.FENCED_LEADER_EPOCH),
        (sender != partition.leader, ErrorCode.INVALID_REQUEST),
        (asked.partition_epoch < partition.partition_epoch, ErrorCode.INVALID_UPDATE_VERSION),
        (len(set(isr)) < len(isr) or not set(isr) <= set(partition.replicas),
         ErrorCode.INVALID_REQUEST),
        (partition.leader not in isr, ErrorCode.INVALID_REQUEST),
        # Kafka's controller does not refuse it, but fails.
        (state not in {RECOVERED, RECOVERING}, None),
        (recovering and len(isr) > 1, ErrorCode.INVALID_REQUEST),
        (recovering and known_as_recovered, ErrorCode.INVALID_REQUEST),
        (not all(_is_eligible(image, *member) for member in asked.new_isr_with_epochs),
         ErrorCode.INELIGIBLE_REPLICA),
    )  # fmt: skip
    for applies, code in refusals:
        if not applies:
            continue
        if code is None:
            raise ControllerFaultError(f"there is no leader recovery state {state}")
        raise ControllerError(code, f"AlterPartition of broker {sender} is refused")


def _is_eligible(image: MetadataImage, broker_id: BrokerId, broker_epoch: int) -> bool:
    """Return whether a broker may join the ISR: it is active, under the epoch that the leader sent.

    Spec: Reassignment!EligibleEpochs.
    Kafka: ReplicationControlManager.ineligibleReplicasForIsr. KIP-841, KIP-903.
    """
    if not is_active(image, broker_id):
        return False
    return broker_epoch in {NO_BROKER_EPOCH, image.brokers[broker_id].epoch}
