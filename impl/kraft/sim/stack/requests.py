"""What operators ask for: one kind of request a function, drawn by the state of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.ids import BrokerId, PartitionId
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, UNCLEAN_ELECTION, ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraft.rpc.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from kraft.sim.stack.ask import REPLICAS_MAXIMUM, Ask
from kraft.sim.stack.manager_requests import MANAGER_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.chance import Stream
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.stack.configuration import StackKnobs

_NAMES: Final = ("a", "b.c", "b_c", "d-e", "f", "g", "", "bad name")


def _create_topic(ask: Ask) -> Any:
    if len(ask.image.topics) >= ask.knobs.topics:
        return None
    chance = ask.chance
    name = chance.choice(_NAMES) if chance.below(3) == 0 else f"topic-{ask.number}"
    count = 1 + chance.below(ask.knobs.partitions)
    if chance.below(3) == 0:
        assignments = tuple((PartitionId(index), ask.replicas()) for index in range(count))
        topic = CreatableTopic(name, assignments=assignments)
    else:
        factor = 1 + chance.below(min(REPLICAS_MAXIMUM, len(ask.brokers)))
        topic = CreatableTopic(name, count, factor)
    return CreateTopicsRequest((topic,), validate_only=chance.below(10) == 0)


def _create_partitions(ask: Ask) -> Any:
    topic = ask.topic()
    if topic is None or len(topic.partition_ids) >= 2 * ask.knobs.partitions:
        return None
    count = len(topic.partition_ids) + ask.chance.below(3)
    return CreatePartitionsRequest((CreatePartitionsTopic(topic.name, count),))


def _delete_topic(ask: Ask) -> Any:
    topic = ask.topic()
    return None if topic is None else DeleteTopicsRequest((topic.topic_id,))


def _reassign(ask: Ask) -> Any:
    found = ask.partition()
    if found is None:
        return None
    topic, index = found
    target = None if ask.chance.below(4) == 0 else ask.replicas()
    return AlterPartitionReassignmentsRequest((ReassignablePartition(topic.name, index, target),))


def _list_reassignments(_ask: Ask) -> Any:
    return ListPartitionReassignmentsRequest()


def _elect(ask: Ask) -> Any:
    kind = UNCLEAN_ELECTION if ask.chance.below(4) == 0 else PREFERRED_ELECTION
    found = ask.partition()
    if found is None or ask.chance.below(3) == 0:
        return ElectLeadersRequest(kind)
    topic, index = found
    return ElectLeadersRequest(kind, ((topic.name, index),))


OPERATIONS: Final[tuple[tuple[int, Callable[[Ask], Any]], ...]] = (
    (6, _create_topic),
    (2, _create_partitions),
    (1, _delete_topic),
    (8, _reassign),
    (1, _list_reassignments),
    (4, _elect),
    *MANAGER_OPERATIONS,
)
"""Each kind of request, and how often it is drawn."""


def draw_request(
    chance: Stream, image: MetadataImage, sim: Simulation, knobs: StackKnobs, number: int
) -> Any:
    """Return a request, None if the one that was drawn makes no sense now."""
    configuration = sim.configuration
    first = configuration.voters
    brokers = tuple(BrokerId(first + index) for index in range(configuration.observers))
    ask = Ask(chance, image, brokers, knobs, number)
    drawn = chance.below(sum(weight for weight, _ in OPERATIONS))
    for weight, make in OPERATIONS:
        if drawn < weight:
            return make(ask)
        drawn -= weight
    raise AssertionError("the weights are summed up")
