"""RPCs 29 to 31: entries of access control are described, created, and deleted by filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kraft.errors import ErrorCode

UNKNOWN: Final = 0
ANY: Final = 1
"""In each of Kafka's enums: an unknown number, and a filter's value that matches everything."""

MATCH: Final = 2
LITERAL: Final = 3
PREFIXED: Final = 4
"""Patterns of names. Kafka: PatternType. KIP-290."""

DENY: Final = 2
ALLOW: Final = 3
"""Kafka: AclPermissionType."""

MAX_RESOURCE_TYPE: Final = 7
MAX_PATTERN_TYPE: Final = PREFIXED
MAX_OPERATION: Final = 15
MAX_PERMISSION_TYPE: Final = ALLOW
"""The last numbers of the enums. Kafka: ResourceType, PatternType, AclOperation."""

WILDCARD: Final = "*"
"""The name of a literal pattern that stands for all names."""

CLUSTER: Final = 4
CLUSTER_NAME: Final = "kafka-cluster"
"""The type and the only name of the resource that is a cluster. Kafka: Resource.CLUSTER."""


@dataclass(frozen=True, slots=True)
class AclBinding:
    """Which principal may do what to which resource, from which host; numbers of Kafka's enums.

    Kafka: AclBinding.
    """

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


@dataclass(frozen=True, slots=True)
class CreateAclsRequest:
    """RPC 30. Kafka: CreateAclsRequest."""

    creations: tuple[AclBinding, ...]


@dataclass(frozen=True, slots=True)
class AclCreationResult:
    """What became of one entry; one that was there already has no error."""

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class CreateAclsResponse:
    """RPC 30, the answer. Kafka: CreateAclsResponse."""

    results: tuple[AclCreationResult, ...]


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Which entries are meant: None and ANY leave a part open. Kafka: AclBindingFilter."""

    resource_type: int = ANY
    resource_name: str | None = None
    pattern_type: int = ANY
    principal: str | None = None
    host: str | None = None
    operation: int = ANY
    permission_type: int = ANY


@dataclass(frozen=True, slots=True)
class DeleteAclsRequest:
    """RPC 31. Kafka: DeleteAclsRequest."""

    filters: tuple[AclFilter, ...]


@dataclass(frozen=True, slots=True)
class DeleteAclsFilterResult:
    """The entries that one filter matched; an entry may be in the results of several filters."""

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    matching_acls: tuple[AclBinding, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteAclsResponse:
    """RPC 31, the answer. Kafka: DeleteAclsResponse."""

    filter_results: tuple[DeleteAclsFilterResult, ...]


@dataclass(frozen=True, slots=True)
class DescribeAclsRequest:
    """RPC 29: which entries are there. Kafka: DescribeAclsRequest. KIP-140."""

    filter: AclFilter = AclFilter()


@dataclass(frozen=True, slots=True)
class DescribeAclsResponse:
    """RPC 29, the answer: the entries that the filter matches. Kafka: DescribeAclsResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    acls: tuple[AclBinding, ...] = ()
