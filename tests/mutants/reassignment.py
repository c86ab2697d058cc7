"""Seeded bugs of partitions that move, each with what must notice it."""

from __future__ import annotations

from tests.mutants import reassignment_bugs as bugs
from tests.mutants.mutant import Mutant

from kraft.errors import ErrorCode

_ALTER = "kraft.controller.operations.alter_partition"
_CHANGE = "kraft.controller.operations.partition_change"
_LEADERSHIP = "kraft.controller.operations.leadership"
_MOVES = "kraft.controller.operations.reassignments"
_LEADER = "kraft.broker.partition_leader"
_ANY_CHANGE = (
    "GrantAlterPartition", "StartReassignment", "CancelReassignment", "ElectPreferredLeader",
    "ElectUncleanLeader", "FenceBroker", "UnfenceBroker", "UnregisterBroker",
    "BeginControlledShutdown",
)  # fmt: skip
_NONE = 'ErrorFor(m) = "NONE"'


def _check(name: str, source: str, code: ErrorCode, profile: str, breaks: str | None) -> Mutant:
    """Return the mutant that leaves out one check of AlterPartition."""
    return Mutant(
        name, source, {f"{_ALTER}.validate_alter_partition": bugs.without_check(code)},
        ("GrantAlterPartition",), conjunct=_NONE, breaks=breaks, profile=profile,
    )  # fmt: skip


MUTANTS = (
    Mutant(
        "completes when those who come in are in sync", "KAFKA-15665",
        {f"{_CHANGE}.is_completable": bugs.completes_when_those_who_come_in_are_in_sync},
        _ANY_CHANGE, "partition", breaks="TargetIsrFullBeforeDropProp", profile="moves",
    ),
    Mutant(
        "completes with one in sync", "KIP-631",
        {f"{_CHANGE}.is_completable": bugs.completes_with_one_in_sync},
        _ANY_CHANGE, "partition", breaks="TargetIsrFullBeforeDropProp", profile="moves",
    ),
    Mutant(
        "completes and keeps the removed in sync", "KIP-455",
        {f"{_CHANGE}.completed": bugs.completes_and_keeps_the_removed_in_sync},
        _ANY_CHANGE, "partition", breaks="IsrSubsetReplicasInv", profile="moves",
    ),
    Mutant(
        "completes and keeps what came in", "KIP-455",
        {f"{_CHANGE}.completed": bugs.completes_and_keeps_what_came_in},
        _ANY_CHANGE, "partition", profile="moves",
    ),
    Mutant(
        "a fenced replica joins", "KAFKA-13916",
        {f"{_ALTER}._is_eligible": bugs.any_registered_may_join},
        ("GrantAlterPartition",), conjunct=_NONE, breaks="IneligibleStaysOutProp",
        profile="moves",
    ),
    Mutant(
        "a replica joins that is shutting down", "KIP-841",
        {f"{_ALTER}._is_eligible": bugs.any_unfenced_may_join},
        ("GrantAlterPartition",), conjunct=_NONE, breaks="IneligibleStaysOutProp",
        profile="moves",
    ),
    Mutant(
        "a rebooted replica joins for the old one", "KAFKA-14617",
        {f"{_ALTER}._is_eligible": bugs.any_process_may_join},
        ("GrantAlterPartition",), conjunct=_NONE, breaks="IneligibleStaysOutProp",
        profile="strays",
    ),
    Mutant(
        "who is ahead of the controller is fenced", "KAFKA-14154",
        {
            f"{_ALTER}.validate_alter_partition": bugs.answers_instead(
                ErrorCode.NOT_CONTROLLER, ErrorCode.FENCED_LEADER_EPOCH
            )
        },
        ("RefuseAlterPartition",), "messages", profile="strays",
    ),
    _check("who is ahead is granted", "KAFKA-14154", ErrorCode.NOT_CONTROLLER, "strays",
           "StaleRequestRejectedProp"),
    _check("a leader of the past is granted", "KIP-497", ErrorCode.FENCED_LEADER_EPOCH, "moves",
           "StaleRequestRejectedProp"),
    _check("a version of the past is changed", "KIP-497", ErrorCode.INVALID_UPDATE_VERSION,
           "moves", "StaleRequestRejectedProp"),
    _check("anything may be asked for", "KIP-497", ErrorCode.INVALID_REQUEST, "strays", None),
    Mutant(
        "a process of the past is heard", "ClusterControlManager.checkBrokerEpoch",
        {f"{_ALTER}.alter_partition": bugs.any_sender},
        ("GrantAlterPartition", "RefuseAlterPartition"), profile="strays",
    ),
    Mutant(
        "the leader stays if nobody can lead", "regression test beside KAFKA-14829",
        {f"{_CHANGE}.elected": bugs.the_leader_stays_if_nobody_can},
        _ANY_CHANGE, "partition", breaks="LeaderUsableInv", profile="moves",
    ),
    Mutant(
        "anybody alive leads", "KIP-631",
        {f"{_CHANGE}.elected": bugs.anybody_alive_leads},
        _ANY_CHANGE, "partition", profile="moves",
    ),
    Mutant(
        "each shrink raises the leader epoch", "KAFKA-15021",
        {f"{_CHANGE}._must_ask_again": bugs.asks_again_after_each_shrink},
        _ANY_CHANGE, "partition", breaks="EpochBumpProp", profile="moves",
    ),
    Mutant(
        "a dropped replica raises no leader epoch", "KIP-903",
        {f"{_CHANGE}._must_ask_again": lambda *_: False},
        _ANY_CHANGE, "partition", breaks="EpochBumpProp", profile="moves",
    ),
    Mutant(
        "every change raises the leader epoch", "KAFKA-16624",
        {f"{_CHANGE}._must_ask_again": lambda *_: True},
        _ANY_CHANGE, "partition", breaks="EpochBumpProp", profile="moves",
    ),
    Mutant(
        "an unclean leader is not marked", "KIP-704",
        {f"{_CHANGE}._marks_recovery": lambda *_: False},
        _ANY_CHANGE, "partition", breaks="UncleanIsMarkedProp", profile="unclean-by-hand",
    ),
    Mutant(
        "the preferred one leads at any price", "KAFKA-13162",
        {f"{_CHANGE}.elected": bugs.preferred_at_any_price},
        ("ElectPreferredLeader",), "partition",
        profile="moves",
    ),
    Mutant(
        "fencing leaves the leaderships", "ReplicationControlManager.handleBrokerFenced",
        {f"{_LEADERSHIP}.take_out_of_isr": bugs.nothing},
        ("FenceBroker", "UnregisterBroker", "BeginControlledShutdown"), "partition",
        breaks="NoFencedInIsrInv", profile="moves",
    ),
    Mutant(
        "unfencing elects nobody", "ReplicationControlManager.handleBrokerUnfenced",
        {f"{_LEADERSHIP}.unfence_broker": bugs.unfences_only},
        ("UnfenceBroker",), "partition", breaks="LeaderlessForAReasonInv", profile="moves",
    ),
    Mutant(
        "who is unfenced is in sync", "KIP-631",
        {f"{_LEADERSHIP}.unfence_broker": bugs.joins_when_unfenced},
        ("UnfenceBroker",), "partition", breaks="PermittedChangesProp", profile="moves",
    ),
    Mutant(
        "a cancellation keeps who joined", "PartitionReassignmentRevert",
        {f"{_MOVES}.reverted": bugs.reverts_and_keeps_who_joined},
        ("CancelReassignment",), "partition", breaks="IsrSubsetReplicasInv", profile="moves",
    ),
    Mutant(
        "a cancellation keeps the target", "PartitionReassignmentRevert",
        {f"{_MOVES}.reverted": bugs.reverts_to_the_target},
        ("CancelReassignment",), "partition", breaks="PermittedChangesProp",
        profile="moves",
    ),
    Mutant(
        "a cancellation by force wherever it is", "PartitionReassignmentRevert",
        {f"{_MOVES}.revert_needs_force": lambda *_: False},
        ("CancelReassignment",), conjunct="UncleanEnabled", breaks="UncleanOnlyIfAllowedProp",
        profile="moves-of-one",
    ),
    Mutant(
        "who is to leave is dropped at once", "KIP-455",
        {f"{_MOVES}.new_assignment": bugs.drops_who_leaves_at_once},
        ("StartReassignment",), "partition", breaks="AddingRemovingInv", profile="moves",
    ),
    Mutant(
        "a leader that learns still waits", "Partition.makeLeader",
        {f"{_LEADER}.learn_partition": bugs.learns_and_still_waits},
        ("LearnPartition",), "leading", profile="moves",
    ),
    Mutant(
        "a refusal ends the wait", "KAFKA-14010",
        {f"{_LEADER}.on_alter_partition_response": bugs.a_refusal_ends_it},
        ("HandleAlterPartitionResponse",), "leading", profile="moves",
    ),
    Mutant(
        "a leader believes what it asked for", "Partition.handleAlterPartitionUpdate",
        {f"{_LEADER}.on_alter_partition_response": bugs.believes_what_it_asked_for},
        ("HandleAlterPartitionResponse",), "leading", profile="moves",
    ),
    Mutant(
        "two requests under way", "KAFKA-12686",
        {f"{_LEADER}.may_ask_for": bugs.asks_while_it_waits},
        ("SendAlterPartition",), conjunct="leading[b].pending = {}", profile="moves",
    ),
    Mutant(
        "any answer is awaited", "KAFKA-13790",
        {f"{_LEADER}.is_awaited": bugs.any_answer_is_awaited},
        ("HandleAlterPartitionResponse",), "leading", profile="moves",
    ),
)  # fmt: skip
