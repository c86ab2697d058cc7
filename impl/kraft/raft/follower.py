"""Fetching at a follower, and at a replica that looks for a leader.

A voter that follows writes and flushes fetched records before anything else: its next fetch says
that it has them. So does a controller that may become a voter. A broker leaves the flush to the
operating system.

Spec: KRaft!SendFetch, AppendFetched, TruncateDiverging, BeginSnapshotFetch.
Kafka: KafkaRaftClient.pollFollower, buildFetchRequest, handleFetchResponse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import CorruptRecordError, ErrorCode
from kraft.ids import NodeId
from kraft.log.batches import read_batches
from kraft.raft import snapshots, voter_updates
from kraft.raft.configuration import MILLISECOND
from kraft.raft.connections import accept, back_off, can_send, nothing_under_way, ready_at, send
from kraft.raft.contact import heard_leader
from kraft.raft.effects import AppendLog, Fatal, FlushLog, TruncateLog
from kraft.raft.high_watermark import update_follower_high_watermark
from kraft.raft.quorum import become_prospective
from kraft.raft.responses import handle_common
from kraft.raft.roles import NEVER, Follower, Unattached
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.rpc.fetch import FetchRequest

if TYPE_CHECKING:
    from kraft.ids import OffsetAndEpoch
    from kraft.raft.configuration import Configuration
    from kraft.raft.events import ResponseReceived
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet
    from kraft.rpc.fetch import FetchResponse


def poll_follower(turn: Turn) -> bool:
    """Do what is due first at a follower or a replica without a leader; False: nothing is.

    A voter whose leader has not answered for too long stands for election. An observer then asks
    other nodes for the leader.

    Spec: KRaft!SendFetch, KRaft!SendFetchSnapshot, KRaftElection!BecomeProspective.
    Kafka: KafkaRaftClient.pollFollowerAsVoter, pollFollowerAsObserver.
    """
    role = turn.role
    if isinstance(role, Unattached):
        return _fetch_from_bootstrap_server(turn)
    if not isinstance(role, Follower):
        return False
    if not turn.is_voter:
        if not nothing_under_way(turn):
            return False
        mistrusts = turn.now >= role.fetch_deadline or not can_send(turn, role.leader_id)
        if mistrusts and _fetch_from_bootstrap_server(turn):
            return True
    elif turn.now >= role.fetch_deadline:
        become_prospective(turn)
        return True
    if not can_send(turn, role.leader_id):
        return False
    if turn.is_voter and voter_updates.maybe_send_update_voter(turn):
        return True
    if role.fetching_snapshot is not None:
        snapshots.send_fetch_snapshot(turn, role.fetching_snapshot)
    else:
        send_fetch(turn, role.leader_id)
    return True


def follower_deadline(state: RaftState) -> int:
    """Return when `poll_follower` has something to do: NEVER while only an answer can change that.

    Kafka: KafkaRaftClient.pollFollower.
    """
    role = state.role
    key = state.configuration.key
    if isinstance(role, Follower) and key is not None and state.controls.voters.is_voter(key):
        return min(role.fetch_deadline, ready_at(state, role.leader_id))
    for connection in state.connections.values():
        if connection.correlation_id is not None:
            return NEVER
    servers = bootstrap_servers(state.configuration, state.controls.voters)
    deadline = min((ready_at(state, node) for node in servers), default=NEVER)
    if isinstance(role, Follower):
        deadline = min(deadline, ready_at(state, role.leader_id))
    return deadline


def bootstrap_servers(configuration: Configuration, voters: VoterSet) -> tuple[NodeId, ...]:
    """Return the nodes that a replica asks for the leader: its bootstrap servers, else the voters.

    Spec: KRaft!BootstrapServers. Kafka: RequestManager.bootstrapServers.
    """
    servers = configuration.bootstrap_servers or voters.node_ids
    return tuple(node for node in servers if node != configuration.node_id)


def _fetch_from_bootstrap_server(turn: Turn) -> bool:
    """Fetch from any server, if nothing else is under way: two answers could bring one offset.

    Spec: KRaft!SendFetch.
    Kafka: KafkaRaftClient.maybeSendFetchToAnyBootstrap, RequestManager.findReadyBootstrapServer.
    """
    if not nothing_under_way(turn):
        return False
    servers = bootstrap_servers(turn.configuration, turn.controls.voters)
    ready = [node for node in servers if can_send(turn, node)]
    if not ready:
        return False
    send_fetch(turn, ready[turn.draw(len(ready))])
    return True


def send_fetch(turn: Turn, node: NodeId) -> None:
    """Ask a node for what follows the end of the log.

    Spec: KRaft!SendFetch. Kafka: KafkaRaftClient.buildFetchRequest.
    """
    configuration, known = turn.configuration, turn.high_watermark
    end_offset, last_epoch = turn.log.end
    request = FetchRequest(
        configuration.cluster_id,
        NodeId(-1) if configuration.node_id is None else configuration.node_id,
        configuration.directory_id,
        turn.role.epoch,
        end_offset,
        last_epoch,
        configuration.timeouts.fetch_maximum_wait // MILLISECOND,
        configuration.maximum_fetch_bytes,
        -1 if known is None else known,
    )
    send(turn, node, request)


def on_fetch_response(state: RaftState, event: ResponseReceived, response: FetchResponse) -> Step:
    """Handle the leader's answer: records, an offset to truncate to, or a snapshot to load.

    Records that cannot be appended count as lost: the replica asks again a little later, and its
    fetch timer runs on. A truncation below the high watermark ends the process.

    Spec: KRaft!AppendFetched, TruncateDiverging, BeginSnapshotFetch, TruncatesCommitted.
    Kafka: KafkaRaftClient.handleFetchResponse.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    error, role = response.error_code, turn.role
    if handle_common(turn, error, response.epoch, response.leader_id):
        _hear_of_same_leader(turn, event, response)
    elif error != ErrorCode.NONE:
        back_off(turn, event.sender)
    elif isinstance(role, Follower) and event.sender == role.leader_id:
        if response.diverging is not None:
            _truncate(turn, role, response.diverging)
        elif response.snapshot_id is not None:
            _begin_snapshot_fetch(turn, role, event.sender, response.snapshot_id)
        else:
            _append(turn, role, event.sender, response)
    return turn.step()


def _append(turn: Turn, role: Follower, leader: NodeId, response: FetchResponse) -> None:
    """Write the records, flush them unless this is a broker, then raise the high watermark.

    Batches are appended as they are or not at all: whole, with their CRC, at the end of this log,
    of epochs that do not descend and of none that is to come.

    Spec: KRaft!AppendFetched, KRaftState!FlushedFetching.
    Kafka: KafkaRaftClient.appendAsFollower.
    """
    # The voters before these records count: a leader adds only what it knows to flush.
    flushes = turn.is_voter or turn.configuration.followers_always_flush
    if response.records:
        try:
            batches = read_batches(response.records)
            log = turn.log.append(batches)
            controls = turn.controls
            if any(batch.controls for batch in batches):
                controls = controls.with_batches(batches)
        except (CorruptRecordError, ValueError):
            back_off(turn, leader)
            return
        if batches[-1].epoch > role.epoch:
            back_off(turn, leader)
            return
        turn.log, turn.controls = log, controls
        turn.do(AppendLog(batches))
        if flushes:
            turn.do(FlushLog())
    update_follower_high_watermark(turn, response.high_watermark)
    heard_leader(turn, role, None)


def _truncate(turn: Turn, role: Follower, diverging: OffsetAndEpoch) -> None:
    """Cut the log back to where it can agree with the leader's.

    Spec: KRaft!TruncateDiverging, KRaft!TruncationPoint, KRaft!TruncatesCommitted.
    Kafka: ReplicatedLog.truncateToEndOffset, KafkaMetadataLog.truncateTo.
    """
    log = turn.log
    known = log.start_offset if turn.high_watermark is None else turn.high_watermark
    own = log.end_offset_for_epoch(diverging.epoch)
    if diverging.epoch == 0:
        # Before every epoch: the logs have none in common.
        end = min(diverging.end_offset, log.end_offset)
    elif own.epoch != diverging.epoch:
        end = own.end_offset
    else:
        end = min(own.end_offset, diverging.end_offset)
    cut = log.truncate(end) if end >= log.start_offset else None
    if diverging.end_offset < known or cut is None or cut.end_offset < known:
        turn.do(
            Fatal(
                f"the leader of epoch {role.epoch} has epoch {diverging.epoch} up to offset"
                f" {diverging.end_offset}, so the log would be cut at {end}; but up to {known}"
                " it is committed"
            )
        )
        return
    if cut is not log:
        turn.do(TruncateLog(cut.end_offset))
        turn.log = cut
        turn.controls = turn.controls.truncated(cut.end_offset)
    heard_leader(turn, role, None)


def _begin_snapshot_fetch(
    turn: Turn, role: Follower, leader: NodeId, snapshot_id: OffsetAndEpoch
) -> None:
    """Load the snapshot that the leader names, which is not compared with the log.

    Spec: KRaft!BeginSnapshotFetch. Kafka: FollowerState.setFetchingSnapshot.
    """
    if snapshot_id.end_offset < 0 or snapshot_id.epoch < 0:
        back_off(turn, leader)
    else:
        heard_leader(turn, role, snapshot_id)


def _hear_of_same_leader(turn: Turn, event: ResponseReceived, response: FetchResponse) -> None:
    """Let an observer that asked another trust its leader again, if that names the same one.

    Kafka: KafkaRaftClient.maybeHandleCommonResponse.
    """
    role = turn.role
    if (
        isinstance(role, Follower)
        and not turn.is_voter
        and event.sender != role.leader_id
        and (response.epoch, response.leader_id) == (role.epoch, role.leader_id)
    ):
        turn.role = replace(role, fetch_deadline=turn.now + turn.configuration.timeouts.fetch)
