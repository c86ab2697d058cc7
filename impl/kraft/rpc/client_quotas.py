"""RPC 49: what users, clients and addresses may use at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kraft.errors import ErrorCode

ClientQuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Types and names. Kafka: ClientQuotaEntity."""


@dataclass(frozen=True, slots=True)
class ClientQuotaAlteration:
    """The entity that the quotas are for, and each quota with its value; None removes it.

    `entity` has types and names in any order; the name None stands for the default of its type.
    """

    entity: ClientQuotaEntity
    ops: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class AlterClientQuotasRequest:
    """RPC 49. Kafka: AlterClientQuotasRequest. KIP-546."""

    entries: tuple[ClientQuotaAlteration, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class ClientQuotaResult:
    """What became of one entity."""

    entity: ClientQuotaEntity
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class AlterClientQuotasResponse:
    """RPC 49, the answer: one result for each entity. Kafka: AlterClientQuotasResponse."""

    entries: tuple[ClientQuotaResult, ...]
