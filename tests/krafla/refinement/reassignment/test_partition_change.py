"""For any partition, the code builds the change records that PartitionChange builds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krafla.oracle import Spec
from krafla.refinement.reassignment.notation import (
    RECOVERY,
    change_value,
    eligibility_value,
    partition_value,
)
from krafla.values import ModelValue, record
from kraft.controller.operations import partition_ask as asks
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.partition_change import ChangeRules, build
from kraft.ids import BrokerId, PartitionId, TopicId
from kraft.image.entries import UNASSIGNED, Partition
from kraft.image.topics import merged
from kraft.records.topics import NO_LEADER, RECOVERED, RECOVERING

if TYPE_CHECKING:
    from krafla.values import Value

BROKERS = tuple(BrokerId(number) for number in (1, 2, 3, 4))
TOPIC_ID = TopicId("B" * 22)
METADATA_VERSION = 27


@cache
def _spec() -> Spec:
    return Spec.load(
        "ReassignmentElr",
        {
            "Broker": frozenset(BROKERS), "BrokerOrder": BROKERS, "InitialReplicas": (1, 2),
            "UncleanEnabled": False, "LateHeartbeats": False, "Nil": ModelValue("Nil"),
            "MinIsr": 2,
        },
        init="ElrInit", next="ElrNext",
    )  # fmt: skip


def _evaluate(operator: str, *arguments: Any) -> Value:
    return _spec().evaluate(operator, None, *arguments)


def ask_value(ask: asks.PartitionAsk) -> Value:
    """Return the requested values of a partition. Spec: PartitionChange!Unchanged."""
    return record(
        replicas=ask.replicas,
        isr=frozenset(ask.isr),
        adding=frozenset(ask.adding_replicas),
        removing=frozenset(ask.removing_replicas),
        recovery=RECOVERY[ask.leader_recovery_state],
        election=ask.election.value,
    )


def _some(draw: st.DrawFn, members: tuple[BrokerId, ...], least: int = 0) -> tuple[BrokerId, ...]:
    return tuple(sorted(draw(st.sets(st.sampled_from(members), min_size=least))) if members else ())


@st.composite
def partitions(draw: st.DrawFn, *, elr: bool) -> Partition:
    """Any possible partition; without ELR the ISR is not empty.

    A last known leader may be left of a time with ELR, and stays while partitions have none.
    """
    replicas = tuple(draw(st.permutations(BROKERS)))[: draw(st.integers(1, 4))]
    isr = _some(draw, replicas, 0 if elr else 1)
    leader = draw(st.sampled_from((NO_LEADER, *isr)))
    recovering = len(isr) == 1 and draw(st.booleans())
    epoch = draw(st.integers(0, 3))
    outside = tuple(one for one in replicas if one not in isr)
    return Partition(
        replicas, (UNASSIGNED,) * len(replicas), isr,
        removing_replicas=_some(draw, replicas), adding_replicas=_some(draw, replicas),
        leader=leader, leader_recovery_state=RECOVERING if recovering else RECOVERED,
        leader_epoch=epoch, partition_epoch=epoch + 1,
        eligible_leader_replicas=_some(draw, outside) if elr else (),
        last_known_elr=() if elr and leader != NO_LEADER else _some(draw, BROKERS)[:1],
    )  # fmt: skip


@st.composite
def questions(draw: st.DrawFn, partition: Partition) -> tuple[asks.PartitionAsk, Value]:
    """Return a requested change, in the notation of the code and in that of the spec."""
    value = partition_value(partition)
    unclean = draw(st.booleans())
    kind = draw(st.sampled_from(("without", "isr", "leader", "assignment", "reverted")))
    if kind == "without":
        broker = draw(st.sampled_from(BROKERS))
        ask = asks.without_broker(partition, broker, unclean_enabled=unclean)
        return ask, _evaluate("WithoutBroker", value, broker, unclean)
    if kind == "isr":
        isr = _some(draw, partition.replicas, 1)
        recovery = draw(st.sampled_from((RECOVERED, partition.leader_recovery_state)))
        ask = asks.new_isr(partition, isr, recovery, unclean_enabled=unclean)
        name = "RECOVERED" if recovery == RECOVERED else "RECOVERING"
        return ask, _evaluate("NewIsr", value, frozenset(isr), name, unclean)
    if kind == "leader":
        election = draw(st.sampled_from(asks.Election))
        return asks.new_leader(partition, election), _evaluate("NewLeader", value, election.value)
    if kind == "assignment" or set(partition.replicas) <= set(partition.adding_replicas):
        target = tuple(draw(st.permutations(BROKERS)))[: draw(st.integers(1, 4))]
        return asks.new_assignment(partition, target), _evaluate("NewAssignment", value, target)
    ask = asks.reverted(partition, unclean_enabled=unclean)
    return ask, _evaluate("Reverted", value, unclean)


@given(st.data())
@settings(max_examples=max(150, settings.default.max_examples))
def test_records_are_built_and_replayed_as_the_spec_says(data: st.DataObject) -> None:
    partition = data.draw(partitions(elr=False))
    ask, expected = data.draw(questions(partition))
    assert ask_value(ask) == expected
    acceptable = frozenset(data.draw(st.sets(st.sampled_from(BROKERS))))
    change = build(
        TOPIC_ID, PartitionId(0), partition, ask, acceptable.__contains__,
        ChangeRules(METADATA_VERSION),
    )  # fmt: skip
    value = partition_value(partition)
    built = _evaluate("Build", value, expected, acceptable)
    assert change_value(change) == built
    after = partition if change is None else merged(partition, change)
    assert partition_value(after) == _evaluate("Replay", value, built)


@given(st.data())
@settings(max_examples=max(150, settings.default.max_examples))
def test_records_with_elr_are_built_and_replayed_as_the_spec_says(
    data: st.DataObject,
) -> None:
    partition = data.draw(partitions(elr=True))
    ask, expected = data.draw(questions(partition))
    unclean_shutdown = frozenset(data.draw(st.sets(st.sampled_from(BROKERS), max_size=1)))
    ask = asks.replace(ask, unclean_shutdown=unclean_shutdown)
    acceptable = frozenset(data.draw(st.sets(st.sampled_from(BROKERS))))
    min_isr = data.draw(st.integers(1, 3))
    change = build(
        TOPIC_ID, PartitionId(0), partition, ask, acceptable.__contains__,
        ChangeRules(METADATA_VERSION, min_isr),
    )  # fmt: skip
    value, eligibility = partition_value(partition), eligibility_value(partition)
    arguments = (value, eligibility, expected, acceptable, min_isr, unclean_shutdown)
    built = _evaluate("BuildElr", *arguments)
    assert change_value(change) == built
    after = partition if change is None else merged(partition, change)
    assert partition_value(after) == _evaluate("Replay", value, built)
    assert eligibility_value(after) == _evaluate("ReplayElr", eligibility, built)


def test_a_reassignment_that_added_every_replica_cannot_be_reverted() -> None:
    one = Partition((BROKERS[0],), (UNASSIGNED,), (BROKERS[0],), adding_replicas=(BROKERS[0],))
    with pytest.raises(ControllerError, match="INVALID_REPLICA_ASSIGNMENT"):
        asks.reverted(one, unclean_enabled=True)
