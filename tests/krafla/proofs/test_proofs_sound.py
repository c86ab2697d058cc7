"""False claims that a careless translation would take for proved, and what is said of each."""

from __future__ import annotations

import re

import pytest

from krafla.manifest import find_specs
from krafla.proofs.errors import Untranslatable
from krafla.proofs.plans import load_plans, trial_plan
from krafla.proofs.prove import Proofs
from krafla.verdict import KraflaError, Verdict

from .conftest import not_held


@pytest.mark.by_day(5)
@pytest.mark.parametrize(
    ("module", "invariant", "obligation"),
    [
        ("Narrow", "HeldInv", "HeldInv/Release/fits"),
        ("Shrink", "ZeroInv", "ZeroInv/Leave/fits"),
        ("Twice", "SmallInv", "SmallInv/Set/SmallInv"),
        ("NoType", "HeldInv", "HeldInv/initial/fits"),
        ("Undefined", "SinceInv", "SinceInv/defined/SinceInv"),
        ("After", "OkInv", "OkInv/Up/OkInv"),
        ("LetAt", "SixInv", "SixInv/Add/SixInv"),
        ("NestedRecord", "SmallInv", "SmallInv/Add/SmallInv"),
        ("Counted", "OneInv", "OneInv/Set/OneInv"),
        ("NestedFunction", "FullInv", "FullInv/Clear/FullInv"),
        ("Switch", "SmallInv", "SmallInv/Up/SmallInv"),
    ],
)
def test_a_false_claim_is_refuted_by_a_behaviour(tried, module, invariant, obligation):
    found = tried(module, invariant)

    assert obligation in not_held(found)
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("module", "invariant", "reason"),
    [
        ("OtherSpec", "SmallInv", "Spec: takes other steps than those of Next"),
        ("Open", "ZeroInv", "Spec: lets a step change w as it likes"),
        ("Atoms", "ApartInv", "nothing says that Low differs from High: ASSUME Low # High"),
        (
            "Empty",
            "SomeInv",
            "may be an empty set, and a proof needs an element; where it never is, "
            "write ASSUME Node # {}",
        ),
        (
            "Narrow",
            "HeldInv",
            "may be an empty set, and a proof needs an element; where it never is, "
            "write ASSUME Node # {}",
        ),
        (
            "NoType",
            "HeldInv",
            "may be an empty set, and a proof needs an element; where it never is, "
            "write ASSUME Node # {}",
        ),
        (
            "Dependent",
            "SmallInv",
            "Next: the set of e depends on d, which Set does not take before it",
        ),
        ("ChooseEach", "SameInv", "CHOOSE: depends on a quantified name"),
    ],
)
def test_what_no_proof_can_be_about_is_refused_with_its_place(tried, module, invariant, reason):
    with pytest.raises(Untranslatable, match=re.escape(reason)) as caught:
        tried(module, invariant, is_assuming=False)

    assert re.search(rf"{module}\.tla:\d+$", caught.value.place)


def test_a_set_from_which_an_action_takes_nothing_is_refused(tried):
    with pytest.raises(Untranslatable, match="has a set from which Set takes nothing"):
        tried("Dependent", "SmallInv", replaced=("Set(e)\n", "Set(d)\n"))


@pytest.mark.parametrize(
    ("module", "invariant", "obligation"),
    [
        ("Either", "NilInv", "NilInv/Drop/defined"),
        ("Filtered", "HeldInv", "HeldInv/Look/defined"),
    ],
)
def test_an_action_at_which_tlc_stops_is_not_shown_to_have_a_meaning(
    tried, module, invariant, obligation
):
    found = tried(module, invariant)

    assert not_held(found) == {obligation}
    assert found.verdict is not Verdict.HELD


def test_a_local_operator_is_not_taken_for_its_namesake(proof_specs, tried, tmp_path):
    base = "CapturedBase.tla"
    (tmp_path / base).write_text((proof_specs / "unsound" / base).read_text())
    found = tried("Captured", "SmallInv")

    assert not_held(found) == {"SmallInv/Up/SmallInv"}
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.by_day(6)
@pytest.mark.parametrize(
    ("module", "replaced", "invariant"),
    [
        # Each is the module of the false claim, with the fault taken out.
        ("Narrow", ("holder' = Nil \\/ UNCHANGED holder", "UNCHANGED holder"), "HeldInv"),
        ("Twice", ("x \\in {7}", "x \\in {0}"), "SmallInv"),
        ("NoType", ("holder \\in Holder \\cup {Nil}", "holder \\in Holder"), "HeldInv"),
        ("OtherSpec", ("[Next \\/ Jump]_vars", "[Next]_vars"), "SmallInv"),
        ("Open", ("vars == <<v>>", "vars == <<v, w>>"), "ZeroInv"),
        ("Atoms", ("VARIABLES v", "ASSUME Low # High\nVARIABLES v"), "ApartInv"),
        ("Empty", ("VARIABLES v", "ASSUME Node # {}\nVARIABLES v"), "SomeInv"),
        ("Undefined", ("Drop ==", "Drop =="), "GuardedInv"),
        ("Outside", ("[a |-> 2]", "[a |-> 1]"), "TrueInv"),
        ("Outside", ("{1}]\nV", "Nat]\nV"), "TrueInv"),
        ("Outside", ("[a |-> 2]", "[a |-> 1]"), "RecordInv"),
        ("LetAt", ("", ""), "GrowInv"),
        ("LetField", ("", ""), "OneInv"),
        ("NestedRecord", ("", ""), "KeptInv"),
        ("NestedRecord", ("@ + [r.c", "@ - [r.c"), "SmallInv"),
        ("Dependent", ("\\E e \\in {d, -d} : Set(e)", "Set(d)"), "SmallInv"),
        ("Either", ("holder = Nil \\/", "IF holder = Nil THEN TRUE ELSE"), "NilInv"),
        ("Filtered", ("f[n].since > 0", "f[n] # Nil"), "HeldInv"),
    ],
)
def test_without_the_fault_the_claim_is_proved(tried, module, replaced, invariant):
    found = tried(module, invariant, replaced=replaced)

    assert not_held(found) == set()
    assert found.verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        # TLC takes the @ of the EXCEPT around the use, and TLA+ that of the definition.
        (
            (
                "LET z == @ + 1 IN [f EXCEPT ![k] = z]",
                "LET z(n) == @ + n IN [f EXCEPT ![k] = z(1)]",
            ),
            "@: of an EXCEPT around this one, in an operator with parameters, is another in TLC",
        ),
        # TLC takes f[k], and TLA+ f'[k].
        (("@ + 1", "@'"), "@: stands under a prime that its EXCEPT is not under"),
    ],
)
def test_an_at_that_tlc_reads_in_another_way_is_refused(tried, replaced, reason):
    with pytest.raises(Untranslatable, match=re.escape(reason)):
        tried("LetAt", "GrowInv", replaced=replaced)


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        (("x \\in [a : {1}]", "x \\in [a : Nat]"), "TypeOK: has records that a constant may be"),
        (("Nil \\notin [a : {1}]", "Nil \\notin [a : {}]"), "nothing says that Nil differs from"),
        (("x \\in [a : {1}]", "x \\in [a : BOOLEAN]"), "nothing says that Nil differs from"),
    ],
)
def test_a_constant_outside_some_records_may_be_another_record(tried, replaced, reason):
    with pytest.raises(Untranslatable, match=re.escape(reason)):
        tried("Outside", "RecordInv", replaced=replaced)


@pytest.mark.parametrize(
    "asked", ["Nil # [a |-> 2]", "Nil \\notin [a : Int]", "[a |-> 2] \\notin {Nil}"]
)
def test_a_record_that_a_constant_may_be_is_not_taken_to_differ(tried, asked):
    found = tried("Outside", "TrueInv", replaced=("Nil # [a |-> 2]", asked))

    assert not_held(found) == {"TrueInv/Ask/defined"}


def test_a_clause_may_rely_on_those_before_it_only(tried, proof_specs):
    assert tried("Order", "HeldInv", "SinceInv").verdict is Verdict.HELD

    plan = trial_plan(proof_specs / "unsound" / "Order.tla", ("SinceInv", "HeldInv"))
    report = Proofs(find_specs(), "Order", plans=(plan,)).run("SinceInv/defined")
    assert report.verdict is not Verdict.HELD


PLAN = """
[[proof]]
name = "first"
of = "numbers"
module = "After.tla"
what = "It stays zero, which is false."
invariant = "Inv"
defined = true
{more}
[[proof]]
name = "second"
of = "numbers"
module = "{module}"
what = "It is below one."
invariant = "Other"
after = ["first"]
"""


@pytest.fixture
def planned(proof_specs, tmp_path):
    def write(*, module="After.tla", more=""):
        text = (proof_specs / "unsound" / "After.tla").read_text()
        (tmp_path / "After.tla").write_text(text)
        (tmp_path / "Again.tla").write_text(text.replace("MODULE After", "MODULE Again"))
        (tmp_path / "proofs.toml").write_text(PLAN.format(module=module, more=more))
        return tmp_path

    return write


def test_a_proof_is_not_held_if_one_that_it_relies_on_is_not(planned):
    report = Proofs(planned(), "numbers").run("second")

    assert {case.proof.name for case in report.cases} == {"first", "second"}
    assert report.verdict is Verdict.VIOLATED


def test_what_a_proof_relies_on_relies_on_others(planned):
    folder = planned()
    path = folder / "proofs.toml"
    second = path.read_text().partition('[[proof]]\nname = "second"')[2]
    third = f'[[proof]]\nname = "third"{second}'.replace('["first"]', '["second"]')
    path.write_text(f"{path.read_text()}\n{third}")

    report = Proofs(folder, "numbers").run("third")

    assert report.verdict is Verdict.VIOLATED
    assert {"first", "second"} <= {case.proof.name for case in report.cases}


def test_a_proof_cannot_rely_on_one_that_must_fail(planned):
    with pytest.raises(KraflaError, match="builds on 'first', which must fail"):
        load_plans(planned(more='expect = "refuted"'))


def test_a_proof_cannot_rely_on_one_of_another_module(planned):
    with pytest.raises(KraflaError, match="builds on 'first', which is about another module"):
        load_plans(planned(module="Again.tla"))


def test_some_proof_must_show_that_actions_are_defined(planned):
    folder = planned()
    path = folder / "proofs.toml"
    path.write_text(path.read_text().replace("defined = true\n", ""))

    with pytest.raises(KraflaError, match="add defined = true"):
        load_plans(folder)


def test_the_type_invariant_must_be_shown(planned):
    folder = planned()
    path = folder / "After.tla"
    path.write_text(path.read_text().replace("  /\\ TypeOK\n", ""))

    with pytest.raises(KraflaError, match="TypeOK is no clause of Inv"):
        Proofs(folder, "numbers").run("first")


def test_a_condition_mentions_no_variables(planned):
    folder = planned(more='conditions = ["SmallInv"]')
    path = folder / "proofs.toml"
    path.write_text(path.read_text() + 'conditions = ["SmallInv"]\n')

    with pytest.raises(Untranslatable, match="v: has no value of a state here"):
        Proofs(folder, "numbers").run("first")


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        # False of a state from which there is no step, these would be shown of all others only.
        ("[](v < 3)", "[]: is read as [][A]_v; name P of []P in implies"),
        ("v < 3", "LowProp: is of one state; name it in implies"),
    ],
)
def test_a_property_of_steps_is_not_one_of_states(planned, claim, reason):
    folder = planned(more='steps = ["LowProp"]')
    path = folder / "After.tla"
    path.write_text(path.read_text().replace("Inv ==\n", f"LowProp == {claim}\nInv ==\n", 1))

    with pytest.raises(Untranslatable, match=re.escape(reason)):
        Proofs(folder, "numbers").run("first")


def test_a_trial_shows_the_types_too(proof_specs):
    plan = trial_plan(proof_specs / "unsound" / "Twice.tla", ("SmallInv",))

    assert plan.invariants == ("TypeOK", "SmallInv")
    assert plan.is_defined
