"""Delegation tokens: who gets them, for how long, and how they expire."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from tests.kraft.controller.partitions import image_of

from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.delegation_tokens import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
    sweep_expired_delegation_tokens,
)
from kraft.errors import ErrorCode
from kraft.ids import Uuid
from kraft.image.replay import replay
from kraft.records.security import RemoveDelegationTokenRecord
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)

DEFAULTS = Defaults(
    delegation_token_secret_key="key",
    delegation_token_max_lifetime_ms=1000,
    delegation_token_expiry_time_ms=100,
)
IMAGE = image_of((0,))
TOKEN_ID = Uuid("T" * 21 + "A")
ALICE, BOB, EVE = "User:alice", "User:bob", "User:eve"


def created(image=IMAGE, defaults=DEFAULTS, *, token_id=TOKEN_ID, now_ms=50, principal=ALICE,
            **fields):  # fmt: skip
    """Return the answer to a request for a token, and the records."""
    request = CreateDelegationTokenRequest(**fields)
    result = create_delegation_token(image, defaults, request, principal, token_id, now_ms)
    return result.response, result.records


def with_token(**options):
    """Return an image with a token of Alice that Bob may renew, and the token's secret."""
    response, records = created(renewers=(BOB,), **options)
    return replay(IMAGE, records), response.hmac


def renewed(image, secret, *, period=-1, principal=ALICE, now_ms=60, defaults=DEFAULTS):
    """Return the error and the new expiry of a renewed token, and the records."""
    request = RenewDelegationTokenRequest(secret, period)
    result = renew_delegation_token(image, defaults, request, principal, now_ms)
    return result.response.error_code, result.response.expiry_timestamp_ms, result.records


def expired(image, secret, *, period=-1, principal=ALICE, now_ms=60, defaults=DEFAULTS):
    """Return the error and new expiry of a token after a request to expire it, and the records."""
    request = ExpireDelegationTokenRequest(secret, period)
    result = expire_delegation_token(image, defaults, request, principal, now_ms)
    return result.response.error_code, result.response.expiry_timestamp_ms, result.records


def test_a_new_token_belongs_to_its_owner_and_expires_unless_renewed():
    response, records = created(owner=BOB, renewers=(EVE,))
    assert (response.owner, response.requester, response.token_id) == (BOB, ALICE, TOKEN_ID)
    assert (response.issue_timestamp_ms, response.expiry_timestamp_ms) == (50, 150)
    assert response.max_timestamp_ms == 1050
    assert response.hmac == hmac.new(b"key", TOKEN_ID.encode(), hashlib.sha512).digest()
    token = replay(IMAGE, records).delegation_tokens[TOKEN_ID]
    assert (token.owner, token.requester, token.renewers) == (BOB, ALICE, (EVE,))
    assert created()[0].owner == ALICE


@pytest.mark.parametrize(("asked", "last"), [(-1, 1050), (70, 120), (5000, 1050), (0, 1050)])
def test_a_token_has_at_most_the_configured_lifetime(asked, last):
    response, _ = created(max_lifetime_ms=asked)
    assert response.max_timestamp_ms == last
    assert response.expiry_timestamp_ms == min(last, 150)


def test_no_expiry_exceeds_what_a_record_can_hold():
    endless = Defaults(delegation_token_secret_key="key",
                       delegation_token_max_lifetime_ms=2**63 - 1)  # fmt: skip
    assert created(defaults=endless)[0].max_timestamp_ms == 2**63 - 1


def test_only_users_renew_a_token():
    response, records = created(renewers=(BOB, "Group:staff"))
    assert (response.error_code, records) == (ErrorCode.INVALID_PRINCIPAL_TYPE, ())


def test_without_a_secret_key_there_are_no_tokens():
    image, secret = with_token()
    off = Defaults()
    code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    assert created(defaults=off)[0].error_code is code
    assert renewed(image, secret, defaults=off) == (code, 0, ())
    assert expired(image, secret, defaults=off) == (code, 0, ())


def test_before_3_6_there_are_no_tokens():
    old = image_of((0,), metadata_version=13)
    assert created(old)[0].error_code is ErrorCode.UNSUPPORTED_VERSION
    assert renewed(old, b"")[0] is ErrorCode.UNSUPPORTED_VERSION
    assert expired(old, b"")[0] is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("operation", [renewed, expired])
def test_only_its_owner_and_renewers_can_change_a_token(operation):
    image, secret = with_token()
    assert operation(image, b"wrong") == (ErrorCode.DELEGATION_TOKEN_NOT_FOUND, 0, ())
    mismatch = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, 0, ()
    assert operation(image, secret, principal=EVE) == mismatch
    assert operation(image, secret, principal=BOB)[0] is ErrorCode.NONE
    # The requester of another owner's token has no right to it.
    response, records = created(owner=BOB)
    assert operation(replay(IMAGE, records), response.hmac) == mismatch


@pytest.mark.parametrize(("period", "until"), [(-1, 160), (30, 90), (500, 160)])
def test_a_token_is_renewed_for_the_requested_period(period, until):
    image, secret = with_token()
    code, end, records = renewed(image, secret, period=period)
    assert (code, end) == (ErrorCode.NONE, until)
    assert replay(image, records).delegation_tokens[TOKEN_ID].expiration_timestamp == until


def test_a_token_is_not_renewed_beyond_its_lifetime_or_after_its_expiry():
    image, secret = with_token(max_lifetime_ms=80)
    assert renewed(image, secret)[1] == 130
    assert renewed(image, secret, now_ms=130)[0] is ErrorCode.NONE
    assert renewed(image, secret, now_ms=131) == (ErrorCode.DELEGATION_TOKEN_EXPIRED, 0, ())


def test_a_token_expires_at_once_or_after_the_requested_period():
    image, secret = with_token()
    code, end, records = expired(image, secret)
    assert (code, end, records) == (ErrorCode.NONE, 60, (RemoveDelegationTokenRecord(TOKEN_ID),))
    assert not replay(image, records).delegation_tokens
    assert expired(image, secret, period=5000)[1] == 1050
    assert expired(image, secret, period=0)[1] == 60
    late = expired(image, secret, period=5, now_ms=2000)
    assert late == (ErrorCode.DELEGATION_TOKEN_EXPIRED, 0, ())
    # An expired token may still be removed.
    assert expired(image, secret, now_ms=2000)[0] is ErrorCode.NONE


def test_a_sweep_removes_a_limited_number_of_expired_tokens():
    image = IMAGE
    for number in range(3):
        token_id = Uuid(f"{number}".rjust(21, "T") + "A")
        image = replay(image, created(image, token_id=token_id, now_ms=number)[1])
    assert sweep_expired_delegation_tokens(image, 100).records == ()
    first = sweep_expired_delegation_tokens(image, 102, most=1)
    assert (len(first.records), first.response) == (1, True)
    rest = sweep_expired_delegation_tokens(replay(image, first.records), 102)
    assert (len(rest.records), rest.response) == (1, False)
    assert len(replay(image, [*first.records, *rest.records]).delegation_tokens) == 1
