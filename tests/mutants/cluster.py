"""Seeded bugs of a whole cluster, each with what must notice it."""

from __future__ import annotations

from typing import Any

from tests.mutants import cluster_bugs as bugs
from tests.mutants.mutant import Mutant

_ALTER = "kraft.controller.operations.alter_partition"
_BROKERS = "kraft.controller.operations.broker_heartbeats"
_LEASE = "kraft.controller.operations.cluster_control"
_LEADERSHIP = "kraft.controller.operations.leadership"
_QUORUM = "kraft.controller"
_NONE = 'AlterPartitionError(c, m) = "NONE"'
_WRITES = (
    "RegisterBroker", "AmendRegistration", "UnfenceBroker", "BeginControlledShutdown",
    "FenceOnRequest", "ShutDownNow", "AlterPartition",
)  # fmt: skip
_ANSWERS = ("RefuseRegistration", "RejectHeartbeat", "KeepState", "RefuseAlterPartition",
            "AlterPartition")  # fmt: skip
_TAKES_OUT = ("RegisterBroker", "BeginControlledShutdown", "FenceOnRequest", "ShutDownNow",
              "FenceStaleBroker")  # fmt: skip


def _renounce(function: Any) -> dict[str, Any]:
    return {f"{_QUORUM}.machine.renounce": function, f"{_QUORUM}.write_path.renounce": function}


MUTANTS = (
    Mutant(
        "all silent brokers are fenced at once", "KAFKA-13173",
        {"kraft.controller.operation_table.maybe_fence_stale_broker": bugs.fences_all_at_once},
        ("FenceStaleBroker",), "written", profile="two-and-two",
    ),
    Mutant(
        "a fenced replica joins", "KAFKA-13916",
        {f"{_ALTER}._is_eligible": bugs.any_registered_may_join},
        ("AlterPartition",), conjunct=_NONE, breaks="IsrJoinsByCurrentEpochProp", profile="whole",
    ),
    Mutant(
        "who is ahead of the controller is fenced", "KAFKA-14154",
        {f"{_ALTER}.validate_alter_partition": bugs.who_is_ahead_is_fenced},
        ("RefuseAlterPartition",), profile="two-and-two",
    ),
    Mutant(
        "a newcomer inherits the leadership", "KAFKA-18106",
        {f"{_LEADERSHIP}.register_broker": bugs.registers_only},
        ("RegisterBroker",), "written", profile="two-and-two",
    ),
    Mutant(
        "a registration again has another epoch", "KAFKA-16952",
        {f"{_LEASE}._amend_registration": bugs.amends_with_another_epoch},
        ("AmendRegistration",), "written", profile="two-and-two",
    ),
    Mutant(
        "each heartbeat raises what a shutdown waits for", "KAFKA-14292",
        {f"{_BROKERS}.touch": bugs.raises_the_offset_to_wait_for},
        ("KeepState",), "controlled_shutdown_offset", profile="one-controller",
    ),
    Mutant(
        "a broker stops before the others know", "KIP-631",
        {f"{_LEASE}.next_broker_state": bugs.stops_at_once},
        ("ShutDownNow",), conjunct="NextBrokerState", profile="one-controller",
    ),
    Mutant(
        "unfencing wants the end of the log", "KAFKA-13959",
        {f"{_LEASE}.next_broker_state": bugs.wants_the_end_of_the_log},
        ("KeepState",), conjunct="written[c].registrations[b].fenced", profile="two-and-two",
    ),
    Mutant(
        "answered when it is written", "KIP-631",
        {f"{_QUORUM}.write_path.answer": bugs.answers_at_once},
        _WRITES, "messages", profile="two-and-two",
    ),
    Mutant(
        "what writes nothing is answered at once", "DeferredEventQueue.highestPendingOffset",
        {f"{_QUORUM}.write_path.answer": bugs.answers_what_wrote_nothing_at_once},
        _ANSWERS, "messages", profile="two-and-two",
    ),
    Mutant(
        "who renounces keeps the future", "QuorumController.renounce",
        _renounce(bugs.renounces_and_keeps_the_future),
        ("Renounce",), "written", breaks="RenouncedKeepsNothingInv", profile="two-and-two",
    ),
    Mutant(
        "who renounces leaves who waits", "QuorumController.renounce",
        _renounce(bugs.renounces_and_leaves_who_waits),
        ("Renounce",), "tail", breaks="RenouncedKeepsNothingInv", profile="two-and-two",
    ),
    Mutant(
        "who renounces keeps its sessions", "ClusterControlManager.deactivate",
        _renounce(bugs.renounces_and_keeps_its_sessions),
        ("Renounce",), "contact_age", breaks="RenouncedKeepsNothingInv", profile="two-and-two",
    ),
    Mutant(
        "a claim begins no sessions", "KAFKA-18138",
        {f"{_QUORUM}.activation.heartbeats_on_activation": bugs.claims_without_sessions},
        ("ElectLeader",), "contact_age", breaks="UnfencedHasSessionInv", profile="two-and-two",
    ),
    Mutant(
        "a session outlives its process", "KAFKA-15053",
        {f"{_BROKERS}.after_record": bugs.a_session_outlives_its_process},
        ("RegisterBroker",), "contact_age", profile="two-and-two",
    ),
    Mutant(
        "a process of the past is heard", "ClusterControlManager.checkBrokerEpoch",
        {f"{_LEASE}.is_current_epoch": bugs.any_epoch_is_current},
        ("KeepState", *_WRITES), conjunct="epoch = m.epoch", profile="two-and-two",
    ),
    Mutant(
        "an epoch of before the batch", "KIP-631",
        {f"{_LEASE}.epoch_for_new_incarnation": bugs.epoch_before_the_batch},
        ("RegisterBroker",), "written", profile="two-and-two",
    ),
    Mutant(
        "who goes leads on", "ReplicationControlManager.handleBrokerFenced",
        {f"{_LEADERSHIP}.take_out_of_isr": bugs.nothing},
        _TAKES_OUT, "written", profile="two-and-two",
    ),
)  # fmt: skip
