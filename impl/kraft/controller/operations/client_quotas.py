"""Client quotas of users, clients and addresses: set and remove them.

Kafka: ClientQuotaControlManager. KIP-546, KIP-612.
"""

from __future__ import annotations

import enum
import ipaddress
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Result
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.records.cluster import ClientQuotaRecord, QuotaEntity
from kraft.rpc.client_quotas import AlterClientQuotasResponse, ClientQuotaResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.image.metadata_image import MetadataImage, QuotaKey
    from kraft.rpc.client_quotas import AlterClientQuotasRequest, ClientQuotaAlteration

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
"""Entity types. Kafka: ClientQuotaEntity."""


class _Kind(enum.Enum):
    INT = 2.0**31 - 1
    LONG = 2.0**63
    DOUBLE = float("inf")


_USER_AND_CLIENT_QUOTAS: Final[Mapping[str, _Kind]] = {
    "producer_byte_rate": _Kind.LONG,
    "consumer_byte_rate": _Kind.LONG,
    "request_percentage": _Kind.DOUBLE,
    "controller_mutation_rate": _Kind.DOUBLE,
}
_IP_QUOTAS: Final[Mapping[str, _Kind]] = {"connection_creation_rate": _Kind.INT}
_CLOSE: Final = 1e-6
"""The tolerance for a quota that must be a whole number."""


def alter_client_quotas(
    image: MetadataImage, request: AlterClientQuotasRequest
) -> Result[AlterClientQuotasResponse]:
    """Return the changes of quotas, one answer per entity. The changes of one entity are atomic.

    Setting the present value, or removing a quota that is not set, writes nothing. If an entity
    occurs twice, the answer reports that; its first changes are written, as in Kafka. If an entity
    has two names of one type, the last counts.

    Raises ControllerError (POLICY_VIOLATION) if the request needs too many records.
    Kafka: ClientQuotaControlManager.alterClientQuotas, AlterClientQuotasRequest.entries.
    """
    batch = UserBatch()
    answers: dict[QuotaKey, ClientQuotaResult] = {}
    for entry in request.entries:
        alteration = replace(entry, entity=tuple(dict(entry.entity).items()))
        key = tuple(sorted(alteration.entity, key=lambda one: one[0]))
        try:
            _validate_first(answers, key)
            records = _changes(image, alteration, key)
        except ControllerError as error:
            answers[key] = ClientQuotaResult(alteration.entity, error.code, error.reason)
            continue
        batch.add(records)
        answers[key] = ClientQuotaResult(alteration.entity)
    written = () if request.validate_only else batch.records
    return Result(written, AlterClientQuotasResponse(tuple(answers.values())))


def _validate_first(answers: dict[QuotaKey, ClientQuotaResult], key: QuotaKey) -> None:
    if key in answers:
        raise ControllerError(ErrorCode.INVALID_REQUEST, "the entity occurs twice in the request")


def _changes(
    image: MetadataImage, alteration: ClientQuotaAlteration, key: QuotaKey
) -> list[ClientQuotaRecord]:
    """Return the records of one entity; raise ControllerError if one of its quotas is invalid.

    Kafka: ClientQuotaControlManager.alterClientQuotaEntity.
    """
    if any(times > 1 for times in Counter(name for name, _ in alteration.ops).values()):
        raise ControllerError(ErrorCode.INVALID_REQUEST, "a quota occurs twice for an entity")
    known = _known_quotas(alteration.entity)
    present = image.client_quotas.get(key, Map())
    entity = tuple(QuotaEntity(*one) for one in alteration.entity)
    records = []
    for name, value in alteration.ops:
        if value is None:
            if name in present:
                records.append(ClientQuotaRecord(entity, name, 0.0, remove=True))
            continue
        _validate_value(known, name, value)
        if present.get(name) != value:
            records.append(ClientQuotaRecord(entity, name, value, remove=False))
    return records


def _known_quotas(entity: QuotaKey) -> Mapping[str, _Kind]:
    """Return the quotas that an entity may have; raise ControllerError for an invalid entity.

    Kafka: ClientQuotaControlManager.validateEntity, .configKeysForEntityType.
    """
    names = dict(entity)
    for entity_type, name in names.items():
        if entity_type not in {USER, CLIENT_ID, IP}:
            _refuse(f"no entity is of type {entity_type!r}")
        if name is not None and not name:
            _refuse(f"the name of {entity_type} is empty")
    if not names:
        _refuse("the entity is empty")
    if IP not in names:
        return _USER_AND_CLIENT_QUOTAS
    if len(names) > 1:
        _refuse("an address goes with no user and no client")
    if not _is_address(names[IP]):
        _refuse(f"{names[IP]!r} is not an address")
    return _IP_QUOTAS


def _is_address(name: str | None) -> bool:
    """Return whether the text is an IP address or None; Kafka also resolves host names."""
    if name is None:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _validate_value(known: Mapping[str, _Kind], name: str, value: float) -> None:
    """Check that a quota may have a value. NaN is refused here; Kafka accepts it.

    Kafka: ClientQuotaControlManager.validateQuotaKeyValue.
    """
    kind = known.get(name)
    if kind is None:
        _refuse(f"there is no quota {name} of such an entity")
        return
    if not value > 0:
        _refuse(f"a quota is above 0, not {value}")
    if kind is _Kind.DOUBLE:
        return
    if value > kind.value:
        _refuse(f"{value} is too much for {name}")
    if abs(value - int(value)) > _CLOSE:
        _refuse(f"{name} is a whole number, not {value}")


def _refuse(reason: str) -> None:
    raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
