"""A plan names requests of operators, besides the faults, and each is sent where it says."""

from __future__ import annotations

from kraft.raft.configuration import MILLISECOND
from kraft.rpc.topics import CreatePartitionsRequest, CreateTopicsRequest
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.faults import LEADER, Fault
from kraft.sim.stack.configuration import StackKnobs
from kraft.sim.stack.request_kinds import REQUESTS
from kraft.sim.stack.workload import stack_workload

QUIET = StackKnobs(admin_every_ms=10**9, produce_every_ms=10**9)
# Brokers register after three seconds.
AFTER = 4_000
# With this chance the topic can be created.
CREATES = 6


def asked(*plan, controllers=1):
    """Return the simulation of a plan, and the requests that were sent in it."""
    configuration = RaftConfiguration(
        voters=controllers, observers=2, calm=0, chaos=9_000 * MILLISECOND, liveness_elections=0
    )
    simulation = Simulation(configuration, 1, plan, workload=stack_workload(QUIET))
    while simulation.step_before(8_000 * MILLISECOND) is not None:
        pass
    return simulation, [one.request for one in simulation.workload.asked.values()]


def request(number, kind, target=LEADER, chance=1):
    return Fault((AFTER + 100 * number) * MILLISECOND, kind, target, chance)


def test_each_kind_of_request_is_sent_unless_it_makes_no_sense():
    kinds = ("create-topic", *(kind for kind in REQUESTS if kind != "create-topic"))
    simulation, requests = asked(*(request(number, kind) for number, kind in enumerate(kinds)))
    sent = [kind for kind in kinds if simulation.faults[kind]]
    assert len(sent) == len(requests) > len(kinds) / 2
    assert type(requests[0]) is CreateTopicsRequest
    assert all(one.response is not None for one in simulation.workload.asked.values())


def test_a_request_goes_to_the_named_controller_or_to_none():
    to_all = [request(0, "create-topic", target) for target in range(3)]
    simulation, requests = asked(*to_all, controllers=3)
    assert [type(one) for one in requests] == [CreateTopicsRequest] * 3
    failures = [one.response for one in simulation.workload.asked.values()]
    assert len({str(one) for one in failures}) > 1, "only one of them is active"
    simulation, requests = asked(Fault(0, "create-topic", LEADER, 1))
    assert requests == []
    assert not simulation.faults


def test_a_request_is_made_of_what_the_controller_shows():
    _, requests = asked(request(0, "create-topic", chance=CREATES), request(1, "create-partitions"))
    assert [type(one) for one in requests] == [CreateTopicsRequest, CreatePartitionsRequest]
    assert requests[1].topics[0].name == requests[0].topics[0].name
    assert asked(request(0, "create-partitions"))[1] == []
