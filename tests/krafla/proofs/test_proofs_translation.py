"""Each construct with a translation means what TLC's evaluator says it does."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

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

numbers = st.integers(-1, 3)
squares = st.builds(lambda side: record(kind="square", side=side), st.integers(0, 1))
circles = st.builds(
    lambda radius, filled: record(kind="circle", radius=radius, filled=filled),
    st.integers(0, 1),
    st.booleans(),
)
shapes = squares | circles


def of_each(values):
    return st.builds(lambda a, b: function({N1: a, N2: b}), values, values)


states = st.fixed_dictionaries({
    "total": numbers,
    "count": of_each(numbers),
    "colour": of_each(st.sampled_from(["red", "green"])),
    "members": st.frozensets(st.sampled_from([N1, N2])),
    "shape": of_each(shapes | st.just(NONE)),
    "bag": st.dictionaries(shapes, st.integers(0, 2), max_size=3).map(function),
})  # fmt: skip


class Small:
    """A theory over the elements of the sample, to be asked about known states."""

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
    answers = set()

    @settings(max_examples=10)
    @given(states)
    def compare(values):
        expected = constructs_spec.evaluate(name, constructs_spec.state(values))
        answers.add(expected)
        assert small.holds(name, values) is expected

    compare()
    assert answers


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
