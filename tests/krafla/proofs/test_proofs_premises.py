"""What z3 may rely on in a step: what the plan and the module say, and nothing to be shown."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import z3

from krafla.manifest import find_specs
from krafla.proofs.obligations import Kind
from krafla.proofs.plans import trial_plan
from krafla.proofs.prove import Proofs
from krafla.verdict import Verdict

# All that is claimed is false somewhere: at the start, of the states in which the clauses hold, and
# of each step that ends at 3. If a claim were assumed where it is to be shown, it would be proved.
MODULE = """---- MODULE Adds ----
EXTENDS Integers
CONSTANT Limit
ASSUME Limit \\in Nat /\\ Limit # 4
VARIABLE x
TypeOK == x \\in 0 .. 2
Init == x \\in {0, 4}
Add(d) == x' = x + d /\\ x' < Limit + 1
Next == \\E d \\in 1 .. 2 : Add(d)
Spec == Init /\\ [][Next]_x
IsSmall == Limit < 5
NotOne == x' # 1
LowInv == x < 3
SmallInv == x < 2
FewProp == [][x' < 3]_x
BelowThree == x' + 1 <= 3
====
"""


@pytest.fixture
def proofs(tmp_path):
    path = tmp_path.resolve() / "Adds.tla"
    path.write_text(MODULE)
    plan = replace(
        trial_plan(path, ("LowInv",)), implies=("SmallInv",), steps=("FewProp", "BelowThree"),
        conditions=("IsSmall",), step_conditions=("NotOne",),
    )  # fmt: skip
    return Proofs(find_specs(), "Adds", plans=(plan,))


@pytest.fixture
def relied_on(proofs):
    """Return the function to the values that what z3 may rely on in a case allows.

    They are those of the constant, of the state before and of the state after, and of the
    parameters.
    """
    (plan,) = proofs.plans
    theory = proofs.theory(plan)
    (x,) = (symbol.key for symbol in theory.module.variables)
    states = [theory.state(name).terms[x] for name in ("before", "after")]

    def search(kind, action=None):
        cases = proofs.cases_of(plan, action or kind.value)
        (case,) = (one for one in cases if one.kind is kind)
        given = z3.And(*case.premises, *(one.formula for one in case.hypotheses))
        terms = [theory.constants["Limit"], *states, *case.parameters]
        found = set()
        for values in product(range(-1, 6), repeat=len(terms)):
            numbers = [z3.IntVal(value) for value in values]
            pairs = zip((term.expression for term in terms), numbers, strict=True)
            is_allowed = z3.simplify(z3.substitute(given, *pairs))
            assert z3.is_true(is_allowed) or z3.is_false(is_allowed)
            if z3.is_true(is_allowed):
                found.add(values)
        return found

    return search


@pytest.mark.parametrize(
    ("place", "false"),
    [
        ("initial", {"TypeOK", "LowInv"}),
        ("implied", {"SmallInv"}),
        ("Add", {"TypeOK", "LowInv", "FewProp", "BelowThree"}),
    ],
)
def test_where_all_that_is_claimed_is_false_nothing_is_proved(proofs, place, false):
    report = proofs.run(f"LowInv/{place}")

    found = {answer.obligation.goal: answer.verdict for answer in report.answers}
    assert found == dict.fromkeys(false, Verdict.VIOLATED)


def test_of_a_step_z3_knows_the_invariant_before_it_the_action_and_the_conditions(relied_on):
    assert relied_on(Kind.KEPT, "Add") == {
        (limit, before, before + d, d)
        for limit, before, d in product((0, 1, 2, 3), (0, 1, 2), (1, 2))
        if before + d <= limit and before + d != 1
    }


def test_of_a_state_z3_knows_the_invariant_and_the_conditions_over_constants(relied_on):
    every = range(-1, 6)
    assert relied_on(Kind.IMPLIED) == set(product((0, 1, 2, 3), (0, 1, 2), every))
    assert relied_on(Kind.INITIAL) == set(product((0, 1, 2, 3), (0, 4), every))
