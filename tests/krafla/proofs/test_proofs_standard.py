r"""An operator of a standard module is that one wherever it is used, and no other has its meaning.

The text of a standard module is no definition: Naturals says ``Nat == {}``, and TLC has the meaning
in Java. So ``I!Nat`` of an instance is not read there, and a module of one's own, though it may
have the name of a standard one, is read as it stands.
"""

from __future__ import annotations

import pytest

from krafla.manifest import find_specs
from krafla.oracle import Spec
from krafla.proofs.errors import Untranslatable
from krafla.proofs.plans import trial_plan
from krafla.proofs.prove import Proofs
from krafla.verdict import Verdict

COUNTS = """
VARIABLE x
TypeOK == x \\in Int
Init == x = 0
Up == x' = x + 1
Next == Up
Spec == Init /\\ [][Next]_x
"""
INSTANCES = {
    "a set": ("I == INSTANCE Integers", COUNTS + "Inv == x \\notin I!Nat"),
    "a comparison": ("I == INSTANCE Integers", COUNTS + "Inv == I!>(x, -1) => x = -1"),
    "in a LET": ("", COUNTS + "Inv == LET I == INSTANCE Integers IN I!>(x, -1) => x = -1"),
    "through a library": ("I == INSTANCE Library", COUNTS + "Inv == x \\notin I!Nat"),
}
CHOICES = """
VARIABLE x
TypeOK == x \\in Int
Init == x = 1
Set(i) == x' = i
Next == \\E i \\in I!..(1, 3) : Set(i)
Spec == Init /\\ [][Next]_x
Inv == x # 2
"""
MERGES = """
VARIABLE x
TypeOK == x \\in [{1} -> {1, 2}]
Init == x = [i \\in {1} |-> 1]
Up == x' = [i \\in {1} |-> 1] @@ [i \\in {1} |-> 2]
Next == Up
Spec == Init /\\ [][Next]_x
Inv == x[1] = 1
"""
OWN_BAGS = "---- MODULE Bags ----\nf @@ g == g\n====\n"


@pytest.fixture
def verdict(tmp_path):
    """Return the function from a module's text to the verdict on its Inv."""

    def ask(text, extended="Integers"):
        path = tmp_path.resolve() / "Claim.tla"
        path.write_text(f"---- MODULE Claim ----\nEXTENDS {extended}\n{text}\n====\n")
        (tmp_path / "Library.tla").write_text(
            "---- MODULE Library ----\nEXTENDS Integers\nTwo == 2\n====\n"
        )
        plan = trial_plan(path, ("Inv",))
        return Proofs(find_specs(), "Claim", plans=(plan,)).run().verdict

    return ask


@pytest.mark.parametrize("where", INSTANCES)
def test_an_operator_of_an_instance_has_its_own_meaning(verdict, where):
    assert verdict("\n".join(INSTANCES[where])) is Verdict.VIOLATED


def test_what_is_true_of_an_operator_of_an_instance_is_proved(verdict):
    text = "I == INSTANCE Integers" + COUNTS + "Inv == x \\in I!Nat"
    assert verdict(text) is Verdict.HELD


def test_a_set_that_next_chooses_from_has_its_own_meaning(verdict):
    assert verdict("I == INSTANCE Library" + CHOICES) is Verdict.VIOLATED


def test_an_operator_of_an_instance_with_parameters_is_refused(verdict):
    (lib, text) = INSTANCES["through a library"]
    with pytest.raises(Untranslatable, match="I!Nat: this operator has no translation"):
        verdict((lib + text).replace("I == ", "I(n) == ").replace("I!Nat", "I(1)!Nat"))


def test_what_has_no_translation_has_none_in_an_instance(verdict):
    random = "I == INSTANCE TLC" + COUNTS.replace("x + 1", "I!RandomElement({x, x + 1})")
    with pytest.raises(Untranslatable, match="RandomElement: this operator has no translation"):
        verdict(random + "Inv == x >= 0")


def test_a_module_beside_the_spec_may_have_the_name_of_a_standard_one(verdict, tmp_path):
    (tmp_path / "Bags.tla").write_text(OWN_BAGS)
    assert verdict(MERGES, "Integers, Bags") is Verdict.VIOLATED
    spec = Spec.load("Claim", path=tmp_path / "Claim.tla")
    (after,) = spec.outcomes(spec.initial_states()[0], "Up")
    assert not spec.check_invariant("Inv", after)


def test_a_module_inside_of_another_may_have_the_name_of_a_standard_one(verdict):
    text = f"{OWN_BAGS}B == INSTANCE Bags\n{MERGES.replace(' @@ [', ', [')}"
    text = text.replace("x' = [i", "x' = B!@@([i").replace("|-> 2]", "|-> 2])")
    assert verdict(text) is Verdict.VIOLATED
