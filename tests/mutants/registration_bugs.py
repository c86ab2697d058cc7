"""The wrong functions that the mutants of registrations put in place of the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from kraft.controller import registration_sender
from kraft.controller.operations import controller_registration, features
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode

# The right functions, kept before any of them is replaced.
_on_response = registration_sender.on_registration_response
_on_metadata_update = registration_sender.on_metadata_update
_register = controller_registration.register_controller
_reason = features.reason_not_supported


def an_answer_is_a_registration(sender: Any, correlation_id: int, response: Any, *rest: Any) -> Any:
    heard = _on_response(sender, correlation_id, response, *rest)
    if response.error_code is not ErrorCode.NONE:
        return heard
    return replace(heard, registered_incarnation=sender.incarnation_id)


def goes_on_waiting(sender: Any, now_ms: int, _chance: int) -> Any:
    return replace(sender, not_before_ms=now_ms)


def an_error_is_no_answer(sender: Any, correlation_id: int, response: Any, *rest: Any) -> Any:
    heard = _on_response(sender, correlation_id, response, *rest)
    failed = response.error_code is not ErrorCode.NONE
    return replace(heard, pending=sender.pending) if failed else heard


def anybody_under_the_id_will_do(sender: Any) -> bool:
    return sender.registered_incarnation is not None


def replays_only_its_own(sender: Any, image: Any, now_ms: int) -> Any:
    told = _on_metadata_update(sender, image, now_ms)
    other = told.registered_incarnation not in {None, sender.incarnation_id}
    kept = sender.registered_incarnation
    return replace(told, registered_incarnation=kept) if other else told


def any_level(_level: Any) -> bool:
    return True


def the_first_one_counts(image: Any, request: Any) -> Any:
    result = _register(image, request)
    known = image.controllers.get(request.controller_id)
    is_other = known is not None and known.incarnation_id != request.incarnation_id
    return Result((), result.response) if is_other else result


def registers_below_the_gate(image: Any, request: Any) -> Any:
    result = _register(image, request)
    if result.response.error_code is ErrorCode.NONE:
        return result
    open_gate = image.features.set("metadata.version", 15)
    return _register(msgspec.structs.replace(image, features=open_gate), request)


def waits_for_nobody(image: Any, defaults: Any, name: str, level: int) -> Any:
    return _reason(image, replace(defaults, quorum_node_ids=()), name, level)


def asks_only_itself(image: Any, defaults: Any, name: str, level: int) -> Any:
    agreeable = msgspec.structs.replace(image, controllers=image.controllers.__class__())
    registered = {int(one) for one in image.controllers}
    missing = tuple(one for one in defaults.quorum_node_ids if int(one) not in registered)
    return _reason(agreeable, replace(defaults, quorum_node_ids=missing), name, level)


def does_not_ask_itself(image: Any, defaults: Any, name: str, level: int) -> Any:
    capable = replace(defaults, supported_features={name: (0, level)})
    return _reason(image, capable, name, level)


def counts_on_its_own_registration(image: Any, defaults: Any, name: str, level: int) -> Any:
    registered = int(defaults.node_id) in {int(one) for one in image.controllers}
    gate = controller_registration.is_registration_supported(image.metadata_version)
    return _reason(image, defaults, name, level) or (
        "not registered" if gate and not registered else None
    )
