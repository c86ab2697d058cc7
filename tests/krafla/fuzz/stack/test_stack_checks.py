"""Histories by hand that break properties which no seeded bug breaks first."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec.structs
import pytest
from immutables import Map

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.answer_checks import AnswerChecks
from krafla.fuzz.stack.broker_checks import BrokerChecks
from krafla.fuzz.stack.checks import PROPERTIES
from krafla.fuzz.stack.committed_log import CommittedLog
from krafla.fuzz.stack.controller_checks import ControllerChecks
from krafla.fuzz.stack.isr_checks import IsrChecks
from krafla.fuzz.stack.part_checks import check_parts
from krafla.fuzz.stack.soft_state_checks import SoftStateChecks
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.configuration import Configuration
from kraft.controller.machine import on_event
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import Written
from kraft.controller.state import first_state
from kraft.errors import ErrorCode
from kraft.ids import (
    NO_BROKER_EPOCH,
    BrokerEpoch,
    BrokerId,
    DirectoryId,
    NodeId,
    Offset,
    OffsetAndEpoch,
    PartitionId,
    TopicId,
)
from kraft.image.entries import LOST, BrokerRegistration, Partition, Topic
from kraft.image.metadata_image import MetadataImage
from kraft.records.lease import RegisterBrokerRecord
from kraft.records.topics import NO_LEADER, PartitionChangeRecord
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kraft.rpc.alter_partition import (
    AlteredPartition,
    AlterPartitionData,
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
)
from kraft.rpc.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
)
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignedPartition,
)
from kraft.sim.raft.steps import ListenerStep

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC, FIRST = TopicId("A" * 21 + "g"), PartitionId(0)
ONE, TWO, THREE = BrokerId(1), BrokerId(2), BrokerId(3)
EPOCH = BrokerEpoch(5)
KEY = TOPIC, FIRST
TOKEN = 7


def image_of(partition: Partition) -> MetadataImage:
    brokers = {one: BrokerRegistration(EPOCH, "incarnation", fenced=False) for one in (ONE, TWO)}
    return MetadataImage(
        brokers=Map(brokers),
        topics=Map({TOPIC: Topic("t", TOPIC, (FIRST,))}),
        topic_ids=Map({"t": TOPIC}),
        partitions=Map({KEY: partition}),
    )


LED_BY_ONE = image_of(
    Partition((ONE, TWO), (DirectoryId("d"),) * 2, (ONE,), leader=ONE, leader_epoch=3)
)
WITH_TWO = image_of(
    Partition((ONE, TWO), (DirectoryId("d"),) * 2, (ONE, TWO), leader=ONE, leader_epoch=3)
)
LED_BY_TWO = image_of(
    Partition((ONE, TWO), (DirectoryId("d"),) * 2, (ONE, TWO), leader=TWO, leader_epoch=3)
)
LED_FROM_LOST = image_of(
    Partition((ONE, TWO), (DirectoryId("d"), LOST), (TWO,), leader=TWO, leader_epoch=3)
)
LEADERLESS = image_of(Partition((ONE, TWO), (DirectoryId("d"),) * 2, (), leader=NO_LEADER))
FENCED = msgspec.structs.replace(
    WITH_TWO,
    brokers=WITH_TWO.brokers.set(ONE, BrokerRegistration(EPOCH, "incarnation", fenced=True)),
)
"""Broker 1 is fenced."""
END = Offset(10)


def process(number: int = 1) -> Any:
    return SimpleNamespace(incarnation=number, kind="listener", received=None)


def asked(image: MetadataImage, request: Any, response: Any) -> ListenerStep:
    """Return the step in which a controller whose log is all stable answers a request at once."""
    written = Memory(Written(image, end=END))
    state = SimpleNamespace(
        written=written, write_end=END, committed_end=END, stable_end=END, snapshot_end=Offset(0),
        deferred=(), claim_epoch=1,
        configuration=SimpleNamespace(defaults=SimpleNamespace(quorum_node_ids=())),
    )  # fmt: skip
    effect = does.Reply(TOKEN, response)
    return ListenerStep(
        "controller",
        state,
        events.RequestReceived(0, TOKEN, request, kraft_version=1),
        state,
        (effect,),
    )


def answers(image: MetadataImage) -> AnswerChecks:
    committed_log = CommittedLog()
    committed_log.end = END
    committed_log.stable_images[END] = image
    return AnswerChecks(committed_log, BrokerChecks(committed_log))


def altered(
    leader_epoch: int, code: ErrorCode, *members: int, named: BrokerEpoch = NO_BROKER_EPOCH
) -> tuple[Any, Any]:
    epochs = {ONE: EPOCH}
    isr = tuple(BrokerState(BrokerId(one), epochs.get(BrokerId(one), named)) for one in members)
    data = AlterPartitionData(TOPIC, FIRST, leader_epoch, 0, isr)
    answer = AlteredPartition(TOPIC, FIRST, code, ONE, 3, (ONE,))
    return (
        AlterPartitionRequest(ONE, EPOCH, (data,)),
        AlterPartitionResponse(ErrorCode.NONE, (answer,)),
    )


def a_leader_ahead_is_told_that_it_is_behind() -> None:
    step = asked(LED_BY_ONE, *altered(4, ErrorCode.FENCED_LEADER_EPOCH, ONE))
    answers(LED_BY_ONE).check(process(), step)


def an_isr_is_granted_for_an_old_leader_epoch() -> None:
    step = asked(LED_BY_ONE, *altered(2, ErrorCode.NONE, ONE))
    answers(LED_BY_ONE).check(process(), step)


def joins_without_a_fetch() -> None:
    step = asked(LED_BY_ONE, *altered(3, ErrorCode.NONE, ONE, TWO))
    answers(LED_BY_ONE).check(process(), step)


def is_named_by_an_epoch_of_no_fetch() -> None:
    step = asked(LED_BY_ONE, *altered(3, ErrorCode.INELIGIBLE_REPLICA, ONE, TWO, named=EPOCH))
    answers(LED_BY_ONE).check(process(), step)


def a_leader_is_told_another_isr_than_is_committed() -> None:
    step = asked(WITH_TWO, *altered(3, ErrorCode.NONE, ONE))
    answers(WITH_TWO).check(process(), step)


def a_broker_may_shut_down_while_in_sync() -> None:
    request = BrokerHeartbeatRequest(TWO, EPOCH, END, want_fence=False, want_shut_down=True)
    response = BrokerHeartbeatResponse(is_fenced=False, should_shut_down=True)
    answers(WITH_TWO).check(process(), asked(WITH_TWO, request, response))


def a_heartbeat_of_the_registered_epoch_is_stale() -> None:
    request = BrokerHeartbeatRequest(TWO, EPOCH, END, want_fence=False, want_shut_down=False)
    response = BrokerHeartbeatResponse(ErrorCode.STALE_BROKER_EPOCH)
    answers(WITH_TWO).check(process(), asked(WITH_TWO, request, response))


def registers_without_kraft_version_1() -> None:
    request = BrokerRegistrationRequest(ONE, "process")
    answers(WITH_TWO).check(process(), asked(WITH_TWO, request, BrokerRegistrationResponse()))


def is_refused_a_kraft_version_it_supports() -> None:
    ranges = (SupportedFeature("kraft.version", 1, 1),)
    request = BrokerRegistrationRequest(ONE, "process", features=ranges)
    refused = BrokerRegistrationResponse(ErrorCode.UNSUPPORTED_VERSION)
    answers(WITH_TWO).check(process(), asked(WITH_TWO, request, refused))


def two_processes_claim_one_epoch() -> None:
    controllers = ControllerChecks(CommittedLog())
    for number in (1, 2):
        before = first_state(Configuration(Defaults(NodeId(number))), 0)
        event = events.LeaderChanged(0, 3, NodeId(number))
        step = on_event(before, event)
        listener = ListenerStep("controller", before, event, step.state, step.effects)
        controllers.check(process(number), listener)


def appends_in_another_epoch() -> None:
    state = first_state(Configuration(Defaults(NodeId(1))), 0)
    effect = does.Append(9, Offset(0), (), 27)
    listener = ListenerStep("controller", state, events.Poll(0), state, (effect,))
    ControllerChecks(CommittedLog()).check(process(), listener)


def a_committed_batch_cannot_be_replayed() -> None:
    record = PartitionChangeRecord(FIRST, TOPIC)
    CommittedLog().add([events.CommittedBatch(Offset(0), 1, (record,), 1)])


def a_broker_shows_something_else() -> None:
    committed_log = CommittedLog()
    committed_log.end = END
    committed_log.stable_images[END] = WITH_TWO
    lifecycle = SimpleNamespace(state=None)
    view = SimpleNamespace(
        memory=Memory(Written(LED_BY_ONE, end=END)), life=SimpleNamespace(lifecycle=lifecycle),
        own=SimpleNamespace(replicas={}),
    )  # fmt: skip
    BrokerChecks(committed_log).check(process(), ListenerStep("broker", None, "due", view))


HISTORIES: dict[str, Callable[[], None]] = {
    "AheadIsToldProp": a_leader_ahead_is_told_that_it_is_behind,
    "AlteredIsCommittedInv": a_leader_is_told_another_isr_than_is_committed,
    "BrokerShowsCommittedInv": a_broker_shows_something_else,
    "CommittedReplaysInv": a_committed_batch_cannot_be_replayed,
    "FeaturesSupportedProp": registers_without_kraft_version_1,
    "GrantedByNewestProp": an_isr_is_granted_for_an_old_leader_epoch,
    "GrantedIsOutProp": a_broker_may_shut_down_while_in_sync,
    "JoinsByOwnFetchProp": joins_without_a_fetch,
    "NamesByOwnFetchProp": is_named_by_an_epoch_of_no_fetch,
    "OneClaimPerEpochInv": two_processes_claim_one_epoch,
    "OnlyActiveAppendsProp": appends_in_another_epoch,
    "RefusalIsTrueProp": a_heartbeat_of_the_registered_epoch_is_stale,
}


def test_a_broker_that_supports_the_kraft_version_must_not_be_refused_for_it():
    with pytest.raises(Violated, match="answered UNSUPPORTED_VERSION, but supports every"):
        is_refused_a_kraft_version_it_supports()


@pytest.mark.parametrize(("name", "history"), HISTORIES.items(), ids=list(HISTORIES))
def test_a_history_that_breaks_a_property_is_caught_by_that_property(name, history):
    with pytest.raises(Violated, match=name):
        history()
    assert name in PROPERTIES


def test_what_is_granted_of_nothing_is_found_too():
    granted = asked(MetadataImage(), *altered(3, ErrorCode.NONE, ONE))
    with pytest.raises(Violated, match=r"GrantedByNewestProp: .*, which does not exist"):
        answers(MetadataImage()).check(process(), granted)
    joined = asked(LED_BY_ONE, *altered(3, ErrorCode.NONE, ONE, THREE))
    with pytest.raises(Violated, match="broker 3 of epoch None joins an ISR"):
        answers(LED_BY_ONE).check(process(), joined)
    request = AlterPartitionReassignmentsRequest((ReassignablePartition("t", FIRST, (TWO,)),))
    moved = AlterPartitionReassignmentsResponse((ReassignedPartition("t", FIRST),))
    with pytest.raises(Violated, match="t-0 moves; there is no such partition"):
        answers(MetadataImage()).check(process(), asked(MetadataImage(), request, moved))


def test_of_an_isr_that_is_refused_as_a_whole_no_part_is_granted():
    request, told = altered(2, ErrorCode.NONE, ONE)
    refused = replace(told, error_code=ErrorCode.STALE_BROKER_EPOCH, partitions=told.partitions * 2)
    step = asked(LED_BY_ONE, request, refused)
    assert IsrChecks(BrokerChecks(CommittedLog())).check(step, step.event) is None


def elected(election_type: int, image: MetadataImage, **fields: Any) -> None:
    """Check an election of partition 0 that is granted, and whose record has these fields."""
    request = ElectLeadersRequest(election_type, (("t", FIRST),))
    granted = ElectLeadersResponse(ErrorCode.NONE, (PartitionResult("t", FIRST),))
    records = [PartitionChangeRecord(FIRST, TOPIC, **fields)] if fields else []
    check_parts(image, request, granted, records)


def test_a_granted_election_has_a_record_of_its_leader() -> None:
    elected(PREFERRED_ELECTION, LED_BY_TWO, leader=ONE)
    elected(UNCLEAN_ELECTION, LEADERLESS, leader=TWO)
    # Where nothing leads, another replica than the preferred one may.
    elected(PREFERRED_ELECTION, LEADERLESS, leader=TWO)
    # A leader that may not stay gives way to none.
    elected(PREFERRED_ELECTION, LED_FROM_LOST, leader=NO_LEADER)
    # Kafka grants these: the records clear what is left of a time with eligible leader replicas.
    elected(UNCLEAN_ELECTION, LEADERLESS, eligible_leader_replicas=())
    elected(PREFERRED_ELECTION, LED_BY_TWO, last_known_elr=())
    # And these: a reassignment ends, and the leader that it removes is gone.
    elected(PREFERRED_ELECTION, LED_BY_TWO, replicas=(ONE,), leader=NO_LEADER)
    for kind, image, fields in (
        (PREFERRED_ELECTION, LED_BY_TWO, {}),
        (UNCLEAN_ELECTION, LEADERLESS, {}),
        (PREFERRED_ELECTION, LED_BY_TWO, {"leader": TWO}),
        (PREFERRED_ELECTION, LED_BY_TWO, {"leader": NO_LEADER}),
        (UNCLEAN_ELECTION, LEADERLESS, {"leader": NO_LEADER}),
        (UNCLEAN_ELECTION, LEADERLESS, {"isr": (ONE,)}),
        # The preferred replica leads already, and so does any replica.
        (PREFERRED_ELECTION, WITH_TWO, {"leader": ONE}),
        (PREFERRED_ELECTION, WITH_TWO, {"last_known_elr": ()}),
        (UNCLEAN_ELECTION, WITH_TWO, {"leader": TWO}),
    ):
        with pytest.raises(Violated, match="was elected; its record is"):
            elected(kind, image, **fields)


def names_itself_by_epoch_4(*processes: set[tuple[int, int]]) -> None:
    """Check a request of broker epoch 5, made of processes that have had these broker epochs."""
    brokers = BrokerChecks(CommittedLog())
    brokers.epochs.update(enumerate(processes))
    itself = BrokerState(ONE, BrokerEpoch(4))
    data = AlterPartitionData(TOPIC, FIRST, 3, 0, (itself,))
    refused = AlteredPartition(TOPIC, FIRST, ErrorCode.INELIGIBLE_REPLICA)
    request = AlterPartitionRequest(ONE, EPOCH, (data,))
    step = asked(LED_BY_ONE, request, AlterPartitionResponse(ErrorCode.NONE, (refused,)))
    IsrChecks(brokers).check(step, step.event)


def test_a_process_that_registered_again_may_name_itself_as_before() -> None:
    names_itself_by_epoch_4({(ONE, 4), (ONE, 5)})
    for had in ([{(ONE, 5)}], [{(ONE, 4)}, {(ONE, 5)}], [{(TWO, 4), (ONE, 5)}]):
        with pytest.raises(Violated, match="of broker epoch 5 names itself by 4"):
            names_itself_by_epoch_4(*had)


def hears(
    read: int, registered: int, *, caught_up: bool, fenced: bool = False, loaded: int = 0,
    made: int = 0,
) -> None:  # fmt: skip
    """Check the answer to a heartbeat of broker 1, which has read up to an offset.

    The controller has loaded a snapshot up to one end, and then made one up to another.
    """
    image = FENCED if fenced else WITH_TWO
    committed_log = CommittedLog()
    checks = SoftStateChecks(committed_log)
    record = RegisterBrokerRecord(ONE, "incarnation", EPOCH)
    batch = events.CommittedBatch(Offset(registered), 1, (record,), 1)
    committed_log.observers[0](batch, WITH_TWO, WITH_TWO)
    request = BrokerHeartbeatRequest(
        ONE, EPOCH, Offset(read), want_fence=False, want_shut_down=False
    )
    load = events.SnapshotLoaded(0, OffsetAndEpoch(Offset(loaded), 1), ())
    step = asked(image, request, None)._replace(event=load)
    step.after.snapshot_end = Offset(loaded)
    checks.check(process(), step)
    step = asked(image, request, BrokerHeartbeatResponse(is_caught_up=caught_up, is_fenced=fenced))
    step.after.snapshot_end = Offset(made)
    checks.check(process(), step)


def test_a_broker_hears_that_it_has_caught_up_exactly_if_it_has() -> None:
    hears(7, 7, caught_up=True)
    hears(6, 7, caught_up=False)
    # Of a snapshot that was loaded, all of it counts.
    hears(7, 7, caught_up=False, loaded=9, made=10)
    hears(7, 7, caught_up=False, fenced=True, loaded=9, made=10)
    # A controller that does not know of the last registration yet cannot tell.
    hears(7, END, caught_up=True)
    for read, caught_up in ((6, True), (7, False), (8, False)):
        with pytest.raises(Violated, match=r"AnsweredIsCommittedInv: .* caught up"):
            hears(read, 7, caught_up=caught_up)
    with pytest.raises(Violated, match="its registration is at 7"):
        hears(9, 7, caught_up=False, loaded=9)


def test_a_snapshot_that_the_controller_made_itself_excuses_nothing() -> None:
    for read, loaded in ((7, 0), (9, 9)):
        with pytest.raises(Violated, match="not caught up; its registration is at 7"):
            hears(read, 7, caught_up=False, loaded=loaded, made=10)
        with pytest.raises(Violated, match="UnfencedWhenCaughtUpProp"):
            hears(read, 7, caught_up=True, fenced=True, loaded=loaded, made=10)
