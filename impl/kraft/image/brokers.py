"""Replay of registrations: of brokers, and of controllers.

Kafka: ClusterControlManager.replay, ClusterDelta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace

from kraft.image.entries import BrokerRegistration, ControllerRegistration
from kraft.image.errors import RefusedRecordError
from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNCHANGED,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.image.delta import MetadataDelta
    from kraft.records.lease import Endpoint, FeatureRange
    from kraft.records.typed_record import TypedRecord

_Named = TypeVar("_Named", "Endpoint", "FeatureRange")


def _register(delta: MetadataDelta, record: RegisterBrokerRecord) -> None:
    delta.brokers[record.broker_id] = BrokerRegistration(
        record.broker_epoch,
        record.incarnation_id,
        by_name(record.endpoints),
        by_name(record.features),
        record.rack,
        record.fenced,
        record.in_controlled_shutdown,
        record.is_migrating_zk_broker,
        tuple(sorted(record.log_dirs)),
    )


def _unregister(delta: MetadataDelta, record: UnregisterBrokerRecord) -> None:
    _registered(delta, record)
    del delta.brokers[record.broker_id]


def _change(delta: MetadataDelta, record: BrokerRegistrationChangeRecord) -> None:
    registration = _registered(delta, record)
    if record.fenced not in {FENCE, UNFENCE, UNCHANGED}:
        raise RefusedRecordError(f"no meaning for fenced {record.fenced}", record)
    if record.in_controlled_shutdown not in {ENTER_CONTROLLED_SHUTDOWN, UNCHANGED}:
        reason = f"no meaning for in_controlled_shutdown {record.in_controlled_shutdown}"
        raise RefusedRecordError(reason, record)
    changes: dict[str, Any] = {}
    if record.fenced != UNCHANGED:
        changes["fenced"] = record.fenced == FENCE
    if record.in_controlled_shutdown == ENTER_CONTROLLED_SHUTDOWN:
        changes["in_controlled_shutdown"] = True
    if record.log_dirs:
        changes["directories"] = tuple(sorted(record.log_dirs))
    delta.brokers[record.broker_id] = replace(registration, **changes)


def _fence(delta: MetadataDelta, record: FenceBrokerRecord) -> None:
    delta.brokers[record.broker_id] = replace(_registered(delta, record), fenced=True)


def _unfence(delta: MetadataDelta, record: UnfenceBrokerRecord) -> None:
    delta.brokers[record.broker_id] = replace(_registered(delta, record), fenced=False)


def _registered(
    delta: MetadataDelta,
    record: UnregisterBrokerRecord
    | BrokerRegistrationChangeRecord
    | FenceBrokerRecord
    | UnfenceBrokerRecord,
) -> BrokerRegistration:
    registration: BrokerRegistration | None = delta.brokers.get(record.broker_id)
    if registration is None:
        raise RefusedRecordError(f"broker {record.broker_id} is not registered", record)
    if registration.epoch != record.broker_epoch:
        raise RefusedRecordError(
            f"broker {record.broker_id} is registered with epoch {registration.epoch}, "
            f"not {record.broker_epoch}",
            record,
        )
    return registration


def _register_controller(delta: MetadataDelta, record: RegisterControllerRecord) -> None:
    delta.controllers[record.controller_id] = ControllerRegistration(
        record.incarnation_id,
        record.zk_migration_ready,
        by_name(record.endpoints),
        by_name(record.features),
    )


def by_name(given: tuple[_Named, ...]) -> tuple[_Named, ...]:
    """Return endpoints or features in the order of their names; of two of one name, the last.

    Their order in a record means nothing: Kafka keeps them in maps, and writes them as they come.
    """
    named = {one.name: one for one in given}
    return tuple(named[name] for name in sorted(named))


BROKER_REPLAY: Final[dict[type[TypedRecord], Callable[[Any, Any], None]]] = {
    RegisterBrokerRecord: _register,
    UnregisterBrokerRecord: _unregister,
    BrokerRegistrationChangeRecord: _change,
    FenceBrokerRecord: _fence,
    UnfenceBrokerRecord: _unfence,
    RegisterControllerRecord: _register_controller,
}
