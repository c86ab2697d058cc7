"""The proofs of the lease: what holds is proved, what is false is refuted, no clause is idle."""

from __future__ import annotations

from itertools import pairwise

import pytest

from krafla.manifest import find_specs
from krafla.proofs.clause_needs import needs
from krafla.proofs.mutants import load_mutants, refute_mutant
from krafla.proofs.plans import load_plans
from krafla.proofs.prove import Proofs
from krafla.proofs.refutation import refute
from krafla.proofs.solver import EFFORT
from krafla.verdict import KraflaError, Verdict

# By day one of each kind, and those that z3 refutes fastest.
BY_DAY = {"lease-from-answer", "skew-not-counted"}
MUTANTS = [
    pytest.param(one, id=one.id, marks=() if one.id in BY_DAY else pytest.mark.nightly)
    for one in load_mutants(find_specs())
]


@pytest.fixture(scope="module")
def proofs():
    return Proofs(find_specs(), "lease")


@pytest.fixture(scope="module")
def overlap(proofs):
    return proofs.run("overlap")


# By day `make verify` proves it.
@pytest.mark.nightly
def test_the_epochs_are_proved_for_any_number_of_brokers(proofs):
    report = proofs.run("epochs")

    assert report.verdict is Verdict.HELD
    actions = {case.action for case in report.cases if case.action}
    assert {"FailOver", "RegisterBroker", "RejectHeartbeat", "Tick"} <= actions
    goals = {answer.obligation.goal for answer in report.answers}
    assert {"EpochUniqueInv", "OneLiveIncarnationInv", "StaleHeartbeatIgnoredProp"} <= goals


# `make verify` proves this too; it counts the actions that were shown possible.
@pytest.mark.nightly
def test_no_overlap_is_proved_under_its_conditions(overlap):
    assert overlap.verdict is Verdict.HELD
    assert {answer.obligation.goal for answer in overlap.answers} >= {
        "NoOverlapInv", "OneServerPerIdInv", "ServingIsCoveredInv",
    }  # fmt: skip


@pytest.mark.nightly
def test_every_action_is_possible_but_those_that_the_conditions_rule_out(overlap):
    found = {case.action: case.is_possible for case in overlap.cases if case.action}
    assert {action for action, is_possible in found.items() if not is_possible} == {
        "DuplicateMessage"
    }


# By day only in one action, by a test of the command line.
@pytest.mark.nightly
@pytest.mark.parametrize("clause", ["GivenToOneProcessInv"])
def test_without_a_clause_an_obligation_fails(proofs, clause):
    (need,) = needs(proofs, clause)

    assert need.counterexample is not None
    assert need.counterexample.after is not None


def test_too_few_steps_for_z3_are_inconclusive():
    hasty = Proofs(find_specs(), "lease", effort=1)

    report = hasty.run("epochs/SendHeartbeat/GivenToHolderInv")

    assert report.verdict is Verdict.INCONCLUSIVE
    assert all(case.is_possible for case in report.cases)
    (answer,) = report.answers
    assert answer.verdict is Verdict.INCONCLUSIVE
    # So z3 calls a question for which it had too few steps.
    assert answer.reason.startswith("canceled; ")


def test_there_are_mutants_by_day_and_by_night():
    assert {one.id for one in load_mutants(find_specs())} > BY_DAY


@pytest.mark.by_day(1)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_refuted_by_a_step_that_tlc_agrees_to(mutant):
    answer = refute_mutant(find_specs(), "lease", mutant, EFFORT)

    assert answer.verdict is Verdict.HELD
    assert answer.step


@pytest.mark.nightly
def test_an_unknown_obligation_is_a_clear_error(proofs):
    with pytest.raises(KraflaError, match="no obligation is named epochs/Nothing"):
        proofs.run("epochs/Nothing")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r"\[\[proof\]\] tables"),
        ("[[proof]]\nname = 'a'\n", "'of' is missing"),
        ("[[proof]]\nname = 3\n", "'name' is missing"),
        ("[[proof]\n", "not TOML"),
        ("proof = [{name = 'a'}]\n", "starts with a line"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_place(tmp_path, text, problem):
    (tmp_path / "proofs.toml").write_text(text)

    with pytest.raises(KraflaError, match=problem) as error:
        load_plans(tmp_path)
    assert "proofs.toml" in str(error.value.place)


# By day a test of the command line covers it, in less detail.
@pytest.mark.nightly
def test_without_self_fencing_a_behaviour_of_the_spec_breaks_the_promise(proofs):
    (proof,) = (one for one in proofs.plans if one.is_refuted)

    found = refute(proofs, proof)

    assert found.verdict is Verdict.HELD
    path = found.reached.path
    assert path[0][0] == "Init"
    spec = path[0][1].spec
    for (_, before), (action, after) in pairwise(path):
        assert any(step[0] == action and step[2] == after for step in spec.successors(before))
    (end,) = (
        state
        for state in spec.outcomes(
            path[-1][1], found.counterexample.obligation.action, *found.counterexample.parameters
        )
    )
    assert not spec.check_invariant("NoOverlapInv", end)
