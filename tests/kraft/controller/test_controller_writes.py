"""Requests: their records, when they are answered, and failures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.controller.controller_runs import (
    Get,
    Put,
    active,
    config,
    put,
    reason,
    replies,
    value_of,
)

from kraft.controller import events
from kraft.controller.effects import Append, Fatal, Reply, Resign
from kraft.controller.empty_requests import empty_answer
from kraft.controller.operation_context import new_uuids
from kraft.controller.operation_table import OPERATIONS, Operations
from kraft.controller.operations.result import Result
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, BrokerId, Offset, uuid_bytes
from kraft.records.lease import UnregisterBrokerRecord
from kraft.rpc.access_control import CreateAclsRequest
from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kraft.rpc.client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from kraft.rpc.configurations import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
)
from kraft.rpc.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsRequest,
)
from kraft.rpc.scram import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
)
from kraft.rpc.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kraft.rpc.update_features import UpdateFeaturesRequest


def test_a_write_is_answered_when_it_is_committed_and_not_before() -> None:
    player = active()
    assert replies(player.ask(put(a="1"))) == []
    assert value_of(player.image, "a") is None
    assert replies(player.commit()) == [("t", "done")]
    assert value_of(player.image, "a") == "1"


def test_a_write_is_checked_against_what_is_not_committed_yet() -> None:
    player = active()
    player.ask(put(a="1"), "first")
    player.ask(Put((("a", "2"),), expected="1"), "second")
    assert replies(player.commit_all()) == [("first", "done"), ("second", "done")]
    assert value_of(player.image, "a") == "2"


def test_a_write_without_records_waits_for_the_last_pending_write() -> None:
    player = active()
    player.ask(put(a="1"), "first")
    player.ask(put(b="1"), "second")
    assert replies(player.ask(Put(()), "nothing")) == []
    assert replies(player.commit()) == [("first", "done")]
    assert replies(player.commit()) == [("second", "done"), ("nothing", "done")]


def test_a_write_without_records_is_answered_at_once_if_nothing_is_pending() -> None:
    assert replies(active().ask(Put(()))) == [("t", "done")]


def test_a_refusal_based_on_uncommitted_state_waits_for_its_commit() -> None:
    player = active()
    player.ask(put(a="1"), "first")
    assert replies(player.ask(Put((("a", "2"),), expected="0"), "refused")) == []
    answers = replies(player.commit())
    assert answers == [("first", "done"), ("refused", ErrorCode.INVALID_REQUEST)]
    assert is_active(player.state)


def test_a_refusal_is_answered_at_once_if_nothing_is_pending_and_the_controller_stays_active() -> (
    None
):
    player = active()
    effects = player.ask(Put((("a", "2"),), expected="0"))
    assert replies(effects) == [("t", ErrorCode.INVALID_REQUEST)]
    assert is_active(player.state)
    assert not any(isinstance(one, Append | Resign) for one in effects)


def test_a_read_sees_only_stable_state() -> None:
    player = active()
    player.ask(put(a="1"))
    assert replies(player.ask(Get("a"))) == [("t", None)]
    player.commit()
    assert replies(player.ask(Get("a"))) == [("t", "1")]


def test_a_standby_answers_reads_and_refuses_writes() -> None:
    player = active()
    player.follow(2)
    player.write(2, (config("a", "1"),))
    player.commit_all()
    assert replies(player.ask(Get("a"))) == [("t", "1")]
    assert replies(player.ask(put(a="2"))) == [("t", ErrorCode.NOT_CONTROLLER)]


def test_an_atomic_result_of_too_many_records_makes_the_controller_step_back() -> None:
    player = active()
    many = tuple((f"k{i}", "1") for i in range(10_001))
    player.ask(put(a="1"), "before")
    effects = player.ask(Put(many))
    assert isinstance(effects[0], Resign)
    assert replies(effects) == [
        ("before", ErrorCode.NOT_CONTROLLER),
        ("t", ErrorCode.UNKNOWN_SERVER_ERROR),
    ]
    assert not is_active(player.state)
    assert value_of(player.state.written.image, "k0") is None


def test_ten_thousand_records_are_one_atomic_batch() -> None:
    player = active()
    player.ask(Put(tuple((f"k{i}", "1") for i in range(10_000))))
    assert len(player.log[-1].records) == 10_000


def test_a_large_result_that_is_not_atomic_goes_in_batches_of_which_a_prefix_may_survive() -> None:
    player = active()
    many = tuple((f"k{i}", "1") for i in range(25_000))
    player.ask(Put(many, is_atomic=False))
    assert [len(one.records) for one in player.log[-3:]] == [10_000, 10_000, 5_000]
    assert replies(player.commit(2)) == []
    player.follow(2)
    assert value_of(player.image, "k19999") == "1"
    assert value_of(player.state.written.image, "k20000") is None


def test_a_large_result_is_answered_with_its_last_batch() -> None:
    player = active()
    player.ask(Put(tuple((f"k{i}", "1") for i in range(25_000)), is_atomic=False))
    assert replies(player.commit(2)) == []
    assert replies(player.commit()) == [("t", "done")]


def test_an_exception_in_an_operation_makes_the_controller_step_back() -> None:
    player = active()
    effects = player.ask(Put((), fails=True))
    assert [type(one) for one in effects] == [Resign, Reply]
    assert replies(effects) == [("t", ErrorCode.UNKNOWN_SERVER_ERROR)]
    assert not is_active(player.state)


def test_a_generated_record_that_cannot_be_replayed_is_fatal() -> None:
    wrong = UnregisterBrokerRecord(BrokerId(9), BrokerEpoch(0))
    operations = Operations({Put: lambda _: Result((config("a", "1"), wrong), None)}, {})
    player = active()
    player.operations = operations
    before = player.state
    offset = player.log_end + 1
    assert reason(player.ask(Put(()))).startswith(f"offset {offset}: UnregisterBrokerRecord: ")
    assert player.state == before


def test_an_unknown_request_is_refused() -> None:
    assert replies(active().ask(object())) == [("t", ErrorCode.UNSUPPORTED_VERSION)]


def test_a_batch_begins_where_raft_says_after_control_records() -> None:
    player = active()
    end = player.log_end
    player.write(1, (), 2)
    event = events.RequestReceived(0, "t", put(a="1"), log_end=Offset(end + 2), kraft_version=0)
    (append,) = player.handle(event)
    assert isinstance(append, Append)
    assert append.base_offset == end + 2
    assert replies(player.commit_all()) == [("t", "done")]


def test_every_request_of_kafka_finds_its_operation() -> None:
    player = active()
    player.operations = OPERATIONS
    request = CreateTopicsRequest((CreatableTopic("t", assignments=((0, (BrokerId(1),)),)),))
    ((token, response),) = replies(player.ask(request, "create"))
    assert token == "create"
    assert response.topics[0].error_code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    ((_, response),) = replies(player.ask(DeleteTopicsRequest(new_uuids(7, 1)), "delete"))
    assert response.responses[0][1] is ErrorCode.UNKNOWN_TOPIC_ID
    ((_, response),) = replies(player.ask(ListPartitionReassignmentsRequest(), "list"))
    assert response.topics == ()


def test_new_ids_are_uuids_and_differ() -> None:
    ids = new_uuids(1, 3) + new_uuids(2, 3)
    assert len(set(ids)) == 6
    assert all(len(uuid_bytes(one)) == 16 for one in ids)


def test_a_dry_run_writes_nothing() -> None:
    player = active()
    player.operations = OPERATIONS
    asked = CreatableTopic("t", num_partitions=1, replication_factor=1)
    effects = player.ask(CreateTopicsRequest((asked,), validate_only=True))
    assert not any(isinstance(one, Append) for one in effects)


def test_offsets_keep_their_order() -> None:
    player = active()
    for value in "123":
        player.ask(put(a=value), value)
        state = player.state
        assert state.stable_end <= state.committed_end < state.write_end
    assert replies(player.commit_all()) == [(value, "done") for value in "123"]
    state = player.state
    assert state.stable_end == state.committed_end == state.write_end


def test_a_controller_does_not_replay_its_own_committed_records_again() -> None:
    player = active()
    player.ask(put(a="1"))
    written = player.state.written
    player.commit()
    assert player.state.written is written


def test_a_committed_batch_of_another_controller_is_fatal_while_active() -> None:
    player = active()
    player.write(1, (config("a", "1"),))
    assert "did not append" in reason(player.commit())
    player = active()
    player.ask(put(a="1"))
    player.log[-1] = replace(player.log[-1], epoch=2)
    assert "did not append" in reason(player.commit())
    assert isinstance(player.effects[0], Fatal)


EMPTY = [
    (AlterPartitionRequest(BrokerId(9), BrokerEpoch(-1), ()), AlterPartitionResponse()),
    (AlterUserScramCredentialsRequest(), AlterUserScramCredentialsResponse(())),
    (CreateTopicsRequest(()), CreateTopicsResponse(())),
    (CreatePartitionsRequest(()), CreatePartitionsResponse(())),
    (DeleteTopicsRequest(()), DeleteTopicsResponse(())),
    (ElectLeadersRequest(7, ()), ElectLeadersResponse()),
    (IncrementalAlterConfigsRequest(()), AlterConfigsResponse(())),
    (AlterConfigsRequest(()), AlterConfigsResponse(())),
    (AlterPartitionReassignmentsRequest(()), AlterPartitionReassignmentsResponse(())),
    (AlterClientQuotasRequest(()), AlterClientQuotasResponse(())),
]


@pytest.mark.parametrize(
    ("request_", "answer"), EMPTY, ids=[type(one).__name__ for one, _ in EMPTY]
)
def test_a_request_for_nothing_is_answered_at_once_by_any_controller(request_, answer) -> None:
    player = active()
    player.ask(put(a="1"), "pending")
    before = player.state
    assert player.ask(request_) == (Reply("t", answer),)
    assert player.state is before
    player.follow(2)
    assert player.ask(request_) == (Reply("t", answer),)


def test_a_request_without_a_list_asks_for_everything_and_one_of_two_lists_for_something() -> None:
    assert empty_answer(ElectLeadersRequest(0, None)) is None
    assert empty_answer(DeleteTopicsRequest(new_uuids(7, 1))) is None
    deletion = ScramCredentialDeletion("ann", 1)
    assert empty_answer(AlterUserScramCredentialsRequest((deletion,))) is None
    player = active()
    player.follow(2)
    for request in (CreateAclsRequest(()), UpdateFeaturesRequest(())):
        assert replies(player.ask(request)) == [("t", ErrorCode.NOT_CONTROLLER)]
