"""Seeded bugs of registrations of controllers, each with what must notice it."""

from __future__ import annotations

from tests.mutants import registration_bugs as bugs
from tests.mutants.mutant import Mutant

_SENDER = "kraft.controller.registration_sender"
_ACTIVE = "kraft.controller.operations.controller_registration"

MUTANTS = (
    Mutant(
        "an answer is a registration", "KIP-919",
        {f"{_SENDER}.on_registration_response": bugs.an_answer_is_a_registration},
        ("HandleRegistrationResponse",), "image",
        profile="registers",
    ),
    Mutant(
        "a request without an answer is waited for forever", "ControllerRegistrationManager",
        {f"{_SENDER}.on_request_timeout": bugs.goes_on_waiting},
        ("RequestTimeout",), "pending", profile="registers",
    ),
    Mutant(
        "an error is no answer", "ControllerRegistrationManager",
        {f"{_SENDER}.on_registration_response": bugs.an_error_is_no_answer},
        ("HandleRegistrationResponse",), "pending",
        profile="registers",
    ),
    Mutant(
        "anybody registered under the id will do", "KIP-919",
        {f"{_SENDER}.is_registered_in_log": bugs.anybody_under_the_id_will_do},
        ("SendRegistration",), profile="registers",
    ),
    Mutant(
        "another incarnation's record is ignored", "KIP-919",
        {f"{_SENDER}.on_metadata_update": bugs.replays_only_its_own},
        ("ReplayMetadata",), profile="registers",
    ),
    Mutant(
        "it asks below the gate", "KIP-919",
        {f"{_SENDER}.is_registration_supported": bugs.any_level},
        ("SendRegistration",), conjunct="level >= GateLevel", breaks="SentOnlyWhenNeededProp",
        profile="gate",
    ),
    Mutant(
        "the first one counts", "KIP-919",
        {f"{_ACTIVE}.register_controller": bugs.the_first_one_counts},
        ("RegisterController",), "registrations", profile="registers",
    ),
    Mutant(
        "registered below the gate", "KIP-919",
        {f"{_ACTIVE}.register_controller": bugs.registers_below_the_gate},
        ("RegisterController",), conjunct="level >= GateLevel",
        breaks="RegistrationGatedByMvInv", profile="eager",
    ),
    Mutant(
        "an upgrade waits for nobody", "KIP-919",
        {"kraft.controller.operations.features.reason_not_supported": bugs.waits_for_nobody},
        ("UpgradeFeature",), breaks="UpgradeSupportedByRegisteredProp", profile="registers",
    ),
    Mutant(
        "an upgrade asks only the active controller", "KIP-919",
        {"kraft.controller.operations.features.reason_not_supported": bugs.asks_only_itself},
        ("UpgradeFeature",), breaks="UpgradeSupportedByRegisteredProp", profile="older-software",
    ),
    Mutant(
        "an upgrade does not ask the active controller", "FeatureControlManager",
        {"kraft.controller.operations.features.reason_not_supported": bugs.does_not_ask_itself},
        ("UpgradeFeature",), breaks="UpgradeSupportedByRegisteredProp", profile="gate",
    ),
    Mutant(
        "an upgrade waits for the active controller", "FeatureControlManager",
        {"kraft.controller.operations.features.reason_not_supported": bugs.counts_on_its_own_registration},
        ("RefuseUpgrade",), profile="registers",
    ),
)  # fmt: skip
