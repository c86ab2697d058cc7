"""Ways through a graph whose states stand for several states, and ways to violations."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.krafla.unlisted_models import model_of

from krafla.graph import Question, behaviour, build, step_words, way_to
from krafla.graph.behaviour import violation_trace
from krafla.graph.paths import answer
from krafla.traces import ClaimKind
from krafla.verdict import KraflaError

SAMPLES = Path(__file__).parents[1] / "oracle" / "specs"
VIEWED = r"""---- MODULE Viewed ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Straight == x = 0 /\ x' = 1 /\ y' = 0
Aside == x = 0 /\ x' = 2 /\ y' = 1
Back == x = 2 /\ x' = 1 /\ UNCHANGED y
Finish == x = 1 /\ y = 0 /\ x' = 3 /\ UNCHANGED y
Next == Straight \/ Aside \/ Back \/ Finish
OnlyX == x
====
"""
HEALS = r"""---- MODULE Heals ----
EXTENDS Naturals
VARIABLES x, stable
Init == x = 0 /\ stable = FALSE
Up(by) == x' = x + by
Stabilise == ~stable /\ stable' = TRUE /\ UNCHANGED x
Heals(action, most) == stable /\ x < most /\ action /\ UNCHANGED stable
Next == Stabilise \/ Heals(\E by \in 1 .. 2 : Up(by), 2)
====
"""


def is_behaviour(spec, trace):
    states = [spec.state(step.state) for step in trace.steps]
    taken = all(
        (step.action, step.parameters, after)
        in [(name, parameters, end) for name, parameters, end in spec.successors(before)]
        for (before, after), step in zip(pairwise(states), trace.steps[1:], strict=True)
    )
    return states[0] in spec.initial_states() and taken


def test_under_symmetry_a_way_is_still_a_behaviour():
    graph = build(model_of(SAMPLES / "MCBallot.tla", SAMPLES / "MCBallotSymmetric.cfg"))
    spec = graph.found.spec

    assert any(spec.reductions)
    traces = [behaviour(graph, way_to(graph, state), spec="Ballot") for state in range(len(graph))]
    assert all(is_behaviour(spec, trace) for trace in traces)
    # Also by steps to a state that stands for another one.
    across = [
        step
        for step in range(graph.found.edges)
        if graph.found.parents[graph.found.targets[step]] != graph.found.sources[step]
    ]
    assert across
    for step in across:
        way = way_to(graph, graph.found.sources[step])
        longer = type(way)(way.start, (*way.steps, step))
        assert is_behaviour(spec, behaviour(graph, longer, spec="Ballot"))
    words, numbers = step_words(graph, range(len(graph)))
    assert len(numbers) == graph.found.edges
    assert words


def test_a_view_that_hides_what_a_step_needs_is_an_error(tmp_path):
    (tmp_path / "Viewed.tla").write_text(VIEWED)
    (tmp_path / "Viewed.cfg").write_text("INIT Init\nNEXT Next\nVIEW OnlyX\n")
    model = model_of(tmp_path / "Viewed.tla", tmp_path / "Viewed.cfg")
    graph = build(model, [Question("x = 2", "--from"), Question("x = 3", "--to")])
    found = answer(graph, "x = 2", "x = 3")

    with pytest.raises(KraflaError, match="the VIEW of Viewed hides what Finish needs"):
        behaviour(graph, found.lead.then(found.way), spec="Viewed")


@pytest.mark.parametrize(
    ("name", "kind", "rooms"),
    [
        ("MazeTrapped", ClaimKind.INVARIANT, [0, 1, 4]),
        ("MazeBounded", ClaimKind.INVARIANT, [0, 1, 2, 6, 9]),
        ("MazeClimbs", ClaimKind.ACTION_PROPERTY, [0, 1, 2, 0]),
    ],
)
def test_the_way_to_a_violation_is_a_behaviour_with_that_claim(model, name, kind, rooms):
    graph = build(model(name))

    trace = violation_trace(graph, spec="Maze", model=name)

    assert trace.claim.kind is kind
    assert [step.state["room"] for step in trace.steps] == rooms
    assert is_behaviour(graph.found.spec, trace)


def test_an_action_passed_to_another_is_no_parameter(tmp_path):
    (tmp_path / "Heals.tla").write_text(HEALS)
    (tmp_path / "Heals.cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    graph = build(model_of(tmp_path / "Heals.tla", tmp_path / "Heals.cfg"))

    words, numbers = step_words(graph, range(len(graph)))

    assert len(numbers) == graph.found.edges == 5
    assert sorted(words) == [("Heals", (2,)), ("Stabilise", ())]
