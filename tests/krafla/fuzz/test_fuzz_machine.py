"""Each system as a state machine of Hypothesis, on the implementation and on a wrong one."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.krafla.fuzz.fuzz_runs import krafla

from krafla.fuzz.engine import choice_machine, plan_machine
from krafla.fuzz.engine.choice_machine import ChoiceMachine
from krafla.fuzz.engine.machine_run import MachinePlayer
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.state_machine import SystemViolationError, machine_of
from krafla.fuzz.engine.system import CHOICE_NAMES, NAMES, find_system
from krafla.fuzz.engine.violation import Violation
from krafla.fuzz.raft.checks import Checks
from krafla.fuzz.raft.machine import RaftMachine

AT_NIGHT = bool(os.environ.get("KRAFLA_NIGHTLY"))
# How many examples a day has, and how many rules each: about a second of a processor.
BY_DAY = {
    "lease": (5, 20),
    "metadata": (5, 20),
    "reassignment": (5, 20),
    "registration": (5, 20),
    "cluster": (4, 20),
    "raft": (3, 6),
    "stack": (2, 6),
}
# Each profile has other constants, and to load a spec takes longer than such a run.
PROFILE_BY_DAY = {
    "lease": "reordered",
    "metadata": "controllers",
    "reassignment": "moves",
    "registration": "gate",
    "cluster": "two-and-two",
}
RULES_AT_NIGHT = {"raft": 20, "stack": 20}


@pytest.mark.by_day(3)
@pytest.mark.parametrize("word", NAMES)
def test_every_step_that_hypothesis_draws_is_one_of_the_spec(word):
    examples, rules = BY_DAY[word]
    profiles = (PROFILE_BY_DAY[word],) if word in PROFILE_BY_DAY else ()
    if AT_NIGHT:
        examples, rules, profiles = settings.default.max_examples, RULES_AT_NIGHT.get(word, 60), ()
    wanted = settings(
        max_examples=examples, stateful_step_count=rules, deadline=None, derandomize=not AT_NIGHT,
        database=None, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    taken = set()

    def note(run):
        taken.update(name for name, count in run.tallies["actions"].items() if count)

    machine = machine_of(word)
    observed = {"observed": (note,), "profiles": profiles, "__qualname__": machine.__qualname__}
    run_state_machine_as_test(type(machine.__name__, (machine,), observed), settings=wanted)
    assert len(taken) > 5, taken


@pytest.mark.parametrize("word", CHOICE_NAMES)
def test_every_choice_has_a_rule(word):
    kinds = get_args(find_system(word).choice)
    rules = {rule.function.__name__ for rule in machine_of(word).setup_state().rules}
    assert {choice_machine.rule_name(kind) for kind in kinds} <= rules
    assert {"go_on_a_little", "go_on_for_long"} <= rules


@pytest.mark.parametrize("word", ["raft", "stack"])
def test_every_fault_and_every_request_of_an_operator_has_a_rule(word):
    system = find_system(word)
    kinds = {*system.kinds, *system.request_kinds} - plan_machine.PLANNED
    rules = {rule.function.__name__ for rule in machine_of(word).setup_state().rules}
    assert {plan_machine.rule_name(kind) for kind in kinds} | {"let_time_pass"} == rules


def test_a_choice_with_an_unknown_field_is_named_when_the_class_is_made():
    known = machine_of("registration")
    lacking = {
        "system": known.system,
        "fields": {name: values for name, values in known.fields.items() if name != "level"},
        "choices_of": known.choices_of,
    }
    with pytest.raises(TypeError, match=r"no rule for RaiseMetadataVersion: .* nothing of level"):
        type("Lacking", (ChoiceMachine,), lacking)


def test_the_plan_that_rules_have_made_plays_the_same_steps_without_hypothesis():
    machine = RaftMachine()
    faults = ("other-disk", "power-loss", "partition", "pause", "isolation", "add-voter")
    machine.begin(7, 3, 1, 1, 2_000, ())
    for number, kind in enumerate(faults[1:]):
        rule = getattr(machine, plan_machine.rule_name(kind))
        drawn = {"nodes": 5} if kind == "partition" else {"node": 1}
        lasts = {} if kind == "add-voter" else {"lasts_ms": 400}
        rule(after_ms=300, chance=number, **drawn, **lasts)
    machine.go_on(500)
    assert {fault.kind for fault in machine.case.plan} == set(faults[1:])
    again = MachinePlayer(machine.case, RaftMachine.system)
    again.play_before(machine.player.simulation.time)
    assert again.run.digest == machine.player.run.digest
    assert again.run.steps > 500


def test_a_finding_at_the_end_of_a_run_is_saved_as_it_is_played_without_hypothesis(
    tmp_path, monkeypatch
):
    def broken(self, _acknowledged):
        self.violation = Violation("AcknowledgedStaysProp", "as this test wants", 0, 0, "n1")

    monkeypatch.setattr(Checks, "finish", broken)
    once = settings(
        max_examples=1, stateful_step_count=1, deadline=None, database=None, derandomize=True,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    wrong = type("Wrong", (RaftMachine,), {"folder": tmp_path})
    with pytest.raises(SystemViolationError) as error:
        run_state_machine_as_test(wrong, settings=once)
    (file,) = re.findall(r"saved: (.*\.json)", str(error.value))
    replayed = krafla("replay", file)
    assert replayed.exit_code == 1
    assert "AcknowledgedStaysProp" in replayed.stdout
    assert "not the run in the file" not in replayed.stdout


SAVED = {
    # The bug, the profile, what is found, and the most choices or faults that lead there.
    "lease": ("registration-is-not-fenced", "in-order", "RegisterBroker", 4),
    "metadata": ("answered-when-appended", "failovers", "HandleWrite", 9),
    "cluster": ("answered-when-appended", "one-controller", "RegisterBroker", 9),
    "raft": ("boots-unattached", "", "RestartProp", 3),
    "stack": ("claims-late", "", "LeaderClaimsProp", 1),
}


@pytest.mark.parametrize(
    "word",
    ["lease", *(pytest.param(word, marks=pytest.mark.nightly) for word in list(SAVED)[1:])],
)
def test_a_finding_is_shrunk_and_saved_as_replay_explain_and_keep_take_it(word, tmp_path):
    name, profile, property_name, most = SAVED[word]
    machine = machine_of(word)
    found = {"folder": tmp_path, "mutant": name, "profiles": (profile,) if profile else ()}
    wanted = settings(
        max_examples=200, stateful_step_count=10, deadline=None, database=None,
        phases=[Phase.generate, Phase.shrink], derandomize=True,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip
    with find_mutant(name, machine.system).applied(), pytest.raises(SystemViolationError) as error:
        run_state_machine_as_test(type("Wrong", (machine,), found), settings=wanted)
    assert property_name in str(error.value)
    saved = re.findall(r"saved: (.*)", str(error.value))
    case = machine.system.decoded(Path(saved[-1]).read_bytes(), saved[-1])
    assert case.size <= most
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for file in saved:
        replayed = krafla("replay", file)
        assert replayed.exit_code == 1, replayed.output
        assert property_name in replayed.stdout
        explained = krafla("explain", file)
        assert explained.exit_code == 0, explained.output
        assert property_name in explained.stdout
    reason = ("--reason", "Hypothesis found it.", "--quiet")
    kept = krafla("keep", saved[0], "--as", "rejected", "--into", str(corpus), *reason)
    assert kept.exit_code == 0, kept.output
    assert krafla("replay", str(corpus)).exit_code == 0
