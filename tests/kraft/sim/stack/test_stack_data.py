"""The data of partitions in the stack: producers, followers, disks, and acknowledged records."""

from __future__ import annotations

from tests.kraft.sim.stack.stack_runs import BUSY, hosts, running, simulate, until

from kraft.sim.stack.replicas import Acknowledged


def acknowledged(step):
    effects = () if step.listener is None else step.listener.effects
    return [each for each in effects if isinstance(each, Acknowledged)]


def with_data(seed):
    """Return a stack with several acknowledged records, some of them on a follower."""
    simulation = simulate(seed)
    until(simulation, lambda: len(running(simulation)) == 3)
    for step in simulation.steps():
        if any(one.log.end_offset > 5 for one in acknowledged(step)):
            return simulation
    raise AssertionError("nothing was acknowledged")


def test_followers_have_what_leaders_acknowledge():
    simulation = with_data(1)
    longest = {}
    for broker in hosts(simulation, "broker"):
        for key, replica in broker.replicas.own.replicas.items():
            longest.setdefault(key, []).append(replica.log.end_offset)
    assert any(len(ends) > 1 and min(ends) > 0 for ends in longest.values())


def test_a_broker_comes_back_with_the_data_on_its_disk():
    simulation = with_data(2)
    broker = next(one for one in running(simulation) if one.replicas.leads)
    had = {key: one.log.end_offset for key, one in broker.replicas.own.replicas.items()}
    machine = broker.process.machine
    simulation.processes.stop(machine, "kill", power=False, chance=0)
    simulation.processes.start_later(machine, 10**8)
    until(simulation, lambda: machine.process and machine.process.listener.replicas.begun)
    again = machine.process.listener.replicas.own.replicas
    assert again
    assert all(again[key].log.end_offset == end for key, end in had.items() if key in again)


def test_a_failed_directory_takes_the_data_in_it():
    simulation = with_data(3)
    broker = next(one for one in running(simulation) if one.replicas.own.replicas)
    place = next(iter(broker.replicas.own.replicas.values())).directory
    gone = [k for k, one in broker.replicas.own.replicas.items() if one.directory == place]
    number = broker.disk.healthy.index(place)
    assert broker.lose_directory(number)
    simulation.emit_listened()
    assert place not in broker.disk.logs
    assert not any(key in broker.replicas.own.replicas for key in gone)


def test_producers_begin_soon_after_the_first_leader():
    assert BUSY.produce_every_ms > 0
    simulation = simulate(4)
    until(simulation, lambda: any(host.replicas.leads for host in hosts(simulation, "broker")))
    began = simulation.time
    step = until_acknowledged(simulation)
    assert step.time - began < 5 * BUSY.produce_every_ms * 10**6


def until_acknowledged(simulation):
    for step in simulation.steps():
        if acknowledged(step):
            return step
    raise AssertionError("nothing was acknowledged")
