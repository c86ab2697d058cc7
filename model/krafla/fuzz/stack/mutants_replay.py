"""Seeded bugs of the replay that controllers, brokers and the checks of a run share.

The checks use the wrong replay, too, as they would if its code were wrong. So only something that
does not use it can notice them: the audit's image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace as with_fields

from krafla.fuzz.engine.mutant import seed_bug
from kraft.records.cluster import ClientQuotaRecord, FeatureLevelRecord, RegisterControllerRecord
from kraft.records.lease import BrokerRegistrationChangeRecord, UnregisterBrokerRecord
from kraft.records.security import (
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import (
    TOPIC_RESOURCE,
    ClearElrRecord,
    PartitionChangeRecord,
    RemoveTopicRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["REPLAY"]

REPLAY: Final[list[Mutant]] = []


def _seed(
    name: str, source: str, sentence: str, kind: type[Any], focus: tuple[tuple[str, int], ...] = ()
) -> Callable[[Callable[[Any, Any, Any], Any]], Any]:
    """Note the decorated function as a mistake of the replay of one kind of record.

    It is given the image before, the right image after, and the record.
    """

    def note(change: Callable[[Any, Any, Any], Any]) -> Any:
        def wrong(right: Any, probe: Probe) -> Any:
            def replay(image: Any, records: Any) -> Any:
                for record in records:
                    after = right(image, (record,))
                    if isinstance(record, kind):
                        after = probe.choose(after, change(image, after, record))
                    image = after
                return image

            return replay

        seed_bug(
            REPLAY, name, source, "kraft.image.replay:replay", sentence, focus, everywhere=True
        )(wrong)
        return change

    return note


@_seed(
    "settings-outlive-their-topic",
    "AutoMQ 3556",
    "The settings of a deleted topic survive into a new one of the same name.",
    RemoveTopicRecord,
)
def _outlive(before: Any, after: Any, record: Any) -> Any:
    key = TOPIC_RESOURCE, before.topics[record.topic_id].name
    if key not in before.configurations:
        return after
    kept = after.configurations.set(key, before.configurations[key])
    return with_fields(after, configurations=kept)


@_seed(
    "cleared-without-a-new-epoch",
    "KIP-966",
    "Clearing the eligible leader replicas of a partition leaves its partition epoch.",
    ClearElrRecord,
    (("broker-shutdown", 1_500), ("quick-restart", 700)),
)
def _no_new_epoch(before: Any, after: Any, _record: Any) -> Any:
    partitions = after.partitions
    for key, old in before.partitions.items():
        if partitions[key] is not old:
            epoch = old.partition_epoch
            partitions = partitions.set(key, with_fields(partitions[key], partition_epoch=epoch))
    return with_fields(after, partitions=partitions)


@_seed(
    "removed-quota-stays",
    "sabotage",
    "A quota that was removed still counts.",
    ClientQuotaRecord,
)
def _quota_stays(before: Any, after: Any, record: Any) -> Any:
    return with_fields(after, client_quotas=before.client_quotas) if record.remove else after


@_seed(
    "removed-entry-stays",
    "sabotage",
    "An access control entry that was deleted still allows.",
    RemoveAccessControlEntryRecord,
)
def _entry_stays(before: Any, after: Any, record: Any) -> Any:
    entries = before.access_control_entries
    kept = after.access_control_entries.set(record.entry_id, entries[record.entry_id])
    return with_fields(after, access_control_entries=kept)


@_seed(
    "one-credential-for-each-user",
    "KIP-554",
    "A credential of one mechanism replaces that of the other.",
    UserScramCredentialRecord,
)
def _one_credential(_before: Any, after: Any, record: Any) -> Any:
    kept = after.scram_credentials
    for mechanism, name in list(kept):
        if name == record.name and mechanism != record.mechanism:
            kept = kept.delete((mechanism, name))
    return with_fields(after, scram_credentials=kept)


@_seed(
    "renewers-are-forgotten",
    "KIP-900",
    "A token in the image has no renewers.",
    DelegationTokenRecord,
)
def _no_renewers(_before: Any, after: Any, record: Any) -> Any:
    token = with_fields(after.delegation_tokens[record.token_id], renewers=())
    return with_fields(after, delegation_tokens=after.delegation_tokens.set(record.token_id, token))


@_seed(
    "feature-of-level-0-stays",
    "KIP-584",
    "A feature that was disabled is still enabled.",
    FeatureLevelRecord,
)
def _feature_stays(before: Any, after: Any, record: Any) -> Any:
    return after if record.feature_level else with_fields(after, features=before.features)


@_seed(
    "controller-keeps-its-incarnation",
    "KIP-919",
    "A controller that registers again keeps the incarnation that it had.",
    RegisterControllerRecord,
)
def _controller_stays(before: Any, after: Any, record: Any) -> Any:
    old = before.controllers.get(record.controller_id)
    if old is None:
        return after
    return with_fields(after, controllers=after.controllers.set(record.controller_id, old))


@_seed(
    "fencing-ends-the-shutdown",
    "KIP-841",
    "A broker that is fenced is in controlled shutdown no more.",
    BrokerRegistrationChangeRecord,
    (("broker-shutdown", 1_000),),
)
def _ends_the_shutdown(_before: Any, after: Any, record: Any) -> Any:
    if record.fenced <= 0:
        return after
    known = with_fields(after.brokers[record.broker_id], in_controlled_shutdown=False)
    return with_fields(after, brokers=after.brokers.set(record.broker_id, known))


@_seed(
    "unregistered-broker-stays",
    "sabotage",
    "A broker that was unregistered stays in the image, fenced.",
    UnregisterBrokerRecord,
)
def _broker_stays(before: Any, after: Any, record: Any) -> Any:
    old = with_fields(before.brokers[record.broker_id], fenced=True)
    return with_fields(after, brokers=after.brokers.set(record.broker_id, old))


@_seed(
    "every-change-bumps-leader-epoch",
    "KIP-497",
    "Every change of a partition is a new leader epoch, even without a new leader.",
    PartitionChangeRecord,
)
def _every_change(before: Any, after: Any, record: Any) -> Any:
    key = record.topic_id, record.partition_id
    epoch = before.partitions[key].leader_epoch + 1
    changed = with_fields(after.partitions[key], leader_epoch=epoch)
    return with_fields(after, partitions=after.partitions.set(key, changed))
