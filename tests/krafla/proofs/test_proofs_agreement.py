"""The translated actions and TLC's are one relation, and a wrong rule is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from krafla.oracle.syntax import Number
from krafla.proofs.agreement import Instance, agreement
from krafla.proofs.terms import boolean
from krafla.proofs.theory import RULES, Theory
from krafla.refinement.lease.proof_instances import lease_instances

from .conftest import CONSTANTS

SAMPLE = Instance("sample", "Constructs", CONSTANTS, "total <= 1", "Start", limit=6, states=60)


def test_the_sample_actions_are_those_of_tlc(constructs):
    found = agreement(constructs, [SAMPLE])

    assert [row.action for row in found.actions] == ["Count", "Draw", "Throw", "Put"]
    assert not found.differences
    assert all(row.steps_tlc == row.steps_z3 > 0 for row in found.actions)
    assert all(row.refused > 0 for row in found.actions if row.action in ("Count", "Draw"))


@pytest.fixture(scope="module")
def of_the_lease(lease):
    return agreement(lease, lease_instances(6))


@pytest.mark.nightly
def test_the_actions_of_the_lease_are_those_of_tlc(of_the_lease):
    assert len(of_the_lease.actions) == 27
    assert not of_the_lease.differences
    assert all(row.steps_tlc == row.steps_z3 for row in of_the_lease.actions)


@pytest.mark.nightly
def test_the_initial_states_of_the_lease_are_those_of_tlc(of_the_lease):
    row = of_the_lease.initial

    assert not row.differences
    assert (row.questions, row.steps_tlc, row.steps_z3) == (3, 3, 3)


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("  /\\ total \\in {0, 1}\n", "allows a step that TLC does not"),
        ("  /\\ total = 0 /\\ total = 1\n", "TLC takes a step that the formula refuses"),
    ],
)
def test_a_wrong_init_is_noticed(proof_specs, tmp_path, text, reason):
    source = (proof_specs / "Constructs.tla").read_text()
    line = "  /\\ total = 0\n"
    assert source.count(line) == 1
    (tmp_path / "Constructs.tla").write_text(source.replace(line, text))
    wrong = Theory.load("Constructs", path=tmp_path)
    # TLC reads the right module, z3 the wrong one.
    wrong.module = replace(wrong.module, path=proof_specs / "Constructs.tla")

    found = agreement(wrong, [SAMPLE]).initial.differences
    assert any(reason in one.reason for one in found)


@pytest.mark.nightly
def test_every_action_of_the_lease_is_taken_in_some_instance(of_the_lease):
    assert [row.action for row in of_the_lease.actions if not row.steps_tlc] == []


def _always(translator, node, scope):
    RULES[node.operator](translator, node, scope)
    return boolean(True)


def _no_change(translator, node, scope):
    return RULES["$Except"](translator, replace(node, arguments=node.arguments[:1]), scope)


def _off_by_one(translator, node, scope):
    found = RULES["+"](translator, node, scope)
    one = translator.number(Number(node.place, 1), scope)
    return replace(found, expression=found.expression + one)


def _right_wins(translator, node, scope):
    left, right = node.arguments
    return RULES["@@"](translator, replace(node, arguments=(right, left)), scope)


def _whole_domain(translator, node, scope):
    return translator.set(node.arguments[0], scope)


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("operator", "rule"),
    [
        ("UNCHANGED", _always),
        ("$Except", _no_change),
        ("+", _off_by_one),
        ("@@", _right_wins),
        ("\\", _whole_domain),
        ("$DisjList", RULES["$ConjList"]),
        ("$BoundedExists", RULES["$BoundedForall"]),
        ("'", lambda translator, node, scope: translator.term(node.arguments[0], scope)),
    ],
)
def test_a_wrong_rule_is_noticed(proof_specs, operator, rule):
    wrong = Theory.load("Constructs", path=proof_specs, rules={**RULES, operator: rule})

    assert agreement(wrong, [SAMPLE]).differences


def test_a_difference_says_where_it_is(proof_specs):
    wrong = Theory.load("Constructs", path=proof_specs, rules={**RULES, "+": _off_by_one})
    difference = agreement(wrong, [SAMPLE]).differences[0]

    assert "in sample" in str(difference)
    assert difference.action in str(difference)
    assert set(difference.before) == set(wrong.variables)


def test_a_step_that_z3_cannot_decide_is_a_difference(constructs, monkeypatch):
    class Undecided(z3.Solver):
        def check(self):
            return z3.unknown

    monkeypatch.setattr("krafla.proofs.agreement._solver", Undecided)

    reasons = {one.reason for one in agreement(constructs, [SAMPLE]).differences}
    assert any(reason.startswith("z3 cannot say") for reason in reasons)
