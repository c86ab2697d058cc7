"""Checks that what operators are granted is in the committed image, and nothing of the rest.

The checks of `COMMITTED` are given the image at the record on which an answer rests;
`ImageAgreement` says that the audit makes the same of the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from kraft.errors import ErrorCode
from kraft.records.topics import TOPIC_RESOURCE
from kraft.rpc.access_control import ANY, MATCH, CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest
from kraft.rpc.configurations import (
    AlterConfigsRequest,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.delegation_tokens import CreateDelegationTokenRequest
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.topics import BY_DEFAULT
from kraft.rpc.update_features import UpdateFeaturesRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.image.entries import AccessControlEntry
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.access_control import AclBinding, AclFilter

__all__ = ["COMMITTED", "check_topic", "entry_of", "quota_key"]

_NONE: Final = ErrorCode.NONE
_NOTHING: Final[Mapping[str, Any]] = {}
_BLOCK_SIZE: Final = 1000
"""The producer ids of one block. Kafka: ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE."""


def _untrue(text: str) -> Violated:
    return Violated("AnsweredIsCommittedInv", f"the answer says that {text}")


def check_topic(image: MetadataImage, asked: Any, granted: Any) -> None:
    """Check that a created topic has the partitions and just the settings that were asked for.

    Of partitions and replicas any number is right that the request left to the controller.
    """
    topic = image.topics.get(granted.topic_id)
    if topic is None or topic.name != granted.name:
        raise _untrue(f"topic {granted.name} was created; it does not exist")
    if len(topic.partition_ids) != granted.num_partitions:
        raise _untrue(
            f"topic {granted.name} has {granted.num_partitions} partitions; it has "
            f"{len(topic.partition_ids)}"
        )
    _check_replicas(image, asked, granted)
    if any(value is None for _, value in asked.configs):
        raise _untrue(f"topic {granted.name} was created with a setting that has no value")
    there = dict(image.configurations.get((TOPIC_RESOURCE, granted.name), {}))
    # If a setting occurs twice, the last one counts.
    if there != dict(asked.configs):
        raise _untrue(f"topic {granted.name} was created with {asked.configs}; it has {there}")


def _check_replicas(image: MetadataImage, asked: Any, granted: Any) -> None:
    told = granted.num_partitions, granted.replication_factor
    wanted = asked.num_partitions, asked.replication_factor
    if any(want not in {BY_DEFAULT, number} for want, number in zip(wanted, told, strict=True)):
        raise _untrue(
            f"topic {asked.name} has {told[0]} partitions of {told[1]} replicas; asked for are "
            f"{wanted[0]} of {wanted[1]}"
        )
    there = {
        index: image.partitions[granted.topic_id, index].replicas
        for index in image.topics[granted.topic_id].partition_ids
    }
    if asked.assignments and there != dict(asked.assignments):
        raise _untrue(f"topic {asked.name} has the replicas {asked.assignments}; it has {there}")
    if any(len(replicas) != told[1] for replicas in there.values()):
        raise _untrue(f"topic {asked.name} has {told[1]} replicas of each partition: {there}")


def _producer_ids(image: MetadataImage, _request: Any, response: Any) -> None:
    if response.error_code is not _NONE:
        return
    if response.producer_id_len != _BLOCK_SIZE:
        raise _untrue(f"{response.producer_id_len} producer ids are given out, not {_BLOCK_SIZE}")
    end = response.producer_id_start + response.producer_id_len
    if image.next_producer_id != end:
        raise _untrue(
            f"all producer ids before {end} are given out; the next one is {image.next_producer_id}"
        )


def _quotas(image: MetadataImage, request: Any, response: Any) -> None:
    granted = {quota_key(one.entity) for one in response.entries if one.error_code is _NONE}
    for asked in request.entries:
        key = quota_key(asked.entity)
        there = image.client_quotas.get(key, _NOTHING)
        for name, value in asked.ops:
            if key in granted and there.get(name) != value:
                raise _untrue(f"{name} of {key} is {value}; it is {there.get(name)}")


def quota_key(entity: Any) -> Any:
    """Return an entity as images have it: its types in order, each with the last of its names."""
    return tuple(sorted(dict(entity).items()))


def _granted_resources(response: Any) -> set[tuple[int, str]]:
    return {
        (one.resource_type, one.resource_name)
        for one in response.responses
        if one.error_code is _NONE
    }


def _replaced_configs(image: MetadataImage, request: Any, response: Any) -> None:
    granted = _granted_resources(response)
    for asked in request.resources:
        key = asked.resource_type, asked.resource_name
        wanted = {name: value for name, value in asked.configs if value is not None}
        there = dict(image.configurations.get(key, {}))
        if key in granted and there != wanted:
            raise _untrue(f"the settings of {key} are {wanted}; they are {there}")


def _altered_configs(image: MetadataImage, request: Any, response: Any) -> None:
    granted = _granted_resources(response)
    for asked in request.resources:
        key = asked.resource_type, asked.resource_name
        there = image.configurations.get(key, _NOTHING)
        # The last of two changes of one setting counts.
        for one in {each.name: each for each in asked.configs}.values():
            value = there.get(one.name)
            if key in granted and not _is_altered(value, one.value, one.config_operation):
                raise _untrue(
                    f"{one.config_operation.name} of {one.name} of {key} to {one.value} was done; "
                    f"it is {value}"
                )


def _is_altered(value: str | None, asked: str | None, operation: ConfigOperation) -> bool:
    if operation is ConfigOperation.SET:
        return value == asked
    if operation is ConfigOperation.DELETE:
        return value is None
    if value is None:
        # The list is written even if it is as it was by default: nothing was stored.
        return False
    parts = {one for one in (asked or "").split(",") if one}
    there = parts & set(value.split(","))
    return there == (parts if operation is ConfigOperation.APPEND else set())


def _credentials(image: MetadataImage, request: Any, response: Any) -> None:
    granted = {one.user for one in response.results if one.error_code is _NONE}
    for gone in request.deletions:
        if gone.name in granted and (gone.mechanism, gone.name) in image.scram_credentials:
            raise _untrue(f"the credential of {gone.name} was deleted; it still exists")
    for asked in request.upsertions:
        there = image.scram_credentials.get((asked.mechanism, asked.name))
        told = asked.salt, asked.iterations
        if asked.name in granted and (there is None or (there.salt, there.iterations) != told):
            raise _untrue(f"{asked.name} has a credential with {told}; it is {there}")


def _assigned(image: MetadataImage, request: Any, response: Any) -> None:
    if response.error_code is not _NONE:
        return
    for (directory, *key), code in zip(request.assignments, response.partitions, strict=True):
        partition = image.partitions.get((key[0], key[1]))
        if code is not _NONE:
            continue
        where = (
            {}
            if partition is None
            else dict(zip(partition.replicas, partition.directories, strict=True))
        )
        # The same change may complete a reassignment, which can take the replica away.
        found = where.get(request.broker_id, directory)
        if found != directory:
            raise _untrue(
                f"replica {request.broker_id} of partition {key[1]} is in {directory}; it is in "
                f"{found}"
            )


def _entries_created(image: MetadataImage, request: Any, response: Any) -> None:
    there = {entry_of(one) for one in image.access_control_entries.values()}
    if len(there) != len(image.access_control_entries):
        raise _untrue("entries were created; one is there twice")
    for asked, one in zip(request.creations, response.results, strict=True):
        if one.error_code is _NONE and entry_of(asked) not in there:
            raise _untrue(f"{asked} was created; it does not exist")


def _entries_deleted(image: MetadataImage, request: Any, response: Any) -> None:
    for asked, one in zip(request.filters, response.filter_results, strict=True):
        if one.error_code is not _NONE:
            continue
        told = {entry_of(each) for each in one.matching_acls}
        others = [each for each in one.matching_acls if not _is_meant(asked, each)]
        if asked.pattern_type != MATCH and others:
            raise _untrue(f"{others} were deleted, which {asked} does not mean")
        for entry in image.access_control_entries.values():
            if entry_of(entry) in told or _is_meant(asked, entry):
                raise _untrue(f"all entries of {asked} were deleted; {entry} still exists")


def entry_of(one: Any) -> tuple[Any, ...]:
    """Return all that an entry of access control says, without its id."""
    return (
        one.resource_type, one.resource_name, one.pattern_type, one.principal, one.host,
        one.operation, one.permission_type,
    )  # fmt: skip


def _is_meant(asked: AclFilter, entry: AccessControlEntry | AclBinding) -> bool:
    """Return whether a filter means an entry; False if that takes a match of patterns."""
    if asked.pattern_type == MATCH:
        return False
    wanted = entry_of(asked)
    return all(
        want in {None, has} or (want == ANY and isinstance(has, int))
        for want, has in zip(wanted, entry_of(entry), strict=True)
    )


def _token_created(image: MetadataImage, request: Any, response: Any) -> None:
    if response.error_code is not _NONE:
        return
    token = image.delegation_tokens.get(response.token_id)
    told = (
        response.owner, response.requester, request.renewers, response.issue_timestamp_ms,
        response.max_timestamp_ms, response.expiry_timestamp_ms,
    )  # fmt: skip
    there = token and (
        token.owner, token.requester, token.renewers, token.issue_timestamp, token.max_timestamp,
        token.expiration_timestamp,
    )  # fmt: skip
    if told != there:
        raise _untrue(f"the token {response.token_id} is {told}; it is {there}")


def _features(image: MetadataImage, request: Any, response: Any) -> None:
    if response.error_code is not _NONE:
        return
    for asked in {one.feature: one for one in request.feature_updates}.values():
        if image.features.get(asked.feature, 0) != asked.max_version_level:
            raise _untrue(
                f"{asked.feature} has level {asked.max_version_level}; it has "
                f"{image.features.get(asked.feature, 0)}"
            )


def _controller(image: MetadataImage, request: Any, response: Any) -> None:
    there = image.controllers.get(request.controller_id)
    if response.error_code is _NONE and (
        there is None or there.incarnation_id != request.incarnation_id
    ):
        raise _untrue(f"controller {request.controller_id} is registered; it is {there}")


COMMITTED: Final[dict[type[Any], Callable[[MetadataImage, Any, Any], None]]] = {
    AllocateProducerIdsRequest: _producer_ids,
    AlterClientQuotasRequest: _quotas,
    AlterConfigsRequest: _replaced_configs,
    AlterUserScramCredentialsRequest: _credentials,
    AssignReplicasToDirsRequest: _assigned,
    ControllerRegistrationRequest: _controller,
    CreateAclsRequest: _entries_created,
    CreateDelegationTokenRequest: _token_created,
    DeleteAclsRequest: _entries_deleted,
    IncrementalAlterConfigsRequest: _altered_configs,
    UpdateFeaturesRequest: _features,
}
"""What must hold of the image at its record once a request that is no dry run is answered."""
