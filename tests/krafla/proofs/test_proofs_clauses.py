"""On known states, z3 and TLC's evaluator agree on the lease's clauses and properties."""

from __future__ import annotations

import functools
import os
import random

import pytest
import z3

from krafla.manifest import find_specs
from krafla.oracle import EvaluationError, Spec, explore
from krafla.proofs.concrete import Substitution, Universe
from krafla.proofs.obligations import clauses_of
from krafla.proofs.plans import load_plans
from krafla.proofs.theory import RULES, Theory
from krafla.refinement.lease.proof_instances import lease_instances
from krafla.values import Function, freeze, function, sorted_values

STATES = 60 if os.environ.get("KRAFLA_NIGHTLY") else 4
MODULE = "BrokerLeaseInductive"


class Samples:
    """States of a small model, and mixtures of the variables of two of them."""

    def __init__(self):
        instance = lease_instances()[1]
        self.constants = instance.constants
        self.spec = Spec.load(
            MODULE, self.constants, expressions={"Bounded": instance.bounds},
            constraints=("Bounded",),
        )  # fmt: skip
        found = explore(self.spec, limit=3000).states
        chance = random.Random(5)
        some = [found[0], *chance.sample(found, STATES)]
        self.states = list(some)
        for state in some:
            for _ in range(4):
                other = chance.choice(found)
                values = {name: other[name] for name in chance.sample(self.spec.variables, 2)}
                name = chance.choice(self.spec.variables)
                values[name] = levelled(other[name], chance)
                self.states.append(self.spec.rebind(state, values))

    @functools.cache  # noqa: B019 - one for each module of tests
    def bounded(self, theory, sizes):
        return theory.bounded(dict(zip(SETS, sizes, strict=True)))

    def answers(self, theory, name):
        """Return the answers of TLC and z3 by state, without the states in which TLC stops."""
        elements = {key: list(sorted_values(self.constants[key])) for key in SETS}
        small = self.bounded(theory, tuple(len(one) for one in elements.values()))
        universe = Universe(small.algebra, elements)
        state = small.state("s")
        known = Substitution(small.algebra)
        for key, term in small.constants.items():
            if key not in SETS:
                known.replace(term, universe.term(freeze(self.constants[key]), term.type))
        formula = known(small.predicate(name, state))
        for one in self.states:
            try:
                expected = self.spec.check_invariant(name, one)
            except EvaluationError:
                continue
            put_in = Substitution(small.algebra)
            for symbol in small.module.variables:
                value = universe.term(one[symbol.name], small.types[symbol.name])
                put_in.replace(state.terms[symbol.key], value)
            yield expected, decided(put_in(formula))


def levelled(value, chance):
    """Return a function of processes or brokers with one of its values as every result."""
    if isinstance(value, Function) and len(value) > 1:
        one = chance.choice(list(value.values()))
        return function(dict.fromkeys(value, one))
    return value


SETS = ("Broker", "Incarnation")


def decided(formula):
    solver = z3.Solver()
    solver.set("timeout", 10_000)
    solver.add(z3.Not(formula))
    answer = solver.check()
    return None if answer == z3.unknown else answer == z3.unsat


@pytest.fixture(scope="module")
def samples():
    return Samples()


def names(theory):
    plans = load_plans(find_specs(), "lease")
    found = [one for plan in plans for one in (*clauses_of(theory, plan), *plan.implies)]
    return list(dict.fromkeys(found))


@pytest.mark.nightly
def test_every_clause_and_property_means_what_tlc_says(lease, samples):
    values = {}
    for name in names(lease):
        answers = list(samples.answers(lease, name))
        assert all(tlc is of_z3 for tlc, of_z3 in answers), name
        values[name] = {tlc for tlc, _ in answers}

    assert all(True in found for found in values.values())
    # Many clauses are false if some variables come from another state.
    assert sum(found == {True, False} for found in values.values()) >= 10


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("operator", "rule"),
    [
        ("$BoundedForall", RULES["$BoundedExists"]),
        ("=>", RULES["\\land"]),
        ("<", RULES[">"]),
    ],
)
def test_a_wrong_rule_gives_a_clause_another_meaning(lease, samples, operator, rule):
    wrong = Theory.load(MODULE, rules={**RULES, operator: rule})

    assert any(
        tlc is not of_z3 for name in names(lease) for tlc, of_z3 in samples.answers(wrong, name)
    )
