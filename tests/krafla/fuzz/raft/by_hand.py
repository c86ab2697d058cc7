"""Histories of a quorum written by hand, step by step, to test the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from immutables import Map

from krafla.fuzz.raft.checks import Checks
from krafla.fuzz.raft.log_checks import log_after
from kraft.ids import DirectoryId, NodeId, OffsetAndEpoch, ReplicaKey
from kraft.log.batches import controls_batch, data_batch
from kraft.log.image import LogImage, Snapshot
from kraft.raft.configuration import Configuration
from kraft.raft.controls import ControlHistory, VotersAt
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    FlushLog,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
)
from kraft.raft.events import Poll
from kraft.raft.roles import Candidate, Follower, Leader, Prospective, ReplicaProgress, Unattached
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.state import RaftState, Step
from kraft.raft.voters import Voter, VoterSet
from kraft.sim.raft.steps import SimStep

KEYS = tuple(ReplicaKey(NodeId(n), DirectoryId(f"{'B' * 20}{n}A")) for n in range(5))
A, B, C, D, E = KEYS
KEEP = object()


def voters(*keys: ReplicaKey) -> VoterSet:
    return VoterSet.of(Voter(key) for key in keys)


def change(base: int, epoch: int, leader: ReplicaKey, *sets: VoterSet):
    """Return the batch that begins an epoch, with voters if there are any."""
    records: list[Any] = [
        (2, {"version": 0, "leaderId": leader.node_id, "voters": [], "grantingVoters": []})
    ]
    records += [voters_record(each) for each in sets]
    return controls_batch(base, epoch, 0, records)


def voters_record(voters: VoterSet):
    fields = [
        {
            "voterId": voter.key.node_id,
            "voterDirectoryId": voter.key.directory_id,
            "endpoints": [],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
        for voter in voters.voters
    ]
    return (6, {"version": 0, "voters": fields})


def voters_batch(base: int, epoch: int, voters: VoterSet):
    return controls_batch(base, epoch, 0, [voters_record(voters)])


def data(base: int, epoch: int, *values: bytes):
    return data_batch(base, epoch, 0, values or (b"value",))


def snapshot(end: int, epoch: int, *values: bytes) -> Snapshot:
    snapshot_id = OffsetAndEpoch(end, epoch)
    return Snapshot(snapshot_id, snapshot_bytes(snapshot_id, values, None, 0, 0))


def leader(epoch: int, me: ReplicaKey, start: int = 0, **noted: int | None) -> Leader:
    progress = Map(
        {key: ReplicaProgress(key, noted.get("abcde"[key.node_id])) for key in KEYS if key != me}
    )
    return Leader(epoch, me.node_id, start, 0, progress)


def follower(epoch: int, of: ReplicaKey, voted: ReplicaKey | None = None) -> Follower:
    return Follower(epoch, of.node_id, (), voted, 0)


def unattached(
    epoch: int, voted: ReplicaKey | None = None, leader_id: int | None = None
) -> Unattached:
    return Unattached(epoch, leader_id, voted, 0)


def candidate(epoch: int, me: ReplicaKey) -> Candidate:
    return Candidate(epoch, me, frozenset({me.node_id}), frozenset(), 0)


def prospective(epoch: int, me: ReplicaKey, voted: ReplicaKey | None = None) -> Prospective:
    return Prospective(epoch, None, (), voted, frozenset({me.node_id}), frozenset(), 0)


def file(
    epoch: int, leader: ReplicaKey | None = None, voted: ReplicaKey | None = None
) -> WriteQuorumState:
    return WriteQuorumState(epoch, None if leader is None else leader.node_id, voted, 1)


class Hand:
    """A quorum that does as it is told, and what the checks say of it.

    `event` gives a replica the effects of one step and its state afterwards; its log in memory
    follows from the effects.
    """

    def __init__(self, *keys: ReplicaKey, **options: Any) -> None:
        # The state machines are told nothing, unless a history says that they hear.
        self.checks = Checks(**{"hears": False, **options})
        self.states: dict[ReplicaKey, RaftState] = {}
        self.snapshots: dict[OffsetAndEpoch, Snapshot] = {}
        self.number = 0
        self.voters = voters(*(keys or (A, B, C)))
        for key in KEYS:
            self.start(key, unattached(0))

    @property
    def broken(self) -> str | None:
        """The name of the broken property, if one is broken."""
        violation = self.checks.violation
        return None if violation is None else violation.property

    def state(self, key: ReplicaKey, role: Any, log: LogImage | None = None) -> RaftState:
        configuration = Configuration(
            "cluster", key.node_id, key.directory_id or DirectoryId(""), (), self.voters
        )
        return RaftState(configuration, role, log or LogImage(), ControlHistory(self.voters))

    def step(self, kind: str, key: ReplicaKey, **fields: Any) -> None:
        self.number += 1
        self.checks.observe(SimStep(self.number, self.number * 10**9, kind, key, **fields))

    def start(self, key: ReplicaKey, role: Any, log: LogImage | None = None, *effects: Any) -> None:
        after = self.states[key] = self.state(key, role, log)
        self.step("start", key, after=after, effects=effects)

    def event(self, key: ReplicaKey, *effects: Any, event: Any = None, **changes: Any) -> None:
        before = self.states[key]
        if "log" not in changes:
            log = before.log
            for effect in effects:
                log = self._log_after(log, effect)
            changes["log"] = log
        after = self.states[key] = replace(before, **changes)
        self.step(
            "event", key, before=before, after=after, effects=effects, event=event or Poll(0, 0)
        )

    def crash(
        self,
        key: ReplicaKey,
        *effects: Any,
        unfinished: tuple[Any, ...] = (),
        sent: tuple[Any, ...] = (),
    ) -> None:
        """Crash a process in the middle of a step, between two effects or within one."""
        self.step(
            "event",
            key,
            before=self.states[key],
            effects=effects,
            whole=Step(self.states[key], (*effects, *unfinished)),
            event=Poll(0, 0),
            sent=sent,
        )

    def _log_after(self, log: LogImage, effect: Any) -> LogImage:
        if isinstance(effect, TruncateToSnapshot):
            return log.begin_at(self.snapshots[effect.snapshot_id])
        if isinstance(effect, CleanLog):
            return log.with_snapshot(self.snapshots[effect.snapshot_id]).clean_to(
                effect.snapshot_id
            )
        if isinstance(effect, AppendLog | TruncateLog):
            return log_after(log, (effect,))
        return log

    def elect(self, key: ReplicaKey, epoch: int, *voting: ReplicaKey) -> None:
        """Make a replica the leader of an epoch, and append and flush the record that begins it."""
        self.ask(key)
        self.event(key, file(epoch, None, key), role=candidate(epoch, key))
        for other in voting:
            self.event(other, file(epoch, None, key), role=unattached(epoch, key))
        log = self.states[key].log
        batch = change(log.end_offset, epoch, key)
        role = replace(leader(epoch, key, log.end_offset), must_flush=True)
        self.event(key, file(epoch, key), AppendLog((batch,)), role=role, high_watermark=None)
        self.event(key, FlushLog(), role=leader(epoch, key, log.end_offset))

    def ask(self, key: ReplicaKey) -> None:
        """Make a replica prospective; a leader first hears of the next epoch."""
        role = self.states[key].role
        if isinstance(role, Leader):
            self.event(key, file(role.epoch + 1), role=unattached(role.epoch + 1))
            role = self.states[key].role
        asks = replace(prospective(role.epoch, key, role.voted), leader_id=role.leader_id)
        self.event(key, role=asks)

    def follow(self, key: ReplicaKey, of: ReplicaKey, epoch: int) -> None:
        voted = getattr(self.states[key].role, "voted", None)
        if self.states[key].role.epoch < epoch:
            voted = None
        self.event(key, file(epoch, of, voted), role=follower(epoch, of, voted))

    def copy(self, key: ReplicaKey, of: ReplicaKey, high_watermark: int | None = None) -> None:
        """Make a follower append and flush everything its leader has."""
        log, source = self.states[key].log, self.states[of].log
        missing = source.read(log.end_offset, 2**30)
        controls = self.states[of].controls
        effects = (AppendLog(missing), FlushLog())
        self.event(key, *effects, controls=controls, high_watermark=high_watermark)

    def append(self, key: ReplicaKey, *values: bytes) -> None:
        state = self.states[key]
        batch = data(state.log.end_offset, state.role.epoch, *values)
        self.event(key, AppendLog((batch,)), role=replace(state.role, must_flush=True))
        self.event(key, FlushLog(), role=state.role)

    def note(self, key: ReplicaKey, high_watermark: int | None = None, **noted: int) -> None:
        """Make a leader note how far the others are, and commit."""
        role = self.states[key].role
        known = leader(role.epoch, key, role.epoch_start, **noted)
        if high_watermark is None:
            high_watermark = self.states[key].high_watermark
        self.event(key, role=known, high_watermark=high_watermark)

    def with_voters(self, *sets: tuple[int, VoterSet]) -> ControlHistory:
        return ControlHistory(self.voters, tuple(VotersAt(*each) for each in sets))


def committed(**options: Any) -> Hand:
    """A leads epoch 1; B and C follow and have its first record and a value; two are committed."""
    hand = Hand(**options)
    hand.elect(A, 1, B)
    hand.follow(B, A, 1)
    hand.follow(C, A, 1)
    hand.append(A, b"one")
    hand.copy(B, A)
    hand.copy(C, A)
    hand.note(A, 2, b=2, c=2)
    return hand
