from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.kraft.sim.stack.stack_runs import (
    BUSY,
    SHORT,
    active,
    hosts,
    only,
    play,
    running,
    simulate,
    until,
)

from kraft.broker.lease import BrokerState
from kraft.controller.effects import Failure
from kraft.controller.state import visible
from kraft.ids import NO_BROKER_EPOCH
from kraft.sim.raft.kinds import BROKER_KINDS
from kraft.sim.raft.runs import watch
from kraft.sim.stack.configuration import draw_stack_knobs

PROGRAM = """
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.runs import watch
from kraft.sim.stack.workload import stack_workload
quorum = RaftConfiguration(voters=3, observers=2, chaos=3 * 10**9)
result = watch(Simulation(quorum, 5, workload=stack_workload(None)))
print(result.digest, result.events, result.acknowledged, result.faults)
"""


def test_a_seed_gives_the_same_cluster_in_every_process():
    printed = set()
    for hash_seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": "impl"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert printed.pop().split()[2] != "0"


def test_in_a_calm_cluster_all_brokers_run_and_one_controller_is_active():
    simulation = simulate(1)
    until(simulation, lambda: len(running(simulation)) == 3 and len(active(simulation)) == 1)
    (controller,) = active(simulation)
    until(simulation, lambda: visible(controller.state).image.partitions)
    image = visible(controller.state).image
    assert set(image.brokers) == {3, 4, 5}
    assert not any(broker.fenced for broker in image.brokers.values())


def test_all_nodes_reach_the_same_image():
    simulation = simulate(2)
    play(simulation)
    images = {}
    for host in hosts(simulation, "controller"):
        images.setdefault(host.state.stable_end, []).append(visible(host.state).image)
    for host in hosts(simulation, "broker"):
        images.setdefault(host.memory.end, []).append(host.image)
    shared = [each for each in images.values() if len(each) > 1]
    assert shared
    assert all(image == each[0] for each in shared for image in each)


def test_operators_get_answers_and_a_standby_answers_not_controller():
    simulation = simulate(3)
    play(simulation)
    answers = [one.response for one in simulation.workload.asked.values()]
    assert sum(one is not None and not isinstance(one, Failure) for one in answers) > 20
    assert any(isinstance(one, Failure) for one in answers)
    assert len(simulation.workload.acknowledged) > 20


def test_a_broker_completes_its_controlled_shutdown_and_returns_under_another_epoch():
    simulation = simulate(4)
    until(simulation, lambda: len(running(simulation)) == 3)
    broker = running(simulation)[0]
    epoch, machine = broker.life.broker_epoch, broker.process.machine
    broker.process.down = 10**8
    broker.shut_down()
    simulation.emit_listened()
    simulation.processes.look_again(machine)
    until(simulation, lambda: machine.process is not broker.process and machine.process)
    again = machine.process.listener
    assert again.life.settings.previous_broker_epoch == epoch
    until(simulation, lambda: again.life.lifecycle.state is BrokerState.RUNNING)
    assert again.life.broker_epoch > epoch


def test_a_clean_shutdown_counts_for_one_start_only():
    simulation = simulate(4)
    until(simulation, lambda: len(running(simulation)) == 3)
    broker = running(simulation)[0]
    assert broker.disk.clean_epoch == NO_BROKER_EPOCH


@pytest.mark.by_day(1)
@pytest.mark.parametrize("kind", BROKER_KINDS)
def test_each_fault_of_brokers_has_an_effect_and_the_cluster_continues(kind):
    simulation = simulate(5, only(kind))
    result = watch(simulation)
    assert result.faults[kind] > 0
    assert result.liveness.kind == "progress"


def test_a_failed_directory_is_reported_and_its_replicas_no_longer_lead():
    simulation = simulate(6)
    until(simulation, lambda: len(running(simulation)) == 3)
    broker = running(simulation)[0]
    assert broker.lose_directory(0)
    simulation.emit_listened()
    (failed,) = broker.disk.failed
    (controller,) = active(simulation)
    broker_id = broker.replicas.broker_id

    def told():
        return failed not in visible(controller.state).image.brokers[broker_id].directories

    until(simulation, told)
    image = visible(controller.state).image
    for partition in image.partitions.values():
        if partition.leader == broker_id:
            at = partition.replicas.index(broker_id)
            assert partition.directories[at] != failed


def test_the_last_directory_of_a_broker_does_not_fail():
    simulation = simulate(7, knobs=replace(BUSY, log_directories=1))
    until(simulation, lambda: len(running(simulation)) == 3)
    assert not running(simulation)[0].lose_directory(0)


def test_seeds_draw_different_knobs():
    assert len({draw_stack_knobs(seed) for seed in range(20)}) > 15


def test_brokers_are_never_voters():
    simulation = simulate(8, only("add-voter", 300))
    play(simulation)
    voters = {
        voter.key.node_id
        for machine in simulation.nodes
        if machine.process is not None
        for voter in machine.process.state.controls.voters.voters
    }
    assert voters
    assert all(node < SHORT.voters for node in voters)
