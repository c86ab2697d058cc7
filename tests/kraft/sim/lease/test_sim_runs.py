"""Whole runs: deterministic, replayable, and covering every action."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from kraft.sim.common.recording import Recording, RecordingError, from_json, to_json
from kraft.sim.common.step import Done
from kraft.sim.lease.choices import Choice
from kraft.sim.lease.cluster import digest, is_running
from kraft.sim.lease.configuration import PROFILES, Configuration, kafka_4_1, self_fencing
from kraft.sim.lease.faults import FaultPlan
from kraft.sim.lease.replay import replay_log
from kraft.sim.lease.runs import run
from kraft.sim.lease.step import replay_choices

PLAY = """
import sys
from kraft.sim.lease.choices import Choice
from kraft.sim.lease.cluster import digest, is_running
from kraft.sim.lease.runs import run
from kraft.sim.lease.configuration import Configuration, PROFILES
for profile in sorted(PROFILES):
    print(digest(run(PROFILES[profile](), seed=11, steps=600).last))
"""
CONTROLLER_AND_BROKER_ACTIONS = {
    "StartBroker", "SendRegistration", "SendHeartbeat", "HandleRegistrationResponse",
    "HandleHeartbeatResponse", "RequestTimeout", "ReplayMetadata", "RequestShutdown", "Crash",
    "RegisterBroker", "AmendRegistration", "RefuseRegistration", "RejectHeartbeat", "KeepFenced",
    "UnfenceBroker", "KeepUnfenced", "FenceOnRequest", "BeginControlledShutdown",
    "ContinueControlledShutdown", "ShutDownNow", "FenceStaleBroker", "UnregisterBroker",
    "ElectLeader", "FailOver", "Tick", "LoseMessage", "DuplicateMessage",
}  # fmt: skip


def test_a_seed_has_one_run_whatever_the_hash_seed_of_the_process():
    printed = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        played = subprocess.run(
            [sys.executable, "-c", PLAY],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.add(played.stdout)
    assert len(printed) == 1
    assert len(printed.pop().split()) == len(PROFILES)


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_replaying_the_choices_of_a_run_reproduces_every_step(profile):
    played = run(PROFILES[profile](), seed=5, steps=800)
    replayed = tuple(replay_choices(played.configuration, played.choices))
    assert replayed == played.results


def lease_from_json(text):
    return from_json(text, Configuration, Choice, "the lease")


def test_a_recording_survives_its_file_and_reproduces_the_run():
    played = run(self_fencing(), seed=3, steps=800)
    recording = lease_from_json(to_json(played.recording))
    assert recording == Recording(played.configuration, played.choices)
    *_, last = replay_choices(recording.configuration, recording.choices)
    assert digest(last.after) == digest(played.last)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not a recording of the lease: Input data was truncated"),
        (b"\xff\xfe", "not a recording of the lease: JSON is malformed"),
        (b"[]", "Expected `object`, got `array`"),
        (b"[" * 100_000, "not a recording of the lease: "),
        (b'{"configuration":{"processes":[]},"choices":[]}', r"there is none - at `\$.conf"),
        (b'{"configuration":{"processes":[],"speed":1},"choices":[]}', "unknown field `speed`"),
    ],
)
def test_an_invalid_recording_is_refused_with_its_place(text, reason):
    with pytest.raises(RecordingError, match=reason):
        lease_from_json(text)


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (b'{"choice":"Dance"}', r"Invalid value 'Dance' - at `\$.choices\[0\].choice`"),
        (b'{"choice":"Deliver","message_id":"1"}', r"got `str` - at `\$.choices\[0\].message_id`"),
        (b'{"choice":"Crash"}', "missing required field `incarnation_id`"),
        (b'{"choice":"FailOver","again":1}', "unknown field `again`"),
    ],
)
def test_an_invalid_choice_is_refused_with_its_place(choice, reason):
    text = to_json(Recording(kafka_4_1(1, 1), ())).replace(b'"choices":[]', b'"choices":[%s]')
    with pytest.raises(RecordingError, match=reason):
        lease_from_json(text % choice)


def test_a_scheduled_run_makes_only_possible_choices():
    for seed in range(8):
        refused = [
            result
            for result in run(kafka_4_1(), seed, 500).results
            if not isinstance(result.outcome, Done)
        ]
        assert refused == []


def test_twenty_five_seeds_take_every_action_of_the_lease():
    taken = Counter(
        result.outcome.action
        for seed in range(25)
        for result in run(kafka_4_1(), seed, 800).results
    )
    assert set(taken) == CONTROLLER_AND_BROKER_ACTIONS


def test_without_faults_every_broker_comes_up_and_stays():
    last = run(kafka_4_1(), seed=1, steps=3_000, plan=FaultPlan()).last
    registrations = last.controller.image.registrations
    assert set(registrations) == {1, 2, 3}
    assert not any(registration.fenced for registration in registrations.values())
    assert last.controller.image.leads == {1, 2, 3}


def test_the_image_is_the_replay_of_the_log_after_every_step():
    for result in run(kafka_4_1(), seed=9, steps=800).results:
        assert result.after.controller.image == replay_log(result.after.log)


def test_different_seeds_give_different_runs():
    digests = {digest(run(kafka_4_1(), seed, 300).last) for seed in range(20)}
    assert len(digests) == 20


def test_a_broker_that_is_cut_off_runs_on_and_is_fenced():
    plan = FaultPlan(cut_off_every_ms=9_000)
    fenced_while_running = lost = 0
    for seed in range(6):
        for step in run(kafka_4_1(), seed=seed, steps=900, plan=plan).results:
            name = type(step.choice).__name__
            lost += name == "LoseMessage"
            if name == "FenceStaleBroker" and isinstance(step.outcome, Done):
                fenced_while_running += any(
                    process.lifecycle.broker_id == step.choice.broker_id and is_running(process)
                    for process in step.after.processes.values()
                )
    assert lost > 0
    assert fenced_while_running > 0


def test_no_message_gets_lost_unless_a_broker_is_cut_off():
    calm = run(kafka_4_1(), seed=0, steps=900, plan=FaultPlan())
    assert not any(type(choice).__name__ == "LoseMessage" for choice in calm.choices)
