"""cvc5 about what z3 has proved."""

from __future__ import annotations

import builtins

import pytest
import z3

from krafla.manifest import find_specs
from krafla.proofs.plans import trial_plan
from krafla.proofs.prove import Proofs
from krafla.proofs.second_opinion import second_opinions
from krafla.verdict import KraflaError, Verdict


@pytest.fixture
def counting(proof_specs):
    """The proofs of a small module, of which one claim is false."""
    path = proof_specs / "unsound" / "Order.tla"
    plan = trial_plan(path, ("HeldInv", "SinceInv"))
    return Proofs(find_specs(), "Order", plans=(plan,))


def test_cvc5_confirms_the_proofs_of_a_small_module(counting):
    found = second_opinions(counting)

    assert len(found) == len(counting.run().answers)
    assert {one.verdict for one in found} == {Verdict.HELD}


def test_cvc5_denies_what_z3_should_not_have_proved(counting, monkeypatch):
    monkeypatch.setattr("krafla.proofs.solver._checked", lambda *_: z3.unsat)
    monkeypatch.setattr(z3.Solver, "unsat_core", lambda _: [])

    found = second_opinions(counting)

    assert Verdict.VIOLATED in {one.verdict for one in found}


def test_what_z3_has_not_proved_has_no_second_opinion(counting, monkeypatch):
    monkeypatch.setattr("krafla.proofs.solver._checked", lambda *_: z3.unknown)

    found = second_opinions(counting)

    assert {one.verdict for one in found} == {Verdict.INCONCLUSIVE}


def test_without_cvc5_it_says_what_to_install(counting, monkeypatch):
    known = builtins.__import__

    def without(name, *arguments, **options):
        if name == "cvc5":
            raise ImportError(name)
        return known(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(KraflaError, match=r"pip install 'krafla\[second-opinion\]'"):
        second_opinions(counting)


@pytest.mark.nightly
def test_cvc5_confirms_an_action_of_the_lease():
    found = second_opinions(Proofs(find_specs(), "lease"), "epochs/Crash")

    assert len(found) > 20
    assert {one.verdict for one in found} == {Verdict.HELD}


@pytest.mark.nightly
def test_cvc5_confirms_every_proof_of_the_lease():
    found = second_opinions(Proofs(find_specs(), "lease"))

    assert len(found) > 3_000
    assert not [one.obligation.name for one in found if one.verdict is not Verdict.HELD]
