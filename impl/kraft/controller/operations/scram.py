"""SCRAM credentials of users: set and delete them.

Kafka: ScramControlManager. KIP-554, KIP-900.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.leader_eligibility import metadata_version_of
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.image.versions import IBP_3_5_IV2
from kraft.records.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from kraft.rpc.scram import (
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

if TYPE_CHECKING:
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.scram import AlterUserScramCredentialsRequest

MIN_ITERATIONS: Final = 4096
MAX_ITERATIONS: Final = 16_384
"""The least and the most iterations, of either mechanism."""

_HASHES: Final = {SCRAM_SHA_256: "sha256", SCRAM_SHA_512: "sha512"}

_Change = ScramCredentialDeletion | ScramCredentialUpsertion
_Record = RemoveUserScramCredentialRecord | UserScramCredentialRecord


def alter_user_scram_credentials(
    image: MetadataImage, request: AlterUserScramCredentialsRequest
) -> Result[AlterUserScramCredentialsResponse]:
    """Return changes of credentials, one answer per user.

    A user that occurs twice is refused, the first change included. If the first change was already
    refused, its reason stays.

    Kafka: ScramControlManager.alterCredentials.
    """
    accepted: dict[str, _Record] = {}
    refused: dict[str, ControllerError] = {}
    changes: tuple[_Change, ...] = (*request.deletions, *request.upsertions)
    for change in changes:
        user = change.name
        if user in refused:
            continue
        try:
            _validate_first(accepted, user)
            accepted[user] = _record(image, change)
        except ControllerError as error:
            accepted.pop(user, None)
            refused[user] = error
    results = (
        *(AlterUserScramCredentialsResult(user) for user in accepted),
        *(
            AlterUserScramCredentialsResult(user, error.code, error.reason)
            for user, error in refused.items()
        ),
    )
    return Result(tuple(accepted.values()), AlterUserScramCredentialsResponse(results))


def _validate_first(accepted: dict[str, _Record], user: str) -> None:
    if user in accepted:
        reason = "a request changes the credentials of a user at most once"
        raise ControllerError(ErrorCode.DUPLICATE_RESOURCE, reason)


def _record(image: MetadataImage, change: _Change) -> _Record:
    """Return the record of a change; raise ControllerError if it is invalid."""
    if metadata_version_of(image) < IBP_3_5_IV2:
        reason = "the metadata version has no SCRAM credentials yet"
        raise ControllerError(ErrorCode.UNSUPPORTED_VERSION, reason)
    if not change.name:
        raise ControllerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty")
    if change.mechanism not in _HASHES:
        reason = f"SCRAM has no mechanism {change.mechanism}"
        raise ControllerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, reason)
    if isinstance(change, ScramCredentialUpsertion):
        return _upsertion(change)
    if (change.mechanism, change.name) not in image.scram_credentials:
        reason = "the user has no such credential"
        raise ControllerError(ErrorCode.RESOURCE_NOT_FOUND, reason)
    return RemoveUserScramCredentialRecord(change.name, change.mechanism)


def _upsertion(change: ScramCredentialUpsertion) -> UserScramCredentialRecord:
    """Return a credential; it does not contain the password itself.

    Kafka: ScramControlManager.validateUpsertion, .finishUpsertion, ScramFormatter. RFC 5802.
    """
    if not MIN_ITERATIONS <= change.iterations <= MAX_ITERATIONS:
        reason = f"{change.iterations} iterations, not {MIN_ITERATIONS} to {MAX_ITERATIONS}"
        raise ControllerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, reason)
    if not change.salted_password:
        # Java refuses an empty key, and Kafka has no error of its own for that.
        raise ControllerError(ErrorCode.UNKNOWN_SERVER_ERROR, "the salted password is empty")
    algorithm = _HASHES[change.mechanism]
    client_key = hmac.digest(change.salted_password, b"Client Key", algorithm)
    return UserScramCredentialRecord(
        change.name,
        change.mechanism,
        change.salt,
        hashlib.new(algorithm, client_key).digest(),
        hmac.digest(change.salted_password, b"Server Key", algorithm),
        change.iterations,
    )
