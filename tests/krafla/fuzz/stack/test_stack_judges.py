"""Every judge of the stack is asked under its own names, and the docs explain each name."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    TIME,
    Broken,
    change,
    leader_change,
    partition,
    topic,
    written,
)
from tests.krafla.audit.editing import LOG
from tests.krafla.fuzz.stack.test_stack_campaign import CALM

from krafla.audit.registry import REGISTRY
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.violation import Violated, Violation
from krafla.fuzz.raft.checks import PROPERTIES as RAFT_PROPERTIES
from krafla.fuzz.raft.lockstep_judge import REFINEMENT, LockstepJudge, raft_action_names
from krafla.fuzz.stack.answer_checks import ANSWER_PROPERTIES
from krafla.fuzz.stack.broker_checks import BROKER_PROPERTIES
from krafla.fuzz.stack.checks import PROPERTIES, StackChecks
from krafla.fuzz.stack.controller_checks import CONTROLLER_PROPERTIES
from krafla.fuzz.stack.data_checks import DATA_PROPERTIES
from krafla.fuzz.stack.hosting_checks import HOSTING_PROPERTIES
from krafla.fuzz.stack.image_agreement import AGREEMENT_PROPERTIES
from krafla.fuzz.stack.isr_checks import ISR_PROPERTIES
from krafla.fuzz.stack.lockstep_judge import stack_action_names
from krafla.fuzz.stack.log_judge import LOG_PROPERTIES, LogJudge
from krafla.fuzz.stack.progress_checks import PROGRESS_PROPERTIES
from krafla.fuzz.stack.soft_state_checks import SOFT_STATE_PROPERTIES
from krafla.fuzz.stack.system import SYSTEM
from krafla.fuzz.stack.token_checks import TOKEN_PROPERTIES
from kraft.controller import events
from kraft.controller.state import is_active
from kraft.log.batches import log_batch, read_batches
from kraft.log.segment import iter_batches
from kraft.records.builder import control_batch
from kraft.records.control_schemas import KRAFT_VERSION
from kraft.sim.raft.cluster import Simulation

FIRST_RECORDS = 20
REPOSITORY = Path(__file__).parents[4]
ROOM = "krafla.fuzz.stack"
JUDGES = {
    f"{ROOM}.answer_checks.AnswerChecks.check": ANSWER_PROPERTIES,
    f"{ROOM}.broker_checks.BrokerChecks.check": BROKER_PROPERTIES,
    f"{ROOM}.controller_checks.ControllerChecks.check": CONTROLLER_PROPERTIES,
    f"{ROOM}.controller_checks.ControllerChecks.check_snapshot": CONTROLLER_PROPERTIES,
    f"{ROOM}.data_checks.DataChecks.check": DATA_PROPERTIES,
    f"{ROOM}.hosting_checks.HostingChecks.check": HOSTING_PROPERTIES,
    f"{ROOM}.hosting_checks.HostingChecks.raft": HOSTING_PROPERTIES,
    f"{ROOM}.isr_checks.IsrChecks.check": ISR_PROPERTIES,
    f"{ROOM}.log_judge.LogJudge.add": LOG_PROPERTIES,
    f"{ROOM}.log_judge.LogJudge.finish": LOG_PROPERTIES,
    f"{ROOM}.image_agreement.ImageAgreement.finish": AGREEMENT_PROPERTIES,
    f"{ROOM}.progress_checks.ProgressChecks.check": PROGRESS_PROPERTIES,
    f"{ROOM}.progress_checks.ProgressChecks.raft": PROGRESS_PROPERTIES,
    f"{ROOM}.soft_state_checks.SoftStateChecks.check": SOFT_STATE_PROPERTIES,
    f"{ROOM}.token_checks.TokenChecks.check": TOKEN_PROPERTIES,
}


@pytest.mark.by_day(3)
@pytest.mark.parametrize("judge", JUDGES)
def test_what_a_judge_finds_is_the_violation_of_the_run(judge, monkeypatch):
    name = JUDGES[judge][0]

    def object_to_all(*_: object) -> None:
        raise Violated(name, "whatever it is")

    monkeypatch.setattr(judge, object_to_all)
    violation = SYSTEM.play(CALM).finding
    assert violation is not None
    assert (violation.property, violation.text) == (name, "whatever it is")


@pytest.mark.parametrize("resigns", [True, False])
def test_a_controller_that_steps_back_by_itself_must_make_raft_resign(resigns):
    mutant = find_mutant("steps-back-without-resigning", SYSTEM)
    bug = nullcontext() if resigns else mutant.applied()
    with bug:
        violation = steps_back_by_itself()
    found = None if violation is None else violation.property
    assert found == (None if resigns else "LeaderHasControllerProp")


def steps_back_by_itself():
    """Make the first active controller step back as after an error; return what is found."""
    simulation = Simulation(
        CALM.configuration, CALM.seed, CALM.plan, CALM.knobs, workload=SYSTEM.workload(CALM)
    )
    checks, is_told = StackChecks(), False
    for step in simulation.steps():
        checks.observe(step)
        if checks.violation is not None:
            break
        listener = step.listener
        if not is_told and listener is not None and listener.kind == "controller":
            (machine,) = (one for one in simulation.nodes if one.node_id == step.replica.node_id)
            host = machine.process.listener
            if is_active(host.state) and host.state.stable_end > FIRST_RECORDS:
                host._do(events.RenounceRequested(host._now_ms()))
                simulation.emit_listened()
                is_told = True
    assert is_told
    return checks.violation


def test_a_step_that_the_spec_of_raft_forbids_is_the_finding_of_a_lockstep(monkeypatch):
    def objects(_judge, step):
        return Violation(REFINEMENT, "whatever it is", step.number, step.time, "a node")

    monkeypatch.setattr(LockstepJudge, "judge", objects)
    violation = SYSTEM.play(replace(CALM, lockstep=True)).finding
    assert violation is not None
    assert violation.property == REFINEMENT


def test_a_campaign_of_the_stack_may_miss_only_three_actions_of_raft():
    missed = set(raft_action_names()) - set(stack_action_names())
    assert missed == {"BecomeSoleLeader", "ForgetObserver", "LosePreVoteByName"}


def test_the_log_of_a_run_is_excused_for_no_bug_of_older_releases():
    image = LogJudge()._history._state.image
    image.displaced = {0}
    assert not image.excused()


def test_a_change_that_the_spec_refuses_is_found_with_its_batch(tmp_path):
    no_reason = [change(isr=(1, 2), leader=1)]
    log, refused = written(tmp_path, Broken([[topic(), partition()], no_reason, [NOTHING]], (1, 0)))
    batches = [log_batch(batch) for batch in iter_batches(log / LOG)]
    judge = LogJudge()
    judge.add(batches[:-2])
    with pytest.raises(Violated, match=rf"PartitionLog!ChangeIsr.*offset {refused}"):
        judge.add(batches[-2:-1])


def test_a_log_that_the_audit_cannot_judge_is_found():
    judge = LogJudge()
    version = (KRAFT_VERSION.api_key, {"version": 0, "kRaftVersion": 2})
    batches = [leader_change(0, 1, 1, (1,)), control_batch(1, 1, TIME, [version])]
    judge.add([one for raw in batches for one in read_batches(raw)])
    with pytest.raises(Violated, match=r"LogIsJudgedInv: kraft\.version not known"):
        judge.finish()


def test_each_property_is_broken_by_a_test():
    own = {name for name in PROPERTIES if name not in {*REGISTRY, *RAFT_PROPERTIES}}
    assert len(own) >= 50
    texts = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "tests").rglob("*.py")]
    assert [name for name in sorted(own) if not any(name in text for text in texts)] == []


def test_every_property_is_in_the_documentation():
    text = (REPOSITORY / "docs/internals/stack-fuzzing.md").read_text(encoding="utf-8")
    own = [name for name in PROPERTIES if name not in {*RAFT_PROPERTIES, *REGISTRY}]
    assert len(own) > 40
    assert [name for name in own if f"`{name}`" not in text] == []


def test_every_property_belongs_to_one_judge():
    assert {*RAFT_PROPERTIES, *(name for names in JUDGES.values() for name in names)} == {
        *PROPERTIES
    }
