"""A theory: its declarations, conjuncts and actions, and what must be defined."""

from __future__ import annotations

import pytest
import z3

from krafla.oracle.syntax import Apply, Call, Name, Number, children, read_module
from krafla.proofs.errors import Untranslatable
from krafla.proofs.theory import Theory


def proved(hypotheses, goal):
    solver = z3.Solver()
    # z3 can search for ever for a model of formulas with quantifiers.
    solver.set("timeout", 2000)
    solver.add(*hypotheses, z3.Not(goal))
    return solver.check() == z3.unsat


@pytest.fixture(scope="module")
def states(lease):
    return lease.state("s"), lease.state("t")


def test_sany_tells_the_place_of_every_expression(proof_specs):
    module = read_module("Constructs", proof_specs)
    body = module.operator("Interval").body
    lines = (proof_specs / "Constructs.tla").read_text().splitlines()

    assert isinstance(body, Apply)
    assert body.operator == r"\in"
    assert body.place.module == "Constructs"
    assert lines[body.place.line - 1].startswith("Interval ==")
    assert [type(child) for child in children(body)] == [Name, Apply]
    assert isinstance(module.operator("AtomIsNoRecord").body, Apply)
    assert isinstance(module.operator("IsCircle").body, Apply)
    assert any(isinstance(child, Call) for child in children(module.operator("Count").body))


def test_a_large_numeral_is_its_value(tmp_path):
    text = "---- MODULE Large ----\nSmall == 2147483647\nLarge == 4294967297\n===="
    (tmp_path / "Large.tla").write_text(text)
    module = read_module("Large", tmp_path)
    values = [module.operator(name).body for name in ("Small", "Large")]

    assert all(isinstance(value, Number) for value in values)
    assert [value.value for value in values] == [2**31 - 1, 2**32 + 1]


def test_the_conjuncts_of_an_invariant_have_names_and_places(lease, states):
    found = lease.conjuncts("EpochsInductiveInv", states[0])

    assert "EpochUniqueInv" in {one.name for one in found}
    assert {"TypeOK.1", "TypeOK.12", "IsBagOf.2"} <= {one.name for one in found}
    assert all(one.place.path is not None and one.place.line > 0 for one in found)
    whole = lease.predicate("EpochsInductiveInv", states[0])
    assert proved([one.formula for one in found], whole)


def test_the_actions_are_those_of_next_with_their_parameters(lease):
    found = {
        action.name: tuple(one.symbol.name for one in action.uses[0]) for action in lease.actions
    }

    assert len(found) == 27
    assert found["Tick"] == ("by_controller", "by_broker")
    assert found["FailOver"] == ()


def test_an_action_keeps_what_it_does_not_name(lease, states):
    (broker,) = lease.parameters("ElectLeader")
    step = lease.action("ElectLeader", (broker,), *states)
    process = lease.parameters("Crash")[0]

    assert proved([step], lease.step_property("LogGrowsProp", *states))
    assert proved([step], lease.step_property("ChangesAreLoggedProp", *states))
    assert not proved([], lease.step_property("ChangesAreLoggedProp", *states))
    assert proved(
        [step, lease.predicate("Live", states[0], process)],
        lease.predicate("Live", states[1], process),
    )


def test_the_bounds_of_an_action_are_those_of_next(lease, states):
    parameters = lease.parameters("ReplayMetadata")
    of_process, of_offset = lease.bounds("ReplayMetadata", parameters, states[0])

    assert z3.is_true(of_process)
    assert proved([of_offset], parameters[1].expression >= 0)


def test_assumptions_are_all_but_finiteness(lease):
    found = [one.formula for one in lease.assumptions()]

    assert len(found) == 9
    assert proved(found, lease.constants["SessionTimeout"].expression > 0)


def test_what_an_action_evaluates_is_defined_if_its_guards_come_first(lease, states):
    hypotheses = [one.formula for one in lease.assumptions()]
    hypotheses += [one.formula for one in lease.conjuncts("TypeOK", states[0])]
    parameters = lease.parameters("RegisterBroker")
    in_flight = lease.bounds("RegisterBroker", parameters, states[0])
    required = lease.requirements("RegisterBroker", parameters, *states)

    assert required
    assert all(proved([*hypotheses, *in_flight], one.formula) for one in required)
    # A message that is not in flight has no count.
    applied = [one for one in required if one.operator == "$FcnApply"][:3]
    unproved = [one for one in applied if not proved(hypotheses, one.formula)]
    assert {one.operator for one in unproved} >= {"$FcnApply"}


def test_a_choice_in_an_action_is_some_member(proof_specs):
    theory = Theory.load("Constructs", path=proof_specs)
    before, after = theory.state("s"), theory.state("t")
    parameters = theory.parameters("Throw")
    step = theory.action("Throw", parameters, before, after)

    taken = theory.predicate("SetsAreEqual", before)
    assert proved([step], z3.Implies(taken, theory.predicate("SubsetOfSet", before)))
    required = theory.requirements("Throw", parameters, before, after)
    assert "$BoundedChoose" in {one.operator for one in required}


def test_a_next_that_is_more_than_a_choice_of_operators_is_refused(tmp_path):
    (tmp_path / "Plain.tla").write_text(
        "---- MODULE Plain ----\nEXTENDS Integers\nVARIABLE x\nTypeOK == x \\in Int\n"
        "Next == x' = 1 \\/ x' = 2\n====\n"
    )
    theory = Theory.load("Plain", path=tmp_path)

    with pytest.raises(Untranslatable, match="chooses among actions with names only") as caught:
        _ = theory.actions
    assert caught.value.place.endswith("Plain.tla:5")


def test_an_instance_is_translated_with_its_substitutions(tmp_path):
    (tmp_path / "Inner.tla").write_text(
        "---- MODULE Inner ----\nEXTENDS Integers\nVARIABLE y\nUp == y' = y + 1\n====\n"
    )
    (tmp_path / "Outer.tla").write_text(
        "---- MODULE Outer ----\nEXTENDS Integers\nVARIABLE x\nTypeOK == x \\in Int\n"
        "In == INSTANCE Inner WITH y <- 2 * x\nStep == x' = x + 3\nTwice == In!Up\n====\n"
    )
    theory = Theory.load("Outer", path=tmp_path)
    before, after = theory.state("s"), theory.state("t")
    step = theory.action("Twice", (), before, after)

    x, after_x = (next(iter(state.terms.values())).expression for state in (before, after))
    assert proved([step], 2 * after_x == 2 * x + 1)
    assert proved([step], z3.Not(theory.action("Step", (), before, after)))
