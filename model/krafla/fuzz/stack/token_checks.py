"""Checks of delegation tokens: how long they live, who may change that, and that they end.

Times are those of the events of one process. Which token a secret belongs to is known from the
answers that gave it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.controller_effects import appended_by, response_of
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.records.security import DelegationTokenRecord, RemoveDelegationTokenRecord
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kraft.rpc.envelope import ANONYMOUS

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.image.entries import DelegationToken
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["BY_SECRET", "TOKEN_PROPERTIES", "TokenChecks"]

TOKEN_PROPERTIES: Final = (
    "ExpiredTokenIsRemovedProp", "TokenIsChangedByOwnersProp", "TokenLivesItsTimeProp",
)  # fmt: skip
BY_SECRET: Final = (RenewDelegationTokenRequest, ExpireDelegationTokenRequest)
"""Requests that name a token by its secret, which no image holds: their records are checked."""
_PATIENCE: Final = 40
"""The most times that a controller may be woken before it removes an expired token."""
_LAST: Final = 2**63 - 1
"""The last time that a record can hold (KAFKA-17415)."""


class TokenChecks:
    """The token of each secret that was given out, and the expired ones of each process."""

    def __init__(self) -> None:
        self.token_ids: dict[bytes, str] = {}
        """The id of each token that was given out, by its secret."""
        self._overdue: dict[int, dict[str, int]] = {}

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a controller. Raises Violated."""
        before, event = listener.before, listener.event
        if not (is_active(before) and is_active(listener.after)):
            self.forget(step.incarnation)
            return
        image = before.written.image
        if isinstance(event, events.RequestReceived):
            response = response_of(listener, event.token)
            if not isinstance(response, does.Failure):
                self._request(image, before.configuration.defaults, event, response, listener)
        elif isinstance(event, events.Poll):
            removed = {
                one.token_id
                for one in appended_by(listener)
                if isinstance(one, RemoveDelegationTokenRecord)
            }
            _check_removed(image, removed, event.now_ms)
            self._count_overdue(step.incarnation, image, removed, event.now_ms)

    def _request(
        self,
        image: MetadataImage,
        defaults: Defaults,
        event: events.RequestReceived,
        response: Any,
        listener: ListenerStep,
    ) -> None:
        request, now_ms = event.request, event.now_ms
        written = [
            one
            for one in appended_by(listener)
            if isinstance(one, DelegationTokenRecord | RemoveDelegationTokenRecord)
        ]
        if isinstance(request, CreateDelegationTokenRequest):
            if response.error_code is ErrorCode.NONE:
                self.token_ids[response.hmac] = response.token_id
                _check_created(defaults, request, response, now_ms)
        elif isinstance(request, BY_SECRET):
            token_id = self.token_ids.get(request.hmac, "")
            token = image.delegation_tokens.get(token_id)
            refused = _check_allowed(request, token, response.error_code, now_ms)
            if token is not None and not refused:
                until = _until(defaults, request, token, now_ms)
                _check_changed(token_id, token, until, written)
                _check_told(token_id, now_ms if until is None else until, response)
        elif written:
            raise Violated(
                "TokenIsChangedByOwnersProp", f"a {type(request).__name__} changes a token"
            )

    def _count_overdue(
        self, incarnation: int, image: MetadataImage, removed: set[str], now_ms: int
    ) -> None:
        known = self._overdue.get(incarnation, {})
        overdue = {
            token_id: known.get(token_id, 0) + 1
            for token_id, token in image.delegation_tokens.items()
            if token_id not in removed and _ends(token) < now_ms
        }
        self._overdue[incarnation] = overdue
        for token_id in sorted(overdue):
            if overdue[token_id] > _PATIENCE:
                raise Violated(
                    "ExpiredTokenIsRemovedProp",
                    f"the token {token_id} expired at {_ends(image.delegation_tokens[token_id])}; "
                    f"now is {now_ms}, the controller was woken {_PATIENCE} times since, and the "
                    "token is still there",
                )

    def forget(self, incarnation: int) -> None:
        """Forget what a process owed when it ended, or ceased to be active."""
        self._overdue.pop(incarnation, None)


def _ends(token: DelegationToken) -> int:
    return min(token.max_timestamp, token.expiration_timestamp)


def _check_removed(image: MetadataImage, removed: set[str], now_ms: int) -> None:
    """Check that the controller removes only expired tokens by itself."""
    for token_id in sorted(removed):
        token = image.delegation_tokens.get(token_id)
        if token is None or _ends(token) >= now_ms:
            ends = "does not exist" if token is None else f"is good until {_ends(token)}"
            raise Violated(
                "TokenLivesItsTimeProp",
                f"the token {token_id} {ends}; the controller removes it at {now_ms}",
            )


def _check_created(
    defaults: Defaults, request: CreateDelegationTokenRequest, response: Any, now_ms: int
) -> None:
    """Check that a new token lives as long as asked, or as configured (KAFKA-17315)."""
    lifetime = defaults.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime = min(lifetime, request.max_lifetime_ms)
    last = min(_LAST, now_ms + lifetime)
    expiry = min(last, now_ms + defaults.delegation_token_expiry_time_ms)
    told = response.issue_timestamp_ms, response.expiry_timestamp_ms, response.max_timestamp_ms
    if told != (now_ms, expiry, last):
        raise Violated(
            "TokenLivesItsTimeProp",
            f"a new token has (issue, expiry, last) {told}, not {(now_ms, expiry, last)}",
        )


def _check_allowed(
    request: RenewDelegationTokenRequest | ExpireDelegationTokenRequest,
    token: DelegationToken | None,
    code: ErrorCode,
    now_ms: int,
) -> bool:
    """Check that a change is granted to its owner or renewers, before it ends; else refused.

    Returns whether it is refused.
    """
    at_once = isinstance(request, ExpireDelegationTokenRequest) and (
        request.expiry_time_period_ms < 0
    )
    allowed = (
        token is not None
        and (token.owner == ANONYMOUS or ANONYMOUS in token.renewers)
        and (at_once or _ends(token) >= now_ms)
    )
    if allowed != (code is ErrorCode.NONE):
        there = "no token" if token is None else f"the token {token}"
        raise Violated(
            "TokenIsChangedByOwnersProp",
            f"{type(request).__name__} of {ANONYMOUS} at {now_ms} for {there}: {code.name}",
        )
    return not allowed


def _until(
    defaults: Defaults,
    request: RenewDelegationTokenRequest | ExpireDelegationTokenRequest,
    token: DelegationToken,
    now_ms: int,
) -> int | None:
    """Return when a token expires after a request; None if it ends at once."""
    if isinstance(request, ExpireDelegationTokenRequest):
        period = request.expiry_time_period_ms
        if period < 0:
            return None
    else:
        period = defaults.delegation_token_expiry_time_ms
        if request.renew_period_ms > 0:
            period = min(period, request.renew_period_ms)
    return min(token.max_timestamp, now_ms + period)


def _check_changed(
    token_id: str, token: DelegationToken, until: int | None, written: list[Any]
) -> None:
    """Check that a granted request writes exactly the token's new expiry, or its removal."""
    expected: Any = RemoveDelegationTokenRecord(token_id)
    if until is not None:
        expected = DelegationTokenRecord(
            token.owner, token.requester, token.renewers, token.issue_timestamp,
            token.max_timestamp, until, token_id,
        )  # fmt: skip
    if written != [expected]:
        raise Violated("TokenLivesItsTimeProp", f"{written} is written, not {expected}")


def _check_told(token_id: str, until: int, response: Any) -> None:
    """Check that the answer to a granted request tells until when the token is good."""
    if response.expiry_timestamp_ms != until:
        raise Violated(
            "TokenLivesItsTimeProp",
            f"the answer says that the token {token_id} is good until "
            f"{response.expiry_timestamp_ms}, not {until}",
        )
