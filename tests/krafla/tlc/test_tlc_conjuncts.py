"""How often conjuncts are evaluated and true, in a model small enough to count by hand.

x goes from 0 to 3; at 3 each of two sides may be set once: 3 states below, 4 at the limit. Each of
the 7 states asks each action for both sides: 14 times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.manifest import load
from krafla.oracle.syntax import read_module
from krafla.tlc.conjuncts import conjuncts_of
from krafla.tlc.run import run

CONFIG = "CONSTANTS Limit = 3 Side = {a, b}\nSPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"


@pytest.fixture
def rows(make_model):
    """Return the conjuncts of each action: text, evaluated, held."""
    model = make_model(CONFIG, "Conjuncts")
    result = run(model)
    assert result.distinct == 7
    module = read_module("Conjuncts", model.module)
    return {
        action.name: {" ".join(one.text.split()): one for one in conjuncts_of(module, action)}
        for action in result.coverage
    }


def numbers(rows, action):
    return {text: (one.evaluated, one.held) for text, one in rows[action].items()}


def test_guards_are_counted_up_to_the_first_that_is_false(rows):
    found = numbers(rows, "Step")

    assert found["x >= 0"] == (14, 14)
    assert found["x < Limit"] == (14, 6)
    assert found["Small(p)"] == (6, 6)
    assert found["x' = x + 1"][0] == 6


def test_a_guard_that_is_never_false_is_told(rows):
    assert rows["Step"]["x >= 0"].is_never_false
    assert rows["Step"]["Small(p)"].is_never_false
    assert not rows["Step"]["x < Limit"].is_never_false
    assert not rows["Step"]["x' = x + 1"].is_never_false


def test_of_a_disjunction_of_guards_it_is_not_told_how_often_it_held(rows):
    (text,) = [text for text in rows["Step"] if text.startswith("\\/")]
    assert rows["Step"][text].evaluated == 6
    assert rows["Step"][text].held is None


def test_what_stands_behind_a_guard_that_never_held_is_never_reached(rows):
    assert numbers(rows, "Dead")["x > 1000"] == (14, 0)
    behind = [one for text, one in rows["Dead"].items() if text != "x > 1000"]
    assert len(behind) == 3
    assert all(one.is_never_reached for one in behind)


def test_the_branches_of_a_choice_are_counted_apart(rows):
    found = numbers(rows, "Choose")

    assert found["x = Limit"] == (14, 8)
    assert found["y[p] = 0"] == (8, 4)
    assert found["y' = [y EXCEPT ![p] = 1]"][0] == 4
    assert found["x > Limit"] == (14, 0)
    assert rows["Choose"]["x' = 0"].is_never_reached


@pytest.mark.nightly
def test_counts_agree_with_what_tlc_says_of_whole_actions_of_a_real_model():
    (model,) = load().select(("MCUntimedLease",))
    result = run(model)
    module = read_module(model.module.stem, model.module, model.search_path)
    for action in result.coverage:
        rows = conjuncts_of(module, action)
        # Each takes as many steps as its last assignment was made.
        last = [one for one in rows if one.kind == "effect"][-1]
        assert last.evaluated in {action.taken, None}, action.name
        assert all(None in {one.held, one.evaluated} or one.held <= one.evaluated for one in rows)


def test_an_operator_that_the_module_has_not_has_no_conjuncts(make_model):
    model = make_model(CONFIG, "Conjuncts")
    result = run(model)
    other = read_module("Counter", Path(model.module).with_name("Counter.tla"))

    assert [conjuncts_of(other, one) for one in result.coverage if one.name == "Dead"] == [()]
