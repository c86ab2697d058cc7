"""Leaders whose log has the voters, and the requests that change them.

Node 1 leads epoch 5. Its log has three records, all committed: LeaderChange, KRaftVersion,
KRaftVoters; so the next record gets offset 3.
"""

from __future__ import annotations

from dataclasses import replace

from tests.kraft.raft.replicas import (
    CLUSTER_ID,
    EPOCH,
    NOW,
    Replica,
    directory,
    endpoints,
    key,
    leader,
    replica,
    voter_set,
)

from kraft.errors import ErrorCode
from kraft.ids import NodeId
from kraft.log.batches import controls_batch
from kraft.log.image import LogImage
from kraft.raft.accumulator import Accumulator
from kraft.raft.effects import AppendLog, SendResponse
from kraft.raft.roles import ReplicaProgress
from kraft.raft.voter_records import leader_change_record, version_record, voters_of, voters_record
from kraft.records.control_schemas import KRAFT_VOTERS
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.raft_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    ApiVersionsResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
)

END = 3
"""Where the log of a leader here ends."""

CAUGHT_UP = {2: END, 3: END, 4: END}


def voters_log(voters, *, version=1, epoch=EPOCH):
    records = [leader_change_record(1, voters.node_ids, (1,))]
    if version:
        records += [version_record(version), voters_record(voters)]
    return LogImage().append((controls_batch(0, epoch, 0, records),))


def leading(*nodes, voters=None, version=1, ends=None, high_watermark=END, **fields):
    """Return node 1 as the leader of these voters; `ends` are those of all logs that it knows.

    Whoever is in `ends` has just fetched and caught up.
    """
    voters = voter_set(*nodes) if voters is None else voters
    log = voters_log(voters, version=version)
    role = leader(
        voters=voters.node_ids,
        accumulator=Accumulator(EPOCH, log.end_offset, scheduled_end=log.end_offset),
    )
    progress = role.progress
    known = (
        {node: log.end_offset for node in voters.node_ids if node != 1} if ends is None else ends
    )
    for node, end in known.items():
        progress = progress.set(key(node), ReplicaProgress(key(node), end, NOW, END, NOW, NOW * 2))
    static = () if version else tuple(voters.node_ids)
    state = replica(
        replace(role, progress=progress),
        log=log,
        high_watermark=high_watermark,
        voters=static,
        **fields,
    )
    return Replica(state)


def knows(led, **progress):
    """Let a leader know something else of observer 4, which has fetched."""
    role = led.state.role
    known = replace(ReplicaProgress(key(4), END, NOW, END, NOW), **progress)
    led.state = replace(led.state, role=replace(role, progress=role.progress.set(key(4), known)))
    return led


def add(node=4, disk=0, **fields):
    return AddRaftVoterRequest(
        fields.get("cluster_id", CLUSTER_ID),
        1000,
        NodeId(node),
        fields.get("directory_id", directory(max(node, 0), disk)),
        fields.get("listeners", endpoints(max(node, 0))),
    )


def remove(node, disk=0, **fields):
    return RemoveRaftVoterRequest(
        fields.get("cluster_id", CLUSTER_ID),
        NodeId(node),
        fields.get("directory_id", directory(max(node, 0), disk)),
    )


def update(node=2, disk=0, **fields):
    return UpdateRaftVoterRequest(
        fields.get("cluster_id", CLUSTER_ID),
        fields.get("epoch", EPOCH),
        NodeId(node),
        fields.get("directory_id", directory(max(node, 0), disk)),
        fields.get("listeners", endpoints(max(node, 0) + 70)),
        fields.get("minimum_version", 0),
        fields.get("maximum_version", 1),
    )


def versions(error=ErrorCode.NONE, minimum=0, maximum=1):
    return ApiVersionsResponse(error, minimum, maximum)


def fetch(led, node, offset, disk=0):
    """Let a node fetch from here on: all before is on its disk; return the answer, if any."""
    last_epoch = EPOCH if offset else 0
    request = FetchRequest(
        CLUSTER_ID, NodeId(node), directory(node, disk), EPOCH, offset, last_epoch, 500
    )
    return led.request(request, node)


def appended_voters(led):
    """Return (offset, node ids) of the voter sets that were just appended."""
    return [
        (batch.base_offset + place, voters_of(fields).node_ids)
        for effect in led.of(AppendLog)
        for batch in effect.batches
        for place, (kind, fields) in enumerate(batch.controls)
        if kind == KRAFT_VOTERS.api_key
    ]


def answers(led):
    """Return (error, sender) of what was just answered to requests for a change."""
    kinds = AddRaftVoterResponse | RemoveRaftVoterResponse
    return [
        (effect.response.error_code.name, effect.source.node_id)
        for effect in led.of(SendResponse)
        if isinstance(effect.response, kinds)
    ]


def asked_to_add(led, request=None, sender=9):
    """Let somebody ask for node 4 to be added, and the leader ask that."""
    answer = led.request(add() if request is None else request, sender)
    assert answer is None
    return led


def of_version_zero():
    return leading(1, 2, 3, ends=CAUGHT_UP, version=0)


def uncommitted():
    return leading(1, 2, 3, ends=CAUGHT_UP, high_watermark=END - 1)


def pending_add():
    return asked_to_add(leading(1, 2, 3, ends={**CAUGHT_UP, 5: END}), add(5))


def pending_remove():
    led = leading(1, 2, 3, ends=CAUGHT_UP)
    assert led.request(remove(3)) is None
    led.settle()
    return led


def shutting_down():
    led = leading(1, 2, 3, ends=CAUGHT_UP)
    led.state = replace(led.state, shutdown_deadline=NOW + 1)
    return led
