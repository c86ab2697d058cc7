"""A crash at every operation of a disk: nothing acknowledged is lost, no vote granted twice.

The script is a run that elects, appends, takes snapshots and cleans; the tests look at the 200
events from its first election on. It runs once for each operation on the disk of one machine in
that part: the process ends, what was not flushed is lost, kept or torn, and then the quorum must go
on.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest

from krafla.fuzz.raft.checks import Checks
from kraft.ids import DirectoryId, NodeId, uuid_text
from kraft.log.batches import data_batch
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import Candidate
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, RaftConfiguration
from kraft.sim.raft.disk import SimulatedDisk
from kraft.sim.raft.machines import Armed

EVENTS = 200
# By day one of this many operations is tested, by night each.
STRIDE = 1 if os.environ.get("KRAFLA_NIGHTLY") else 23
CONFIGURATION = RaftConfiguration(
    voters=3, observers=0, calm=0, chaos=3_000 * MILLISECOND, kinds=()
)
KNOBS = Knobs(append_every=20 * MILLISECOND, snapshot_records=6)
SEED = 12
DIRECTORY = DirectoryId(uuid_text(bytes(range(16))))


class Luck:
    """Chance that always decides the same about unflushed data: lost, kept, or torn."""

    def __init__(self, outcome):
        self.outcome = outcome
        self.count = 0

    def below(self, bound):
        self.count += 1
        if self.outcome == "torn" and bound != 3:
            return (self.count * 7) % bound
        return min({"lost": 0, "kept": 1, "torn": 2}[self.outcome], bound - 1)


class Crashed(NamedTuple):
    checks: Checks
    crashed: int
    starts: int
    acknowledged: int
    verdict: str


def run(machine=None, operation=None):
    """Run the script, with a crash of this machine before this operation of its disk."""
    simulation = Simulation(CONFIGURATION, SEED, (), KNOBS)
    checks = Checks()
    starts = 0
    disk = None if machine is None else simulation.nodes[machine].disk
    while (step := simulation.step()) is not None:
        checks.observe(step)
        assert checks.violation is None, str(checks.violation)
        mine = machine is not None and step.replica == simulation.nodes[machine].key
        if mine and step.kind == "start":
            starts += 1
            if starts == 1 and operation is not None:
                process = simulation.nodes[machine].process
                process.armed = Armed(
                    "crash-point", 0, power=True, inside=True, down=50 * MILLISECOND
                )
                disk.cut_after = operation
        liveness = simulation.liveness
        if liveness is not None and step.number % 16 == 0 and liveness.look():
            break
    checks.finish(simulation.workload.acknowledged.values())
    return Crashed(
        checks, simulation.faults["crash-point"], starts,
        len(simulation.workload.acknowledged), simulation.liveness.verdict().kind,
    )  # fmt: skip


def operations_of(machine):
    """Return the number of operations of a disk up to this many events after the first election."""
    simulation = Simulation(CONFIGURATION, SEED, (), KNOBS)
    node, began, elected = simulation.nodes[machine], False, 0
    while (step := simulation.step()) is not None and elected < EVENTS:
        if not began and node.process is not None:
            began, node.disk.cut_after = True, 10**9
        if elected or (step.after is not None and isinstance(step.after.role, Candidate)):
            elected += 1
    return 10**9 - node.disk.cut_after


@pytest.fixture
def luck(request, monkeypatch):
    right = SimulatedDisk.lose_power
    monkeypatch.setattr(
        SimulatedDisk, "lose_power", lambda disk, _chance: right(disk, Luck(request.param))
    )


def test_the_script_elects_appends_takes_snapshots_and_cleans():
    script = run()
    assert script.verdict == "progress"
    assert script.acknowledged > 50
    assert script.checks.history.committed.end > 100
    assert script.checks.history.snapshots
    assert all(replica.start > 0 for replica in script.checks.history.replicas.values())
    assert all(operations_of(machine) > 20 for machine in range(3))


@pytest.mark.by_day(1)
@pytest.mark.parametrize("luck", ["lost", "kept", "torn"], indirect=True)
@pytest.mark.parametrize("machine", [0, 1, 2])
@pytest.mark.usefixtures("luck")
def test_a_crash_at_any_operation_loses_nothing_that_was_acknowledged(machine):
    crashes = 0
    for operation in range(machine, operations_of(machine), STRIDE):
        crashed = run(machine, operation)
        assert crashed.checks.violation is None, (operation, crashed.checks.violation)
        assert crashed.verdict == "progress", operation
        assert crashed.acknowledged > 0
        assert crashed.starts == 1 + crashed.crashed
        crashes += crashed.crashed
    assert crashes > 0


def test_a_tail_that_a_killed_process_left_is_flushed_by_the_next_start():
    disk = SimulatedDisk("disk")
    format_directory(disk, "a-cluster", NodeId(0), DIRECTORY)

    def start():
        storage = RaftStorage(disk)
        return storage, storage.open("a-cluster", NodeId(0)).log

    storage, _ = start()
    storage.append((data_batch(0, 1, 0, (b"tail",)),))
    killed, found = start()
    assert killed.end_offset == found.end_offset == 1
    disk.lose_power(Luck("lost"))
    assert start()[1].end_offset == 1
