"""Deeply nested expressions are translated, or refused with their place."""

from __future__ import annotations

import sys

import pytest

from krafla.manifest import find_specs
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
    "quantifiers": lambda count: each(count) + "x = 0",
}


def each(count):
    return "".join(f"\\A v{one} \\in {{0}} : " for one in range(count))


@pytest.fixture
def tried(tmp_path):
    def run(claim):
        path = tmp_path / "Deep.tla"
        path.write_text(MODULE.format(claim=claim))
        return try_invariants(
            find_specs(), path, ("DeepInv",), effort=EFFORT, progress=lambda *_: None
        )

    return run


@pytest.mark.parametrize("kind", CLAIMS)
def test_an_expression_of_300_levels_is_translated(tried, kind):
    limit = sys.getrecursionlimit()
    assert tried(CLAIMS[kind](300)).verdict is Verdict.HELD
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("kind", ["terms", "negations", "sets", "quantifiers"])
def test_an_expression_that_is_nested_too_deeply_is_refused_with_its_place(tried, kind):
    with pytest.raises(Untranslatable, match="is nested too deeply") as caught:
        tried(CLAIMS[kind](2_500))
    assert caught.value.place.endswith("Deep.tla:10")
