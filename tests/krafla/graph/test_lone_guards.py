"""The states in which one guard alone stops an action, of a spec with guards of every form."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.graph.lone_guards import lone_guards
from krafla.graph.state_graph import StateGraph
from krafla.oracle import Spec, explore
from krafla.oracle.guards import Guards
from krafla.values import fmt

PARCELS = Path(__file__).parent / "specs" / "Parcels.tla"


@pytest.fixture(scope="module")
def parcels():
    return StateGraph(explore(Spec.load("Parcels", path=PARCELS)))


@pytest.fixture(scope="module")
def guards(parcels):
    return Guards(parcels.found.spec)


def texts(guards):
    return [str(one) for one in guards]


def test_every_conjunct_that_can_stop_an_action_is_a_guard(guards):
    assert texts(guards.all()) == [
        "Open: ~open",
        "Send: from # to",
        "Send: open",
        "Send: InStock",
        "Arrive: sent # <<>>",
        'Arrive: Head(sent) = "x"',
        "Return: ~open",
        "Return: \\E n \\in 0..(stock - 1) : stock' = n",
        "Close: open",
        "Close: stock = 0",
        "Rest: stock = 1",
        "Rest: stock < 2",
    ]


def test_a_guard_has_its_line(guards):
    lines = {str(one): one.place.line for one in guards.all()}
    text = PARCELS.read_text().splitlines()
    assert text[lines["Send: open"] - 1] == "Ready == open /\\ InStock"
    assert text[lines["Arrive: sent # <<>>"] - 1].strip() == "/\\ sent # <<>>"


def test_the_nearest_state_is_found_for_each_guard_that_ever_stops_alone(parcels):
    found = {str(guard): parcels.depths[state] for guard, state in lone_guards(parcels).items()}
    assert found == {
        "Open: ~open": 1,
        "Send: from # to": 1,
        "Send: open": 0,
        "Send: InStock": 3,
        "Arrive: sent # <<>>": 0,
        'Arrive: Head(sent) = "x"': 2,
        "Return: ~open": 2,
        "Return: \\E n \\in 0..(stock - 1) : stock' = n": 4,
        "Close: open": 4,
        "Close: stock = 0": 1,
        "Rest: stock = 1": 3,
    }


def test_only_the_guard_is_false_there_and_the_action_is_not_enabled(parcels, guards):
    spec = parcels.found.spec
    for guard, number in lone_guards(parcels).items():
        state = parcels.found.states[number]
        parameters = guards.refused(guard, state)
        assert parameters is not None, guard
        assert spec.outcomes(state, guard.action, *parameters) == ()
        reasons = spec.explain(state, guard.action, parameters).reasons
        blamed = {reason.text for reason in reasons}
        # The blame goes to the bottom of an operator, which the guard names.
        assert {guard.text, "stock > 0"} & blamed, guard


def test_two_false_guards_are_not_alone(parcels, guards):
    (back,) = (branch for branch in guards.branches if branch.owner.name == "Return")
    found = {}
    for state in parcels.found.states:
        for _, instances in guards.choices(back, state):
            found[state["open"], state["stock"] == 0] = guards.lone_false(instances, state)
    assert {key: str(guard) for key, guard in found.items()} == {
        (True, False): "Return: ~open",
        (True, True): "None",
        (False, True): "Return: \\E n \\in 0..(stock - 1) : stock' = n",
    }


def test_parameters_are_those_that_only_this_guard_refuses(parcels, guards):
    found = lone_guards(parcels)
    same = next(one for one in found if str(one) == "Send: from # to")
    first, second = guards.refused(same, parcels.found.states[found[same]])
    assert first == second
    back = next(one for one in found if str(one) == "Return: ~open")
    state = parcels.found.states[found[back]]
    assert guards.refused(back, state) == (state["sent"][0],), fmt(state["sent"])
