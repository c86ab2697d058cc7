"""Changes of partitions that leave replicas eligible to lead beside the ISR, or may not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from immutables import Map
from msgspec.structs import replace
from tests.krafla.fuzz.stack.test_stack_checks import (
    FIRST,
    KEY,
    ONE,
    THREE,
    TOPIC,
    TWO,
    WITH_TWO,
    asked,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.eligibility_checks import check_eligible
from kraft.records.topics import NO_LEADER, PartitionChangeRecord

if TYPE_CHECKING:
    from kraft.ids import BrokerId


def changes(
    before: tuple[BrokerId, ...], after: tuple[BrokerId, ...], *, leader: int, minimum: int = 1
) -> None:
    """Check a change of an ISR that leaves broker 3 eligible."""
    step: Any = asked(WITH_TWO, None, None)
    step.before.configuration.defaults.min_insync_replicas = minimum
    step.before.configuration.defaults.node_id = 1
    images = [
        replace(WITH_TWO, partitions=Map({KEY: replace(WITH_TWO.partitions[KEY], **fields)}))
        for fields in (
            {"isr": before, "leader": ONE},
            {"isr": after, "leader": leader, "eligible_leader_replicas": (THREE,)},
        )
    ]
    states = [SimpleNamespace(written=SimpleNamespace(image=image)) for image in images]
    states[0].configuration = step.before.configuration
    record = PartitionChangeRecord(FIRST, TOPIC, isr=after)
    check_eligible(step._replace(before=states[0], after=states[1]), record)


def test_replicas_are_eligible_only_below_the_minimum():
    changes((ONE, TWO), (ONE,), leader=ONE, minimum=2)
    changes((ONE,), (), leader=NO_LEADER)
    for after in ((ONE,), (ONE, TWO)):
        with pytest.raises(Violated, match="EligibleBelowMinimumProp"):
            changes((ONE, TWO), after, leader=ONE)


def test_what_is_eligible_is_settled_before_an_eligible_replica_is_elected():
    for before in ((), (ONE,)):
        changes(before, (TWO,), leader=TWO)
    with pytest.raises(Violated, match="EligibleBelowMinimumProp"):
        changes((TWO,), (TWO,), leader=TWO)
