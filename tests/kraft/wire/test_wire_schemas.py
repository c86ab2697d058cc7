"""The schemas are those of Kafka's message definitions, version by version."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from tests.kraft.wire.field_strategies import MESSAGES, SCHEMAS

from krafla.record.jars import class_path
from kraft.ids import ZERO_UUID
from kraft.records.schema import FieldType
from kraft.wire.apis import CONTROLLER_APIS

TYPES = {kind.value: kind for kind in FieldType} | {"records": FieldType.BYTES}
ZEROS = {FieldType.BOOL: False, FieldType.STRING: "", FieldType.BYTES: b"", FieldType.FLOAT64: 0.0}


def definitions():
    """Return the definitions of messages in the jar of Kafka's clients, by name."""
    (jar,) = [one for one in class_path().split(":") if "/kafka-clients-4.1.0" in one]
    found = {}
    with zipfile.ZipFile(jar) as files:
        for name in files.namelist():
            if re.fullmatch(r"common/message/\w+\.json", name):
                text = re.sub(r"^\s*//.*$", "", files.read(name).decode(), flags=re.MULTILINE)
                found[Path(name).stem] = json.loads(text)
    return found


def interval(text, newest):
    """Return the versions that a range names, up to the newest."""
    if text in (None, "none"):
        return range(0)
    first, _, last = text.partition("-")
    if text.endswith("+"):
        return range(int(text[:-1]), newest + 1)
    return range(int(first), int(last or first) + 1)


def facts_of_json(fields, version, newest, common):
    """Return what Kafka's definition says of each field of a version."""
    found = []
    for one in fields:
        if version not in interval(one["versions"], newest):
            continue
        kind = one["type"].removeprefix("[]")
        members = one.get("fields") or common.get(kind, ())
        type_ = FieldType.STRUCT if members else TYPES[kind]
        is_array = one["type"].startswith("[]")
        inner = facts_of_json(members, version, newest, common)
        is_nullable = version in interval(one.get("nullableVersions"), newest)
        tag = one.get("tag") if version in interval(one.get("taggedVersions"), newest) else None
        default = default_of_json(one, type_, is_array=is_array)
        name = one["name"][0].lower() + one["name"][1:]
        found.append((name, type_, is_array, is_nullable, tag, default, inner))
    return found


def default_of_json(one, type_, *, is_array):
    given = one.get("default")
    if given == "null" or (given is None and one["type"] == "records"):
        return None
    if is_array:
        return ()
    if type_ is FieldType.STRUCT:
        return "struct"
    if type_ is FieldType.UUID:
        return ZERO_UUID
    if given is None:
        return ZEROS.get(type_, 0)
    if type_ is FieldType.BOOL:
        return str(given) == "true"
    return given if type_ is FieldType.STRING else int(str(given), 0)


def facts_of_ours(fields, version):
    found = []
    for f in fields:
        if f.is_in(version):
            is_nullable = f.nullable and f.nullable_since <= version
            is_struct = f.type is FieldType.STRUCT and not f.array
            default = "struct" if is_struct else f.default
            inner = facts_of_ours(f.members, version)
            found.append((f.name, f.type, f.array, is_nullable, f.tag, default, inner))
    return found


def ignorable_of_json(fields, common):
    found = {}
    for one in fields:
        name = one["name"][0].lower() + one["name"][1:]
        members = one.get("fields") or common.get(one["type"].removeprefix("[]"), ())
        found[name] = (
            str(one.get("ignorable")).lower() == "true",
            ignorable_of_json(members, common),
        )
    return found


def ignorable_of_ours(fields):
    return {f.name: (f.ignorable, ignorable_of_ours(f.members)) for f in fields}


def test_every_schema_is_kafkas_definition_in_every_version():
    all_definitions = definitions()
    for schema in SCHEMAS:
        theirs = all_definitions[schema.name]
        common = {one["name"]: one["fields"] for one in theirs.get("commonStructs", ())}
        versions = interval(theirs["validVersions"], 0)
        assert schema.api_key == theirs["apiKey"]
        assert range(schema.oldest, schema.newest + 1) == versions
        for version in versions:
            expected = facts_of_json(theirs["fields"], version, schema.newest, common)
            assert facts_of_ours(schema.fields, version) == expected, (schema.name, version)
            is_flexible = version in interval(theirs["flexibleVersions"], schema.newest)
            assert schema.is_flexible(version) == is_flexible
        assert ignorable_of_ours(schema.fields) == ignorable_of_json(theirs["fields"], common)


def test_the_apis_are_those_that_kafka_has_for_controllers():
    for_controllers = {
        one["apiKey"]: one["name"].removesuffix("Request")
        for one in definitions().values()
        if "controller" in one.get("listeners", ())
    }
    assert {key: api.name for key, api in CONTROLLER_APIS.items()} == for_controllers


def test_no_field_is_said_to_be_in_versions_that_its_message_lacks():
    for schema in SCHEMAS:
        for f in every_field(schema.fields):
            assert f.since == 0 or schema.oldest < f.since <= schema.newest, (schema.name, f.name)
            assert f.until is None or schema.oldest <= f.until < schema.newest, f.name


def every_field(fields):
    for f in fields:
        yield f
        yield from every_field(f.members)


def test_names_and_tags_of_a_struct_are_its_own():
    for schema, version in MESSAGES:
        assert_struct_is_sound([f for f in schema.fields if f.is_in(version)], schema, version)


def assert_struct_is_sound(fields, schema, version):
    names = [f.name for f in fields]
    assert len(names) == len(set(names)), (schema.name, names)
    tags = sorted(f.tag for f in fields if f.tag is not None)
    assert tags == list(range(len(tags))), (schema.name, version)
    assert not tags or schema.is_flexible(version)
    for f in fields:
        assert_struct_is_sound([one for one in f.members if one.is_in(version)], schema, version)
