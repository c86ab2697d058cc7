"""The record of a requested change: complete a reassignment, elect a leader, write what differs.

Kafka: PartitionChangeBuilder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.controller.operations.partition_ask import Election, in_progress, without
from kraft.ids import BrokerId
from kraft.image.entries import UNASSIGNED
from kraft.image.versions import IBP_3_2_IV0, IBP_3_6_IV0, IBP_3_7_IV2
from kraft.records.topics import NO_LEADER, RECOVERING, PartitionChangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.controller.operations.partition_ask import PartitionAsk
    from kraft.ids import DirectoryId, PartitionId, TopicId
    from kraft.image.entries import Partition


_NO_BROKER: Final = BrokerId(NO_LEADER)


def _unassigned(_: BrokerId) -> DirectoryId:
    return UNASSIGNED


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """The settings that a change depends on besides the partition.

    `min_isr` is the number of in-sync replicas that a commit needs; None while eligible leader
    replicas are off. `default_directory` gives the directory of an added replica. With
    `one_survivor_completes`, as in KIP-631, a reassignment does not wait for every staying replica.
    """

    metadata_version: int
    min_isr: int | None = None
    default_directory: Callable[[BrokerId], DirectoryId] = _unassigned
    one_survivor_completes: bool = False


class Elected(NamedTuple):
    """The leader, NO_LEADER if there is none, and whether its election may lose data."""

    leader: BrokerId
    unclean: bool


def is_completable(ask: PartitionAsk) -> bool:
    """Return whether every staying replica of a reassignment is in sync (KAFKA-15665).

    Spec: PartitionChange!Completable.
    Kafka: PartitionReassignmentReplicas.maybeCompleteReassignment.
    """
    if not in_progress(ask):
        return False
    stays = set(ask.replicas) - set(ask.removing_replicas)
    return bool(stays) and stays <= set(ask.isr)


def has_survivor(ask: PartitionAsk) -> bool:
    """Return whether every added replica, and at least one replica that stays, is in sync.

    Kafka 4.1 waits for every staying replica (`is_completable`).

    Kafka: PartitionReassignmentReplicas, before KAFKA-15665. KIP-631 "Partition Reassignment".
    """
    survivors = set(ask.isr) - set(ask.removing_replicas)
    return in_progress(ask) and bool(survivors) and set(ask.adding_replicas) <= survivors


def completed(ask: PartitionAsk) -> PartitionAsk:
    """Return the request with its reassignment completed, if it is completable.

    Spec: PartitionChange!Completed.
    """
    return ended(ask) if is_completable(ask) else ask


def ended(ask: PartitionAsk) -> PartitionAsk:
    """Return the request with its reassignment ended, whichever replicas are in sync."""
    return replace(
        ask,
        replicas=without(ask.replicas, ask.removing_replicas),
        isr=without(ask.isr, ask.removing_replicas),
        adding_replicas=(),
        removing_replicas=(),
    )


def next_elr(partition: Partition, ask: PartitionAsk, min_isr: int | None) -> tuple[BrokerId, ...]:
    """Return the eligible leader replicas for the requested ISR, in ascending order.

    There are none while enough replicas are in sync. Otherwise they are the replicas that were in
    sync or eligible and have not lost data. A broker that is no longer a replica stays, as in
    Kafka.

    Spec: PartitionChangeElr!NextElr.
    Kafka: PartitionChangeBuilder.maybePopulateTargetElr. KIP-966.
    """
    if min_isr is None or len(ask.isr) >= min_isr:
        return ()
    candidates = {*partition.eligible_leader_replicas, *partition.isr}
    return tuple(sorted(candidates - set(ask.isr) - ask.unclean_shutdown))


def elected(
    partition: Partition,
    ask: PartitionAsk,
    elr: tuple[BrokerId, ...],
    acceptable: Callable[[BrokerId], bool],
    *,
    elr_enabled: bool,
) -> Elected:
    """Return the leader: of a clean election if possible, else the last known, else any replica.

    Spec: PartitionChange!Elected, PartitionChangeElr!ElectedElr.
    Kafka: PartitionChangeBuilder.electLeader.
    """
    valid = [replica for replica in (ask.isr or elr) if acceptable(replica)]
    leader = _clean_leader(partition, ask, valid)
    if leader != NO_LEADER:
        return Elected(leader, unclean=False)
    last_known = partition.last_known_elr
    nobody_is_known = elr_enabled and not ask.isr and not elr
    # The last known leader must be alive (KAFKA-19522).
    if nobody_is_known and len(last_known) == 1 and acceptable(last_known[0]):
        return Elected(last_known[0], unclean=True)
    if ask.election is Election.UNCLEAN:
        leader = next((replica for replica in ask.replicas if acceptable(replica)), _NO_BROKER)
    return Elected(leader, unclean=leader != NO_LEADER)


def _clean_leader(partition: Partition, ask: PartitionAsk, valid: list[BrokerId]) -> BrokerId:
    """Return the leader that loses no data, NO_LEADER if there is none.

    Spec: PartitionChange!CleanLeader.
    """
    if ask.election is Election.PREFERRED and ask.replicas[0] in valid:
        return ask.replicas[0]
    if partition.leader in valid:
        return BrokerId(partition.leader)
    for replica in ask.replicas:
        if replica in valid:
            return replica
    return _NO_BROKER


def build(
    topic_id: TopicId,
    partition_id: PartitionId,
    partition: Partition,
    ask: PartitionAsk,
    acceptable: Callable[[BrokerId], bool],
    rules: ChangeRules,
) -> PartitionChangeRecord | None:
    """Return the record of the requested change; None if nothing changes.

    `acceptable` says whether a broker may lead.

    Spec: PartitionChange!Build, PartitionChangeElr!BuildElr.
    Kafka: PartitionChangeBuilder.build.
    """
    elr_enabled = rules.min_isr is not None
    survives = rules.one_survivor_completes and has_survivor(ask)
    done = ended(ask) if survives else completed(ask)
    elr = next_elr(partition, done, rules.min_isr)
    # Without the feature, this change may still elect a replica that is left in the ELR.
    eligible = elr if elr_enabled else partition.eligible_leader_replicas
    election = elected(partition, done, eligible, acceptable, elr_enabled=elr_enabled)
    leads_anew = election.leader != partition.leader
    if leads_anew and (election.unclean or election.leader in eligible):
        # The new leader is alone in the ISR: no other replica is known to have its data.
        done = replace(done, isr=(election.leader,))
        elr = () if election.unclean else without(elr, (election.leader,))
    fields = _assignment_fields(partition, done, rules)
    forced = leads_anew and election.unclean
    if forced or (done.isr != partition.isr and (done.isr or elr_enabled)):
        fields["isr"] = done.isr
    if leads_anew or _must_ask_again(partition, done, fields, rules):
        fields["leader"] = election.leader
    if done.leader_recovery_state != partition.leader_recovery_state:
        fields["leader_recovery_state"] = done.leader_recovery_state
    elif forced and _marks_recovery(partition, rules):
        fields["leader_recovery_state"] = RECOVERING
    fields.update(_eligibility_fields(partition, elr, fields, elr_enabled=elr_enabled))
    return PartitionChangeRecord(partition_id, topic_id, **fields) if fields else None


def _assignment_fields(
    partition: Partition, ask: PartitionAsk, rules: ChangeRules
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    # The same replicas are in the same directories, unless one of them moves.
    is_as_before = ask.directory is None and ask.replicas == partition.replicas
    if not is_as_before and rules.metadata_version >= IBP_3_7_IV2:
        known = dict(zip(partition.replicas, partition.directories, strict=True))
        known.update([ask.directory] if ask.directory else [])
        directories = tuple(
            known[replica] if replica in known else rules.default_directory(replica)
            for replica in ask.replicas
        )
        if directories != partition.directories:
            fields["directories"] = directories
    if ask.replicas != partition.replicas:
        fields["replicas"] = ask.replicas
    if ask.removing_replicas != partition.removing_replicas:
        fields["removing_replicas"] = ask.removing_replicas
    if ask.adding_replicas != partition.adding_replicas:
        fields["adding_replicas"] = ask.adding_replicas
    return fields


def _marks_recovery(partition: Partition, rules: ChangeRules) -> bool:
    return partition.leader_recovery_state != RECOVERING and rules.metadata_version >= IBP_3_2_IV0


def _must_ask_again(
    partition: Partition, ask: PartitionAsk, fields: dict[str, Any], rules: ChangeRules
) -> bool:
    """Return whether a leader that stays takes a new epoch.

    It does when one of its replicas is dropped. Before 3.6 it also does when the ISR shrinks.

    Spec: PartitionChange!ChangeRecord.
    Kafka: PartitionChangeBuilder.triggerLeaderEpochBumpForReplicaReassignmentIfNeeded.
    """
    if ask.replicas != partition.replicas and not set(partition.replicas) <= set(ask.replicas):
        return True
    if rules.metadata_version >= IBP_3_6_IV0:
        return False
    return "isr" in fields and not set(partition.isr) <= set(ask.isr)


def _eligibility_fields(
    partition: Partition,
    elr: tuple[BrokerId, ...],
    fields: dict[str, Any],
    *,
    elr_enabled: bool,
) -> dict[str, Any]:
    """Return the fields of KIP-966: the eligible leader replicas and the last known leader.

    Without eligible leader replicas a change clears what is left of them, and leaves the last known
    leader.

    Kafka: PartitionChangeBuilder.maybeUpdateRecordElr, maybeUpdateLastKnownLeader.
    """
    found: dict[str, Any] = {}
    if elr != partition.eligible_leader_replicas:
        found["eligible_leader_replicas"] = elr
    last_known = partition.last_known_elr
    if elr_enabled and fields.get("isr") == () and last_known != (partition.leader,):
        last_known = (BrokerId(partition.leader),)
    elif elr_enabled and fields.get("leader", partition.leader) != NO_LEADER:
        last_known = ()
    if last_known != partition.last_known_elr:
        found["last_known_elr"] = last_known
    return found
