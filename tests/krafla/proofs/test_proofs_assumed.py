"""What an ASSUME says of constants: that a set has a member, or that two differ, and no more."""

from __future__ import annotations

import pytest
import z3

from krafla.oracle.syntax import read_module
from krafla.proofs.assumed import with_members
from krafla.proofs.declarations import conjuncts
from krafla.proofs.errors import Untranslatable
from krafla.proofs.theory import Theory
from krafla.proofs.translate import Scope

# Each is about a set S of its own. The second list has the nearest limits that say less.
WITH_MEMBER = (
    "Cardinality(S) > 0", "Cardinality(S) >= 1", "Cardinality(S) = 1", "Cardinality(S) # 0",
    "0 < Cardinality(S)", "1 <= Cardinality(S)", "1 = Cardinality(S)", "0 # Cardinality(S)",
    "~(Cardinality(S) = 0)", "~(0 = Cardinality(S))",
    "S # {}", "{} # S", "~(S = {})", "x \\in S", "\\E n \\in S : TRUE",
)  # fmt: skip
MAYBE_EMPTY = (
    "Cardinality(S) > -1", "Cardinality(S) >= 0", "Cardinality(S) = 0", "Cardinality(S) # 1",
    "-1 < Cardinality(S)", "0 <= Cardinality(S)", "0 = Cardinality(S)", "1 # Cardinality(S)",
    "Cardinality(S) < 1", "Cardinality(S) < 2", "Cardinality(S) <= 0", "Cardinality(S) <= 1",
    "1 > Cardinality(S)", "2 > Cardinality(S)", "0 >= Cardinality(S)", "1 >= Cardinality(S)",
    "~(Cardinality(S) = 1)", "~(1 = Cardinality(S))",
    "S = {}", "S # {1}", "~(S # {})", "x \\notin S", "\\A n \\in S : TRUE",
)  # fmt: skip


def test_a_set_has_a_member_where_an_assume_leaves_it_no_other_choice(tmp_path):
    texts = {f"S{number}": one for number, one in enumerate(WITH_MEMBER + MAYBE_EMPTY)}
    assumed = [f"ASSUME {text.replace('S', name)}" for name, text in texts.items()]
    lines = ["EXTENDS Integers, FiniteSets", f"CONSTANTS x, {', '.join(texts)}", *assumed]
    path = tmp_path / "Sizes.tla"
    path.write_text("\n".join(("---- MODULE Sizes ----", *lines, "====\n")))

    module = read_module("Sizes", path)
    entries = [
        entry for name, node in module.assumptions for entry in conjuncts(node, Scope(), name)
    ]
    keys = set(with_members(entries))

    found = {texts[one.name] for one in module.constants if one.key in keys}
    assert found == set(WITH_MEMBER)


@pytest.fixture
def atoms(proof_specs, tmp_path):
    """Return the function from what is assumed of two constants to whether they differ."""
    text = (proof_specs / "unsound" / "Atoms.tla").read_text()
    text = text.replace("Integers", "Integers, FiniteSets")
    path = tmp_path / "Atoms.tla"

    def load(assumed):
        path.write_text(text.replace("VARIABLES v", f"ASSUME {assumed}\nVARIABLES v"))
        return Theory.load("Atoms", path=path).predicate("ApartInv", None)

    return load


@pytest.mark.parametrize("size", ["Cardinality({Low, High}) = 2", "2 = Cardinality({Low, High})"])
def test_two_constants_differ_where_a_set_of_both_has_two_members(atoms, size):
    assert z3.is_true(z3.simplify(atoms(size)))


@pytest.mark.parametrize(
    "assumed",
    [
        "Cardinality({Low, High, 1}) = 2",
        "Cardinality({Low, High}) = 1",
        "Cardinality({Low, High}) # 2",
        "Cardinality({Low, High}) <= 2",
        "Low = High",
        "~(Low # High)",
    ],
)
def test_two_constants_of_which_no_assume_says_it_are_not_taken_to_differ(atoms, assumed):
    with pytest.raises(Untranslatable, match="nothing says that Low differs from High"):
        atoms(assumed)
