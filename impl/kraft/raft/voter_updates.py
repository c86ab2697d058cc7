"""A follower asks its leader to write its endpoints and supported versions into the voters record.

A leader writes its own when its epoch begins: `leadership`.

Kafka: KafkaRaftClient.pollFollowerAsVoter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.raft.connections import accept, can_send, send
from kraft.raft.responses import handle_common
from kraft.raft.roles import Follower
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.raft.voter_records import local_voter
from kraft.rpc.raft_voters import UpdateRaftVoterRequest

if TYPE_CHECKING:
    from kraft.raft.events import ResponseReceived
    from kraft.raft.state import RaftState
    from kraft.rpc.raft_voters import UpdateRaftVoterResponse


def maybe_send_update_voter(turn: Turn) -> bool:
    """Ask the leader to update this voter, if it is time and its record is out of date.

    True: it was asked, and gets no Fetch in this step. If the record is current, the next check is
    a period later. While the leader cannot be asked, the update stays due.

    Kafka: KafkaRaftClient.pollFollowerAsVoter, maybeSendUpdateVoterRequest.
    """
    role = turn.role
    local = local_voter(turn.configuration)
    if not isinstance(role, Follower) or local is None or turn.now < role.update_voter_deadline:
        return False
    needs_update = turn.controls.version > 0 and turn.voters.needs_update(local)
    if needs_update and not can_send(turn, role.leader_id):
        return False
    deadline = turn.now + turn.configuration.timeouts.update_voter
    turn.role = replace(role, update_voter_deadline=deadline)
    if needs_update:
        request = UpdateRaftVoterRequest(
            turn.configuration.cluster_id,
            role.epoch,
            local.key.node_id,
            local.key.directory_id,
            local.endpoints,
            local.minimum_version,
            local.maximum_version,
        )
        send(turn, role.leader_id, request)
    return needs_update


def on_update_voter_response(
    state: RaftState, event: ResponseReceived, response: UpdateRaftVoterResponse
) -> Step:
    """Handle the epoch in the answer; the log will tell whether the voter is updated.

    Spec: KRaftElection!DiscoverEpoch, KRaftElection!IgnoreResponse.
    Kafka: KafkaRaftClient.handleUpdateVoterResponse.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    handle_common(turn, response.error_code, response.epoch, response.leader_id)
    return turn.step()
