"""Seeded bugs of delegation tokens: how long they live, and who may change that."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import seed_bug, wrong_answer
from kraft.controller.operations.result import Result

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["TOKENS"]

TOKENS: Final[list[Mutant]] = []
_seed = partial(seed_bug, TOKENS)
_TOKENS: Final = "kraft.controller.operations.delegation_tokens"
_SECOND: Final = 1_000


@_seed(
    "token-expires-at-birth",
    "KAFKA-17315",
    f"{_TOKENS}:create_delegation_token",
    "A token with the configured lifetime, for which -1 stands, expires as it is created.",
)
def _at_birth(right: Any, probe: Probe) -> Any:
    def create(right: Any, image: Any, defaults: Any, request: Any, *rest: Any) -> Any:
        if request.max_lifetime_ms <= 0:
            lifetime = request.max_lifetime_ms
            defaults = replace(defaults, delegation_token_max_lifetime_ms=lifetime)
        return right(image, defaults, request, *rest)

    return wrong_answer(create)(right, probe)


@_seed(
    "ended-token-lives-on",
    "KAFKA-17315",
    f"{_TOKENS}:RemoveDelegationTokenRecord",
    "A token that its owner ends at once stays, and so does one that has expired.",
)
def _lives_on(right: Any, probe: Probe) -> Any:
    def removal(token_id: Any) -> Any:
        return probe.choose(right(token_id), right("Z" * len(token_id)))

    return removal


@_seed(
    "far-expiry-overflows",
    "KAFKA-17415",
    f"{_TOKENS}:_after",
    "A time beyond the last one that a record can hold becomes a negative one.",
)
def _overflows(_right: Any, probe: Probe) -> Any:
    def _after(now_ms: int, period_ms: int) -> int:
        end = now_ms + period_ms
        wrapped = (end + 2**63) % 2**64 - 2**63
        return int(probe.choose(min(end, 2**63 - 1), wrapped))

    return _after


@_seed(
    "renewed-beyond-its-life",
    "KIP-48",
    f"{_TOKENS}:_expiring_at",
    "A renewal can make a token live longer than its maximum lifetime.",
)
def _beyond(right: Any, probe: Probe) -> Any:
    def expiring(right: Any, token_id: Any, token: Any, expiry_ms: int) -> Any:
        return right(token_id, token, expiry_ms + _SECOND)

    return wrong_answer(expiring)(right, probe)


@_seed(
    "anyone-renews",
    "KIP-48",
    f"{_TOKENS}:_validate_allowed",
    "A token can be renewed and expired by everybody who knows its secret.",
)
def _anyone(right: Any, probe: Probe) -> Any:
    return wrong_answer(lambda _right, _token, _principal: None)(right, probe)


@_seed(
    "expired-is-renewed",
    "KIP-48",
    f"{_TOKENS}:_validate_alive",
    "A token that has expired can be renewed until it is removed.",
)
def _renewed(right: Any, probe: Probe) -> Any:
    return wrong_answer(lambda _right, _token, _now_ms: None)(right, probe)


@_seed(
    "expired-is-never-swept",
    "sabotage",
    f"{_TOKENS}:sweep_expired_delegation_tokens",
    "No task removes expired tokens.",
)
def _never_swept(right: Any, probe: Probe) -> Any:
    return wrong_answer(lambda _right, *_rest: Result((), response=False))(right, probe)


@_seed(
    "swept-too-soon",
    "sabotage",
    f"{_TOKENS}:_has_expired",
    "A token counts as expired a second before it is.",
)
def _too_soon(right: Any, probe: Probe) -> Any:
    def has_expired(right: Any, token: Any, now_ms: int) -> bool:
        return bool(right(token, now_ms + _SECOND))

    return wrong_answer(has_expired)(right, probe)
