"""KIP-919 on the registration of controllers, as far as the image and the records have it."""

from __future__ import annotations

from dataclasses import fields

import pytest
from tests.kips.sentences import sentence

from kraft.errors import ErrorCode
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.image.versions import record_version
from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import Endpoint, FeatureRange
from kraft.records.metadata_schemas import METADATA_SCHEMAS, REGISTER_CONTROLLER
from kraft.records.value import decode_value, encode_value
from kraft.rpc.raft_voters import ApiVersionsResponse

FIRST, SECOND = "F" * 21 + "A", "S" * 21 + "A"
LISTENER = Endpoint("CONTROLLER", "host-1", 9093)
BEFORE, SINCE = 14, 15


def record(incarnation_id=FIRST, *, ready=False):
    features = (FeatureRange("metadata.version", 1, 27),)
    return RegisterControllerRecord(1, incarnation_id, ready, (LISTENER,), features)


def registered(*records):
    return replay(EMPTY_IMAGE, records).controllers[1]


# "Controller Registration".


@sentence("919-011")
def test_a_registration_has_the_endpoints():
    assert registered(record()).endpoints == (LISTENER,)


@sentence("919-012")
@pytest.mark.parametrize("ready", [True, False])
def test_a_registration_says_whether_the_controller_could_migrate(ready):
    assert registered(record(ready=ready)).zk_migration_ready is ready


@sentence("919-013")
def test_another_incarnation_has_another_id():
    assert registered(record(FIRST), record(SECOND)).incarnation_id == SECOND


@sentence("919-014")
def test_a_registration_is_in_the_log_and_in_each_snapshot():
    image = replay(EMPTY_IMAGE, [record()])
    assert list(snapshot_records(image)) == [record()]


# "New Errors".


@sentence("919-050")
def test_an_endpoint_of_the_wrong_kind_has_an_error():
    assert ErrorCode.MISMATCHED_ENDPOINT_TYPE.value == 114


@sentence("919-051")
def test_a_kind_of_endpoint_that_is_not_supported_has_an_error():
    assert ErrorCode.UNSUPPORTED_ENDPOINT_TYPE.value == 115


@sentence("919-052")
def test_an_unknown_controller_has_an_error():
    assert ErrorCode.UNKNOWN_CONTROLLER_ID.value == 116


# "ApiVersionsResponse".


@sentence("919-080")
def test_api_versions_say_nothing_of_a_migration():
    named = [field.name for field in fields(ApiVersionsResponse)]
    assert "minimum_version" in named
    assert not [name for name in named if "migration" in name]


# "RegisterControllerRecord".


@sentence("919-090")
def test_what_was_registered_survives_its_bytes():
    raw = encode_value(27, 0, record().to_fields())
    assert RegisterControllerRecord.from_fields(decode_value(raw).fields) == record()


@sentence("919-091")
def test_differs_the_record_has_an_id():
    assert REGISTER_CONTROLLER.api_key == 27
    assert [f.name for f in REGISTER_CONTROLLER.fields] == [
        "controllerId",
        "incarnationId",
        "zkMigrationReady",
        "endPoints",
        "features",
    ]


@sentence("919-092")
def test_no_other_record_is_of_a_controller():
    of_controllers = [
        schema.name
        for schema in METADATA_SCHEMAS.values()
        if any(f.name == "controllerId" for f in schema.fields)
    ]
    assert of_controllers == ["REGISTER_CONTROLLER_RECORD"]


@sentence("919-093")
def test_a_registration_has_no_epoch():
    assert not [f.name for f in REGISTER_CONTROLLER.fields if "epoch" in f.name.lower()]
    assert registered(record()).incarnation_id == FIRST


# "Compatibility, Deprecation, and Migration Plan".


@sentence("919-131")
def test_before_3_7_there_is_no_registration_to_write():
    assert record_version(RegisterControllerRecord, SINCE) == 0
    with pytest.raises(ValueError, match="no RegisterControllerRecord"):
        record_version(RegisterControllerRecord, BEFORE)
