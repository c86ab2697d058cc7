"""z3 is asked all that the plan and the spec name, and every proof is about something possible.

What is expected is read from the text here, not by the code that makes the obligations.
"""

from __future__ import annotations

import gc
import re
import shutil
import tomllib
from functools import cache

import pytest

from krafla.manifest import find_specs
from krafla.oracle import EvaluationError
from krafla.proofs.obligations import Kind
from krafla.proofs.prove import Proofs
from krafla.verdict import Verdict

SPECS = find_specs()
PLANS = {plan["name"]: plan for plan in tomllib.loads((SPECS / "proofs.toml").read_text())["proof"]}
# By day only those that other tests here use too.
BY_DAY = ("processes", "epochs")
NAMES = [pytest.param(name, marks=() if name in BY_DAY else pytest.mark.nightly) for name in PLANS]
TEXT = "".join(
    (SPECS / "lease" / f"{name}.tla").read_text()
    for name in ("BrokerLease", "BrokerLeaseProperties", "BrokerLeaseInductive")
)


def body(name):
    """Return the text of an operator's definition, without comments."""
    found = re.search(rf"^{name} ==(.*?)(?=^\S|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    return re.sub(r"\(\*.*?\*\)", "", found[1])


def named(name):
    """Return the clauses that a definition lists, directly or through other lists."""
    lines = [line.strip() for line in body(name).splitlines() if line.strip()]
    if not all(re.fullmatch(r"(/\\ \w+ *)+", line) for line in lines):
        return [name]
    return [one for line in lines for part in re.findall(r"\w+", line) for one in named(part)]


ACTIONS = [
    name
    for part in re.findall(r"\w+", body("Next"))
    for name in re.findall(r"(\w+)(?:\([a-z_, ]+\))?$", body(part), re.MULTILINE)
]


@pytest.fixture(scope="module")
def proofs():
    return Proofs(SPECS, "lease")


@pytest.fixture(scope="module")
def cases_of(proofs):
    """Return the cases of the named plan; writing them out takes seconds for each plan."""
    plans = {proof.name: proof for proof in proofs.plans}
    return cache(lambda name: list(proofs.cases_of(plans[name])))


def changed(folder, *replacements, name="BrokerLease.tla"):
    specs = (folder / "specs").resolve()
    shutil.copytree(SPECS, specs)
    path = specs / "lease" / name
    text = path.read_text()
    for old, new in replacements:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text)
    return specs


def test_the_actions_in_the_text_of_next_are_27():
    assert len(ACTIONS) == len(set(ACTIONS)) == 27


@pytest.mark.by_day(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_obligations_are_those_of_the_plan(proofs, cases_of, name):
    plan = PLANS[name]
    known = {one for other in plan.get("after", ()) for one in named(PLANS[other]["invariant"])}
    own = [one for one in dict.fromkeys(named(plan["invariant"])) if one not in known]
    (proof,) = (one for one in proofs.plans if one.name == name)
    theory = proofs.theory(proof)
    state = theory.state("counted")

    def numbered(clauses):
        return [
            (clause, number)
            for clause in clauses
            for number in range(1, len(theory.conjuncts(clause, state)) + 1)
        ]

    steps = [(one, 1) for one in plan.get("steps", ())]
    asked = {}
    for case in cases_of(name):
        goals = [(one.obligation.goal, one.obligation.conjunct) for one in case.goals]
        asked.setdefault((case.kind, case.action), []).extend(goals)
    assert own
    assert asked.pop((Kind.INITIAL, None)) == numbered(own)
    assert asked.pop((Kind.IMPLIED, None)) == numbered(plan.get("implies", ()))
    # Of what is defined in every state, the clauses that need it are named.
    told = {goal for goal, _ in asked.pop((Kind.DEFINED, None))}
    assert told <= {"ASSUME", "Init", *own, *plan.get("implies", ()), *plan.get("steps", ())}
    expected = {(Kind.KEPT, action): numbered(own) + steps for action in ACTIONS}
    if not plan.get("after"):
        # The types of what the lease assigns are those of its variables.
        expected |= {(Kind.FITS, action): [] for action in (None, *ACTIONS)}
    if plan.get("defined"):
        after = theory.state("after")
        for action in ACTIONS:
            found = theory.requirements(action, theory.parameters(action), state, after)
            expected[Kind.DEFINED, action] = [("defined", n + 1) for n in range(len(found))]
    assert asked == expected


@pytest.mark.nightly
def test_in_one_proof_everything_an_action_evaluates_is_defined(proofs, cases_of):
    (name,) = (name for name, plan in PLANS.items() if plan.get("defined"))
    defined = [case for case in cases_of(name) if case.kind is Kind.DEFINED]

    # All others evaluate only expressions that have a meaning in every state.
    assert {"RegisterBroker", "KeepFenced"} <= {case.action for case in defined if case.goals}
    report = proofs.run(f"{name}/*/defined")
    assert report.verdict is Verdict.HELD
    assert len(report.answers) == sum(len(case.goals) for case in defined)


@pytest.mark.nightly
def test_a_use_without_meaning_is_refuted_by_a_state_in_which_tlc_stops(tmp_path):
    guard = "IN Registered(b) /\\ registrations[b].epoch = m.epoch"
    specs = changed(tmp_path, (guard, guard.replace("Registered(b) /\\ ", "")))

    report = Proofs(specs, "lease").run("processes/KeepFenced/defined")

    assert report.verdict is Verdict.VIOLATED
    found = [answer.counterexample for answer in report.answers if answer.counterexample]
    assert all(one.after is None and one.step.startswith("KeepFenced(") for one in found)
    with pytest.raises(EvaluationError):
        found[0].before.spec.outcomes(found[0].before, "KeepFenced", *found[0].parameters)


@pytest.mark.nightly
@pytest.mark.by_day(1)
@pytest.mark.parametrize("name", NAMES)
def test_only_clauses_are_assumed_and_each_is_shown_by_some_proof(cases_of, name):
    shown = {
        goal.obligation.goal
        for other in (name, *PLANS[name].get("after", ()))
        for case in cases_of(other)
        if case.kind is Kind.INITIAL
        for goal in case.goals
    }

    for case in cases_of(name):
        assumed = {one.clause for one in case.hypotheses}
        every = set(named(PLANS[name]["invariant"]))
        if case.kind is Kind.INITIAL or (case.kind, case.action) == (Kind.FITS, None):
            assert assumed == set()
        elif case.kind is Kind.DEFINED and case.action is None:
            assert assumed <= every
        else:
            assert assumed == every
        assert assumed <= shown


@pytest.mark.nightly
def test_each_obligation_is_answered_once(proofs, cases_of):
    report = proofs.run("epochs")

    asked = [goal.obligation for case in cases_of("epochs") for goal in case.goals]
    assert [answer.obligation for answer in report.answers] == asked
    assert all(case.is_possible is True for case in report.cases)


@pytest.mark.nightly
def test_formulas_are_not_collected_by_another_thread_while_z3_runs():
    enabled = []
    proofs = Proofs(SPECS, "lease", progress=lambda *_: enabled.append(gc.isenabled()))
    gc.enable()

    proofs.run("epochs/initial")

    assert enabled
    assert not any(enabled)
    assert gc.isenabled()


def test_an_init_that_contradicts_itself_proves_nothing(tmp_path):
    specs = changed(tmp_path, ("  /\\ log_end = 0\n", "  /\\ log_end = 0 /\\ log_end = 1\n"))

    report = Proofs(specs, "lease").run("epochs/initial")

    assert all(answer.verdict is Verdict.HELD for answer in report.answers)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert [case.is_possible for case in report.cases] == [False]


def test_an_initial_state_that_tlc_does_not_have_proves_nothing(proofs, monkeypatch):
    monkeypatch.setattr("krafla.oracle.Spec.initial_states", lambda _spec: [])

    report = proofs.run("epochs/initial")

    assert report.verdict is Verdict.INCONCLUSIVE
