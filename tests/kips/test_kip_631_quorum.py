"""KIP-631 on the controllers of a quorum: who is active, what is visible when, and snapshots."""

from __future__ import annotations

from dataclasses import replace

from tests.kips.sentences import sentence
from tests.kraft.controller.controller_runs import (
    CONFIGURATION,
    ME,
    VERSION,
    Player,
    active,
    config,
    put,
    replies,
    value_of,
)

from kraft.controller import events
from kraft.controller.effects import CreateSnapshot
from kraft.controller.machine import next_deadline
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.state import first_state, is_active
from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch
from kraft.rpc import BrokerHeartbeatRequest


def standby_of(player: Player) -> Player:
    """Return another controller that was handed all that is committed."""
    other = Player(log=player.log[: player.committed])
    other.commit_all()
    return other


# "The Metadata Topic".


@sentence("631-043")
def test_who_leads_the_quorum_is_the_active_controller() -> None:
    player = Player()
    player.follow(1)
    assert not is_active(player.state)
    player.handle(events.LeaderChanged(0, 2, ME))
    assert is_active(player.state)


@sentence("631-044")
def test_a_standby_takes_over_where_the_leader_failed() -> None:
    player = active()
    player.ask(put(a="1"))
    player.commit_all()
    other = standby_of(player)
    assert replies(other.ask(put(a="2"))) == [("t", ErrorCode.NOT_CONTROLLER)]
    other.lead(2)
    other.ask(put(b="2"))
    assert replies(other.commit_all()) == [("t", "done")]
    assert (value_of(other.image, "a"), value_of(other.image, "b")) == ("1", "2")


@sentence("631-045")
def test_every_controller_has_the_metadata_in_memory() -> None:
    player = active()
    player.ask(put(a="1"))
    player.commit_all()
    other = standby_of(player)
    assert not is_active(other.state)
    assert value_of(other.image, "a") == "1"
    assert other.state.written.image == player.state.written.image


# "Persistence and Visibility".


@sentence("631-051")
def test_a_change_is_answered_when_the_stable_offset_reaches_it() -> None:
    player = active()
    player.ask(put(a="1"), "first")
    player.ask(put(b="1"), "second")
    assert replies(player.commit()) == [("first", "done")]
    assert player.state.stable_end < player.state.write_end
    assert replies(player.commit()) == [("second", "done")]
    assert player.state.stable_end == player.state.write_end


@sentence("631-056")
def test_nobody_sees_a_change_before_it_is_persisted() -> None:
    player = active()
    player.ask(put(a="1"))
    assert value_of(player.state.written.image, "a") == "1"
    assert value_of(player.image, "a") is None
    assert value_of(standby_of(player).image, "a") is None
    player.commit_all()
    assert value_of(player.image, "a") == value_of(standby_of(player).image, "a") == "1"


@sentence("631-058")
def test_the_memory_of_a_standby_ends_at_the_stable_offset() -> None:
    player = active()
    player.ask(put(a="1"))
    other = standby_of(player)
    state = other.state
    assert state.write_end == state.stable_end == player.state.stable_end
    assert state.write_end < player.state.write_end


# "Snapshot Implementation".


@sentence("631-080")
def test_now_and_then_a_snapshot_has_all_changes_together() -> None:
    often = replace(CONFIGURATION, max_snapshot_interval_ms=60_000)
    player = Player(first_state(often, 0))
    player.lead()
    for value in "123":
        player.ask(put(a=value))
    player.commit_all()
    due_ms = next_deadline(player.state)
    assert due_ms == 60_000
    (snapshot,) = player.handle(events.Poll(due_ms))
    assert isinstance(snapshot, CreateSnapshot)
    assert snapshot.snapshot_id == OffsetAndEpoch(player.log_end, 1)
    assert snapshot.records == (VERSION, config("a", "3"))


# "BrokerHeartbeat".


@sentence("631-309")
def test_a_heartbeat_at_a_controller_that_is_not_active_is_refused() -> None:
    player = Player(operations=OPERATIONS)
    player.follow(1)
    heartbeat = BrokerHeartbeatRequest(1, 0, 0, want_fence=False, want_shut_down=False)
    assert replies(player.ask(heartbeat)) == [("t", ErrorCode.NOT_CONTROLLER)]
    player.lead(2)
    player.commit_all()
    assert replies(player.ask(heartbeat)) == [("t", ErrorCode.STALE_BROKER_EPOCH)]
