"""The values in a false formula: of every part whose value its text does not tell."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec
from krafla.values import ModelValue, function, record

NIL = ModelValue("Nil")
LEADS, EPOCH = (True, True, False), (3, 0, 0)


@pytest.fixture(scope="module")
def wrong(specs):
    return Spec.load("Wrong", {"Broker": {1, 2, 3}, "Max": 2, "Nil": NIL}, path=specs)


def state(wrong, **values):
    seen = record(at=1, by=9)
    leads, epoch = (function(enumerate(one, 1)) for one in (LEADS, EPOCH))
    return wrong.state({"leads": leads, "epoch": epoch, "seen": seen, **values})


def reason_of(wrong, name):
    (reason,) = wrong.explain_invariant(name, state(wrong)).reasons
    return reason


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("SizeInv", {
            "Cardinality({b \\in Broker : leads[b]})": 2,
            "{b \\in Broker : leads[b]}": {1, 2}, "leads": LEADS}),
        ("NamedInv", {"Cardinality(Leaders)": 2, "Leaders": {1, 2}, "leads": LEADS}),
        ("LetInv", {"n": 2, "Leaders": {1, 2}}),
        ("ElementInv", {"b": 1, "epoch[b]": 3, "Max": 2}),
        ("EquivalentInv", {"b": 2, "leads[b]": True, "epoch[b] > 0": False, "epoch[b]": 0}),
        ("SumInv", {"epoch[1] + epoch[2]": 3, "epoch[1]": 3, "epoch[2]": 0, "Max": 2}),
        ("IfInv", {
            "(IF leads[1] THEN epoch[1] ELSE 0)": 3, "leads[1]": True, "epoch[1]": 3}),
        ("ChooseInv", {"(CHOOSE b \\in Broker : leads[b])": 1, "leads": LEADS}),
        ("MapInv", {
            "[b \\in Broker |-> epoch[b] + 1]": (4, 1, 1), "epoch": EPOCH,
            "[b \\in Broker |-> 1]": (1, 1, 1)}),
        ("OperatorInv", {
            "Highest({epoch[b] : b \\in Broker})": 3, "{epoch[b] : b \\in Broker}": {0, 3},
            "epoch": EPOCH, "Max": 2}),
        ("NeitherInv", {"leads[1]": True, "leads[2]": True}),
        ("NoneInv", {"b": 2, "leads[b]": True, "epoch[b]": 0}),
        # The set has a million members.
        ("ManyInv", {"Cardinality(SUBSET (1 .. 20))": 2**20, "epoch[1]": 3}),
    ],
)  # fmt: skip
def test_every_part_is_shown_with_its_value_outermost_first(wrong, name, values):
    reason = reason_of(wrong, name)
    assert list(reason.values) == list(values.items())
    assert reason.note == "is false"


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("SubsetInv", "2 is not in {b \\in Broker : epoch[b] > 0}"),
        ("SubsetsInv", "2 is not in {1}"),
        ("FunctionInv", "epoch[1] = 3 is not in 0 .. Max"),
        ("DomainInv", "the domain of epoch is {1, 2, 3}"),
        ("RecordInv", "seen.by = 9 is not in Broker \\cup {Nil}"),
    ],
)
def test_the_element_outside_of_a_set_is_named(wrong, name, note):
    assert reason_of(wrong, name).note == f"is false: {note}"


def test_each_choice_that_does_not_fit_is_shown_with_its_values(wrong):
    reason = reason_of(wrong, "SomeInv")
    assert reason.note == "none of the 3 choices fits"
    assert [(one.text, dict(one.values)["b"]) for one in reason.alternatives] == [
        ("epoch[b] = Max", 1), ("epoch[b] = Max", 2), ("leads[b]", 3),
    ]  # fmt: skip


def test_only_the_variables_that_should_have_stayed_and_did_not_are_shown(wrong):
    before = state(wrong)
    after = before.replace(epoch=(3, 0, 1))
    (reason,) = wrong.explain_action_property("StaysProp", before, after).reasons
    assert reason.text == "UNCHANGED <<leads, epoch>>"
    assert list(reason.values) == [("epoch", EPOCH), ("epoch'", (3, 0, 1))]


def test_a_long_value_is_cut_between_its_members(wrong):
    names = tuple(f"broker-{number}" for number in range(100))
    found = wrong.explain_invariant("FunctionInv", state(wrong, epoch=names))
    (line,) = (one for one in str(found).splitlines() if one.strip().startswith("epoch ="))
    assert line.endswith('"broker-23", ... 76 more>>')
