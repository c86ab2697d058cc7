"""Deeply nested expressions are translated, or refused with their place."""

from __future__ import annotations

import sys

import pytest

from krafla.manifest import find_specs
from krafla.oracle.syntax import read_module
from krafla.proofs.depth import deeply_nested
from krafla.proofs.errors import Untranslatable
from krafla.proofs.solver import EFFORT
from krafla.proofs.trial import try_invariants
from krafla.verdict import Verdict

MODULE = """---- MODULE Deep ----
EXTENDS Naturals
VARIABLE x
TypeOK == x \\in Nat
Init == x = 0
Stay == x' = x
Next == Stay
Spec == Init /\\ [][Next]_x
DeepInv ==
    {claim}
====
"""
CLAIMS = {
    "terms": lambda count: "x < " + " + ".join(["1"] * count),
    "bullets": lambda count: "\n    ".join(f"/\\ x < {one + 1}" for one in range(count)),
    "conjuncts": lambda count: " /\\ ".join(f"x < {one + 1}" for one in range(count)),
    "negations": lambda count: "~ " * count + "(x = 0)",
    "sets": lambda count: "x \\in " + "{0} \\cup " * count + "{0}",
    "operators": lambda count: f"LET {chain(count)} IN x <= a{count}",
    "quantifiers": lambda count: each(count) + "x = 0",
}


def each(count):
    return "".join(f"\\A v{one} \\in {{0}} : " for one in range(count))


def chain(count):
    return "a0 == 0 " + " ".join(f"a{one} == a{one - 1} + 1" for one in range(1, count + 1))


@pytest.fixture
def tried(tmp_path):
    def run(claim):
        path = tmp_path / "Deep.tla"
        path.write_text(MODULE.format(claim=claim))
        return try_invariants(
            find_specs(), path, ("DeepInv",), effort=EFFORT, progress=lambda *_: None
        )

    return run


@pytest.mark.by_day(2)
@pytest.mark.parametrize("kind", CLAIMS)
def test_an_expression_of_300_levels_is_translated(tried, kind):
    limit = sys.getrecursionlimit()
    assert tried(CLAIMS[kind](300)).verdict is Verdict.HELD
    assert sys.getrecursionlimit() == limit


@pytest.mark.by_day(2)
@pytest.mark.parametrize("kind", ["terms", "negations", "sets", "operators", "quantifiers"])
def test_an_expression_that_is_nested_too_deeply_is_refused_with_its_place(tried, kind):
    with pytest.raises(Untranslatable, match="is nested too deeply") as caught:
        tried(CLAIMS[kind](1_500))
    assert caught.value.place.endswith("Deep.tla:10")


def walk(at):
    return walk(at)


def test_another_walk_that_goes_too_deep_is_refused_with_the_place_that_it_reached(tmp_path):
    path = tmp_path / "Deep.tla"
    path.write_text(MODULE.format(claim="x = 0"))

    with (
        pytest.raises(Untranslatable, match="an expression: is nested too deeply") as caught,
        deeply_nested(),
    ):
        walk(read_module("Deep", path).operator("DeepInv").body.place)
    assert caught.value.place == f"{path}:10"


def test_a_walk_of_something_else_that_goes_too_deep_is_a_fault_of_its_own():
    with pytest.raises(RecursionError), deeply_nested():
        walk(None)


def test_operators_that_double_are_refused_and_not_written_out(tried):
    doubles = " ".join(f"a{one} == a{one - 1} + a{one - 1}" for one in range(1, 40))
    with pytest.raises(Untranslatable, match="has more than 100,000 parts, with the operators"):
        tried(f"LET a0 == x {doubles} IN a39 >= 0")
    few = " ".join(f"a{one} == a{one - 1} + a{one - 1}" for one in range(1, 6))
    assert tried(f"LET a0 == x {few} IN a5 >= 0").verdict is Verdict.HELD
