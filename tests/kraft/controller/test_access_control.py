"""Access control and SCRAM credentials: scenarios 140 and 141 of Kafka's controller."""

from __future__ import annotations

import base64
import hashlib

import pytest
from tests.kraft.controller.partitions import image_of

from kraft.controller.operations import access_control
from kraft.controller.operations.access_control import create_acls, delete_acls
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.scram import alter_user_scram_credentials
from kraft.errors import ErrorCode
from kraft.ids import Uuid
from kraft.image.errors import RefusedRecordError
from kraft.image.replay import replay
from kraft.records.security import RemoveAccessControlEntryRecord
from kraft.rpc.access_control import (
    ALLOW,
    ANY,
    CLUSTER,
    LITERAL,
    MATCH,
    PREFIXED,
    UNKNOWN,
    AclBinding,
    AclFilter,
    CreateAclsRequest,
    DeleteAclsRequest,
)
from kraft.rpc.scram import (
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

IMAGE = image_of((0,))
TOPIC_TYPE, GROUP_TYPE, READ, WRITE = 2, 3, 3, 4


def entry(name="foo", *, resource=TOPIC_TYPE, pattern=LITERAL, user="User:alice",
          operation=READ, permission=ALLOW):  # fmt: skip
    """Return an access control entry."""
    return AclBinding(resource, name, pattern, user, "*", operation, permission)


def created(image, *entries, start=0):
    """Return the errors of a creation, and its records."""
    ids = tuple(Uuid(f"{start + number}".rjust(21, "C") + "A") for number in range(len(entries)))
    result = create_acls(image, CreateAclsRequest(entries), ids)
    return [one.error_code for one in result.response.results], result.records


def deleted(image, *filters):
    """Return the results of a deletion, and its records."""
    result = delete_acls(image, DeleteAclsRequest(filters))
    return result.response.filter_results, result.records


def image_with(*entries):
    """Return an image with entries."""
    return replay(IMAGE, created(IMAGE, *entries)[1])


def test_an_entry_that_is_created_twice_is_written_once():
    codes, records = created(IMAGE, entry(), entry())
    assert codes == [ErrorCode.NONE, ErrorCode.NONE]
    assert len(records) == 1
    codes, records = created(replay(IMAGE, records), entry(), start=5)
    assert (codes, records) == ([ErrorCode.NONE], ())


@pytest.mark.parametrize(
    "bad",
    [
        entry(resource=UNKNOWN),
        entry(resource=ANY),
        entry(resource=8),
        entry(pattern=ANY),
        entry(pattern=MATCH),
        entry(operation=ANY),
        entry(operation=16),
        entry(permission=ANY),
        entry(permission=UNKNOWN),
        entry(""),
        entry("calm", resource=CLUSTER),
        entry(user="alice"),
    ],
)
def test_an_invalid_entry_is_refused_and_the_others_are_created(bad):
    codes, records = created(IMAGE, bad, entry())
    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert len(records) == 1


def test_an_entry_that_two_filters_match_is_removed_once():
    image = image_with(entry(), entry("bar"))
    results, records = deleted(image, AclFilter(resource_name="foo"), AclFilter())
    assert [len(one.matching_acls) for one in results] == [1, 2]
    assert results[0].matching_acls == (entry(),)
    assert not replay(image, records).access_control_entries
    assert deleted(replay(image, records), AclFilter())[1] == ()


def test_a_second_removal_of_an_entry_cannot_be_replayed():
    # KAFKA-13892: a second removal of one entry ends the process that replays it.
    image = image_with(entry())
    removals = [RemoveAccessControlEntryRecord(one) for one in image.access_control_entries] * 2
    with pytest.raises(RefusedRecordError):
        replay(image, removals)


@pytest.mark.parametrize(
    "asked",
    [
        AclFilter(resource_type=UNKNOWN),
        AclFilter(pattern_type=9),
        AclFilter(operation=UNKNOWN),
        AclFilter(permission_type=7),
    ],
)
def test_only_the_filter_with_unknown_values_is_refused(asked):
    image = image_with(entry())
    results, records = deleted(image, asked, AclFilter())
    assert [one.error_code for one in results] == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert len(records) == 1


@pytest.mark.parametrize(
    ("asked", "met"),
    [
        (AclFilter(), {"foo", "fo", "*", "group"}),
        (AclFilter(resource_type=GROUP_TYPE), {"group"}),
        (AclFilter(resource_name="foo"), {"foo"}),
        (AclFilter(resource_name="foo", pattern_type=MATCH), {"foo", "fo", "*"}),
        (AclFilter(resource_name="foo", pattern_type=PREFIXED), set()),
        (AclFilter(pattern_type=PREFIXED), {"fo"}),
        (AclFilter(principal="User:bob"), {"group"}),
        (AclFilter(host="10.0.0.1"), set()),
        (AclFilter(operation=WRITE), {"fo"}),
        (AclFilter(permission_type=2), set()),
    ],
)
def test_a_filter_matches_the_entries_that_it_describes(asked, met):
    image = image_with(
        entry(),
        entry("fo", pattern=PREFIXED, operation=WRITE),
        entry("*"),
        entry("group", resource=GROUP_TYPE, user="User:bob"),
    )
    (result,), _ = deleted(image, asked)
    assert {one.resource_name for one in result.matching_acls} == met


def test_more_entries_than_fit_into_a_batch_are_refused(monkeypatch):
    monkeypatch.setattr(access_control, "MAX_RECORDS_PER_USER_OP", 1)
    with pytest.raises(ControllerError, match="INVALID_REQUEST"):
        deleted(image_with(entry(), entry("bar")), AclFilter())
    many = [entry(f"t{number}") for number in range(10_001)]
    with pytest.raises(ControllerError, match="POLICY_VIOLATION"):
        created(IMAGE, *many)


def test_a_deletion_that_is_full_takes_no_second_match_of_an_entry(monkeypatch):
    monkeypatch.setattr(access_control, "MAX_RECORDS_PER_USER_OP", 2)
    image = image_with(entry(), entry("bar"))
    results, records = deleted(image, AclFilter(resource_name="foo"), AclFilter())
    assert ([len(one.matching_acls) for one in results], len(records)) == ([1, 2], 2)
    with pytest.raises(ControllerError, match="INVALID_REQUEST"):
        deleted(image, AclFilter(), AclFilter(resource_name="bar"))
    results, records = deleted(image, AclFilter(), AclFilter(resource_name="none"))
    assert ([len(one.matching_acls) for one in results], len(records)) == ([2, 0], 2)


def upsertion(name="alice", mechanism=SCRAM_SHA_256, iterations=4096, password=b"salted"):
    """Return a valid credential."""
    return ScramCredentialUpsertion(name, mechanism, iterations, b"salt", password)


def credentials(image, *, delete=(), upsert=()):
    """Return the error of each user, and the records."""
    request = AlterUserScramCredentialsRequest(
        tuple(ScramCredentialDeletion(*one) for one in delete), tuple(upsert)
    )
    result = alter_user_scram_credentials(image, request)
    return {one.user: one.error_code for one in result.response.results}, result.records


def test_a_credential_is_set_changed_and_deleted():
    errors, records = credentials(IMAGE, upsert=[upsertion(), upsertion("bob", SCRAM_SHA_512)])
    assert errors == {"alice": ErrorCode.NONE, "bob": ErrorCode.NONE}
    image = replay(IMAGE, records)
    assert len(image.scram_credentials[SCRAM_SHA_512, "bob"].stored_key) == 64
    _, again = credentials(image, upsert=[upsertion()])
    assert replay(image, again) == image
    errors, records = credentials(image, delete=[("alice", 1), ("bob", 2)])
    assert set(errors.values()) == {ErrorCode.NONE}
    assert not replay(image, records).scram_credentials


def test_the_keys_are_those_of_the_example_in_rfc_7677():
    salted = hashlib.pbkdf2_hmac(
        "sha256", b"pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096
    )
    _, (record,) = credentials(IMAGE, upsert=[upsertion(password=salted)])
    assert base64.b64encode(record.stored_key) == b"WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
    assert base64.b64encode(record.server_key) == b"wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="


@pytest.mark.parametrize(
    ("changes", "user", "code"),
    [
        ({"upsert": [upsertion("")]}, "", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"delete": [("", 1)]}, "", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"upsert": [upsertion(iterations=4095)]}, "alice", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"upsert": [upsertion(iterations=16_385)]}, "alice", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"upsert": [upsertion(mechanism=3)]}, "alice", ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ({"delete": [("alice", 0)]}, "alice", ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ({"delete": [("alice", 1)]}, "alice", ErrorCode.RESOURCE_NOT_FOUND),
        ({"upsert": [upsertion(password=b"")]}, "alice", ErrorCode.UNKNOWN_SERVER_ERROR),
        (
            {"upsert": [upsertion(), upsertion(mechanism=SCRAM_SHA_512)]},
            "alice", ErrorCode.DUPLICATE_RESOURCE,
        ),
    ],
)  # fmt: skip
def test_an_invalid_credential_is_refused_and_the_others_are_set(changes, user, code):
    upsert = [*changes.get("upsert", ()), upsertion("bob")]
    errors, records = credentials(IMAGE, delete=changes.get("delete", ()), upsert=upsert)
    assert errors == {user: code, "bob": ErrorCode.NONE}
    assert [one.name for one in records] == ["bob"]


def test_a_user_deleted_and_set_in_one_request_keeps_the_old_credential():
    image = replay(IMAGE, credentials(IMAGE, upsert=[upsertion()])[1])
    errors, records = credentials(image, delete=[("alice", 1)], upsert=[upsertion()])
    assert (errors, records) == ({"alice": ErrorCode.DUPLICATE_RESOURCE}, ())
    # The first refusal is the answer.
    errors, _ = credentials(IMAGE, delete=[("alice", 1), ("alice", 0)], upsert=[upsertion()])
    assert errors == {"alice": ErrorCode.RESOURCE_NOT_FOUND}


def test_before_3_5_there_are_no_credentials():
    old = image_of((0,), metadata_version=10)
    assert credentials(old, upsert=[upsertion()]) == ({"alice": ErrorCode.UNSUPPORTED_VERSION}, ())
    assert credentials(old, delete=[("bob", 1)])[0] == {"bob": ErrorCode.UNSUPPORTED_VERSION}
