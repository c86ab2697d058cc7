"""Expressions without a translation are refused, with their operator and place."""

from __future__ import annotations

import re

import pytest

from krafla.oracle import SpecError
from krafla.proofs.errors import Untranslatable
from krafla.proofs.theory import Theory


@pytest.fixture(scope="module")
def refused(proof_specs):
    return Theory.load("Refused", path=proof_specs)


def line_of(proof_specs, operator):
    lines = (proof_specs / "Refused.tla").read_text().splitlines()
    return 1 + next(n for n, line in enumerate(lines) if line.startswith(f"{operator} =="))


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("SizeOfSet", "Cardinality"),
        ("CaseWithoutOther", "CASE"),
        ("NumberIsNoString", "="),
        ("NumberIsNoSet", "x"),
        ("Recursive", "Sum"),
        ("OverFunctions", "$BoundedExists"),
        ("OverSubsets", "$BoundedForall"),
        ("HigherOrder", "Op"),
        ("Sequence", "Append"),
        ("UnboundedChoice", "$UnboundedChoose"),
        ("ChoiceInProperty", "CHOOSE"),
        ("ChoiceUnderQuantifier", "CHOOSE"),
        ("AnotherState", "x"),
        ("IsEnabled", "ENABLED"),
        ("Remainder", "%"),
    ],
)
def test_an_operator_without_a_translation_is_refused_with_its_place(
    refused, proof_specs, name, operator
):
    with pytest.raises(Untranslatable) as caught:
        refused.predicate(name, refused.state("s"))

    assert caught.value.operator == operator
    path, line = caught.value.place.rsplit(":", 1)
    assert path == str(proof_specs / "Refused.tla")
    if name != "HigherOrder":
        assert int(line) == line_of(proof_specs, name)


def test_a_variable_without_a_type_in_typeok_is_refused(proof_specs):
    with pytest.raises(Untranslatable, match="TypeOK does not say what it is") as caught:
        Theory.load("Untyped", path=proof_specs)

    assert caught.value.operator == "unknown"
    assert caught.value.place == f"{proof_specs / 'Untyped.tla'}:5"


def test_a_module_that_does_not_parse_is_refused_with_its_line(tmp_path):
    (tmp_path / "Torn.tla").write_text("---- MODULE Torn ----\nA == 1 +\n====\n")

    with pytest.raises(SpecError) as caught:
        Theory.load("Torn", path=tmp_path)

    assert re.search(r"Torn\.tla:\d", str(caught.value))


def test_an_unknown_name_is_refused(refused):
    with pytest.raises(SpecError, match="has no operator Nothing"):
        refused.predicate("Nothing", refused.state("s"))


def test_a_module_without_types_is_refused_with_the_remedy(tmp_path):
    text = "VARIABLE x\nInit == x = 1\nNext == x' = 1\nSpec == Init /\\ [][Next]_x"
    (tmp_path / "Bare.tla").write_text(f"---- MODULE Bare ----\n{text}\n====\n")

    with pytest.raises(SpecError, match="has no operator TypeOK: define it as the type of each"):
        Theory.load("Bare", path=tmp_path)


def test_a_wrong_number_of_arguments_is_refused(refused):
    with pytest.raises(SpecError, match="Recursive takes 0 parameters, not 1"):
        refused.predicate("Recursive", refused.state("s"), refused.constants["Node"])


def test_the_sizes_of_all_sets_are_needed(refused):
    with pytest.raises(SpecError, match="sizes are also needed of Node"):
        refused.bounded({})
