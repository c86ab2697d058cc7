"""Seeded bugs of controllers that register, and of the upgrades that wait for them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from krafla.fuzz.engine.mutant import Killer, seed_bug, wrong_answer
from kraft.controller.operations import controller_registration
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS"]

_found: Final[list[Mutant]] = []
_seed = partial(seed_bug, _found, profile="registers")
_SENDER: Final = "kraft.controller.registration_sender"
_REGISTER: Final = "kraft.controller.operations.controller_registration:register_controller"
_REASON: Final = "kraft.controller.operations.features:reason_not_supported"
_UPGRADES: Final = Killer(("UpgradeFeature",), breaks="UpgradeSupportedByRegisteredProp")


@_seed("answer-is-registration", "KIP-919", f"{_SENDER}:on_registration_response",
       "A controller is registered once it has an answer, not once it has replayed the record.",
       killer=Killer(("HandleRegistrationResponse",), "image"))  # fmt: skip
@wrong_answer
def _answer_is_registration(
    right: Any, sender: Any, correlation_id: int, response: Any, *rest: Any
) -> Any:
    heard = right(sender, correlation_id, response, *rest)
    if response.error_code is not ErrorCode.NONE:
        return heard
    return replace(heard, registered_incarnation=sender.incarnation_id)


@_seed("lost-request-is-awaited-forever", "ControllerRegistrationManager",
       f"{_SENDER}:on_request_timeout",
       "A controller whose request timed out goes on waiting for an answer.",
       killer=Killer(("RequestTimeout",), "pending"))  # fmt: skip
@wrong_answer
def _goes_on_waiting(_right: Any, sender: Any, now_ms: int, _chance: int) -> Any:
    return replace(sender, not_before_ms=now_ms)


@_seed("error-is-no-answer", "ControllerRegistrationManager",
       f"{_SENDER}:on_registration_response",
       "A controller goes on waiting after an error.",
       killer=Killer(("HandleRegistrationResponse",), "pending"))  # fmt: skip
@wrong_answer
def _error_is_no_answer(
    right: Any, sender: Any, correlation_id: int, response: Any, *rest: Any
) -> Any:
    heard = right(sender, correlation_id, response, *rest)
    failed = response.error_code is not ErrorCode.NONE
    return replace(heard, pending=sender.pending) if failed else heard


@_seed("any-incarnation-is-registered", "KIP-919", f"{_SENDER}:is_registered_in_log",
       "A controller takes the registration of another incarnation for its own.",
       killer=Killer(("SendRegistration",)))  # fmt: skip
@wrong_answer
def _any_incarnation(_right: Any, sender: Any) -> bool:
    return sender.registered_incarnation is not None


@_seed("other-incarnation-is-ignored", "KIP-919", f"{_SENDER}:on_metadata_update",
       "A controller ignores the registration of another incarnation under its id.",
       killer=Killer(("ReplayMetadata",)))  # fmt: skip
@wrong_answer
def _replays_only_its_own(right: Any, sender: Any, image: Any, now_ms: int) -> Any:
    told = right(sender, image, now_ms)
    other = told.registered_incarnation not in {None, sender.incarnation_id}
    kept = sender.registered_incarnation
    return replace(told, registered_incarnation=kept) if other else told


@_seed("asks-below-gate", "KIP-919",
       "kraft.controller.operations.controller_registration:is_registration_supported",
       "A controller registers below the metadata version that knows registrations.",
       profile="gate",
       killer=Killer(("SendRegistration",), conjunct="level >= GateLevel",
                     breaks="SentOnlyWhenNeededProp"))  # fmt: skip
@wrong_answer
def _any_level(*_: Any) -> bool:
    return True


@_seed("first-incarnation-counts", "KIP-919", _REGISTER,
       "The active controller keeps the first incarnation that registers under an id.",
       killer=Killer(("RegisterController",), "registrations"))  # fmt: skip
@wrong_answer
def _first_counts(right: Any, image: Any, request: Any) -> Any:
    result = right(image, request)
    known = image.controllers.get(request.controller_id)
    is_other = known is not None and known.incarnation_id != request.incarnation_id
    return Result((), result.response) if is_other else result


@_seed("registered-below-gate", "KIP-919", _REGISTER,
       "The active controller registers below the metadata version that knows registrations.",
       profile="eager",
       killer=Killer(("RegisterController",), conjunct="level >= GateLevel",
                     breaks="RegistrationGatedByMvInv"))  # fmt: skip
@wrong_answer
def _registers_below_gate(right: Any, image: Any, request: Any) -> Any:
    result = right(image, request)
    if result.response.error_code is ErrorCode.NONE:
        return result
    return right(structs.replace(image, features=image.features.set("metadata.version", 15)),
                 request)  # fmt: skip


@_seed("upgrade-waits-for-no-controller", "KIP-919", _REASON,
       "An upgrade does not wait for controllers that have not registered.", killer=_UPGRADES
       )  # fmt: skip
@wrong_answer
def _waits_for_none(right: Any, image: Any, defaults: Any, name: str, level: int) -> Any:
    return right(image, replace(defaults, quorum_node_ids=()), name, level)


@_seed("upgrade-asks-only-active", "KIP-919", _REASON,
       "An upgrade asks what the active controller supports, and no other.",
       profile="older-software", killer=_UPGRADES)  # fmt: skip
@wrong_answer
def _asks_only_active(right: Any, image: Any, defaults: Any, name: str, level: int) -> Any:
    agreeable = structs.replace(image, controllers=image.controllers.__class__())
    registered = {int(one) for one in image.controllers}
    missing = tuple(one for one in defaults.quorum_node_ids if int(one) not in registered)
    return right(agreeable, replace(defaults, quorum_node_ids=missing), name, level)


@_seed("upgrade-does-not-ask-active", "FeatureControlManager", _REASON,
       "An upgrade does not ask what the active controller itself supports.",
       profile="gate", killer=_UPGRADES)  # fmt: skip
@wrong_answer
def _does_not_ask_active(right: Any, image: Any, defaults: Any, name: str, level: int) -> Any:
    return right(image, replace(defaults, supported_features={name: (0, level)}), name, level)


@_seed("upgrade-waits-for-active", "FeatureControlManager", _REASON,
       "An upgrade waits for the registration of the active controller, which it need not.",
       killer=Killer(("RefuseUpgrade",)))  # fmt: skip
@wrong_answer
def _waits_for_active(right: Any, image: Any, defaults: Any, name: str, level: int) -> Any:
    registered = int(defaults.node_id) in {int(one) for one in image.controllers}
    gate = controller_registration.is_registration_supported(image.metadata_version)
    missing = "not registered" if gate and not registered else None
    return right(image, defaults, name, level) or missing


MUTANTS: Final[tuple[Mutant, ...]] = tuple(_found)
"""Of controllers that register, of the active one, and of upgrades."""
