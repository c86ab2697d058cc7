"""Seeded bugs of partition changes: leaders, ISRs, reassignments, topics."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace as with_fields

from krafla.fuzz.engine.mutant import seed_bug
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.partition_ask import Election
from kraft.controller.operations.partition_change import has_survivor
from kraft.errors import ErrorCode
from kraft.image.versions import IBP_3_6_IV0
from kraft.records.topics import NO_LEADER, PartitionChangeRecord

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["PARTITIONS"]

PARTITIONS: Final[list[Mutant]] = []
_seed = partial(seed_bug, PARTITIONS)
_STOPS: Final = (("broker-shutdown", 500), ("quick-restart", 2_000))


@_seed(
    "ineligible-joins-isr",
    "KAFKA-13916",
    "kraft.controller.operations.alter_partition:_is_eligible",
    "A replica that is fenced or in controlled shutdown may join the ISR.",
    (("broker-shutdown", 300), ("clog", 600), ("delay", 1_500)),
)
def _ineligible_joins(right: Any, probe: Probe) -> Any:
    def _is_eligible(image: Any, broker_id: Any, epoch: int) -> Any:
        return probe.choose(right(image, broker_id, epoch), broker_id in image.brokers)

    return _is_eligible


@_seed(
    "rebooted-replica-joins-isr",
    "KAFKA-14617",
    "kraft.controller.operations.alter_partition:_is_eligible",
    "The controller ignores which process of a broker has caught up.",
    (("quick-restart", 300), ("clog", 400)),
)
def _rebooted_joins(right: Any, probe: Probe) -> Any:
    def _is_eligible(image: Any, broker_id: Any, epoch: int) -> Any:
        return probe.choose(right(image, broker_id, epoch), right(image, broker_id, -1))

    return _is_eligible


@_seed(
    "who-leaves-may-lead",
    "KAFKA-13916",
    "kraft.controller.operations.leader_eligibility:is_active",
    "A broker in controlled shutdown may lead and be in sync.",
    _STOPS,
)
def _leaves_may_lead(right: Any, probe: Probe) -> Any:
    def is_active(image: Any, broker_id: Any) -> Any:
        registration = image.brokers.get(broker_id)
        unfenced = registration is not None and not registration.fenced
        return probe.choose(right(image, broker_id), unfenced)

    return is_active


@_seed(
    "fenced-in-new-isr",
    "KAFKA-13083",
    "kraft.controller.operations.topics:_new_partition",
    "All replicas of a new partition are in sync, fenced or not.",
    (("kill", 1_500), ("broker-shutdown", 900)),
)
def _fenced_in_new(right: Any, probe: Probe) -> Any:
    def _new_partition(image: Any, topic: Any, index: Any, replicas: Any, code: Any) -> Any:
        record = right(image, topic, index, replicas, code)
        return probe.choose(record, with_fields(record, isr=replicas))

    return _new_partition


@_seed(
    "ahead-is-behind",
    "KAFKA-14154",
    "kraft.controller.operations.alter_partition:validate_alter_partition",
    "A leader that is ahead of the controller is told that it is behind.",
)
def _ahead_is_behind(right: Any, probe: Probe) -> Any:
    def validate_alter_partition(image: Any, partition: Any, sender: Any, asked: Any) -> Any:
        probe.trigger(different=asked.leader_epoch > partition.leader_epoch)
        if asked.leader_epoch != partition.leader_epoch:
            raise ControllerError(ErrorCode.FENCED_LEADER_EPOCH, "the leader epochs differ")
        return right(image, partition, sender, asked)

    return validate_alter_partition


@_seed(
    "old-partition-epoch-will-do",
    "KIP-497",
    "kraft.controller.operations.alter_partition:validate_alter_partition",
    "A leader is granted an ISR for an old partition epoch.",
    _STOPS,
)
def _old_epoch(right: Any, probe: Probe) -> Any:
    def validate_alter_partition(image: Any, partition: Any, sender: Any, asked: Any) -> Any:
        old = asked.partition_epoch < partition.partition_epoch
        probe.trigger(different=old)
        epoch = partition.partition_epoch if old else asked.partition_epoch
        return right(image, partition, sender, replace(asked, partition_epoch=epoch))

    return validate_alter_partition


@_seed(
    "told-the-epoch-before",
    "AlteredIsCommittedInv",
    "kraft.controller.operations.alter_partition:_granted",
    "A leader is told the partition epoch from before its own change.",
)
def _epoch_before(right: Any, probe: Probe) -> Any:
    def _granted(asked: Any, partition: Any) -> Any:
        found = right(asked, partition)
        return probe.choose(found, replace(found, partition_epoch=asked.partition_epoch))

    return _granted


@_seed(
    "told-what-it-asked-for",
    "AlteredIsCommittedInv",
    "kraft.controller.operations.alter_partition:_granted",
    "A leader is told the ISR that it asked for, even if that completes a reassignment.",
)
def _what_it_asked(right: Any, probe: Probe) -> Any:
    def _granted(asked: Any, partition: Any) -> Any:
        found = right(asked, partition)
        isr = tuple(member.broker_id for member in asked.new_isr_with_epochs)
        return probe.choose(found, replace(found, isr=isr))

    return _granted


@_seed(
    "completes-with-one-survivor",
    "KAFKA-15665",
    "kraft.controller.operations.partition_change:is_completable",
    "A reassignment completes when the adding replicas and one remaining replica are in sync.",
)
def _one_survivor(right: Any, probe: Probe) -> Any:
    def is_completable(ask: Any) -> Any:
        return probe.choose(right(ask), has_survivor(ask))

    return is_completable


@_seed(
    "removed-leader-stays",
    "Kafka PR 13521",
    "kraft.controller.operations.partition_change:elected",
    "A leader stays if no other replica can lead, even if it is no replica any more.",
)
def _removed_stays(right: Any, probe: Probe) -> Any:
    def elected(partition: Any, ask: Any, elr: Any, acceptable: Any, *, elr_enabled: bool) -> Any:
        found = right(partition, ask, elr, acceptable, elr_enabled=elr_enabled)
        stays = found.leader == NO_LEADER and partition.leader != NO_LEADER
        return probe.choose(found, found._replace(leader=partition.leader) if stays else found)

    return elected


@_seed(
    "shrink-bumps-leader-epoch",
    "KAFKA-15021",
    "kraft.controller.operations.partition_change:_must_ask_again",
    "The leader epoch rises whenever the ISR shrinks.",
)
def _shrink_bumps(right: Any, probe: Probe) -> Any:
    def _must_ask_again(partition: Any, ask: Any, fields: Any, rules: Any) -> Any:
        shrinks = "isr" in fields and not set(partition.isr) <= set(ask.isr)
        found = right(partition, ask, fields, rules)
        return probe.choose(found, found or shrinks)

    return _must_ask_again


@_seed(
    "shrink-never-bumps",
    "KAFKA-15109",
    "kraft.controller.operations.partition_change:_must_ask_again",
    "The leader epoch does not rise when the ISR shrinks, whatever the metadata version.",
)
def _never_bumps(right: Any, probe: Probe) -> Any:
    def _must_ask_again(partition: Any, ask: Any, fields: Any, rules: Any) -> Any:
        newer = replace(rules, metadata_version=max(rules.metadata_version, IBP_3_6_IV0))
        found = right(partition, ask, fields, rules)
        return probe.choose(found, right(partition, ask, fields, newer))

    return _must_ask_again


@_seed(
    "removal-never-bumps",
    "Kafka PR 13521",
    "kraft.controller.operations.partition_change:_must_ask_again",
    "The leader epoch does not rise when a replica is removed.",
)
def _removal_never(right: Any, probe: Probe) -> Any:
    def _must_ask_again(partition: Any, ask: Any, fields: Any, rules: Any) -> Any:
        found = right(partition, ask, fields, rules)
        newer = rules.metadata_version >= IBP_3_6_IV0
        return probe.choose(found, found and not newer)

    return _must_ask_again


@_seed(
    "writes-what-changes-nothing",
    "KAFKA-16624",
    "kraft.controller.operations.partition_change:build",
    "A change without effect is written.",
)
def _changes_nothing(right: Any, probe: Probe) -> Any:
    def build(topic: Any, index: Any, partition: Any, ask: Any, *rest: Any) -> Any:
        found = right(topic, index, partition, ask, *rest)
        empty = found is None and ask.isr != partition.isr
        wrong = PartitionChangeRecord(index, topic) if empty else found
        return probe.choose(found, wrong)

    return build


@_seed(
    "last-known-leader-need-not-live",
    "KAFKA-19522",
    "kraft.controller.operations.partition_change:elected",
    "The last known leader is elected although it is fenced.",
    (("kill", 1_000), ("broker-shutdown", 800)),
)
def _need_not_live(right: Any, probe: Probe) -> Any:
    def elected(partition: Any, ask: Any, elr: Any, acceptable: Any, *, elr_enabled: bool) -> Any:
        found = right(partition, ask, elr, acceptable, elr_enabled=elr_enabled)
        last = partition.last_known_elr
        blind = elr_enabled and not ask.isr and not elr and len(last) == 1
        if not blind or found.leader != NO_LEADER:
            probe.trigger(different=False)
            return found
        return probe.choose(found, found._replace(leader=last[0], unclean=True))

    return elected


@_seed(
    "colliding-names",
    "KAFKA-13743",
    "kraft.controller.operations.topics:_validate_name",
    "Two topics may have names that metrics cannot distinguish.",
)
def _colliding(right: Any, probe: Probe) -> Any:
    def _validate_name(image: Any, asked: Any, name: str) -> Any:
        try:
            right(image, asked, name)
        except ControllerError:
            collides = name in {"b.c", "b_c"} and name not in image.topic_ids
            probe.trigger(different=collides)
            if not collides:
                raise

    return _validate_name


@_seed(
    "preferred-may-be-unclean",
    "KAFKA-13162",
    "kraft.controller.operations.partition_change:elected",
    "The election of a preferred leader elects a replica that is not in sync.",
)
def _preferred_unclean(right: Any, probe: Probe) -> Any:
    def elected(partition: Any, ask: Any, elr: Any, acceptable: Any, *, elr_enabled: bool) -> Any:
        found = right(partition, ask, elr, acceptable, elr_enabled=elr_enabled)
        first = ask.replicas[0]
        takes = ask.election is Election.PREFERRED and acceptable(first) and found.leader != first
        wrong = found._replace(leader=first, unclean=True) if takes else found
        return probe.choose(found, wrong)

    return elected


@_seed(
    "min-isr-of-another-node",
    "KAFKA-16540",
    "kraft.controller.operations.leader_eligibility:min_isr_of",
    "The controller uses another min.insync.replicas than brokers do.",
)
def _other_min_isr(right: Any, probe: Probe) -> Any:
    def min_isr_of(*given: Any) -> Any:
        found = right(*given)
        return probe.choose(found, 3 - found)

    return min_isr_of


@_seed(
    "eligible-and-in-sync",
    "KIP-966",
    "kraft.controller.operations.partition_change:next_elr",
    "In-sync replicas are also eligible leader replicas.",
)
def _eligible_and_in_sync(right: Any, probe: Probe) -> Any:
    def next_elr(partition: Any, ask: Any, min_isr: Any) -> Any:
        found = right(partition, ask, min_isr)
        return probe.choose(found, tuple(sorted({*found, *ask.isr})) if found else found)

    return next_elr


@_seed(
    "recovery-is-not-marked",
    "KIP-704",
    "kraft.controller.operations.partition_change:_marks_recovery",
    "An uncleanly elected leader is not told to recover.",
    (("kill", 1_000), ("broker-shutdown", 800)),
)
def _not_marked(right: Any, probe: Probe) -> Any:
    def _marks_recovery(partition: Any, rules: Any) -> Any:
        return probe.choose(right(partition, rules), wrong=False)

    return _marks_recovery


@_seed(
    "cancel-forgets-to-end",
    "KIP-455",
    "kraft.controller.operations.reassignments:reverted",
    "A cancelled reassignment stays in progress.",
)
def _forgets_to_end(right: Any, probe: Probe) -> Any:
    def reverted(partition: Any, *, unclean_enabled: bool) -> Any:
        found = right(partition, unclean_enabled=unclean_enabled)
        wrong = replace(found, removing_replicas=partition.removing_replicas)
        return probe.choose(found, wrong)

    return reverted


@_seed(
    "removes-before-all-are-in",
    "KIP-455",
    "kraft.controller.operations.reassignments:new_assignment",
    "A reassignment drops the removing replicas at once.",
)
def _removes_at_once(right: Any, probe: Probe) -> Any:
    def new_assignment(partition: Any, target: Any) -> Any:
        found = right(partition, target)
        return probe.choose(found, replace(found, replicas=target))

    return new_assignment


@_seed(
    "unclean-without-leave",
    "sabotage",
    "kraft.controller.operations.partition_ask:election_of",
    "An unclean leader is elected for any topic.",
    (("kill", 900), ("quick-restart", 900)),
)
def _without_leave(right: Any, probe: Probe) -> Any:
    def election_of(*, unclean_enabled: bool) -> Any:
        probe.trigger(different=not unclean_enabled)
        return right(unclean_enabled=True)

    return election_of
