"""Each construct with a translation has the meaning that TLC's evaluator gives it."""

from __future__ import annotations

import os
import random

import pytest
import z3

from krafla.proofs.concrete import Substitution, Universe
from krafla.values import ModelValue, function, record

from .conftest import CONSTANTS, N1, N2

NONE = ModelValue("None")
PREDICATES = (
    "IfIsChosen", "CaseTakesTheFirst", "LetIsPutIn", "Arithmetic", "Interval", "NotInInterval",
    "Implication", "Equivalence", "BooleansAreValues", "Nested", "EachInTurn", "OverEnumeration",
    "OverBooleans", "OverInterval", "OverTuples", "StringsDiffer", "Strings", "SetsAreEqual",
    "SubsetOfSet", "InPowerset", "UnionOfSets", "CommonMembers", "Without", "Image",
    "ImageMember", "AtMostOne", "ExactlyTwo", "NotOne", "MoreThanOne", "AtLeastTwoShapes",
    "FunctionsAreEqual", "FunctionInSet", "PartialInSet", "ExceptOnePoint", "ExceptOldValue",
    "ExceptTwice", "ExceptField", "ExceptNested", "ExceptOfUnion", "RecordSet",
    "RecordsOfTwoShapes", "AtomIsNoRecord", "SharedField", "OneIsTaken", "EmptyBag", "Merged",
    "MergedLeftWins", "KeptIsAll", "KeptIsNothing", "DomainMember", "Choice", "Tuples",
    "TupleElement", "InTuples",
)  # fmt: skip

# True in every state; all others are tried in states where they are true and false.
ALWAYS_TRUE = ("AtomIsNoRecord",)
# The number of states in which it is true, and of those in which it is false.
EACH = 40 if os.environ.get("KRAFLA_NIGHTLY") else 5

SHAPES = [record(kind="square", side=side) for side in (0, 1)] + [
    record(kind="circle", radius=radius, filled=filled)
    for radius in (0, 1)
    for filled in (False, True)
]


def sampled(chance):
    """Return values of the variables; small ones, so that they often coincide."""
    return {
        "total": chance.randint(-1, 4),
        "count": function({n: chance.randint(-1, 3) for n in (N1, N2)}),
        "colour": function({n: chance.choice(["red", "green"]) for n in (N1, N2)}),
        "members": frozenset(n for n in (N1, N2) if chance.random() < 0.5),
        "shape": function({n: chance.choice([*SHAPES, NONE, NONE]) for n in (N1, N2)}),
        "bag": function(
            {one: chance.randint(0, 2) for one in chance.sample(SHAPES, chance.randint(0, 3))}
        ),
    }


class Small:
    """A theory over the elements of the sample, for questions about known states."""

    def __init__(self, theory, *, is_written_out):
        self.theory = theory.bounded({"Node": 2}, is_written_out=is_written_out)
        self.universe = Universe(self.theory.algebra, {"Node": [N1, N2]})
        self.state = self.theory.state("s")
        self.formulas = {name: self.theory.predicate(name, self.state) for name in PREDICATES}

    def holds(self, name, values):
        put_in = Substitution(self.theory.algebra)
        put_in.replace(self.theory.constants["Limit"], self.universe.term(2, self.integer))
        for symbol in self.theory.module.variables:
            type_ = self.theory.types[symbol.name]
            term = self.universe.term(values[symbol.name], type_)
            put_in.replace(self.state.terms[symbol.key], term)
        formula = put_in(self.formulas[name])
        answers = []
        for claim in (formula, z3.Not(formula)):
            solver = z3.Solver()
            solver.add(z3.Not(claim))
            answers.append(solver.check() == z3.unsat)
        assert answers[0] != answers[1], f"z3 does not know whether {name} holds"
        return answers[0]

    @property
    def integer(self):
        return self.theory.constants["Limit"].type


@pytest.fixture(scope="module", params=[True, False], ids=["written out", "quantified"])
def small(request, constructs):
    return Small(constructs, is_written_out=request.param)


@pytest.mark.parametrize("name", PREDICATES)
def test_a_construct_means_what_tlc_says(small, constructs_spec, name):
    seen = dict.fromkeys(() if name in ALWAYS_TRUE else (False,), 0) | {True: 0}
    chance = random.Random(name)

    for _ in range(2000):
        values = sampled(chance)
        expected = constructs_spec.evaluate(name, constructs_spec.state(values))
        if seen[expected] < EACH:
            seen[expected] += 1
            assert small.holds(name, values) is expected
        if min(seen.values()) == EACH:
            return
    raise AssertionError(f"{name} does not have each of its values often enough: {seen}")


def test_the_constants_of_the_sample_are_what_the_module_declares(constructs):
    assert str(constructs.constants["Node"].type) == "set of element of Node"
    assert str(constructs.constants["Limit"].type) == "Int"
    assert str(constructs.constants["None"].type) == "None"
    assert set(CONSTANTS) == set(constructs.constants)


def test_the_type_of_a_variable_is_that_of_the_set_it_is_declared_in(constructs):
    shape = "[filled: BOOLEAN, kind: STRING, radius: Int] or [kind: STRING, side: Int]"
    assert {name: str(type_) for name, type_ in constructs.types.items()} == {
        "total": "Int",
        "count": "function from element of Node to Int",
        "colour": "function from element of Node to STRING",
        "members": "set of element of Node",
        "shape": f"function from element of Node to None or {shape}",
        "bag": f"function from {shape} to Int",
    }
