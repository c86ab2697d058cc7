"""A simulation driven by hand."""

from __future__ import annotations

from kraft.sim import Done, Refused, Simulation, choices, digest, replay_choices
from kraft.sim.configuration import kafka_4_1, self_fencing

ONE = "broker-1-process-1---A"


def test_a_hand_driven_run_is_remembered_and_can_be_played_again():
    simulation = Simulation(kafka_4_1(1, 1))
    simulation.take(choices.StartBroker(ONE))
    simulation.take(choices.SendRegistration(ONE))
    simulation.duplicate(0)
    simulation.lose(0)
    simulation.advance(9_001)
    simulation.crash(ONE)
    assert [result.outcome for result in simulation.results] == [
        Done("StartBroker"), Done("SendRegistration"), Done("DuplicateMessage"),
        Done("LoseMessage"), Done("Tick"), Done("Crash"),
    ]  # fmt: skip
    *_, last = replay_choices(simulation.configuration, simulation.recording.choices)
    assert digest(last.after) == digest(simulation.cluster)


def test_a_clock_of_its_own_is_advanced_by_what_it_shows():
    simulation = Simulation(self_fencing(1, 1))
    simulation.take(choices.StartBroker(ONE))
    simulation.advance(100, {ONE: 300})
    assert simulation.cluster.processes[ONE].clock_lead_ms == 200


def test_a_refused_step_is_remembered_and_leaves_the_cluster_as_it_was():
    simulation = Simulation(kafka_4_1(1, 1))
    before = simulation.cluster
    assert isinstance(simulation.crash(ONE).outcome, Refused)
    assert simulation.cluster is before
    assert len(simulation.results) == 1
