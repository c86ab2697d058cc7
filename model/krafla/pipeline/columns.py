"""The columns of common records: what people ask for without taking JSON apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from kraft.errors import printable
from kraft.records.control_schemas import LEADER_CHANGE
from kraft.records.metadata_schemas import (
    BROKER_REGISTRATION_CHANGE,
    CONFIG,
    FENCE_BROKER,
    METADATA_SCHEMAS,
    PARTITION_CHANGE,
    UNFENCE_BROKER,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Fields

__all__ = ["COLUMNS", "columns_of", "control_columns_of"]

_INTS: Final = pa.list_(pa.int32())

COLUMNS: Final[dict[str, pa.DataType]] = {
    "topic_id": pa.string(),
    "partition_id": pa.int32(),
    "broker_id": pa.int32(),
    "broker_epoch": pa.int64(),
    "controller_id": pa.int32(),
    "incarnation_id": pa.string(),
    "fenced": pa.bool_(),
    "in_controlled_shutdown": pa.bool_(),
    "leader": pa.int32(),
    "leader_epoch": pa.int32(),
    "partition_epoch": pa.int32(),
    "replicas": _INTS,
    "isr": _INTS,
    "adding_replicas": _INTS,
    "removing_replicas": _INTS,
    "eligible_leader_replicas": _INTS,
    "name": pa.string(),
    "resource_type": pa.int32(),
    "resource_name": pa.string(),
    "value": pa.string(),
    "feature_level": pa.int32(),
}
"""The type of each column. A record has those of its fields; what it leaves as it was is null."""

_FIELDS: Final = {
    "topic_id": "topicId",
    "partition_id": "partitionId",
    "broker_id": "brokerId",
    "broker_epoch": "brokerEpoch",
    "controller_id": "controllerId",
    "incarnation_id": "incarnationId",
    "fenced": "fenced",
    "in_controlled_shutdown": "inControlledShutdown",
    "leader": "leader",
    "leader_epoch": "leaderEpoch",
    "partition_epoch": "partitionEpoch",
    "replicas": "replicas",
    "isr": "isr",
    "adding_replicas": "addingReplicas",
    "removing_replicas": "removingReplicas",
    "eligible_leader_replicas": "eligibleLeaderReplicas",
    "name": "name",
    "resource_type": "resourceType",
    "resource_name": "resourceName",
    "value": "value",
    "feature_level": "featureLevel",
}
_OF_BROKER: Final = (FENCE_BROKER.api_key, UNFENCE_BROKER.api_key)
_UNCHANGED_LEADER: Final = -2


def columns_of(api_key: int, fields: Fields) -> tuple[Any, ...]:
    """Return the values of ``COLUMNS`` for the fields of a metadata record.

    What the fields withhold is withheld here.
    """
    values: list[Any] = [None] * len(COLUMNS)
    for place, name, convert in _PLANS[api_key]:
        value = fields.get(name)
        values[place] = value if convert is None or value is None else convert(value)
    fenced = _FENCED.get(api_key)
    if fenced is not None:
        values[_PLACES["fenced"]] = fenced
    return tuple(values)


def control_columns_of(control_type: int, fields: Fields) -> tuple[Any, ...]:
    """Return the values of ``COLUMNS`` for the fields of a control record."""
    values: list[Any] = [None] * len(COLUMNS)
    if control_type == LEADER_CHANGE.api_key:
        values[_PLACES["controller_id"]] = fields["leaderId"]
    return tuple(values)


def _changed(value: int) -> bool | None:
    """Return the new state, none if it stays. Kafka: BrokerRegistrationFencingChange."""
    return None if value == 0 else value > 0


def _changed_leader(value: int) -> int | None:
    """Return the new leader, none if it stays. Kafka: LeaderConstants.NO_LEADER_CHANGE."""
    return None if value == _UNCHANGED_LEADER else value


def _converter(api_key: int, column: str) -> Callable[[Any], Any] | None:
    if COLUMNS[column] == pa.string():
        return printable
    if api_key == BROKER_REGISTRATION_CHANGE.api_key and COLUMNS[column] == pa.bool_():
        return _changed
    if api_key == PARTITION_CHANGE.api_key and column == "leader":
        return _changed_leader
    return None


def _plan(api_key: int) -> list[tuple[int, str, Callable[[Any], Any] | None]]:
    """Return the place of each column that a record has, its field, and how to convert it."""
    names = dict(_FIELDS)
    if api_key in _OF_BROKER:
        names |= {"broker_id": "id", "broker_epoch": "epoch"}
    if api_key != CONFIG.api_key:
        # A quota's value is a number.
        del names["value"]
    known = {field.name for field in METADATA_SCHEMAS[api_key].fields}
    return [
        (_PLACES[column], name, _converter(api_key, column))
        for column, name in names.items()
        if name in known
    ]


_PLACES: Final = {column: place for place, column in enumerate(COLUMNS)}
_PLANS: Final = {api_key: _plan(api_key) for api_key in METADATA_SCHEMAS}
_FENCED: Final = {FENCE_BROKER.api_key: True, UNFENCE_BROKER.api_key: False}
