"""The comparison of two images of one committed log: the implementation's, and the audit's.

Controllers and brokers show what `kraft.image.replay` makes of the log. So does the committed log
that they are compared with: what that replay gets wrong, all of them get wrong together. The audit
replays the bytes by its own code. The two must agree wherever both stand: after every batch, or
after the last one of those that a node hands over at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from krafla.fuzz.engine.violation import Violated
from kraft.ids import uuid_bytes
from kraft.image.entries import MIGRATING
from kraft.records.cluster import (
    ClientQuotaRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    RegisterControllerRecord,
)
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import (
    ClearElrRecord,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.image import Image
    from krafla.audit.partition_state import Epochs, PartitionState
    from krafla.fuzz.stack.committed_log import CommittedLog
    from krafla.fuzz.stack.log_judge import LogJudge
    from kraft.controller.events import CommittedBatch
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage

__all__ = ["AGREEMENT_PROPERTIES", "PARTITION_RECORDS", "SECTIONS", "ImageAgreement"]

AGREEMENT_PROPERTIES: Final = ("ImagesAgreeInv",)
_Sides: TypeAlias = "Callable[[MetadataImage, Image], tuple[dict[Any, Any], dict[Any, Any]]]"
_Sections: TypeAlias = "dict[str, tuple[tuple[type[Any], ...], _Sides]]"


class ImageAgreement:
    """What has been agreed so far, and what has changed since in either image."""

    def __init__(self, committed_log: CommittedLog, log_judge: LogJudge) -> None:
        self._committed_log = committed_log
        self._log_judge = log_judge
        self._seen = committed_log.image
        self._changed: set[type[Any]] = set()
        self._partitions = _AgreedPartitions()
        committed_log.observers.append(self._look)

    def finish(self) -> None:
        """Compare all of the two images at the end of a run, if both stand there.

        Raises Violated.
        """
        if self._log_judge.end != self._committed_log.end:
            return
        self._compare(SECTIONS)
        self._compare_partitions()

    def _look(self, batch: CommittedBatch, _before: MetadataImage, after: MetadataImage) -> None:
        """Compare what a batch can have changed, once both images stand where it ends."""
        self._changed.update(map(type, batch.records))
        if self._log_judge.end != batch.base_offset + batch.count:
            return
        changed, seen = self._changed, self._seen
        self._compare(
            {
                name: section
                for name, section in SECTIONS.items()
                if not changed.isdisjoint(section[0])
                or getattr(after, name) is not getattr(seen, name)
            }
        )
        if not changed.isdisjoint(PARTITION_RECORDS) or after.partitions is not seen.partitions:
            self._compare_partitions()
        self._changed, self._seen = set(), after

    def _compare(self, sections: _Sections) -> None:
        ours, theirs = self._committed_log.image, self._log_judge.image
        for name, (_, sides) in sections.items():
            self._agree(name.replace("_", " "), *sides(ours, theirs))

    def _compare_partitions(self) -> None:
        ours, theirs = self._committed_log.image, self._log_judge.image
        self._agree("partitions", *self._partitions.news(ours, theirs))

    def _agree(self, what: str, ours: dict[Any, Any], theirs: dict[Any, Any]) -> None:
        if ours != theirs:
            raise Violated(
                "ImagesAgreeInv",
                f"after all before offset {self._log_judge.end} the {what} are not what the audit "
                f"makes of the log: {_first_difference(ours, theirs)}",
            )


def _first_difference(ours: dict[Any, Any], theirs: dict[Any, Any]) -> str:
    """Return the first key with two values, and both values; nothing stands for no value."""
    nothing = "nothing"
    key = min(
        (one for one in ours.keys() | theirs.keys() if ours.get(one) != theirs.get(one)), key=repr
    )
    return f"{key} is {ours.get(key, nothing)}, by the audit {theirs.get(key, nothing)}"


class _AgreedPartitions:
    """The partitions as they agreed last: nothing is compared again that neither side changed."""

    __slots__ = ("_agreed",)

    def __init__(self) -> None:
        self._agreed: dict[Any, tuple[Partition, PartitionState, Epochs]] = {}

    def news(self, ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Return the partitions of both sides that may differ, in one form."""
        mine: dict[Any, Any] = {}
        others: dict[Any, Any] = {}
        left = dict(theirs.partitions.states)
        agreed: dict[Any, tuple[Partition, PartitionState, Epochs]] = {}
        for (topic_id, index), partition in ours.partitions.items():
            key = index.to_bytes(4, "big") + uuid_bytes(topic_id)
            state = left.pop(key, None)
            if state is None:
                mine[topic_id, index] = _form_of(partition)
                continue
            both = partition, state, theirs.partitions.epochs(key)
            known = self._agreed.get(key)
            if known is None or known[0] is not partition or known[1:] != both[1:]:
                mine[topic_id, index] = _form_of(partition)
                others[topic_id, index] = _audited(state, both[2])
            agreed[key] = both
        for key in left:
            others[key] = _audited(left[key], theirs.partitions.epochs(key))
        self._agreed = agreed
        return mine, others


def _form_of(one: Partition) -> tuple[Any, ...]:
    return (
        one.leader, one.isr, one.replicas, one.adding_replicas, one.removing_replicas,
        one.leader_recovery_state, one.directories, one.eligible_leader_replicas,
        one.last_known_elr, one.leader_epoch, one.partition_epoch,
    )  # fmt: skip


def _audited(state: PartitionState, epochs: Epochs) -> tuple[Any, ...]:
    directories = state.directories or (MIGRATING,) * len(state.replicas)
    return (*state._replace(directories=directories), *epochs)


def _brokers(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        broker_id: (
            one.incarnation_id, one.epoch, one.fenced, one.in_controlled_shutdown,
            one.directories, tuple(sorted((f.name, f.minimum, f.maximum) for f in one.features)),
        )
        for broker_id, one in ours.brokers.items()
    }, {
        broker_id: (
            one.incarnation, one.epoch, one.fenced, one.in_controlled_shutdown, one.directories,
            one.features,
        )
        for broker_id, one in theirs.registrations.items()
    }  # fmt: skip


def _controllers(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        controller_id: (
            one.incarnation_id,
            tuple(sorted((f.name, f.minimum, f.maximum) for f in one.features)),
        )
        for controller_id, one in ours.controllers.items()
    }, dict(theirs.entities.controllers)


def _topic_ids(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    named = {name: uuid_bytes(topic_id) for name, topic_id in ours.topic_ids.items()}
    return named, theirs.entities.topics


def _topics(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    named = {uuid_bytes(topic_id): one.name for topic_id, one in ours.topics.items()}
    return named, theirs.entities.topic_names


def _features(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return dict(ours.features), theirs.features


def _configurations(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        (*resource, name): value
        for resource, values in ours.configurations.items()
        for name, value in values.items()
    }, dict(theirs.entities.configs)


def _quotas(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        (tuple(sorted((kind, name or "") for kind, name in entity)), key): value
        for entity, values in ours.client_quotas.items()
        for key, value in values.items()
    }, dict(theirs.entities.quotas)


def _producer_ids(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    next_id = theirs.entities.next_producer_id
    return {"next": ours.next_producer_id}, {"next": -1 if next_id is None else next_id}


def _entries(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        entry_id: (
            one.host, one.operation, one.pattern_type, one.permission_type, one.principal,
            one.resource_name, one.resource_type,
        )
        for entry_id, one in ours.access_control_entries.items()
    }, dict(theirs.entities.acls)  # fmt: skip


def _credentials(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        (name, mechanism): (one.salt, one.stored_key, one.server_key, one.iterations)
        for (mechanism, name), one in ours.scram_credentials.items()
    }, {
        key: (one["salt"], one["storedKey"], one["serverKey"], one["iterations"])
        for key, one in theirs.entities.scram.items()
    }


def _tokens(ours: MetadataImage, theirs: Image) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return {
        token_id: (
            one.owner, one.requester, one.renewers, one.issue_timestamp, one.max_timestamp,
            one.expiration_timestamp,
        )
        for token_id, one in ours.delegation_tokens.items()
    }, {
        token_id: (
            one["owner"], one["requester"], tuple(one["renewers"]), one["issueTimestamp"],
            one["maxTimestamp"], one["expirationTimestamp"],
        )
        for token_id, one in theirs.entities.tokens.items()
    }  # fmt: skip


PARTITION_RECORDS: Final = (
    PartitionRecord,
    PartitionChangeRecord,
    RemoveTopicRecord,
    ClearElrRecord,
)
_OF_BROKERS: Final = (
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    BrokerRegistrationChangeRecord,
)
_OF_ENTRIES: Final = (AccessControlEntryRecord, RemoveAccessControlEntryRecord)
_OF_CREDENTIALS: Final = (UserScramCredentialRecord, RemoveUserScramCredentialRecord)
_OF_TOKENS: Final = (DelegationTokenRecord, RemoveDelegationTokenRecord)
SECTIONS: Final[_Sections] = {
    "brokers": (_OF_BROKERS, _brokers),
    "controllers": ((RegisterControllerRecord,), _controllers),
    "features": ((FeatureLevelRecord,), _features),
    "topics": ((TopicRecord, RemoveTopicRecord), _topics),
    "topic_ids": ((TopicRecord, RemoveTopicRecord), _topic_ids),
    "configurations": ((ConfigRecord, RemoveTopicRecord), _configurations),
    "client_quotas": ((ClientQuotaRecord,), _quotas),
    "next_producer_id": ((ProducerIdsRecord,), _producer_ids),
    "access_control_entries": (_OF_ENTRIES, _entries),
    "scram_credentials": (_OF_CREDENTIALS, _credentials),
    "delegation_tokens": (_OF_TOKENS, _tokens),
}
"""Each part of an image but partitions: the records that change it, and its form on both sides."""
