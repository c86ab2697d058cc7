"""Runs of the cluster simulation: possible choices, refused ones, and repeatability."""

from __future__ import annotations

import random

import pytest
from tests.kraft.sim.scheduled import play, told

from krafla.fuzz.cluster.system import CONFIGURATIONS
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.ids import BrokerId, IncarnationId, NodeId
from kraft.sim.cluster import choices
from kraft.sim.cluster.cluster import (
    Configuration,
    active_controllers,
    first_cluster,
    partition_of,
    status,
)
from kraft.sim.cluster.scheduler import Scheduler
from kraft.sim.cluster.step import step
from kraft.sim.common.recording import Recording, RecordingError, from_json, to_json
from kraft.sim.common.step import Done, Refused

CONFIGURATION = CONFIGURATIONS["two-and-two"]
FIRST, SECOND = NodeId(1), NodeId(2)
ONE = CONFIGURATION.processes[0].incarnation_id
NEXT = CONFIGURATION.processes[1].incarnation_id


def played(*chosen, cluster=None):
    """Return the cluster after choices that are all possible."""
    cluster = first_cluster(CONFIGURATION) if cluster is None else cluster
    for choice in chosen:
        result = step(cluster, choice)
        assert isinstance(result.outcome, Done), f"{choice}: {result.outcome}"
        cluster = result.after
    return cluster


def answer(cluster):
    """Return the response in flight."""
    (envelope,) = [one for one in cluster.network if one.response is not None]
    return envelope


REGISTERED = (
    choices.StartBroker(ONE),
    choices.SendRegistration(ONE),
    choices.Deliver(0, FIRST),
    choices.Commit(FIRST),
    choices.Deliver(1),
)
"""The first broker is registered and knows it."""
RUNNING = (
    *REGISTERED,
    choices.ReplayMetadata(ONE),
    choices.SendHeartbeat(ONE),
    choices.Deliver(2, FIRST),
    choices.Deliver(3),
    choices.SendHeartbeat(ONE),
    choices.Deliver(4, FIRST),
    choices.Commit(FIRST),
    choices.Deliver(5),
)
"""It runs and leads the leaderless partition."""


def test_a_broker_starts_and_leads():
    cluster = played(*RUNNING)
    assert status(cluster.brokers[ONE]) == "RUNNING"
    assert partition_of(cluster.committed).leader == 1
    assert not cluster.committed.image.brokers[BrokerId(1)].fenced


def test_no_request_is_answered_before_the_commit():
    written = played(*REGISTERED[:3])
    assert not written.network
    assert answer(played(choices.Commit(FIRST), cluster=written)).response.broker_epoch == 0


def test_the_epoch_of_a_lost_registration_is_used_again():
    lost = played(*REGISTERED[:3], choices.ElectLeader(SECOND, 0), choices.Renounce(FIRST))
    assert not lost.network
    again = played(
        choices.RequestTimeout(ONE),
        choices.SendRegistration(ONE),
        choices.Deliver(1, SECOND),
        choices.Commit(SECOND),
        cluster=lost,
    )
    assert answer(again).response.broker_epoch == 1


def test_surviving_batches_are_committed_without_an_answer():
    cluster = played(*REGISTERED[:3], choices.ElectLeader(SECOND, 1), choices.Renounce(FIRST))
    assert BrokerId(1) in cluster.committed.image.brokers
    assert not cluster.network


def test_two_controllers_are_active_until_the_first_hears_of_the_other():
    both = played(choices.ElectLeader(SECOND, 0))
    assert active_controllers(both) == (FIRST, SECOND)
    one = played(choices.Renounce(FIRST), cluster=both)
    assert active_controllers(one) == (SECOND,)


def test_the_next_process_waits_for_the_end_of_the_session():
    asked = (choices.StartBroker(NEXT), choices.SendRegistration(NEXT), choices.Deliver(6, FIRST))
    refused = played(*RUNNING, *asked)
    assert answer(refused).response.error_code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    over = played(*RUNNING, choices.Crash(ONE), choices.SessionsRunOut(FIRST, BrokerId(1)))
    fenced = played(choices.FenceStaleBroker(FIRST, BrokerId(1)), cluster=over)
    assert len(fenced.controllers[FIRST].tail) == 1
    granted = played(*asked, choices.Commit(FIRST), choices.Commit(FIRST), cluster=fenced)
    assert answer(granted).response.error_code is ErrorCode.NONE


@pytest.mark.parametrize(
    "choice",
    [
        choices.StartBroker(ONE),
        choices.StartBroker(IncarnationId("A" * 22)),
        choices.SendRegistration(ONE),
        choices.SendHeartbeat(NEXT),
        choices.SendAlterPartition(ONE, (BrokerId(1), BrokerId(2))),
        choices.SendAlterPartition(NEXT, (BrokerId(1),)),
        choices.RequestTimeout(ONE),
        choices.RequestShutdown(NEXT),
        choices.Crash(NEXT),
        choices.Deliver(77, FIRST),
        choices.LoseMessage(77),
        choices.SessionsRunOut(SECOND, BrokerId(1)),
        choices.SessionsRunOut(FIRST, BrokerId(2)),
        choices.FenceStaleBroker(FIRST, BrokerId(1)),
        choices.StartReassignment(FIRST, (BrokerId(2),)),
        choices.CancelReassignment(FIRST),
        choices.RegisterController(FIRST, CONFIGURATION.controller_processes[0].incarnation_id),
        choices.RegisterController(FIRST, ONE),
        choices.UpgradeFeature(FIRST, 14),
        choices.UpgradeFeature(FIRST, 99),
        choices.Commit(FIRST),
        choices.Commit(SECOND),
        choices.ElectLeader(FIRST, 0),
        choices.ElectLeader(SECOND, 1),
        choices.Renounce(FIRST),
        choices.Renounce(SECOND),
    ],
    ids=repr,
)
def test_an_impossible_choice_is_refused_and_changes_nothing(choice):
    cluster = played(*RUNNING)
    result = step(cluster, choice)
    assert isinstance(result.outcome, Refused)
    assert result.after is cluster


def test_an_upgrade_past_the_gate_waits_for_all_controllers():
    old, new = (one.incarnation_id for one in CONFIGURATION.controller_processes[2:])
    gate = played(choices.UpgradeFeature(FIRST, 15))
    assert isinstance(step(gate, choices.UpgradeFeature(FIRST, 17)).outcome, Refused)
    too_old = played(choices.RegisterController(FIRST, old), cluster=gate)
    assert isinstance(step(too_old, choices.UpgradeFeature(FIRST, 17)).outcome, Refused)
    known = played(choices.RegisterController(FIRST, new), cluster=gate)
    assert isinstance(step(known, choices.UpgradeFeature(FIRST, 17)).outcome, Done)


def scheduled(configuration, count):
    """Return the steps that a scheduler draws."""
    scheduler = Scheduler(configuration, random.Random(5))
    return play(scheduler, step, first_cluster(configuration), count)


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS))
def test_a_seed_is_a_run(name):
    first, second = (scheduled(CONFIGURATIONS[name], 300) for _ in range(2))
    assert told(first) == told(second)
    assert first[-1].after == second[-1].after
    assert first[-1].after != first[0].before
    cluster = first_cluster(CONFIGURATIONS[name])
    for one in first:
        cluster = step(cluster, one.choice).after
    assert cluster == first[-1].after
    assert is_active(cluster.controllers[cluster.leader].state)


def cluster_from_json(text):
    return from_json(text, Configuration, choices.Choice, "a cluster")


def test_a_recording_survives_json():
    chosen = tuple(one.choice for one in scheduled(CONFIGURATION, 200))
    recording = Recording(CONFIGURATION, chosen)
    assert cluster_from_json(to_json(recording)) == recording
    with pytest.raises(RecordingError, match="not a recording of a cluster"):
        cluster_from_json(b'{"choices": [{"choice": "Nothing"}]}')
