"""Seeded bugs of images: replay, snapshots, and the index beside an image."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from immutables import Map
from msgspec.structs import replace as with_fields

from krafla.fuzz.engine.mutant import seed_bug
from kraft.image.brokers_to_partitions import brokers_to_partitions
from kraft.records.lease import BrokerRegistrationChangeRecord
from kraft.records.topics import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    PartitionChangeRecord,
    RemoveTopicRecord,
)

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["IMAGES"]

IMAGES: Final[list[Mutant]] = []
_seed = partial(seed_bug, IMAGES)


@_seed(
    "loads-snapshot-onto-the-old",
    "KAFKA-14894",
    "kraft.controller.commit_path:load_snapshot",
    "A snapshot is loaded over the old image: what it does not mention stays.",
    (("isolation", 1_500), ("partition", 4_000), ("pause", 3_000)),
)
def _onto_the_old(right: Any, probe: Probe) -> Any:
    def load_snapshot(turn: Any, event: Any) -> Any:
        old = turn.state.written.image
        right(turn, event)
        memory = turn.state.written
        image = with_fields(
            memory.image,
            topics=old.topics.update(memory.image.topics),
            topic_ids=old.topic_ids.update(memory.image.topic_ids),
            partitions=old.partitions.update(memory.image.partitions),
        )
        probe.trigger(different=image != memory.image)
        memory = replace(memory, written=replace(memory.written, image=image))
        turn.change(written=memory, timeline=Map({memory.end: memory}))

    return load_snapshot


@_seed(
    "snapshot-id-is-inclusive",
    "KAFKA-14618",
    "kraft.controller.snapshots:create_snapshot",
    "A snapshot is named after its last offset instead of its end.",
)
def _inclusive(right: Any, probe: Probe) -> Any:
    def create_snapshot(turn: Any) -> Any:
        many = len(turn.effects)
        right(turn)
        probe.trigger(different=len(turn.effects) > many)
        for index in range(many, len(turn.effects)):
            effect = turn.effects[index]
            end = effect.snapshot_id._replace(end_offset=effect.snapshot_id.end_offset - 1)
            turn.effects[index] = replace(effect, snapshot_id=end)

    return create_snapshot


@_seed(
    "snapshot-of-the-newest",
    "KAFKA-17713",
    "kraft.controller.snapshots:visible",
    "A snapshot has the newest state in memory and the name of the stable one.",
)
def _of_the_newest(right: Any, probe: Probe) -> Any:
    def visible(state: Any) -> Any:
        found = right(state)
        probe.trigger(different=found.image != state.written.image)
        return replace(found, written=replace(found.written, image=state.written.image))

    return visible


@_seed(
    "snapshot-due-since-time-zero",
    "SnapshotGenerator.resetSnapshotCounters",
    "kraft.controller.state:first_state",
    "A starting controller counts the time to its first snapshot from time zero of its clock.",
)
def _due_since_zero(right: Any, probe: Probe) -> Any:
    def first_state(*arguments: Any) -> Any:
        state = right(*arguments)
        return probe.choose(state, replace(state, snapshot_ms=0))

    return first_state


@_seed(
    "snapshot-before-the-bootstrap",
    "KAFKA-15375",
    "kraft.controller.snapshots:has_news",
    "A controller makes a snapshot of a log with control records only, as soon as it has one.",
)
def _of_nothing(right: Any, probe: Probe) -> Any:
    def has_news(state: Any) -> bool:
        found = right(state)
        early = 0 == state.snapshot_end < state.stable_end and not found
        return bool(probe.choose(found, found or early))

    return has_news


@_seed(
    "snapshot-without-brokers",
    "KAFKA-15860",
    "kraft.image.snapshot:_cluster",
    "Snapshots lack the registrations of controllers and brokers.",
)
def _snapshot_without_brokers(right: Any, probe: Probe) -> Any:
    def _cluster(image: Any) -> Any:
        records = list(right(image))
        return iter(probe.choose(records, []))

    return _cluster


@_seed(
    "snapshot-without-eligible-leaders",
    "sabotage",
    "kraft.image.snapshot:_topics",
    "Snapshots lack eligible leader replicas.",
)
def _snapshot_without_elr(right: Any, probe: Probe) -> Any:
    def _topics(image: Any) -> Any:
        records = list(right(image))
        wrong = [
            with_fields(one, eligible_leader_replicas=None, last_known_elr=None)
            if hasattr(one, "eligible_leader_replicas")
            else one
            for one in records
        ]
        return iter(probe.choose(records, wrong))

    return _topics


@_seed(
    "snapshot-without-configurations",
    "sabotage",
    "kraft.image.snapshot:_configurations",
    "Snapshots lack configurations.",
)
def _snapshot_without_configurations(right: Any, probe: Probe) -> Any:
    def _configurations(image: Any) -> Any:
        return iter(probe.choose(list(right(image)), []))

    return _configurations


def _replaying(right: Any, probe: Probe, kind: type[Any], wrong: Any) -> Any:
    """Return a replay that replaces each record of a kind by another record, or by none."""

    def replay(image: Any, records: Any) -> Any:
        given = tuple(records)
        taken = []
        for record in given:
            other = wrong(record) if isinstance(record, kind) else record
            taken += [] if other is None else [other]
        if given:
            probe.choose(given, tuple(taken))
        return right(image, taken)

    return replay


@_seed(
    "replay-ignores-directories",
    "KAFKA-15364",
    "kraft.image.replay:replay",
    "Replay ignores the directories that a broker has left.",
    (("lost-directory", 2_000),),
)
def _ignores_directories(right: Any, probe: Probe) -> Any:
    def wrong(record: Any) -> Any:
        return with_fields(record, log_dirs=())

    return _replaying(right, probe, BrokerRegistrationChangeRecord, wrong)


@_seed(
    "replay-ignores-shutdown",
    "KAFKA-13916",
    "kraft.image.replay:replay",
    "Replay ignores that a broker is in controlled shutdown.",
    (("broker-shutdown", 1_000),),
)
def _ignores_shutdown(right: Any, probe: Probe) -> Any:
    def wrong(record: Any) -> Any:
        return with_fields(record, in_controlled_shutdown=0)

    return _replaying(right, probe, BrokerRegistrationChangeRecord, wrong)


@_seed(
    "replay-keeps-topics",
    "KAFKA-14894",
    "kraft.image.replay:replay",
    "A deleted topic stays in the image.",
)
def _keeps_topics(right: Any, probe: Probe) -> Any:
    return _replaying(right, probe, RemoveTopicRecord, lambda _record: None)


@_seed(
    "replay-ignores-eligible-leaders",
    "sabotage",
    "kraft.image.replay:replay",
    "Replay ignores replicas that a change makes eligible to lead.",
)
def _ignores_elr(right: Any, probe: Probe) -> Any:
    def wrong(record: Any) -> Any:
        return with_fields(record, eligible_leader_replicas=None)

    return _replaying(right, probe, PartitionChangeRecord, wrong)


@_seed(
    "leader-epoch-not-bumped",
    "sabotage",
    "kraft.image.replay:replay",
    "A new leader has the leader epoch of the last one.",
)
def _epoch_stays(right: Any, probe: Probe) -> Any:
    def replay(image: Any, records: Any) -> Any:
        given = tuple(records)
        after = right(image, given)
        partitions = after.partitions
        for record in given:
            if isinstance(record, PartitionChangeRecord) and record.leader != NO_LEADER_CHANGE:
                key = record.topic_id, record.partition_id
                old, new = image.partitions.get(key), partitions.get(key)
                if old is not None and new is not None:
                    wrong = with_fields(new, leader_epoch=old.leader_epoch)
                    partitions = partitions.set(key, probe.choose(new, wrong))
        return with_fields(after, partitions=partitions)

    return replay


@_seed(
    "replay-error-is-swallowed",
    "KAFKA-14275",
    "kraft.controller.commit_path:replay_committed",
    "A standby skips a record that it could not replay and goes on.",
)
def _swallows(right: Any, probe: Probe) -> Any:
    def replay_committed(turn: Any, batch: Any) -> Any:
        fails = len(batch.records) == 1 and batch.base_offset % 8 == 0
        fails = fails and isinstance(batch.records[0], PartitionChangeRecord)
        probe.trigger(different=fails)
        right(turn, replace(batch, records=()) if fails else batch)

    return replay_committed


@_seed(
    "index-keeps-deleted",
    "IndexIsRecomputedInv",
    "kraft.image.brokers_to_partitions:after_records",
    "The index of brokers and partitions keeps the partitions of a deleted topic.",
)
def _index_keeps(right: Any, probe: Probe) -> Any:
    def after_records(index: Any, before: Any, after: Any, records: Any) -> Any:
        kept = [one for one in records if not isinstance(one, RemoveTopicRecord)]
        found, wrong = right(index, before, after, records), right(index, before, after, kept)
        return probe.choose(found, wrong)

    return after_records


@_seed(
    "index-forgets-leaderless",
    "IndexIsRecomputedInv",
    "kraft.image.brokers_to_partitions:after_records",
    "A partition without a leader is missing from the index of leaders.",
)
def _index_forgets(_right: Any, probe: Probe) -> Any:
    def after_records(_index: Any, _before: Any, after: Any, _records: Any) -> Any:
        found = brokers_to_partitions(after)
        leads = found.leads.delete(NO_LEADER) if NO_LEADER in found.leads else found.leads
        return probe.choose(found, with_fields(found, leads=leads))

    return after_records


@_seed(
    "index-ignores-eligible",
    "IndexIsRecomputedInv",
    "kraft.image.brokers_to_partitions:after_records",
    "The index does not contain replicas that are eligible to lead.",
)
def _index_without_elr(_right: Any, probe: Probe) -> Any:
    def after_records(_index: Any, _before: Any, after: Any, _records: Any) -> Any:
        found = brokers_to_partitions(after)
        return probe.choose(found, with_fields(found, elr=Map()))

    return after_records
