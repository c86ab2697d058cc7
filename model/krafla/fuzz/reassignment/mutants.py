"""Seeded bugs of a partition that moves: of elections, fencing, reassignments and the leader."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import Killer, seed_bug, wrong_answer
from krafla.fuzz.reassignment.mutants_changes import ANY_CHANGE, CHANGES
from kraft.broker import partition_leader
from kraft.controller.operations import partition_change
from kraft.controller.operations.partition_ask import Election, unchanged, without
from kraft.controller.operations.partition_change import Elected
from kraft.errors import ErrorCode
from kraft.records.lease import UNFENCE, BrokerRegistrationChangeRecord
from kraft.records.topics import NO_LEADER

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS"]

_found: Final[list[Mutant]] = []
_seed = partial(seed_bug, _found, profile="moves")
_CHANGE: Final = "kraft.controller.operations.partition_change"
_LEADERSHIP: Final = "kraft.controller.operations.leadership"
_ASK: Final = "kraft.controller.operations.partition_ask"
_LEADER: Final = "kraft.broker.partition_leader"
_ANSWERED: Final = Killer(("HandleAlterPartitionResponse",), "leading")


@_seed("ineligible-leader-stays", "regression test beside KAFKA-14829", f"{_CHANGE}:elected",
       "The leader stays where no replica is eligible.",
       killer=Killer(ANY_CHANGE, "partition", breaks="LeaderUsableInv"))  # fmt: skip
@wrong_answer
def _leader_stays(right: Any, partition: Any, *arguments: Any, **options: Any) -> Any:
    found = right(partition, *arguments, **options)
    return Elected(partition.leader, False) if found.leader == NO_LEADER else found


def _first_live(ask: Any, acceptable: Any) -> Any:
    return next((one for one in ask.replicas if acceptable(one)), NO_LEADER)


@_seed("any-live-replica-leads", "KIP-631", f"{_CHANGE}:elected",
       "A replica that is alive may lead, in sync or not.",
       killer=Killer(ANY_CHANGE, "partition"))  # fmt: skip
@wrong_answer
def _any_live_replica_leads(
    _right: Any, partition: Any, ask: Any, _elr: Any, acceptable: Any, **_: Any
) -> Elected:
    if partition.leader != NO_LEADER and acceptable(partition.leader):
        return Elected(partition.leader, False)
    first = _first_live(ask, acceptable)
    return Elected(first, first not in ask.isr and first != NO_LEADER)


@_seed("preferred-leads-at-any-price", "KAFKA-13162", f"{_CHANGE}:elected",
       "The election of the preferred leader takes any live replica, if no other can lead.",
       killer=Killer(("ElectPreferredLeader",), "partition"))  # fmt: skip
@wrong_answer
def _preferred_at_any_price(
    right: Any, partition: Any, ask: Any, elr: Any, acceptable: Any, **options: Any
) -> Any:
    found = right(partition, ask, elr, acceptable, **options)
    if ask.election is not Election.PREFERRED or found.leader != NO_LEADER:
        return found
    first = _first_live(ask, acceptable)
    return Elected(first, first != NO_LEADER)


@_seed("unclean-leader-is-not-marked", "KIP-704", f"{_CHANGE}:_marks_recovery",
       "An unclean leader is not marked as one that recovers.", profile="unclean-by-hand",
       killer=Killer(ANY_CHANGE, "partition", breaks="UncleanIsMarkedProp"))  # fmt: skip
@wrong_answer
def _not_marked(*_: Any) -> bool:
    return False


@_seed("shrink-raises-leader-epoch", "KAFKA-15021", f"{_CHANGE}:_must_ask_again",
       "Each change that shrinks the ISR raises the leader epoch.",
       killer=Killer(ANY_CHANGE, "partition", breaks="EpochBumpProp"))  # fmt: skip
@wrong_answer
def _asks_after_shrink(_right: Any, partition: Any, ask: Any, fields: Any, _rules: Any) -> bool:
    dropped = not set(partition.replicas) <= set(ask.replicas)
    return dropped or ("isr" in fields and not set(partition.isr) <= set(ask.isr))


@_seed("dropped-replica-raises-no-epoch", "KIP-903", f"{_CHANGE}:_must_ask_again",
       "The leader epoch stays when a replica is dropped.",
       killer=Killer(ANY_CHANGE, "partition", breaks="EpochBumpProp"))  # fmt: skip
@wrong_answer
def _never_asks_again(*_: Any) -> bool:
    return False


@_seed("change-raises-leader-epoch", "KAFKA-16624", f"{_CHANGE}:_must_ask_again",
       "Every change of a partition raises the leader epoch.",
       killer=Killer(ANY_CHANGE, "partition", breaks="EpochBumpProp"))  # fmt: skip
@wrong_answer
def _always_asks_again(*_: Any) -> bool:
    return True


@_seed("fencing-leaves-leaderships", "ReplicationControlManager.handleBrokerFenced",
       f"{_LEADERSHIP}:take_out_of_isr",
       "A broker that is fenced or removed stays leader and in sync.",
       killer=Killer(("FenceBroker", "UnregisterBroker", "BeginControlledShutdown"), "partition",
                     breaks="NoFencedInIsrInv"))  # fmt: skip
@wrong_answer
def _takes_out_nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


@_seed("unfencing-elects-no-leader", "ReplicationControlManager.handleBrokerUnfenced",
       f"{_LEADERSHIP}:unfence_broker",
       "A broker that is unfenced becomes leader of no partition that has none.",
       killer=Killer(("UnfenceBroker",), "partition", breaks="LeaderlessForAReasonInv")
       )  # fmt: skip
@wrong_answer
def _unfences_only(_right: Any, image: Any, _defaults: Any, broker_id: Any) -> tuple[Any, ...]:
    epoch = image.brokers[broker_id].epoch
    return (BrokerRegistrationChangeRecord(broker_id, epoch, fenced=UNFENCE),)


@_seed("unfenced-is-in-sync", "KIP-631", f"{_LEADERSHIP}:unfence_broker",
       "A broker that is unfenced is in sync at once.",
       killer=Killer(("UnfenceBroker",), "partition", breaks="PermittedChangesProp"))  # fmt: skip
@wrong_answer
def _joins_when_unfenced(right: Any, image: Any, defaults: Any, broker_id: Any) -> tuple[Any, ...]:
    records = tuple(right(image, defaults, broker_id))
    for (topic_id, index), partition in sorted(image.partitions.items()):
        if broker_id in partition.replicas and broker_id not in partition.isr:
            ask = replace(unchanged(partition), isr=(*partition.isr, broker_id))
            rules = partition_change.ChangeRules(27)
            joined = partition_change.build(topic_id, index, partition, ask, lambda _: True, rules)
            return records[0], *([joined] if joined else [])
    return records


@_seed("cancellation-keeps-joined", "PartitionReassignmentRevert", f"{_ASK}:reverted",
       "The ISR of a cancelled reassignment keeps the replicas that had joined.",
       killer=Killer(("CancelReassignment",), "partition", breaks="IsrSubsetReplicasInv")
       )  # fmt: skip
@wrong_answer
def _reverts_and_keeps_joined(right: Any, partition: Any, **options: Any) -> Any:
    return replace(right(partition, **options), isr=partition.isr)


@_seed("cancellation-keeps-target", "PartitionReassignmentRevert", f"{_ASK}:reverted",
       "A cancelled reassignment leaves the replicas of its target.",
       killer=Killer(("CancelReassignment",), "partition", breaks="PermittedChangesProp")
       )  # fmt: skip
@wrong_answer
def _reverts_to_target(right: Any, partition: Any, **options: Any) -> Any:
    replicas = without(partition.replicas, partition.removing_replicas)
    return replace(right(partition, **options), replicas=replicas)


@_seed("cancellation-needs-no-force", "PartitionReassignmentRevert", f"{_ASK}:revert_needs_force",
       "A reassignment is cancelled though an unclean leader must be elected for it.",
       profile="moves-of-one",
       killer=Killer(("CancelReassignment",), conjunct="UncleanEnabled",
                     breaks="UncleanOnlyIfAllowedProp"))  # fmt: skip
@wrong_answer
def _needs_no_force(*_: Any) -> bool:
    return False


@_seed("removing-are-dropped-at-once", "KIP-455", f"{_ASK}:new_assignment",
       "A reassignment drops the replicas that are to leave when it starts.",
       killer=Killer(("StartReassignment",), "partition", breaks="AddingRemovingInv"))  # fmt: skip
@wrong_answer
def _drops_at_once(right: Any, partition: Any, target: Any) -> Any:
    return replace(right(partition, target), replicas=target)


@_seed("leader-that-learns-still-waits", "Partition.makeLeader", f"{_LEADER}:learn_partition",
       "A leader that learns of a new leader epoch still waits for an AlterPartition.",
       killer=Killer(("LearnPartition",), "leading"))  # fmt: skip
@wrong_answer
def _learns_and_waits(_right: Any, broker_id: Any, partition: Any) -> Any:
    view = partition_leader.view_of(broker_id, partition)
    return None if view is None else replace(view, pending=view.replicas)


@_seed("refusal-ends-wait", "KAFKA-14010", f"{_LEADER}:on_alter_partition_response",
       "A leader gives up an AlterPartition on any error.", killer=_ANSWERED)  # fmt: skip
@wrong_answer
def _refusal_ends_wait(right: Any, view: Any, error_code: Any, answer: Any) -> Any:
    return replace(right(view, error_code, answer), pending=())


@_seed("leader-believes-its-request", "Partition.handleAlterPartitionUpdate",
       f"{_LEADER}:on_alter_partition_response",
       "A leader takes the ISR that it asked for, not that of the answer.", killer=_ANSWERED
       )  # fmt: skip
@wrong_answer
def _believes_its_request(right: Any, view: Any, error_code: Any, answer: Any) -> Any:
    heard = right(view, error_code, answer)
    granted = answer is not None and answer.error_code is ErrorCode.NONE
    return replace(heard, isr=view.pending) if granted else heard


@_seed("two-requests-in-flight", "KAFKA-12686", f"{_LEADER}:may_ask_for",
       "A leader sends an AlterPartition while it waits for an answer.",
       killer=Killer(("SendAlterPartition",), conjunct="leading[b].pending = {}"))  # fmt: skip
@wrong_answer
def _asks_while_it_waits(_right: Any, broker_id: Any, view: Any, isr: Any) -> bool:
    wanted, now = set(isr), set(view.isr)
    if broker_id not in wanted or not wanted <= set(view.replicas):
        return False
    return wanted < now or (wanted > now and len(wanted - now) == 1)


@_seed("any-answer-is-awaited", "KAFKA-13790", f"{_LEADER}:is_awaited",
       "A leader takes the answer to a request of an earlier leader epoch.", killer=_ANSWERED
       )  # fmt: skip
@wrong_answer
def _any_answer_is_awaited(_right: Any, view: Any, _asked: Any) -> bool:
    return view is not None and bool(view.pending)


MUTANTS: Final[tuple[Mutant, ...]] = (*CHANGES, *_found)
"""Of what may join and complete, and of all else."""
