"""RPCs 50 and 51: passwords of users, as SCRAM credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kraft.errors import ErrorCode

SCRAM_SHA_256: Final = 1
SCRAM_SHA_512: Final = 2
"""Kafka: ScramMechanism."""


@dataclass(frozen=True, slots=True)
class ScramCredentialDeletion:
    """A user's credential of one mechanism that is to go."""

    name: str
    mechanism: int


@dataclass(frozen=True, slots=True)
class ScramCredentialUpsertion:
    """A user's credential of one mechanism as it should be."""

    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes


@dataclass(frozen=True, slots=True)
class AlterUserScramCredentialsRequest:
    """RPC 51. Kafka: AlterUserScramCredentialsRequest. KIP-554."""

    deletions: tuple[ScramCredentialDeletion, ...] = ()
    upsertions: tuple[ScramCredentialUpsertion, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterUserScramCredentialsResult:
    """What became of one user."""

    user: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class AlterUserScramCredentialsResponse:
    """RPC 51, the answer: one result for each user. Kafka: AlterUserScramCredentialsResponse."""

    results: tuple[AlterUserScramCredentialsResult, ...]


@dataclass(frozen=True, slots=True)
class DescribeUserScramCredentialsRequest:
    """RPC 50: the credentials of these users, by name; None or no name is all users.

    Kafka: DescribeUserScramCredentialsRequest. KIP-554.
    """

    users: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ScramCredentialInfo:
    """What may be told of a credential. Kafka: ScramCredentialInfo."""

    mechanism: int
    iterations: int


@dataclass(frozen=True, slots=True)
class DescribedScramUser:
    """One user with the credentials, or why they are not told."""

    user: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    credential_infos: tuple[ScramCredentialInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeUserScramCredentialsResponse:
    """RPC 50, the answer. Kafka: DescribeUserScramCredentialsResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    results: tuple[DescribedScramUser, ...] = ()
