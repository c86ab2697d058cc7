"""Helpers of the tests of runs: short configurations, and an observer of broken promises."""

from __future__ import annotations

from dataclasses import replace

from kraft.raft.effects import HandleCommit
from kraft.raft.roles import Leader
from kraft.sim.raft.configuration import Knobs, RaftConfiguration
from kraft.sim.raft.kinds import MACHINE_KINDS

SECOND = 10**9
MILLISECOND = 10**6
SHORT = RaftConfiguration(voters=3, observers=1, calm=2 * SECOND, chaos=5 * SECOND)


def only(kind: str, every_ms: int = 700, **changes) -> tuple[RaftConfiguration, Knobs]:
    """Return a short run in which one kind of fault happens again and again."""
    configuration = replace(SHORT, kinds=MACHINE_KINDS, **changes)
    knobs = Knobs(
        rates=((kind, every_ms * MILLISECOND),),
        append_every=60 * MILLISECOND,
        snapshot_records=30,
        down=500 * MILLISECOND,
        segment_bytes=2_000,
        snapshot_bytes=100,
        fetch_bytes=500,
    )
    return configuration, knobs


class Witness:
    """Notices two leaders of one epoch, and two different records committed at one offset."""

    def __init__(self):
        self.leaders = {}
        self.committed = {}
        self.findings = []

    def __call__(self, step):
        if step.after is not None and isinstance(step.after.role, Leader):
            epoch = step.after.role.epoch
            if self.leaders.setdefault(epoch, step.replica) != step.replica:
                self.findings.append(f"step {step.number}: two leaders of epoch {epoch}")
        for effect in step.effects:
            if isinstance(effect, HandleCommit):
                for batch in effect.batches:
                    if self.committed.setdefault(batch.base_offset, batch.raw) != batch.raw:
                        self.findings.append(
                            f"step {step.number}: two records at {batch.base_offset}"
                        )
