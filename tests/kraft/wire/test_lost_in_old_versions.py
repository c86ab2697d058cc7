"""What an older version of a message cannot carry, and what a receiver takes it for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kraft.wire.drawn_fields import AROUND, EXAMPLES, drawn_fields, through_bytes

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, ReplicaKey
from kraft.records.codec import UnsupportedFieldError
from kraft.rpc.alter_partition import BrokerState
from kraft.rpc.update_features import UpgradeType
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_map import Malformed, Refusal
from kraft.wire.message_maps import MESSAGE_MAPS


def _each(attribute, **lost):
    """Return the loss of attributes of each value in a tuple."""
    return lambda value: {
        attribute: tuple(replace(one, **lost) for one in getattr(value, attribute))
    }


def _upgrades_and_safe_downgrades(value):
    kinds = {True: UpgradeType.UPGRADE, False: UpgradeType.SAFE_DOWNGRADE}
    return {
        "feature_updates": tuple(
            replace(one, upgrade_type=kinds[one.upgrade_type is UpgradeType.UPGRADE])
            for one in value.feature_updates
        )
    }


def _candidates_without_directories(value):
    return {
        "preferred_candidates": tuple(ReplicaKey(k.node_id) for k in value.preferred_candidates)
    }


def _isr_without_epochs(value):
    return {
        "partitions": tuple(
            replace(
                one,
                new_isr_with_epochs=tuple(
                    BrokerState(b.broker_id) for b in one.new_isr_with_epochs
                ),
            )
            for one in value.partitions
        )
    }


def _replicas(**lost):
    def of(value):
        return {
            name: tuple(
                replace(one, key=ReplicaKey(one.key.node_id), **lost)
                for one in getattr(value, name)
            )
            for name in ("voters", "observers")
        }

    return of


def _configs_without_documentation(value):
    return {
        "results": tuple(
            replace(
                one,
                configs=tuple(replace(c, config_type=0, documentation=None) for c in one.configs),
            )
            for one in value.results
        )
    }


_NO_FEATURES = {
    "supported_features": (),
    "finalized_features": (),
    "finalized_features_epoch": -1,
    "zk_migration_ready": False,
}
_NO_EFFECT = {
    "num_partitions": -1,
    "replication_factor": -1,
    "configs": (),
    "topic_config_error_code": ErrorCode.NONE,
}
LOST_IN_REQUESTS = {
    1: {17: {"high_watermark": 2**63 - 1}, 16: {"replica_directory_id": None}},
    18: {2: {"client_software_name": "", "client_software_version": ""}},
    32: {2: {"include_documentation": False}},
    38: {2: {"owner": None}},
    43: {0: {"election_type": 0}},
    45: {0: {"allow_replication_factor_change": True}},
    52: {
        1: {"pre_vote": False},
        0: {"voter_id": -1, "voter_directory_id": None, "candidate_directory_id": None},
    },
    53: {0: {"voter_id": -1, "voter_directory_id": None, "leader_endpoints": ()}},
    54: {0: lambda value: {"leader_endpoints": (), **_candidates_without_directories(value)}},
    56: {2: _isr_without_epochs},
    57: {0: lambda value: {"validate_only": False, **_upgrades_and_safe_downgrades(value)}},
    59: {0: {"replica_directory_id": None}},
    60: {1: {"include_fenced_brokers": False}},
    62: {
        2: {"previous_broker_epoch": -1},
        1: {"log_dirs": ()},
        0: {"is_migrating_zk_broker": False},
    },
    63: {0: {"offline_log_dirs": ()}},
}
"""By API: from which version on downwards attributes of the request are lost, and their values."""
LOST_IN_RESPONSES = {
    18: {2: _NO_FEATURES},
    19: {6: _each("topics", topic_id=ZERO_UUID), 4: _each("topics", **_NO_EFFECT)},
    32: {2: _configs_without_documentation},
    38: {2: {"requester": ""}},
    41: {2: _each("tokens", requester="")},
    43: {0: {"error_code": ErrorCode.NONE}},
    55: {1: _replicas(), 0: _replicas(last_fetch_time=-1, last_caught_up_time=-1)},
    60: {1: _each("brokers", is_fenced=False), 0: {"endpoint_type": 1}},
}
MUST_NOT_GET_LOST = {
    32: (2, ("include_documentation",)),
    38: (2, ("owner",)),
    43: (0, ("election_type",)),
    45: (0, ("allow_replication_factor_change",)),
    52: (1, ("pre_vote",)),
    57: (0, ("validate_only",)),
    60: (1, ("include_fenced_brokers",)),
    62: (0, ("is_migrating_zk_broker",)),
    63: (0, ("offline_log_dirs",)),
}
"""By API: the last version that cannot carry attributes of the request that must not get lost."""
OLDEST_SERVED = {1: 13, 60: 1}
"""Versions before these are always refused."""


def _after(value, losses, version):
    for last, lost in losses.items():
        if version <= last:
            value = replace(value, **(lost(value) if callable(lost) else lost))
    return value


def _older(key):
    newest = CONTROLLER_APIS[key].request.newest
    return range(OLDEST_SERVED.get(key, CONTROLLER_APIS[key].request.oldest), newest)


REQUESTS = [(key, v) for key in MESSAGE_MAPS if key not in {17, 20, 36} for v in _older(key)]
RESPONSES = [(key, v) for key in MESSAGE_MAPS if key not in {17, 20, 36, 73} for v in _older(key)]


@pytest.mark.parametrize(("key", "version"), REQUESTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_an_old_request_loses_what_the_table_says(key, version, data):
    api, message = CONTROLLER_APIS[key], MESSAGE_MAPS[key]
    newest = data.draw(drawn_fields(api.request, api.request.newest))
    value = message.request_of(newest, api.request.newest, AROUND)
    if isinstance(value, Refusal | Malformed):
        return
    expected = _after(value, LOST_IN_REQUESTS.get(key, {}), version)
    last, attributes = MUST_NOT_GET_LOST.get(key, (-1, ()))
    lost = [one for one in attributes if getattr(value, one) != getattr(expected, one)]
    if version <= last and lost:
        with pytest.raises(UnsupportedFieldError, match=r"this version has no such field"):
            message.request_fields(value, version)
        return
    sent = through_bytes(api.request, version, message.request_fields(value, version))
    assert message.request.decoded(sent, version) == expected


@pytest.mark.parametrize(("key", "version"), RESPONSES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_an_old_response_loses_what_the_table_says(key, version, data):
    api, message = CONTROLLER_APIS[key], MESSAGE_MAPS[key]
    newest = data.draw(drawn_fields(api.response, api.response.newest))
    value = message.response_of(newest, api.response.newest)
    sent = through_bytes(api.response, version, message.response.encoded(value, version))
    expected = _after(value, LOST_IN_RESPONSES.get(key, {}), version)
    assert message.response_of(sent, version) == expected
