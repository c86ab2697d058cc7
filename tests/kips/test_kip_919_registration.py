"""KIP-919 on controllers that register: who asks when, and who answers what."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from tests.kips.sentences import sentence
from tests.kraft.controller.controller_runs import Player, replies
from tests.kraft.controller.test_features import cluster, registered, updated
from tests.kraft.controller.test_registration_sender import (
    DONE,
    MIDDLE,
    NEW,
    at_level,
    registering,
    sent,
)
from typer.testing import CliRunner

from kraft.controller.effects import Append
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.operations.features import GROUP_VERSION
from kraft.controller.registration_sender import (
    next_deadline,
    on_due,
    on_metadata_update,
    on_registration_response,
)
from kraft.errors import ErrorCode
from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import FeatureRange
from kraft.rpc.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kraft.tools import application

MINE, OLDER = NEW.incarnation_id, "older-process-of-3-AAA"


def asked(**changes):
    """Return the request of a controller."""
    return replace(ControllerRegistrationRequest(3, MINE), **changes)


def active(epoch=1):
    """Return an active controller that knows all of Kafka's requests."""
    player = Player(operations=OPERATIONS)
    player.lead(epoch)
    player.commit_all()
    return player


def written(effects):
    """Return the records that were appended."""
    return [record for one in effects if isinstance(one, Append) for record in one.records]


def named(kind):
    """Return the names of a message's fields."""
    return [field.name for field in fields(kind)]


# "Controller Registration".


@sentence("919-010")
def test_a_controller_that_has_started_registers_once():
    sender, request = sent()
    assert request.incarnation_id == MINE
    sender = on_registration_response(sender, 0, DONE, 10, MIDDLE)
    image = registering(at_level(15), 3, MINE)
    sender = on_metadata_update(sender, image, 20)
    assert next_deadline(sender) is None
    assert on_due(sender, 10**9, MIDDLE) == (sender, None)


@sentence("919-015")
def test_a_controller_that_sees_another_registered_under_its_id_registers_again():
    sender = on_metadata_update(NEW, registering(at_level(15), 3, MINE), 0)
    sender = on_metadata_update(sender, registering(at_level(15), 3, OLDER), 7)
    _, request = on_due(sender, 7, MIDDLE)
    assert (request.controller_id, request.incarnation_id) == (3, MINE)


@sentence("919-016")
def test_only_the_log_tells_a_controller_that_it_is_registered():
    sender, _ = sent()
    told = on_registration_response(sender, 0, DONE, 10, MIDDLE)
    _, again = on_due(told, next_deadline(told), MIDDLE)
    assert again is not None
    read = on_metadata_update(told, registering(at_level(15), 3, MINE), 20)
    assert next_deadline(read) is None


@sentence("919-017")
def test_a_registration_of_an_older_incarnation_that_comes_late_is_repaired():
    image = registering(at_level(15), 3, MINE)
    sender = on_metadata_update(NEW, image, 0)
    image = registering(image, 3, OLDER)
    sender, request = on_due(on_metadata_update(sender, image, 5), 5, MIDDLE)
    image = registering(image, request.controller_id, request.incarnation_id)
    assert image.controllers[3].incarnation_id == MINE
    sender = on_registration_response(sender, 0, DONE, 6, MIDDLE)
    assert next_deadline(on_metadata_update(sender, image, 7)) is None


# "ControllerRegistrationRequest / Response".


@sentence("919-070")
def test_every_controller_asks_the_active_one_and_that_one_itself():
    player = active()
    for controller_id in (1, 2, 3):
        sender = replace(NEW, controller_id=controller_id)
        _, request = on_due(on_metadata_update(sender, at_level(15), 0), 0, MIDDLE)
        assert isinstance(request, ControllerRegistrationRequest)
        player.ask(request)
    player.commit_all()
    assert sorted(player.image.controllers) == [1, 2, 3]


@sentence("919-071")
def test_differs_the_request_has_no_epoch_of_the_active_controller():
    assert not [name for name in named(ControllerRegistrationRequest) if "epoch" in name]


@sentence("919-072")
def test_the_request_has_the_other_fields_of_the_text():
    assert named(ControllerRegistrationRequest) == [
        "controller_id",
        "incarnation_id",
        "zk_migration_ready",
        "listeners",
        "features",
    ]


@sentence("919-073")
def test_the_answer_has_an_error_code_and_may_have_a_message():
    assert named(ControllerRegistrationResponse) == ["error_code", "error_message"]
    assert ControllerRegistrationResponse().error_message is None


@sentence("919-074")
def test_whatever_is_sent_to_the_active_controller_is_written():
    player = active()
    for incarnation_id in (OLDER, MINE, MINE, OLDER):
        (record,) = written(player.ask(asked(incarnation_id=incarnation_id)))
        assert isinstance(record, RegisterControllerRecord)
        assert record.incarnation_id == incarnation_id


@sentence("919-075")
def test_a_registration_at_a_controller_that_is_not_active_is_refused():
    player = active()
    player.follow(2)
    assert replies(player.ask(asked())) == [("t", ErrorCode.NOT_CONTROLLER)]


@sentence("919-076")
def test_differs_a_registration_is_written_in_whatever_epoch():
    for epoch in (1, 5):
        player = active(epoch)
        player.ask(asked())
        assert replies(player.commit_all()) == [("t", ErrorCode.NONE)]


# "Fix compatibility gates".


@sentence("919-110")
def test_what_controllers_support_is_seen_by_their_registrations():
    image = cluster(controller=None)
    refused = ErrorCode.INVALID_UPDATE_VERSION, ()
    assert updated(image, (GROUP_VERSION, 1)) == refused
    old = registered(image, ranges=(FeatureRange(GROUP_VERSION, 0, 0),))
    assert updated(old, (GROUP_VERSION, 1)) == refused
    assert updated(registered(old), (GROUP_VERSION, 1))[0] is ErrorCode.NONE


# "New APIs".


@sentence("919-121")
def test_a_registration_is_answered_when_it_is_committed():
    player = active()
    assert replies(player.ask(asked())) == []
    assert replies(player.commit()) == [("t", ErrorCode.NONE)]
    assert player.image.controllers[3].incarnation_id == MINE


# "Compatibility, Deprecation, and Migration Plan".


@sentence("919-132")
@pytest.mark.parametrize(("level", "deadline_ms"), [(14, None), (15, 0)])
def test_before_there_are_registrations_nobody_tries(level, deadline_ms):
    assert next_deadline(NEW) is None
    assert next_deadline(on_metadata_update(NEW, at_level(level), 0)) == deadline_ms


# "Command-line Changes".


@sentence("919-044")
def test_differs_the_shell_reads_one_file_and_no_directory(tmp_path):
    done = CliRunner().invoke(application(), ["metadata-shell", "--snapshot", str(tmp_path), "ls"])
    assert done.exit_code == 2
    assert "directory" in done.output
    unknown = CliRunner().invoke(application(), ["metadata-shell", "--directory", str(tmp_path)])
    assert unknown.exit_code == 2
