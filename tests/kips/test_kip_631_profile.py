"""The profile of KIP-631 as a whole: what it does beyond what a single sentence shows."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from tests.kips.test_kip_631_partitions import AS_PUBLISHED, asked_for, moving
from tests.kraft.controller.cluster_driver import FEATURES
from tests.kraft.controller.controller_runs import VERSION, Player, replies
from tests.kraft.controller.partitions import DEFAULTS, KEY, directory, image_of
from tests.kraft.sim.lease.lease_driver import FIRST, SECOND

from kraft.broker.lease import BrokerLifecycle, BrokerState, is_serving
from kraft.controller.configuration import Configuration
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.operations.defaults import Defaults, with_profile
from kraft.controller.operations.heartbeats import heartbeat_state
from kraft.controller.state import first_state
from kraft.errors import ErrorCode
from kraft.ids import NodeId
from kraft.profile import KAFKA_4_1, KIP_631, Profile
from kraft.records.kip631_schemas import KIP_631_SCHEMAS
from kraft.records.value import decode_value, encode_value
from kraft.rpc import BrokerRegistrationRequest
from kraft.rpc.kip631_names import api_key_of
from kraft.rpc.vote import VoteRequest
from kraft.sim.lease.active_controller import first_controller, on_broker_registration_request


def test_two_profiles_differ_in_all_but_two_things():
    same = {
        field.name
        for field in fields(Profile)
        if getattr(KIP_631, field.name) == getattr(KAFKA_4_1, field.name)
    }
    assert same == {"registration_timeout_ms", "broker_timeout_ms"}
    assert (KAFKA_4_1.name, KIP_631.name) == ("kafka-4.1", "kip631")


def test_the_errors_that_profiles_name_are_kafkas_but_for_the_one_of_the_text():
    known = {code.name for code in ErrorCode}
    for profile in (KAFKA_4_1, KIP_631):
        assert profile.leader_left_out_error in known
    assert KAFKA_4_1.wrong_cluster_error in known
    assert KIP_631.wrong_cluster_error not in known


def test_a_request_that_the_text_does_not_number_has_no_published_key():
    with pytest.raises(KeyError):
        api_key_of(VoteRequest)


def test_a_move_ends_as_published_when_those_who_come_in_and_one_who_stays_are_in_sync():
    image = image_of((1, 2, 3), (1, 3))
    for defaults, replicas in ((AS_PUBLISHED, (1, 2, 4)), (DEFAULTS, (1, 2, 4, 3))):
        started = moving(image, (1, 2, 4), defaults)
        assert started.partitions[KEY].replicas == (1, 2, 4, 3)
        _, _, after = asked_for(started, (1, 3, 4), defaults)
        assert after.partitions[KEY].replicas == replicas


def test_a_move_never_ends_with_nobody_of_the_target_in_sync():
    image = moving(image_of((1, 2, 3), (3,), leader=3), (1, 2), AS_PUBLISHED)
    assert image.partitions[KEY].isr == (3,)
    assert image.partitions[KEY].removing_replicas == (3,)


def test_a_refused_registration_is_no_contact_in_any_profile():
    state = first_controller(KIP_631.session_timeout_ms)
    known = on_broker_registration_request(state, BrokerRegistrationRequest(1, FIRST), 0, KIP_631)
    request = BrokerRegistrationRequest(1, SECOND)
    end = KIP_631.session_timeout_ms
    refused = on_broker_registration_request(known.state, request, end, KIP_631)
    assert refused.state.heartbeats == known.state.heartbeats
    later = on_broker_registration_request(refused.state, request, end + 1, KIP_631)
    assert later.effects[-1].response.error_code is ErrorCode.NONE


def test_a_session_that_begins_with_a_registration_ends_without_a_heartbeat():
    published = with_profile(Defaults(NodeId(1)), KIP_631)
    assert published.profile is KIP_631
    player = Player(first_state(Configuration(published, (VERSION,)), 0), OPERATIONS)
    player.lead()
    player.now_ms = 5
    player.ask(BrokerRegistrationRequest(1, FIRST, features=FEATURES, log_dirs=(directory(1),)))
    assert replies(player.commit_all())[-1] == ("t", ErrorCode.NONE)
    assert heartbeat_state(player.state.heartbeats, 1).contact_time_ms == 5
    player.now_ms += KIP_631.session_timeout_ms
    refused = BrokerRegistrationRequest(1, SECOND, features=FEATURES, log_dirs=(directory(1),))
    assert replies(player.ask(refused)) == [("t", ErrorCode.DUPLICATE_BROKER_REGISTRATION)]
    player.now_ms += 1
    player.ask(refused)
    assert replies(player.commit_all()) == [("t", ErrorCode.NONE)]


def test_with_a_broker_timeout_a_process_fences_itself():
    timeout_ms = replace(KIP_631, broker_timeout_ms=20_000).broker_timeout_ms
    process = BrokerLifecycle(
        1, FIRST, timeout_ms, state=BrokerState.RUNNING, broker_epoch=1, lease_start_ms=0
    )
    assert is_serving(process, 20_000)
    assert not is_serving(process, 20_001)


def test_only_the_records_of_the_text_can_be_written_in_its_profile():
    for api_key in KIP_631_SCHEMAS:
        assert decode_value(encode_value(api_key, 0, {}, KIP_631), KIP_631).api_key == api_key
        with pytest.raises(ValueError, match="no metadata record"):
            encode_value(api_key, 1, {}, KIP_631)
    with pytest.raises(ValueError, match="api key 15"):
        encode_value(15, 0, {}, KIP_631)
