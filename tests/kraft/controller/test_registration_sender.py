"""A controller process asks until it reads in the log that it is registered."""

from __future__ import annotations

from kraft.controller.operations.controller_registration import register_controller
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.features import reason_not_supported
from kraft.controller.registration_sender import (
    RegistrationSender,
    next_deadline,
    on_due,
    on_metadata_update,
    on_registration_response,
)
from kraft.errors import ErrorCode
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.records.cluster import FeatureLevelRecord
from kraft.rpc.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kraft.rpc.node_description import Listener, SupportedFeature

FEATURES = (SupportedFeature("metadata.version", 7, 17),)
LISTENERS = (Listener("CONTROLLER", "three", 9093),)
NEW = RegistrationSender(3, "first-process-of-3-AAA", LISTENERS, FEATURES)
MIDDLE = 2**63
DONE = ControllerRegistrationResponse()
FAILED = ControllerRegistrationResponse(ErrorCode.NOT_CONTROLLER)


def at_level(level):
    return replay(EMPTY_IMAGE, [FeatureLevelRecord("metadata.version", level)])


def registering(image, controller_id, incarnation_id, features=FEATURES):
    request = ControllerRegistrationRequest(controller_id, incarnation_id, features=features)
    return replay(image, register_controller(image, request).records)


def sent(now_ms=0):
    return on_due(on_metadata_update(NEW, at_level(15), now_ms), now_ms, MIDDLE)


def test_it_asks_nothing_before_the_metadata_allows_it():
    assert next_deadline(NEW) is None
    below = on_metadata_update(NEW, at_level(14), 5)
    assert next_deadline(below) is None
    assert on_due(below, 10, MIDDLE) == (below, None)
    assert next_deadline(on_metadata_update(below, at_level(15), 7)) == 7


def test_a_request_says_where_it_listens_and_what_it_supports():
    sender, request = sent()
    expected = ControllerRegistrationRequest(
        3, "first-process-of-3-AAA", False, LISTENERS, FEATURES
    )
    assert request == expected
    assert on_due(sender, 1, MIDDLE) == (sender, None)


def test_failures_lead_to_growing_back_offs_of_at_most_two_minutes():
    (sender, _), now_ms, waits = sent(), 0, []
    for _ in range(13):
        correlation_id = sender.pending.correlation_id
        sender = on_registration_response(sender, correlation_id, FAILED, now_ms, MIDDLE)
        due_ms = next_deadline(sender)
        waits.append(due_ms - now_ms)
        assert on_due(sender, due_ms - 1, MIDDLE) == (sender, None)
        now_ms = due_ms
        sender, request = on_due(sender, now_ms, MIDDLE)
        assert request is not None
    assert waits == [100 * 2**one for one in range(11)] + [120_000, 120_000]


def test_a_successful_response_without_a_record_is_no_registration():
    sender, _ = sent()
    sender = on_registration_response(sender, 0, DONE, 10, MIDDLE)
    assert next_deadline(sender) == 110
    image = registering(at_level(15), 3, "first-process-of-3-AAA")
    assert next_deadline(on_metadata_update(sender, image, 20)) is None


def test_a_record_of_another_incarnation_triggers_a_request_at_once():
    image = registering(at_level(15), 3, "first-process-of-3-AAA")
    sender = on_metadata_update(NEW, image, 0)
    assert next_deadline(sender) is None
    image = registering(image, 3, "older-process-of-3-AAA")
    assert next_deadline(on_metadata_update(sender, image, 30)) == 30


def test_a_request_without_a_response_times_out_and_is_sent_again():
    sender, _ = sent()
    assert next_deadline(sender) == 60_000
    sender, request = on_due(sender, 60_000, MIDDLE)
    assert (request, sender.pending, next_deadline(sender)) == (None, None, 60_100)
    assert on_registration_response(sender, 0, FAILED, 60_001, MIDDLE) == sender


def test_the_last_process_to_ask_is_registered():
    image = registering(at_level(15), 3, "first-process-of-3-AAA")
    image = registering(image, 3, "other-process-of-3-AAA")
    assert image.controllers[3].incarnation_id == "other-process-of-3-AAA"
    assert not registering(at_level(14), 3, "first-process-of-3-AAA").controllers


def test_a_level_is_raised_when_everybody_is_registered_and_supports_it():
    image = at_level(15)
    own = {one.name: (one.minimum, one.maximum) for one in FEATURES}
    active = Defaults(node_id=1, quorum_node_ids=(1, 3), supported_features=own)

    def reason(image, level):
        return reason_not_supported(image, active, METADATA_VERSION, level)

    assert reason(image, 16) == "controller 3 has not registered"
    old = registering(image, 3, "a", (SupportedFeature("metadata.version", 7, 15),))
    assert reason(old, 16) == "controller 3 supports 7 to 15"
    new = registering(image, 3, "b")
    assert reason(new, 16) is None
    assert reason(new, 18) == "controller 1 supports 7 to 17"
    assert reason(at_level(14), 16) is None
