"""Seeded bugs of operations that operators ask for, and of brokers' directories."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace as with_fields

from krafla.fuzz.engine.mutant import seed_bug, wrong_answer
from kraft.broker.partitions import DROPPED
from kraft.broker.replication import Replica
from kraft.controller.operations.result import Generated
from kraft.records.cluster import ProducerIdsRecord
from kraft.rpc.access_control import ANY
from kraft.rpc.configurations import ConfigOperation

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["OPERATIONS"]

OPERATIONS: Final[list[Mutant]] = []
_seed = partial(seed_bug, OPERATIONS)
_ROOM: Final = "kraft.controller.operations"


@_seed(
    "validated-partitions-are-made",
    "KAFKA-13861",
    f"{_ROOM}.topics:create_partitions",
    "CreatePartitions with validateOnly creates the partitions.",
)
def _validated_partitions(right: Any, probe: Probe) -> Any:
    def create_partitions(right: Any, image: Any, request: Any, *rest: Any) -> Any:
        return right(image, replace(request, validate_only=False), *rest)

    return wrong_answer(create_partitions)(right, probe)


@_seed(
    "setting-without-a-value",
    "KAFKA-13863",
    f"{_ROOM}.topics:_create_topic",
    "A topic is created though one of its settings has no value.",
)
def _without_value(right: Any, probe: Probe) -> Any:
    def create_topic(right: Any, image: Any, defaults: Any, topic: Any, *rest: Any) -> Any:
        configs = tuple(one for one in topic.configs if one[1] is not None)
        return right(image, defaults, replace(topic, configs=configs), *rest)

    return wrong_answer(create_topic)(right, probe)


@_seed(
    "as-many-partitions-as-there-are",
    "sabotage",
    f"{_ROOM}.topics:_create_partitions",
    "A topic is granted fewer partitions than it has.",
)
def _as_many(right: Any, probe: Probe) -> Any:
    def create_partitions(right: Any, image: Any, asked: Any, chance: int) -> Any:
        topic_id = image.topic_ids.get(asked.name)
        if topic_id is not None and asked.count < len(image.topics[topic_id].partition_ids):
            return []
        return right(image, asked, chance)

    return wrong_answer(create_partitions)(right, probe)


@_seed(
    "producer-ids-overlap",
    "KIP-730",
    "kraft.controller.write_path:generate",
    "The next block of producer ids begins inside the last one.",
)
def _overlap(right: Any, probe: Probe) -> Any:
    def generate(turn: Any, operation: Any, request: Any, chance: int) -> Any:
        found = right(turn, operation, request, chance)
        if not isinstance(found, Generated):
            return found
        records = tuple(
            with_fields(one, next_producer_id=one.next_producer_id - 1)
            if isinstance(one, ProducerIdsRecord)
            else one
            for one in found.result.records
        )
        records = probe.choose(found.result.records, records)
        return replace(found, result=replace(found.result, records=records))

    return generate


@_seed(
    "first-of-two-values",
    "sabotage",
    f"{_ROOM}.topics:_create_topic",
    "A new topic has the first of the two values that it is given for one setting.",
)
def _first_value(right: Any, probe: Probe) -> Any:
    def create_topic(
        right: Any, image: Any, defaults: Any, topic: Any, topic_id: Any, chance: int
    ) -> Any:
        first = replace(topic, configs=topic.configs[::-1])
        return right(image, defaults, first, topic_id, chance)

    return wrong_answer(create_topic)(right, probe)


@_seed(
    "quota-of-the-user-alone",
    "KIP-546",
    f"{_ROOM}.client_quotas:_changes",
    "A quota of a user's client becomes one of the user.",
)
def _user_alone(right: Any, probe: Probe) -> Any:
    def changes(right: Any, image: Any, alteration: Any, key: Any) -> Any:
        if len(alteration.entity) > 1:
            right(image, alteration, key)
            alteration = replace(alteration, entity=alteration.entity[:1])
        return right(image, alteration, key)

    return wrong_answer(changes)(right, probe)


@_seed(
    "subtract-appends",
    "KIP-339",
    f"{_ROOM}.configurations:_altered",
    "SUBTRACT appends to a list.",
)
def _subtract(right: Any, probe: Probe) -> Any:
    def altered(right: Any, resource_type: int, present: Any, config: Any) -> Any:
        if config.config_operation is ConfigOperation.SUBTRACT:
            config = replace(config, config_operation=ConfigOperation.APPEND)
        return right(resource_type, present, config)

    return wrong_answer(altered)(right, probe)


@_seed(
    "replaced-settings-stay",
    "KIP-133",
    f"{_ROOM}.configurations:_replaced",
    "AlterConfigs leaves the settings that it does not name.",
)
def _settings_stay(right: Any, probe: Probe) -> Any:
    def replaced(right: Any, image: Any, defaults: Any, resource: Any) -> Any:
        named = {name for name, _ in resource.configs}
        return [one for one in right(image, defaults, resource) if one.name in named]

    return wrong_answer(replaced)(right, probe)


@_seed(
    "filter-ignores-the-permission",
    "sabotage",
    f"{_ROOM}.access_control:matches",
    "A filter for entries that allow something deletes those that deny it.",
)
def _permission(right: Any, probe: Probe) -> Any:
    def matches(right: Any, asked: Any, entry: Any) -> Any:
        return right(replace(asked, permission_type=ANY), entry)

    return wrong_answer(matches)(right, probe)


@_seed(
    "salt-of-another",
    "KIP-554",
    f"{_ROOM}.scram:_upsertion",
    "A credential has a salt that the operator did not give.",
)
def _salt(right: Any, probe: Probe) -> Any:
    def upsertion(right: Any, change: Any) -> Any:
        return with_fields(right(change), salt=b"pepper")

    return wrong_answer(upsertion)(right, probe)


@_seed(
    "replica-of-the-first-is-assigned",
    "KIP-858",
    f"{_ROOM}.directories:_assigned",
    "A broker's directory is noted for the first replica instead of its own.",
)
def _of_the_first(right: Any, probe: Probe) -> Any:
    def assigned(
        right: Any, image: Any, defaults: Any, key: Any, _broker: Any, directory: Any
    ) -> Any:
        return right(image, defaults, key, image.partitions[key].replicas[0], directory)

    return wrong_answer(assigned)(right, probe)


@_seed(
    "moves-to-sorted-replicas",
    "KIP-455",
    f"{_ROOM}.reassignments:new_assignment",
    "A partition moves to the asked replicas, but the least of them is preferred.",
)
def _sorted(right: Any, probe: Probe) -> Any:
    def new_assignment(right: Any, partition: Any, target: Any) -> Any:
        return right(partition, tuple(sorted(target)))

    return wrong_answer(new_assignment)(right, probe)


@_seed(
    "downgrade-is-not-written",
    "KIP-584",
    f"{_ROOM}.features:FeatureLevelRecord",
    "The level of a disabled feature stays what it was.",
)
def _not_written(right: Any, probe: Probe) -> Any:
    def level(name: str, feature_level: int) -> Any:
        return probe.choose(right(name, feature_level), right(name, max(1, feature_level)))

    return level


@_seed(
    "strays-stay-on-disk",
    "KAFKA-13127",
    "kraft.broker.partitions:load",
    "A starting broker leaves replicas on its disks that it does not have any more.",
    (("quick-restart", 700),),
)
def _stay(right: Any, probe: Probe) -> Any:
    def load(right: Any, *arguments: Any) -> Any:
        own, _ = right(*arguments)
        return own, ()

    return wrong_answer(load)(right, probe)


@_seed(
    "strays-are-opened",
    "KAFKA-14616",
    "kraft.sim.stack.replicas:Replicas.begin",
    "A starting broker opens every replica on its disks, even that of a deleted topic.",
    (("quick-restart", 700),),
)
def _opened(right: Any, probe: Probe) -> Any:
    def begin(self: Any, image: Any, now_ms: int) -> None:
        logs = self._disk.logs
        found = [(one, key, log) for one in sorted(logs) for key, log in sorted(logs[one].items())]
        right(self, image, now_ms)
        strays = [one for one in found if one[1] not in logs[one[0]]]
        probe.trigger(different=bool(strays))
        for directory, key, log in strays:
            logs[directory][key] = log
            replicas = self.own.replicas.set(key, Replica(directory, log))
            self.own = with_fields(self.own, replicas=replicas)

    return begin


@_seed(
    "dropped-stays-on-disk",
    "sabotage",
    "kraft.broker.partitions:learn",
    "A running broker leaves the data of a replica that it does not have any more.",
)
def _dropped(right: Any, probe: Probe) -> Any:
    def learn(right: Any, *arguments: Any) -> Any:
        own, changes = right(*arguments)
        return own, tuple(one for one in changes if one.what != DROPPED)

    return wrong_answer(learn)(right, probe)


@_seed(
    "registers-by-kraft-version-0",
    "KIP-853",
    "kraft.controller.operations.broker_registration:features_of",
    "The controller takes kraft.version to be 0, whatever Raft has.",
)
def _kraft_version_0(right: Any, probe: Probe) -> Any:
    def features_of(image: Any, request: Any, kraft_version: int) -> Any:
        return right(image, request, probe.choose(kraft_version, 0))

    return features_of
