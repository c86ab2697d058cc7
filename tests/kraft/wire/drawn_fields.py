"""Hypothesis strategies for the fields of messages, with the numbers that their values know."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from kraft.errors import ErrorCode
from kraft.ids import METADATA_TOPIC_ID, ZERO_UUID, uuid_text
from kraft.records.encoders import encode_message
from kraft.records.layouts import layout_of
from kraft.records.schema import FieldType
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_map import Surroundings
from kraft.wire.messages import decode_message

if TYPE_CHECKING:
    from kraft.records.layouts import Layout

EXAMPLES = 100 if os.environ.get("KRAFLA_NIGHTLY") else 4
"""Messages of each version in each test: few by day, as there are 114 versions."""
VERSIONS = [
    (key, version)
    for key, api in CONTROLLER_APIS.items()
    for version in range(api.request.oldest, api.request.newest + 1)
]
VERSION_IDS = [f"{CONTROLLER_APIS[key].name}-{version}" for key, version in VERSIONS]
TOPICS = {name: uuid_text(bytes([index]) * 16) for index, name in enumerate("abc", start=1)}
AROUND = Surroundings("cluster", "", 1, topic_ids=TOPICS)

_UUIDS = st.sampled_from([ZERO_UUID, METADATA_TOPIC_ID, *TOPICS.values(), uuid_text(b"\xff" * 16)])
_TEXTS = st.sampled_from(["", "a", "b", "c", "d", "cluster", "__cluster_metadata", "größe", "A:b"])
_CODES = st.sampled_from([int(code) for code in ErrorCode])


def _number(bits: int) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(-1, 5), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


_VALUES = {
    FieldType.BOOL: st.booleans(),
    FieldType.INT8: _number(8),
    FieldType.INT16: _number(16),
    FieldType.UINT16: st.integers(0, 2**16 - 1),
    FieldType.INT32: _number(32),
    FieldType.INT64: _number(64),
    FieldType.FLOAT64: st.floats(allow_nan=False),
    FieldType.UUID: _UUIDS,
    FieldType.STRING: _TEXTS,
    FieldType.BYTES: st.sampled_from([b"", b"\x00", b"four", b"\xff" * 16]),
}


_OF_THE_QUORUM = {1, 52, 53, 54, 55, 59}
_USUAL = {
    "topic": "__cluster_metadata",
    "topicName": "__cluster_metadata",
    "name": "__cluster_metadata",
    "topicId": METADATA_TOPIC_ID,
    "partition": 0,
    "partitionIndex": 0,
    "index": 0,
}
"""What names the metadata partition, which most messages of the quorum are to be about."""


@cache
def drawn_fields(schema, version):
    """Return a strategy for the fields of a message in one version."""
    usual = _USUAL if schema.api_key in _OF_THE_QUORUM else {}
    return _struct(layout_of(schema, version), usual)


def _struct(layout: Layout, usual):
    return st.fixed_dictionaries({f.name: _field(f, layout, usual) for f in layout.fields})


def _field(f, layout, usual):
    if f.type is FieldType.STRUCT:
        value = _struct(layout.inner[f.name], usual)
    elif f.name in usual:
        value = st.one_of(*[st.just(usual[f.name])] * 9, _VALUES[f.type])
    elif f.name in {"errorCode", "topicConfigErrorCode"}:
        value = _CODES
    else:
        value = _VALUES[f.type]
    if f.array:
        # One element most often: messages of the quorum have one topic with one partition.
        one = st.tuples(value)
        value = st.one_of(one, one, one, st.lists(value, max_size=3).map(tuple))
    return st.one_of(st.none(), value) if f.nullable else value


def through_bytes(schema, version, fields):
    """Return fields as they are after their way over the wire.

    They must have each entry of their version, and no other.
    """
    _assert_complete(layout_of(schema, version), fields, schema.name)
    return decode_message(schema, version, encode_message(schema, version, fields))


def _assert_complete(layout, fields, path):
    assert set(fields) == {f.name for f in layout.fields}, path
    for name, inner in layout.inner.items():
        value = fields[name]
        for one in value if isinstance(value, tuple) else () if value is None else (value,):
            _assert_complete(inner, one, f"{path}.{name}")
