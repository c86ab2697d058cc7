"""Progress of the core: a leader, and each of its members beyond the target."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kraft.raft.roles import Leader
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.kinds import kinds_of
from kraft.sim.raft.liveness import Liveness

SECOND = 10**9


def at_the_end(kinds=""):
    """Return a simulation after its liveness phase, and the highest earlier high watermark."""
    configuration = RaftConfiguration(
        voters=3, observers=0, calm=4 * SECOND, chaos=4 * SECOND, kinds=kinds_of(kinds)
    )
    simulation = Simulation(configuration, 5)
    highest = 0
    for step in simulation.steps():
        if simulation.liveness is None:
            state = step.after
            known = None if state is None else state.high_watermark
            highest = max(highest, known or 0)
        elif step.number % 16 == 0 and simulation.liveness.look():
            break
    return simulation, highest


@pytest.fixture(scope="module")
def ended():
    return at_the_end("kill")


def test_the_core_must_pass_every_known_high_watermark(ended):
    simulation, highest = ended
    assert simulation.liveness.target == highest > 0
    assert simulation.liveness.verdict().kind == "progress"


def test_a_member_in_the_middle_of_a_step_has_as_much_longer():
    configuration = RaftConfiguration(
        voters=3, observers=0, calm=4 * SECOND, chaos=4 * SECOND, kinds=kinds_of("")
    )
    simulation = Simulation(configuration, 5)
    for _ in simulation.steps():
        if simulation.liveness is not None:
            break
    for machine in simulation.nodes:
        machine.process.busy_until = simulation.time
    usual = Liveness(simulation).deadline
    for machine in simulation.nodes:
        machine.process.busy_until = simulation.time + 30 * SECOND
    assert Liveness(simulation).deadline == usual + 30 * SECOND


def again(simulation, change):
    """Return whether there would be progress with other processes of the core."""
    liveness = simulation.liveness
    right, took = liveness._sim, liveness.took
    nodes = [SimpleNamespace(process=SimpleNamespace(state=m.process.state)) for m in right.nodes]
    change([nodes[index] for index in sorted(liveness.core)], liveness.target)
    try:
        liveness._sim, liveness.took = (
            SimpleNamespace(nodes=nodes, time=right.time, workload=right.workload),
            None,
        )
        return liveness.look()
    finally:
        liveness._sim, liveness.took = right, took


def only_reach(members, target):
    for each in members:
        each.process.state = replace(each.process.state, high_watermark=target)


def one_only_reaches(members, target):
    only_reach(members[:1], target)


def one_knows_nothing(members, _target):
    members[-1].process.state = replace(members[-1].process.state, high_watermark=None)


def one_is_down(members, _target):
    members[-1].process = None


def no_member_leads(members, _target):
    follower = next(
        m.process.state.role for m in members if not isinstance(m.process.state.role, Leader)
    )
    for each in members:
        each.process.state = replace(each.process.state, role=follower)


def nothing_else(_members, _target):
    pass


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        (nothing_else, True),
        (only_reach, False),
        (one_only_reaches, False),
        (one_knows_nothing, False),
        (one_is_down, False),
        (no_member_leads, False),
    ],
)
def test_progress_is_a_leader_and_every_member_beyond_the_target(ended, change, reached):
    simulation, _ = ended
    assert again(simulation, change) == reached


def left_with(*logs, voters, removed=()):
    """Return what the verdict says of a core of nodes 1, 2, ... with these ends of their logs.

    All know so many voters; those that are removed are no voters by their own logs.
    """
    nodes = []
    for number, end in enumerate(logs, 1):
        known = frozenset(range(1, voters + 1)) - ({number} if number in removed else set())
        state = SimpleNamespace(
            controls=SimpleNamespace(
                voters=SimpleNamespace(
                    majority=voters // 2 + 1, is_voter=lambda key, known=known: key.node_id in known
                )
            ),
            log=SimpleNamespace(last_epoch=1, end_offset=end),
        )
        key = SimpleNamespace(node_id=number)
        nodes.append(SimpleNamespace(key=key, process=SimpleNamespace(state=state)))
    liveness = Liveness.__new__(Liveness)
    liveness._sim = SimpleNamespace(nodes=nodes)
    liveness.core = range(len(nodes))
    return liveness._waits_for_removed()


def test_an_election_waits_for_a_removed_leader_only_if_its_vote_would_be_enough():
    excuse = "node 1 removed itself, stands not, and is needed"
    assert left_with(9, 5, voters=3, removed={1}) == excuse
    # Another one with as long a log stands and is elected.
    assert left_with(9, 9, voters=3, removed={1}) == ""
    # The two others elect one of them.
    assert left_with(9, 5, 5, voters=3, removed={1}) == ""
    # It would stand itself.
    assert left_with(9, 5, voters=3) == ""
    # Its vote would not be enough either: whatever keeps them is no excuse.
    assert left_with(9, 5, voters=5, removed={1}) == ""
