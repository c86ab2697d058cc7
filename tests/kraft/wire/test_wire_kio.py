"""Our bytes are kio's bytes, and read back as the fields that were written."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kraft.wire.field_strategies import MESSAGE_IDS, MESSAGES, message_fields
from tests.kraft.wire.kio_messages import entity, kio_bytes, kio_class

from kraft.records import codec
from kraft.records.decoders import body_decoder
from kraft.records.encoders import body_encoder
from kraft.records.layouts import layout_of
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_reader import MessageReader

EXAMPLES_BY_DAY = 12
EXAMPLES = 200


def assert_bytes_are_kios(schema, version, fields):
    """Hold the reference and the compiled codec to kio's bytes."""
    layout = layout_of(schema, version)
    raw = kio_bytes(kio_class(schema, version), fields)
    assert codec.encode_body(layout, schema.name, fields) == raw
    assert body_encoder(schema, version)(fields) == raw
    read = codec.decode_body(layout, MessageReader(raw))
    assert read == fields
    assert list(read) == list(fields)
    compiled = body_decoder(schema, version)(raw, 0)
    assert repr(compiled) == repr(read)
    framed = b"\x01\x02\x03" + raw
    assert body_decoder(schema, version)(framed, 3) == fields


def test_there_are_41_apis_and_228_messages_of_them():
    assert len(CONTROLLER_APIS) == 41
    assert len(MESSAGES) == 228
    assert sum(not schema.is_flexible(version) for schema, version in MESSAGES) == 82


@pytest.mark.parametrize("key", CONTROLLER_APIS)
def test_a_message_of_each_api_has_kios_bytes_in_some_version(key):
    api = CONTROLLER_APIS[key]
    cases = [
        (schema, version) for schema, version in MESSAGES if schema in (api.request, api.response)
    ]

    @settings(max_examples=EXAMPLES_BY_DAY)
    @given(st.data())
    def some(data):
        schema, version = data.draw(st.sampled_from(cases))
        assert_bytes_are_kios(schema, version, data.draw(message_fields(schema, version)))

    some()


@pytest.mark.nightly
@pytest.mark.parametrize(("schema", "version"), MESSAGES, ids=MESSAGE_IDS)
def test_every_message_of_every_version_has_kios_bytes(schema, version):
    @settings(max_examples=EXAMPLES)
    @given(message_fields(schema, version))
    def every(fields):
        assert_bytes_are_kios(schema, version, fields)

    every()


@pytest.mark.parametrize(("schema", "version"), MESSAGES, ids=MESSAGE_IDS)
def test_defaults_and_names_are_kios(schema, version):
    layout = layout_of(schema, version)
    kind = kio_class(schema, version)
    fields = layout.default()
    for name, value in fields.items():
        f = next(one for one in layout.fields if one.name == name)
        if value is None and not f.nullable:
            fields[name] = b""
    ours = entity(kind, fields)
    for one in dataclasses.fields(kind):
        if one.default is not dataclasses.MISSING:
            assert getattr(ours, one.name) == one.default, one.name
    assert UNKNOWN_TAGGED_FIELDS not in fields
