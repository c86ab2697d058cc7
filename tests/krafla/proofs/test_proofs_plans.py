"""Which lists of proofs are refused: what one proof takes from another has its conditions too."""

from __future__ import annotations

import pytest

from krafla.proofs.plans import load_plans
from krafla.verdict import KraflaError

PROOF = """
[[proof]]
name = "{name}"
of = "numbers"
module = "{module}.tla"
what = "It stays small."
invariant = "SmallInv"
{more}
"""
DEFINED = "defined = true\n"
UNDEFINED = "nothing shows that what its actions evaluate has a meaning: add defined = true"
UNCONDITIONAL = "'second' builds on 'first' without its conditions"


@pytest.fixture
def loaded(tmp_path):
    """Return the function from what two proofs say to the plans."""

    def load(first, second, module="One"):
        for one in ("One", "Two"):
            (tmp_path / f"{one}.tla").write_text("")
        (tmp_path / "proofs.toml").write_text(
            PROOF.format(name="first", module="One", more=first)
            + PROOF.format(name="second", module=module, more=second)
        )
        return load_plans(tmp_path)

    return load


@pytest.mark.parametrize("key", ["conditions", "step_conditions"])
def test_a_proof_with_more_conditions_does_not_show_that_actions_are_defined(loaded, key):
    for text in (f'{key} = ["A"]', f'{key} = ["A", "B"]'):
        with pytest.raises(KraflaError, match=UNDEFINED) as caught:
            loaded(DEFINED + text, f'{key} = ["B"]')
        assert caught.value.place.endswith("proofs.toml:11")


@pytest.mark.parametrize("key", ["conditions", "step_conditions"])
def test_a_proof_with_no_other_conditions_shows_that_actions_are_defined(loaded, key):
    for text in ("", f'{key} = ["A"]', f'{key} = ["B", "A"]'):
        assert len(loaded(DEFINED + text, f'{key} = ["A", "B"]')) == 2


def test_a_proof_of_another_module_does_not_show_that_actions_are_defined(loaded):
    assert len(loaded(DEFINED, DEFINED, module="Two")) == 2
    with pytest.raises(KraflaError, match=UNDEFINED):
        loaded(DEFINED, "", module="Two")


def test_a_proof_of_another_subject_does_not_show_that_actions_are_defined(loaded, tmp_path):
    loaded(DEFINED, "")
    path = tmp_path / "proofs.toml"
    path.write_text(path.read_text().replace('of = "numbers"', 'of = "letters"', 1))
    with pytest.raises(KraflaError, match=UNDEFINED):
        load_plans(tmp_path, "numbers")


def test_a_proof_that_must_fail_does_not_show_that_actions_are_defined(loaded):
    refuted = f'{DEFINED}expect = "refuted"'
    assert len(loaded(refuted, DEFINED)) == 2
    with pytest.raises(KraflaError, match=UNDEFINED):
        loaded(refuted, "")


@pytest.mark.parametrize("key", ["conditions", "step_conditions"])
def test_a_proof_builds_on_another_only_under_all_its_conditions(loaded, key):
    builds = f'{DEFINED}after = ["first"]\n'
    for kept in ("", f'{key} = ["A"]'):
        assert len(loaded(DEFINED + kept, f'{builds}{key} = ["A", "B"]')) == 2
    for assumed in ("", f'{key} = ["B"]'):
        with pytest.raises(KraflaError, match=UNCONDITIONAL):
            loaded(f'{DEFINED}{key} = ["A"]', builds + assumed)


def test_a_proof_builds_on_earlier_ones_only(loaded):
    with pytest.raises(KraflaError, match="'first' builds on 'second', no earlier proof"):
        loaded(f'{DEFINED}after = ["second"]', "")
    with pytest.raises(KraflaError, match="'second' builds on 'second', no earlier proof"):
        loaded(DEFINED, 'after = ["second"]')
