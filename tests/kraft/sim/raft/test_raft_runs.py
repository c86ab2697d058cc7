from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.kraft.sim.raft.raft_runs import SECOND, SHORT, Witness, only

from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import FlushLog, SendResponse, TruncateLog
from kraft.raft.events import RequestReceived
from kraft.raft.roles import Prospective
from kraft.raft.state import Step
from kraft.rpc.vote import VoteRequest
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, RaftConfiguration
from kraft.sim.raft.faults import Fault, draw_plan
from kraft.sim.raft.handler_error import HandlerError
from kraft.sim.raft.kinds import ALL_PROMISES, DEFAULT_KINDS, KINDS
from kraft.sim.raft.kraft_core import KRAFT
from kraft.sim.raft.runs import run

OF_CLUSTERS = {"broker-shutdown", "lost-directory", "quick-restart"}
"""Kinds of faults without effect where there are no brokers."""
PROGRAM = """
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.runs import run
for seed in (3, 8):
    result = run(RaftConfiguration(voters=3, observers=1, chaos=6 * 10**9), seed)
    print(result.digest, result.events, result.faults)
"""


def test_a_seed_gives_the_same_digest_in_every_process():
    printed = set()
    for hash_seed in ("0", "1", "4711"):
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
    assert len(printed.pop().splitlines()) == 2


def test_another_seed_is_another_run():
    assert len({run(SHORT, seed).digest for seed in range(4)}) == 4


def test_a_run_is_its_configuration_seed_and_plan():
    drawn = run(SHORT, 5)
    again = run(SHORT, 5, plan=drawn.plan, knobs=drawn.knobs)

    assert drawn.plan
    assert again.digest == drawn.digest
    assert again.faults == drawn.faults


@pytest.mark.nightly
def test_a_plan_without_one_of_its_faults_changes_nothing_before_it():
    configuration, knobs = only("kill")
    plan = draw_plan(9, configuration, knobs)
    missing = plan[len(plan) // 2]
    whole = list(Simulation(configuration, 9, plan, knobs).steps())
    less_plan = tuple(fault for fault in plan if fault != missing)
    less = list(Simulation(configuration, 9, less_plan, knobs).steps())
    before = [step for step in whole if step.time < missing.time]

    assert len(before) > 100
    assert [s[:5] for s in less[: len(before)]] == [s[:5] for s in before]
    assert [s[:5] for s in less] != [s[:5] for s in whole]


def truncating() -> tuple[RaftConfiguration, Knobs]:
    """Return runs in which a process often crashes while it truncates its log.

    A log diverges, and so is truncated, only where a leader was cut off.
    """
    configuration, knobs = only("crash-truncating", 300, chaos=20 * SECOND)
    rates = (*knobs.rates, ("isolation", 3_000 * MILLISECOND))
    return configuration, replace(knobs, segment_bytes=150, rates=rates)


@pytest.mark.by_day(8)
@pytest.mark.parametrize("kind", sorted(set(KINDS) - OF_CLUSTERS))
def test_each_kind_of_fault_takes_effect_and_keeps_its_remaining_promises(kind):
    configuration, knobs = truncating() if kind == "crash-truncating" else only(kind)
    total = seed = 0
    while total == 0 and seed < 4:
        seed += 1
        witness = Witness()
        result = run(configuration, seed, witness, knobs=knobs)
        total += result.faults.get(kind, 0)
        if kind in DEFAULT_KINDS:
            assert not witness.findings
            assert result.liveness.kind == "progress", result.liveness.detail
            assert result.promised == ALL_PROMISES
            assert result.acknowledged > 5
        elif result.damages:
            assert result.promised == KINDS[kind].promised

    assert total > 0


@pytest.mark.parametrize("seed", range(3))
def test_all_kinds_together_break_no_promise(seed):
    witness = Witness()
    result = run(RaftConfiguration(chaos=12 * SECOND), seed, witness)

    assert not witness.findings
    assert result.liveness.kind == "progress", result.liveness.detail


def test_kraft_version_0_has_no_voters_to_change():
    configuration = replace(SHORT, kraft_version=0, kinds=DEFAULT_KINDS)
    for seed in range(2):
        witness = Witness()
        result = run(configuration, seed, witness)
        assert not witness.findings
        assert result.liveness.kind == "progress", result.liveness.detail
        assert "add-voter" not in result.faults


@pytest.mark.nightly
def test_a_crash_can_come_after_any_number_of_effects_and_inside_one():
    configuration, knobs = only("crash-point", 150)
    after, inside = set(), 0
    for seed in range(4):
        simulation = Simulation(configuration, seed, None, knobs)
        for step in simulation.steps():
            if step.whole is not None:
                assert step.after is None
                done = len(step.effects)
                assert step.effects == step.whole.effects[:done]
                after.add(done)
        inside += simulation.faults["torn-write"] + simulation.faults["lost-write"]

    assert {0, 1, 2} <= after
    assert inside > 0


@pytest.mark.nightly
def test_a_crash_can_leave_a_log_that_is_truncated_in_part():
    configuration, knobs = truncating()
    in_part = 0
    for seed in range(4):
        cut = {}
        for step in Simulation(configuration, seed, None, knobs).steps():
            if step.whole is not None and step.before is not None:
                left = step.whole.effects[len(step.effects) :]
                if left and isinstance(left[0], TruncateLog):
                    cut[step.replica] = left[0].end_offset, step.before.log.end_offset
            elif step.kind == "start" and step.replica in cut and step.after is not None:
                truncated, before = cut.pop(step.replica)
                in_part += truncated < step.after.log.end_offset < before

    assert in_part > 0


def test_an_isolated_new_voter_stands_and_knows_only_the_id_of_its_leader():
    configuration, knobs = only("newcomer-isolation", 3_000, observers=2)
    stands = 0
    for seed in range(4):
        for step in Simulation(configuration, seed, None, knobs).steps():
            role = step.after.role if step.after is not None else None
            if isinstance(role, Prospective) and role.leader_id is not None:
                stands += not role.leader_endpoints

    assert stands > 0


def test_acknowledged_values_have_distinct_committed_offsets():
    configuration, knobs = only("isolation")
    witness = Witness()
    simulation = Simulation(configuration, 2, None, knobs)
    for step in simulation.steps():
        witness(step)
    told = simulation.workload.acknowledged

    assert len(told) > 50
    assert len({each.offset for each in told.values()}) == len(told)
    bases = sorted(witness.committed)
    assert all(bases[0] <= each.offset <= bases[-1] + 8 for each in told.values())


def without_flushes(state, event):
    step = KRAFT.on_event(state, event)
    kept = tuple(effect for effect in step.effects if not isinstance(effect, FlushLog))
    return Step(step.state, kept)


def test_a_replica_that_does_not_flush_is_caught():
    findings = []
    for seed in range(12):
        configuration, knobs = only("cluster-power-loss", 1500)
        witness = Witness()
        result = run(
            configuration, seed, witness, knobs=knobs, core=KRAFT._replace(on_event=without_flushes)
        )
        findings += [*witness.findings, *result.fatal]
        if findings:
            break

    assert findings


def deaf_to_votes(state, event):
    if isinstance(event, RequestReceived) and isinstance(event.request, VoteRequest):
        return Step(state)
    return KRAFT.on_event(state, event)


def test_a_quorum_without_a_leader_is_stuck_and_says_why():
    result = run(SHORT, 1, plan=(), core=KRAFT._replace(on_event=deaf_to_votes))

    assert result.liveness.kind == "stuck"
    assert result.liveness.detail.startswith("no voter wins an election: ")
    assert "Prospective of epoch 0" in result.liveness.detail
    assert result.elections == 0


def raises(state, event):
    step = KRAFT.on_event(state, event)
    if any(isinstance(effect, SendResponse) for effect in step.effects):
        raise ZeroDivisionError("a mistake")
    return step


def test_a_handler_that_raises_is_named_with_its_seed_and_step():
    with pytest.raises(HandlerError, match=r"^seed 7, step \d+, \d+ ns, .*ZeroDivisionError"):
        run(SHORT, 7, core=KRAFT._replace(on_event=raises))


def test_a_handler_that_is_always_due_is_caught():
    core = KRAFT._replace(next_deadline=lambda _state: 0, on_event=lambda s, _e: Step(s))
    with pytest.raises(HandlerError, match="is never done"):
        run(SHORT, 7, core=core, knobs=Knobs(own_time=1))


@pytest.mark.nightly
def test_lost_disks_spare_a_majority_unless_configured_otherwise():
    kept = lost = 0
    for seed in range(4):
        configuration, knobs = only("lost-disk", 300)
        kept += run(configuration, seed, knobs=knobs).liveness.kind == "progress"
        unspared = replace(configuration, spare=False)
        result = run(unspared, seed, knobs=knobs)
        lost += result.liveness.kind == "excused"
        assert result.liveness.kind != "stuck", result.liveness.detail

    assert kept == 4
    assert lost > 0


def test_a_core_is_a_majority_of_the_voters_and_the_rest_stays_broken():
    configuration = replace(SHORT, voters=5, observers=2)
    plan = tuple(Fault(3 * SECOND, "kill", machine, 0, 60 * SECOND) for machine in (0, 1, 2, 3))
    simulation = Simulation(configuration, 3, plan, Knobs())
    down = set()
    for _ in simulation.steps():
        if simulation.liveness is not None:
            down = {m.index for m in simulation.nodes if m.process is None}
            if simulation.liveness.look():
                break
    core = simulation.liveness.core

    assert len(core & set(range(5))) >= 3
    assert simulation.liveness.verdict().kind == "progress"
    assert {0, 1, 2, 3} - core <= down


@pytest.mark.nightly
def test_each_lost_message_is_reported_once():
    configuration, knobs = only("loss")
    simulation = Simulation(configuration, 1, None, knobs)
    sent, lost, taken = set(), [], set()
    for step in simulation.steps():
        sent |= {envelope.message_id for envelope in step.sent}
        if step.kind == "lose":
            lost.append(step.received.message_id)
        elif step.kind == "event" and step.received is not None:
            taken.add(step.received.message_id)

    assert len(lost) == len(set(lost)) > 10
    assert not set(lost) & taken
    assert taken | set(lost) >= {number for number in sent if number < max(taken) - 200}


def test_time_and_numbers_never_go_back():
    number, time = -1, 0
    for step in Simulation(SHORT, 11).steps():
        assert step.number == number + 1
        assert step.time >= time
        number, time = step.number, step.time

    assert time > SHORT.calm + SHORT.chaos


@pytest.mark.parametrize("kind", sorted(OF_CLUSTERS))
def test_a_fault_of_brokers_cannot_be_performed_without_them(kind):
    plan = (Fault(SHORT.calm, kind, 0, 0),)
    with pytest.raises(ValueError, match=f"cannot perform '{kind}'"):
        run(SHORT, 1, plan=plan)
