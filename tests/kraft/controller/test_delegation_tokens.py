"""Delegation tokens of Kafka's controller: who gets them, for how long, and who ends them."""

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
    """Return the answer to who asks for a token, and the records."""
    request = CreateDelegationTokenRequest(**fields)
    result = create_delegation_token(image, defaults, request, principal, token_id, now_ms)
    return result.response, result.records


def with_token(**options):
    """Return an image with a token of Alice that Bob may renew, and the token's secret."""
    response, records = created(renewers=(BOB,), **options)
    return replay(IMAGE, records), response.hmac


def renewed(image, secret, *, period=-1, principal=ALICE, now_ms=60, defaults=DEFAULTS):
    """Return the error and the new end of a token that is renewed, and the records."""
    request = RenewDelegationTokenRequest(secret, period)
    result = renew_delegation_token(image, defaults, request, principal, now_ms)
    return result.response.error_code, result.response.expiry_timestamp_ms, result.records


def expired(image, secret, *, period=-1, principal=ALICE, now_ms=60, defaults=DEFAULTS):
    """Return the error and the new end of a token that is to expire, and the records."""
    request = ExpireDelegationTokenRequest(secret, period)
    result = expire_delegation_token(image, defaults, request, principal, now_ms)
    return result.response.error_code, result.response.expiry_timestamp_ms, result.records


def test_a_token_is_its_owners_and_good_until_it_must_be_renewed():
    response, records = created(owner=BOB, renewers=(EVE,))
    assert (response.owner, response.requester, response.token_id) == (BOB, ALICE, TOKEN_ID)
    assert (response.issue_timestamp_ms, response.expiry_timestamp_ms) == (50, 150)
    assert response.max_timestamp_ms == 1050
    assert response.hmac == hmac.new(b"key", TOKEN_ID.encode(), hashlib.sha512).digest()
    token = replay(IMAGE, records).delegation_tokens[TOKEN_ID]
    assert (token.owner, token.requester, token.renewers) == (BOB, ALICE, (EVE,))
    assert created()[0].owner == ALICE


@pytest.mark.parametrize(("asked", "last"), [(-1, 1050), (70, 120), (5000, 1050), (0, 1050)])
def test_a_token_lives_no_longer_than_the_controller_allows(asked, last):
    response, _ = created(max_lifetime_ms=asked)
    assert response.max_timestamp_ms == last
    assert response.expiry_timestamp_ms == min(last, 150)


def test_no_end_is_later_than_a_record_can_say():
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
    assert renewed(image, secret, defaults=off) == (code, -1, ())
    assert expired(image, secret, defaults=off) == (code, -1, ())


def test_before_3_6_there_are_no_tokens():
    old = image_of((0,), metadata_version=13)
    assert created(old)[0].error_code is ErrorCode.UNSUPPORTED_VERSION
    assert renewed(old, b"")[0] is ErrorCode.UNSUPPORTED_VERSION
    assert expired(old, b"")[0] is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("operation", [renewed, expired])
def test_a_token_is_found_by_its_secret_and_kept_from_others(operation):
    image, secret = with_token()
    assert operation(image, b"wrong") == (ErrorCode.DELEGATION_TOKEN_NOT_FOUND, -1, ())
    mismatch = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, -1, ()
    assert operation(image, secret, principal=EVE) == mismatch
    assert operation(image, secret, principal=BOB)[0] is ErrorCode.NONE
    # Who asked for it in another's name has no right to it.
    response, records = created(owner=BOB)
    assert operation(replay(IMAGE, records), response.hmac) == mismatch


@pytest.mark.parametrize(("period", "until"), [(-1, 160), (30, 90), (500, 160)])
def test_a_token_is_renewed_for_a_while(period, until):
    image, secret = with_token()
    code, end, records = renewed(image, secret, period=period)
    assert (code, end) == (ErrorCode.NONE, until)
    assert replay(image, records).delegation_tokens[TOKEN_ID].expiration_timestamp == until


def test_a_token_is_not_renewed_beyond_its_own_end_nor_after_it_has_expired():
    image, secret = with_token(max_lifetime_ms=80)
    assert renewed(image, secret)[1] == 130
    assert renewed(image, secret, now_ms=130)[0] is ErrorCode.NONE
    assert renewed(image, secret, now_ms=131) == (ErrorCode.DELEGATION_TOKEN_EXPIRED, -1, ())


def test_a_token_ends_at_once_or_after_a_while():
    image, secret = with_token()
    code, end, records = expired(image, secret)
    assert (code, end, records) == (ErrorCode.NONE, 60, (RemoveDelegationTokenRecord(TOKEN_ID),))
    assert not replay(image, records).delegation_tokens
    assert expired(image, secret, period=5000)[1] == 1050
    assert expired(image, secret, period=0)[1] == 60
    late = expired(image, secret, period=5, now_ms=2000)
    assert late == (ErrorCode.DELEGATION_TOKEN_EXPIRED, -1, ())
    # What has expired may still be removed.
    assert expired(image, secret, now_ms=2000)[0] is ErrorCode.NONE


def test_expired_tokens_are_swept_some_at_a_time():
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
