"""Values for tests: fields for every record type and version, and a small log with all of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from kraft.ids import uuid_text
from kraft.records.builder import control_batch, metadata_batch
from kraft.records.control_schemas import LEADER_CHANGE
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.schema import Field, Fields, FieldType, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = {
    FieldType.INT8: (-(2**7), 2**7 - 1),
    FieldType.INT16: (-(2**15), 2**15 - 1),
    FieldType.UINT16: (0, 2**16 - 1),
    FieldType.INT32: (-(2**31), 2**31 - 1),
    FieldType.UINT32: (0, 2**32 - 1),
    FieldType.INT64: (-(2**63), 2**63 - 1),
}
TEXTS = ("", "t", "topic-1", "größe", "a" * 200, "\x00\x1b[31m", "漢字🌋")

ALL_TYPES = [
    (schema.api_key, version)
    for schema in METADATA_SCHEMAS.values()
    for version in range(schema.newest + 1)
]


COUNTS = (0, 1, 2, 3, 40)


def random_fields(
    fields: tuple[Field, ...],
    version: int,
    choose: random.Random,
    counts: Sequence[int] = COUNTS,
) -> Fields:
    """Return random fields of a version; tagged ones have their default about half of the time.

    An array has one of `counts` elements.
    """
    values: Fields = {}
    for f in fields_of(fields, version):
        if f.tag is not None and choose.random() < 0.5:
            values[f.name] = f.default
        elif f.nullable and choose.random() < 0.3:
            values[f.name] = None
        elif f.array:
            count = choose.choice(counts)
            values[f.name] = tuple(_element(f, version, choose, counts) for _ in range(count))
        else:
            values[f.name] = _element(f, version, choose, counts)
    return values


def _element(f: Field, version: int, choose: random.Random, counts: Sequence[int]) -> Any:
    if f.type is FieldType.STRUCT:
        return random_fields(f.members, version, choose, counts)
    if f.type is FieldType.BOOL:
        return choose.random() < 0.5
    if f.type is FieldType.UUID:
        return uuid_text(choose.randbytes(16))
    if f.type is FieldType.STRING:
        return choose.choice(TEXTS)
    if f.type is FieldType.BYTES:
        return choose.randbytes(choose.choice((0, 1, 130)))
    if f.type is FieldType.FLOAT64:
        return choose.choice((0.0, -1.5, 1e300))
    return choose.choice((*_NUMBERS[f.type], 0 if f.type is not FieldType.INT8 else 1))


def every_record(seed: int) -> list[tuple[int, int, Fields]]:
    """Return one record of every type and version with random fields."""
    choose = random.Random(seed)
    return [
        (api_key, version, random_fields(METADATA_SCHEMAS[api_key].fields, version, choose))
        for api_key, version in ALL_TYPES
    ]


def leader_change(base_offset: int = 0, epoch: int = 1, leader: int = 3000) -> bytes:
    """Return a control batch with a LeaderChange record."""
    voters = ({"voterId": leader},)
    fields = {"version": 0, "leaderId": leader, "voters": voters, "grantingVoters": voters}
    return control_batch(base_offset, epoch, 1_700_000_000_000, [(LEADER_CHANGE.api_key, fields)])


def no_ops(base_offset: int, count: int = 1, epoch: int = 1) -> bytes:
    """Return a batch of NoOp records."""
    return metadata_batch(base_offset, epoch, 1_700_000_000_000, [(20, 0, {})] * count)


def small_log(seed: int = 1) -> Sequence[bytes]:
    """Return the batches of a log: a leader change, one record of everything, some no-ops."""
    records = every_record(seed)
    return (
        leader_change(),
        metadata_batch(1, 1, 1_700_000_000_001, records),
        no_ops(1 + len(records), 3),
    )
