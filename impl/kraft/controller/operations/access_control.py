"""Access control entries: create them, and delete those that match filters.

Kafka: AclControlManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Result
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.image.entries import AccessControlEntry
from kraft.records.limits import MAX_RECORDS_PER_USER_OP
from kraft.records.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kraft.rpc.access_control import (
    ALLOW,
    ANY,
    CLUSTER,
    CLUSTER_NAME,
    DENY,
    LITERAL,
    MATCH,
    MAX_OPERATION,
    MAX_PATTERN_TYPE,
    MAX_PERMISSION_TYPE,
    MAX_RESOURCE_TYPE,
    PREFIXED,
    UNKNOWN,
    WILDCARD,
    AclBinding,
    AclCreationResult,
    CreateAclsResponse,
    DeleteAclsFilterResult,
    DeleteAclsResponse,
)

if TYPE_CHECKING:
    from kraft.ids import Uuid
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.access_control import AclFilter, CreateAclsRequest, DeleteAclsRequest


def create_acls(
    image: MetadataImage, request: CreateAclsRequest, entry_ids: tuple[Uuid, ...]
) -> Result[CreateAclsResponse]:
    """Return the new entries, one result per entry.

    An existing or repeated entry is not written again.

    `entry_ids` are new ids, one per entry.

    Raises ControllerError (POLICY_VIOLATION) if the request needs too many records.
    Kafka: AclControlManager.createAcls.
    """
    existing = set(image.access_control_entries.values())
    batch, results = UserBatch(), []
    for binding, entry_id in zip(request.creations, entry_ids, strict=True):
        try:
            _validate(binding)
        except ControllerError as error:
            results.append(AclCreationResult(error.code, error.reason))
            continue
        entry = _entry(binding)
        if entry not in existing:
            existing.add(entry)
            batch.add([_record(entry_id, binding)])
        results.append(AclCreationResult())
    return Result(batch.records, CreateAclsResponse(tuple(results)))


def delete_acls(image: MetadataImage, request: DeleteAclsRequest) -> Result[DeleteAclsResponse]:
    """Return the removal of the entries that the filters match, each entry once (KAFKA-13892).

    Raises ControllerError (INVALID_REQUEST) if a filter matches an entry when as many are already
    deleted as one request may.
    Kafka: AclControlManager.deleteAcls, AclControlManager.deleteAclsForFilter.
    """
    results = []
    deleted: dict[Uuid, None] = {}
    for asked in request.filters:
        try:
            _validate_filter(asked)
        except ControllerError as error:
            results.append(DeleteAclsFilterResult(error.code, error.reason))
            continue
        matching = [
            (entry_id, entry)
            for entry_id, entry in sorted(image.access_control_entries.items())
            if matches(asked, entry)
        ]
        for entry_id, _ in matching:
            # Kafka asks before it adds an entry, also one that an earlier filter matched.
            if len(deleted) >= MAX_RECORDS_PER_USER_OP:
                reason = f"one request would delete more than {MAX_RECORDS_PER_USER_OP} entries"
                raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
            deleted[entry_id] = None
        results.append(
            DeleteAclsFilterResult(matching_acls=tuple(_binding(entry) for _, entry in matching))
        )
    records = tuple(RemoveAccessControlEntryRecord(entry_id) for entry_id in deleted)
    return Result(records, DeleteAclsResponse(tuple(results)))


def matches(asked: AclFilter, entry: AccessControlEntry) -> bool:
    """Return whether a filter matches an entry.

    Kafka: AclBindingFilter.matches, ResourcePatternFilter.matches.
    """
    return (
        asked.resource_type in {ANY, entry.resource_type}
        and asked.pattern_type in {ANY, MATCH, entry.pattern_type}
        and _matches_name(asked, entry)
        and asked.principal in {None, entry.principal}
        and asked.host in {None, entry.host}
        and asked.operation in {ANY, entry.operation}
        and asked.permission_type in {ANY, entry.permission_type}
    )


def _matches_name(asked: AclFilter, entry: AccessControlEntry) -> bool:
    """Return whether the names match; a MATCH filter finds every pattern that covers its name."""
    name = asked.resource_name
    if name is None or name == entry.resource_name:
        return True
    if asked.pattern_type != MATCH:
        return False
    if entry.pattern_type == LITERAL:
        return entry.resource_name == WILDCARD
    return name.startswith(entry.resource_name)


def _validate(binding: AclBinding) -> None:
    """Check that an entry may be created; raise ControllerError otherwise.

    Kafka: AclControlManager.validateNewAcl, AclApis.handleCreateAcls.
    """
    for number, last, what in (
        (binding.resource_type, MAX_RESOURCE_TYPE, "resource type"),
        (binding.operation, MAX_OPERATION, "operation"),
    ):
        if not ANY < number <= last:
            raise ControllerError(ErrorCode.INVALID_REQUEST, f"no {what} for an entry: {number}")
    if binding.pattern_type not in {LITERAL, PREFIXED}:
        reason = f"no pattern type for an entry: {binding.pattern_type}"
        raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
    if binding.permission_type not in {ALLOW, DENY}:
        reason = f"no permission for an entry: {binding.permission_type}"
        raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
    if not binding.resource_name:
        raise ControllerError(ErrorCode.INVALID_REQUEST, "the resource name is empty")
    if binding.resource_type == CLUSTER and binding.resource_name != CLUSTER_NAME:
        reason = f"the only name of a cluster is {CLUSTER_NAME}"
        raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
    if ":" not in binding.principal:
        reason = f"a principal is a type, a colon and a name, not {binding.principal!r}"
        raise ControllerError(ErrorCode.INVALID_REQUEST, reason)


def _validate_filter(asked: AclFilter) -> None:
    """Check that a filter has only known enumeration values; raise ControllerError otherwise.

    Kafka: AclControlManager.validateFilter.
    """
    for number, last, what in (
        (asked.resource_type, MAX_RESOURCE_TYPE, "resource type"),
        (asked.pattern_type, MAX_PATTERN_TYPE, "pattern type"),
        (asked.operation, MAX_OPERATION, "operation"),
        (asked.permission_type, MAX_PERMISSION_TYPE, "permission"),
    ):
        if not UNKNOWN < number <= last:
            raise ControllerError(ErrorCode.INVALID_REQUEST, f"unknown {what} in a filter")


def _entry(binding: AclBinding) -> AccessControlEntry:
    return AccessControlEntry(
        binding.resource_type,
        binding.resource_name,
        binding.pattern_type,
        binding.principal,
        binding.host,
        binding.operation,
        binding.permission_type,
    )


def _binding(entry: AccessControlEntry) -> AclBinding:
    return AclBinding(
        entry.resource_type,
        entry.resource_name,
        entry.pattern_type,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission_type,
    )


def _record(entry_id: Uuid, binding: AclBinding) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        entry_id,
        binding.resource_type,
        binding.resource_name,
        binding.pattern_type,
        binding.principal,
        binding.host,
        binding.operation,
        binding.permission_type,
    )
