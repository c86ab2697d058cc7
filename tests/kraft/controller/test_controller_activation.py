"""A controller becomes active: its first records, and when it must not go on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.controller.controller_runs import (
    CONFIGURATION,
    LATEST,
    OTHER,
    VERSION,
    Player,
    active,
    config,
    put,
    reason,
    replies,
    value_of,
)

from kraft.controller import events
from kraft.controller.activation import activation_records
from kraft.controller.configuration import Configuration
from kraft.controller.effects import Append
from kraft.controller.machine import next_deadline
from kraft.controller.memory import EMPTY
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.controller.state import NEVER, first_state, is_active
from kraft.ids import NodeId
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
)
from kraft.records.topics import ConfigRecord


def _names(effects: object) -> list[list[str]]:
    assert isinstance(effects, tuple)
    return [
        [type(record).__name__.removesuffix("Record") for record in one.records]
        for one in effects
        if isinstance(one, Append)
    ]


def _with_version(version: int) -> Configuration:
    return replace(CONFIGURATION, bootstrap=(FeatureLevelRecord(METADATA_VERSION, version),))


def test_the_first_controller_writes_the_bootstrap_records_in_a_transaction() -> None:
    player = Player()
    effects = player.lead()
    assert _names(effects) == [["BeginTransaction", "FeatureLevel", "EndTransaction"]]
    assert effects[0].epoch == 1
    assert effects[0].metadata_version == LATEST
    assert player.image.metadata_version is None
    player.commit_all()
    assert player.image.metadata_version == LATEST


def test_the_second_controller_writes_nothing_at_first() -> None:
    player = active()
    player.follow(2)
    assert _names(player.lead(3)) == []
    assert is_active(player.state)


def test_without_transactions_the_bootstrap_records_are_one_atomic_batch() -> None:
    player = Player(first_state(_with_version(12), 0))
    assert _names(player.lead()) == [["FeatureLevel"]]
    result = activation_records(EMPTY, _with_version(12))
    assert result.is_atomic
    assert not activation_records(EMPTY, CONFIGURATION).is_atomic


def test_many_bootstrap_records_without_transactions_are_too_many_for_a_batch() -> None:
    many = replace(_with_version(12), max_records_per_batch=2)
    many = replace(many, bootstrap=(*many.bootstrap, config("a", "1"), config("b", "1")))
    player = Player(first_state(many, 0))
    player.lead()
    assert not is_active(player.state)


def test_bootstrap_records_in_several_batches_become_visible_together() -> None:
    many = replace(CONFIGURATION, max_records_per_batch=2)
    many = replace(many, bootstrap=(VERSION, config("a", "1"), config("b", "1")))
    player = Player(first_state(many, 0))
    assert _names(player.lead()) == [
        ["BeginTransaction", "FeatureLevel"],
        ["Config", "Config"],
        ["EndTransaction"],
    ]
    player.commit(2)
    assert player.image.metadata_version is None
    player.commit()
    assert value_of(player.image, "b") == "1"


def test_a_half_bootstrap_is_aborted_and_all_of_it_is_written_again() -> None:
    player = Player()
    player.write(1, (), 1)
    player.write(1, (BeginTransactionRecord("Bootstrap records"), VERSION))
    player.commit_all()
    effects = player.lead(2)
    assert _names(effects) == [
        ["AbortTransaction", "BeginTransaction", "FeatureLevel", "EndTransaction"]
    ]
    player.commit_all()
    assert player.image.metadata_version == LATEST


def test_an_open_transaction_is_aborted_before_anything_else_is_written() -> None:
    player = active()
    player.follow(2)
    player.write(2, (BeginTransactionRecord(), config("a", "1")))
    player.commit_all()
    effects = player.lead(3)
    assert _names(effects) == [["AbortTransaction"]]
    assert value_of(player.state.written.image, "a") is None
    player.commit_all()
    assert player.state.stable_end == player.log_end


def test_a_half_bootstrap_under_a_version_without_transactions_is_fatal() -> None:
    player = Player(first_state(_with_version(12), 0))
    player.write(1, (BeginTransactionRecord(), config("a", "1")))
    assert "a transaction is open at offset 0" in reason(player.lead(2))


def test_an_open_transaction_under_a_version_without_transactions_is_fatal() -> None:
    player = Player(first_state(_with_version(12), 0))
    player.write(1, (FeatureLevelRecord(METADATA_VERSION, 12),))
    player.write(1, (BeginTransactionRecord(),))
    player.commit_all()
    assert "metadata version 12 has none" in reason(player.lead(2))
    assert not is_active(player.state)


def test_bootstrapping_eligible_leader_replicas_sets_the_cluster_wide_minimum_isr() -> None:
    elr = FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1)
    configuration = Configuration(
        Defaults(NodeId(1), min_insync_replicas=2), bootstrap=(VERSION, elr)
    )
    records = activation_records(EMPTY, configuration).records
    assert ConfigRecord(4, "", "min.insync.replicas", "2") in records
    assert isinstance(records[-1], EndTransactionRecord)


def test_a_request_during_the_activation_is_written_after_it() -> None:
    player = Player()
    player.lead()
    assert replies(player.ask(put(a="1"))) == []
    assert next(type(one) for one in player.log[1].records) is BeginTransactionRecord
    assert player.log[2].records == (config("a", "1"),)


def test_a_new_claim_gives_every_unfenced_broker_a_session() -> None:
    player = Player()
    player.now_ms = 70
    player.lead()
    assert player.state.heartbeats is not None
    assert player.state.heartbeats.session_timeout_ms == 9_000


def test_a_standby_stays_a_standby_when_another_node_leads() -> None:
    player = active()
    player.follow(2)
    before = player.state
    assert player.handle(events.LeaderChanged(0, 3, OTHER)) == ()
    assert player.state == before


def test_a_reelected_controller_stays_active_under_the_new_epoch() -> None:
    player = active()
    player.handle(events.LeaderChanged(0, 5, NodeId(1)))
    player.ask(put(a="1"))
    (append,) = (one for one in player.effects if isinstance(one, Append))
    assert append.epoch == 5


def test_a_controller_that_is_not_active_has_nothing_to_do() -> None:
    assert next_deadline(Player().state) == NEVER


@pytest.mark.parametrize("record", [AbortTransactionRecord(), EndTransactionRecord()])
def test_an_end_without_a_transaction_is_fatal(record: AbortTransactionRecord) -> None:
    player = Player()
    player.write(1, (VERSION, record))
    assert "offset 1" in reason(player.commit_all())
