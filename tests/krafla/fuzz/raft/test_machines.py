"""Raft under Hypothesis: correct replicas keep every property, and a seeded bug is found."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.krafla.fuzz.raft.hand_cluster import HandCluster
from tests.krafla.fuzz.raft.machines import ChangingMachine, ElectionMachine

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.raft.system import SYSTEM
from kraft.raft.roles import Leader

# By day `krafla.fuzz.raft.machine` plays, too; here messages also come in orders that time forbids.
WANTED = settings(
    max_examples=1 + settings.default.max_examples // 4, stateful_step_count=60, deadline=None
)
TestElections = ElectionMachine.TestCase
TestElections.settings = WANTED
TestChanges = ChangingMachine.TestCase
TestChanges.settings = WANTED


def settle(cluster, rounds=40):
    """Deliver everything in order, and let time pass when nothing is in flight."""
    for number in range(rounds):
        for _ in range(100):
            if cluster.messages:
                cluster.deliver(0)
        for node in cluster.running:
            cluster.let_time_pass(node, 50)
        if not cluster.leaders:
            cluster.let_time_pass(cluster.running[number % len(cluster.running)], 2_500)


def test_a_hand_cluster_elects_commits_snapshots_and_changes_its_voters():
    cluster = HandCluster(3, observers=1)
    settle(cluster)
    (leader,) = cluster.leaders
    cluster.append(leader, 3)
    settle(cluster)
    assert all(node.told >= 4 for node in cluster.nodes)
    assert len({node.fold for node in cluster.nodes}) == 1
    cluster.snapshot(leader)
    cluster.clean(leader)
    assert leader.log.start_offset >= 4
    cluster.add_voter(leader, cluster.nodes[3])
    settle(cluster)
    assert len(leader.state.controls.voters) == 4
    gone = next(node for node in cluster.nodes if not isinstance(node.state.role, Leader))
    cluster.remove_voter(leader, gone)
    settle(cluster)
    assert not leader.state.controls.voters.is_voter(gone.key)
    assert cluster.checks.violation is None
    assert cluster.checks.history.committed.end == leader.state.high_watermark


def test_a_replica_that_crashes_goes_on_from_its_disk():
    cluster = HandCluster(3)
    settle(cluster)
    (leader,) = cluster.leaders
    cluster.append(leader, 1)
    settle(cluster, 20)
    cluster.crash(leader, keeps_tail=False)
    settle(cluster)
    (second,) = cluster.leaders
    assert second.state.role.epoch > 1
    cluster.start(leader)
    settle(cluster)
    assert len({node.fold for node in cluster.nodes}) == 1
    assert cluster.checks.violation is None


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("machine", "bug", "broken"),
    [
        (ElectionMachine, "vote-before-write", "VoteWrittenBeforeAnsweredInv"),
        (ElectionMachine, "boots-unattached", "RestartProp"),
        (ElectionMachine, "follower-never-flushes", "OnlyLeaderOwesFlushInv"),
        (ChangingMachine, "observer-never-flushes", "OnlyLeaderOwesFlushInv"),
    ],
)
def test_a_machine_finds_a_seeded_bug(machine, bug, broken):
    wanted = settings(
        max_examples=1000, stateful_step_count=60, deadline=None, database=None,
        derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    with find_mutant(bug, SYSTEM).applied(), pytest.raises(AssertionError, match=broken):
        run_state_machine_as_test(machine, settings=wanted)
