"""A leader asks for another ISR: scenarios 51 to 66 of Kafka's controller."""

from __future__ import annotations

import pytest
from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC_ID, after, epoch_of, image_of

from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.errors import ControllerFaultError
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH, BrokerEpoch, PartitionId, TopicId
from kraft.records.topics import RECOVERED, RECOVERING
from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionRequest, BrokerState

THREE = (0, 1, 2)
BUMPING = 11


def asking(isr, *, sender=0, epoch=None, topic_id=TOPIC_ID, index=0, **fields):
    """Return a leader's request for an ISR with correct epochs."""
    members = tuple(BrokerState(one, epoch_of(one)) for one in isr)
    values = {"leader_epoch": 0, "partition_epoch": 0, "new_isr_with_epochs": members} | fields
    asked = AlterPartitionData(topic_id, PartitionId(index), **values)
    return AlterPartitionRequest(sender, epoch_of(sender) if epoch is None else epoch, (asked,))


def answer_to(image, request):
    """Return the answer for the only partition, and the records."""
    result = alter_partition(image, DEFAULTS, request)
    (answer,) = result.response.partitions
    return answer, result.records


def refusal(image, request):
    """Return the error of a request that writes nothing."""
    answer, records = answer_to(image, request)
    assert records == ()
    return answer.error_code


def test_a_leader_shrinks_its_isr_under_the_same_leader_epoch():
    image = image_of(THREE)
    answer, records = answer_to(image, asking((0, 1)))
    partition = after(image, records)
    assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == ((0, 1), 0, 1)
    assert (answer.error_code, answer.isr, answer.partition_epoch) == (ErrorCode.NONE, (0, 1), 1)


def test_before_3_6_a_shrinking_isr_raises_the_leader_epoch():
    image = image_of(THREE, metadata_version=BUMPING)
    partition = after(image, answer_to(image, asking((0, 1)))[1])
    assert (partition.leader, partition.leader_epoch) == (0, 1)


@pytest.mark.parametrize("metadata_version", [BUMPING, 27])
def test_an_isr_grows_under_the_same_leader_epoch(metadata_version):
    image = image_of(THREE, (0, 1), metadata_version=metadata_version)
    partition = after(image, answer_to(image, asking(THREE))[1])
    assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == (THREE, 0, 1)


def test_only_the_leader_may_ask_for_an_isr():
    assert refusal(image_of(THREE), asking((0, 1), sender=1)) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("epochs", "code"),
    [
        ({"leader_epoch": 3}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"leader_epoch": 5}, ErrorCode.NOT_CONTROLLER),
        ({"partition_epoch": 6}, ErrorCode.INVALID_UPDATE_VERSION),
        ({"partition_epoch": 8}, ErrorCode.NOT_CONTROLLER),
    ],
)
def test_a_request_with_another_epoch_is_refused(epochs, code):
    image = image_of(THREE, leader_epoch=4, partition_epoch=7)
    request = asking((0, 1), **({"leader_epoch": 4, "partition_epoch": 7} | epochs))
    assert refusal(image, request) is code


@pytest.mark.parametrize(("sender", "epoch"), [(0, BrokerEpoch(1)), (9, BrokerEpoch(109))])
def test_the_whole_request_of_a_stale_or_unknown_sender_is_refused(sender, epoch):
    result = alter_partition(image_of(THREE), DEFAULTS, asking((0, 1), sender=sender, epoch=epoch))
    assert result.records == ()
    assert result.response.error_code is ErrorCode.STALE_BROKER_EPOCH
    assert result.response.partitions == ()


@pytest.mark.parametrize("isr", [(0, 5), (0, 1, 1), (1, 2), ()])
def test_an_isr_with_a_foreign_or_repeated_member_or_without_the_leader_is_refused(isr):
    assert refusal(image_of(THREE), asking(isr)) is ErrorCode.INVALID_REQUEST


def test_a_recovering_leader_is_alone_in_its_isr_and_no_request_begins_a_recovery():
    recovering = image_of(THREE, (0,), leader_recovery_state=RECOVERING)
    two = asking((0, 1), leader_recovery_state=RECOVERING)
    assert refusal(recovering, two) is ErrorCode.INVALID_REQUEST
    again = asking((0,), leader_recovery_state=RECOVERING)
    assert refusal(image_of(THREE, (0,)), again) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("state", [-1, 2])
def test_a_recovery_state_that_kafka_lacks_is_a_fault_unless_the_isr_is_refused(state):
    wrong = {"leader_recovery_state": state}
    for image in (image_of(THREE), image_of(THREE, fenced=(1,))):
        with pytest.raises(ControllerFaultError, match=f"no leader recovery state {state}"):
            alter_partition(image, DEFAULTS, asking((0, 1), **wrong))
    assert refusal(image_of(THREE), asking((1, 2), **wrong)) is ErrorCode.INVALID_REQUEST
    stale = asking((0, 1), partition_epoch=-1, **wrong)
    assert refusal(image_of(THREE), stale) is ErrorCode.INVALID_UPDATE_VERSION


def test_a_leader_ends_its_recovery():
    image = image_of(THREE, (0,), leader_recovery_state=RECOVERING)
    answer, (record,) = answer_to(image, asking((0,), leader_recovery_state=RECOVERED))
    assert record.leader_recovery_state == RECOVERED
    assert record.isr is None
    assert answer.leader_recovery_state == RECOVERED


@pytest.mark.parametrize(
    "image",
    [
        image_of(THREE, fenced=(2,)),
        image_of(THREE, shutting_down=(2,)),
        image_of(THREE, brokers=(0, 1)),
    ],
    ids=["fenced", "shutting down", "unregistered"],
)
def test_an_ineligible_member_is_refused(image):
    assert refusal(image, asking(THREE)) is ErrorCode.INELIGIBLE_REPLICA


def test_a_shrink_that_names_a_fenced_survivor_is_refused():
    image = image_of(THREE, fenced=(1,))
    assert refusal(image, asking((0, 1))) is ErrorCode.INELIGIBLE_REPLICA


def test_a_member_under_another_broker_epoch_is_refused_and_one_under_an_unknown_epoch_is_not():
    image = image_of(THREE, (0, 1))
    stale = (BrokerState(0, epoch_of(0)), BrokerState(2, BrokerEpoch(1)))
    unknown = (BrokerState(0, NO_BROKER_EPOCH), BrokerState(2, NO_BROKER_EPOCH))
    request = asking(THREE, new_isr_with_epochs=stale)
    assert refusal(image, request) is ErrorCode.INELIGIBLE_REPLICA
    _, records = answer_to(image, asking(THREE, new_isr_with_epochs=unknown))
    assert after(image, records).isr == (0, 2)


def test_unknown_topics_and_partitions_have_their_errors():
    image = image_of(THREE)
    strange = asking((0, 1), topic_id=TopicId("X" * 21 + "Q"))
    assert refusal(image, strange) is ErrorCode.UNKNOWN_TOPIC_ID
    assert refusal(image, asking((0, 1), index=7)) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_request_for_the_present_isr_writes_nothing():
    answer, records = answer_to(image_of(THREE), asking(THREE))
    assert records == ()
    assert (answer.error_code, answer.partition_epoch) == (ErrorCode.NONE, 0)


def test_a_refused_partition_does_not_affect_the_others():
    image = image_of(THREE)
    good, bad = asking((0, 1)).partitions[0], asking((0, 1), index=7).partitions[0]
    request = AlterPartitionRequest(0, epoch_of(0), (bad, good))
    result = alter_partition(image, DEFAULTS, request)
    assert [one.error_code for one in result.response.partitions] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE,
    ]  # fmt: skip
    assert [(one.topic_id, one.partition_id) for one in result.records] == [KEY]
    assert not result.is_atomic
