"""The answers about a graph whose properties can be checked by hand."""

from __future__ import annotations

from array import array
from dataclasses import replace

import networkx
import pytest

from krafla.graph import (
    Way,
    as_networkx,
    behaviour,
    components,
    dead_ends,
    shortest,
    step_words,
    way_to,
)
from krafla.graph.paths import answer
from krafla.graph.state_graph import StateGraph
from krafla.oracle import OUTSIDE
from krafla.verdict import KraflaError, Verdict

DOORS = {(0, 1), (1, 2), (2, 0), (2, 3), (1, 4), (4, 5), (5, 4), (2, 6), (6, 7), (7, 7)}


def doors(graph, rooms):
    pairs = zip(graph.found.sources, graph.found.targets, strict=True)
    return {(rooms[a], rooms[b]) for a, b in pairs if b != OUTSIDE}


def rooms_of(graph, way):
    states = [way.start, *(graph.found.targets[step] for step in way.steps)]
    return [graph.found.states[state]["room"] for state in states]


def changed(graph, edit):
    """Return the graph with its steps edited: rows of source, target, label and branch."""
    found = graph.found
    columns = (found.sources, found.targets, found.labels, found.branches)
    rows = list(zip(*columns, strict=True))
    edited = edit(rows)
    kinds = ("i", "i", "h", "h")
    new = [
        array(kind, column) for kind, column in zip(kinds, zip(*edited, strict=True), strict=True)
    ]
    names = ("sources", "targets", "labels", "branches")
    return StateGraph(replace(found, **dict(zip(names, new, strict=True))), graph.holds)


def test_the_steps_are_the_doors(maze, number):
    assert doors(maze, number.rooms) == DOORS
    assert (len(maze), maze.found.edges, maze.found.generated) == (8, 11, 12)


def test_each_state_has_its_successors_and_predecessors(maze, number):
    (two, four) = number(2, 4)

    assert sorted(number.rooms[state] for state in maze.successors(two)) == [0, 3, 6]
    assert sorted(number.rooms[state] for state in maze.predecessors(four)) == [1, 5]


def test_depths_and_degrees_are_counted(maze, number):
    assert [maze.depths[state] for state in number(0, 1, 2, 4, 3, 6, 5, 7)] == [
        0, 1, 2, 2, 3, 3, 3, 4,
    ]  # fmt: skip
    assert maze.depth_histogram() == {0: 1, 1: 1, 2: 2, 3: 3, 4: 1}
    assert maze.out_degrees() == {0: 1, 1: 4, 2: 2, 3: 1}
    assert maze.in_degrees() == {1: 6, 2: 2}


def test_the_use_of_each_action_is_counted(maze):
    uses = maze.action_uses()

    assert (uses["Ring"].taken, uses["Ring"].loops, uses["Ring"].cut) == (3, 0, 0)
    assert (uses["Stay"].taken, uses["Stay"].discovered, uses["Stay"].loops) == (1, 0, 1)
    assert (uses["Escape"].taken, uses["Escape"].cut) == (1, 1)
    assert uses["Never"].taken == 0
    assert sum(use.discovered for use in uses.values()) == len(maze) - 1


def test_the_components_are_the_rings(maze, number):
    found = components(maze)
    members = {}
    for state, part in enumerate(found.of):
        members.setdefault(part, set()).add(number.rooms[state])

    assert sorted(map(sorted, members.values())) == [[0, 1, 2], [3], [4, 5], [6], [7]]
    assert members[found.largest] == {0, 1, 2}
    assert {min(members[n]) for n, part in enumerate(found.found) if part.is_terminal} == {3, 4, 7}
    assert [part.is_cut for part in found.found if number.rooms[part.first] == 6] == [True]


def test_a_ring_that_no_step_leaves_is_a_livelock_unless_progress_is_made_there(maze, number):
    found = components(maze)

    def rooms(livelocks):
        return [number.rooms[found.found[part].first] for part in livelocks]

    assert rooms(found.livelocks()) == [4, 7]
    assert rooms(found.livelocks(maze.holds["AtGoal"])) == [4]
    assert rooms(found.livelocks(maze.holds["TRUE"])) == []


def test_a_door_out_of_the_trap_ends_the_livelock(maze, number):
    (start, trap) = number(0, 5)
    opened = changed(maze, lambda rows: [*rows, (trap, start, 0, 0)])

    found = components(opened)

    assert [number.rooms[found.found[part].first] for part in found.livelocks()] == [7]


def test_the_three_kinds_of_dead_ends_are_distinguished(maze, number):
    ends = dead_ends(maze)

    assert list(ends.stepless) == number(3)
    assert list(ends.looping) == number(7)
    assert ends.bounded == ()


def test_a_state_that_can_only_leave_the_bounds_is_no_deadlock(maze, number):
    (six,) = number(6)
    closed = changed(maze, lambda rows: [row for row in rows if row[0] != six or row[1] == OUTSIDE])

    assert list(dead_ends(closed).bounded) == [six]


def test_a_lost_step_is_noticed(maze, number):
    (four, five) = number(4, 5)
    lost = changed(maze, lambda rows: [row for row in rows if row[:2] != (four, five)])

    assert doors(lost, number.rooms) != DOORS
    assert four in dead_ends(lost).stepless
    assert len(components(lost).found) == len(components(maze).found) + 1


def test_a_wrong_predecessor_is_noticed(maze, number):
    (three, four) = number(3, 4)
    parents = array("i", maze.found.parents)
    parents[three] = four
    wrong = StateGraph(replace(maze.found, parents=parents), maze.holds)

    with pytest.raises(AssertionError, match="a step of the parent led to the state"):
        way_to(wrong, three)


def test_a_step_that_the_spec_does_not_have_becomes_no_trace(maze, number):
    (zero, one, seven) = number(0, 1, 7)
    wrong = changed(
        maze, lambda rows: [(a, seven if (a, b) == (zero, one) else b, *c) for a, b, *c in rows]
    )
    way = shortest(wrong, [zero], maze.holds["AtGoal"])

    assert len(way.steps) == 1
    with pytest.raises(KraflaError, match="no behaviour of the spec"):
        behaviour(wrong, way, spec="Maze")


def test_the_shortest_way_is_found(maze, number):
    way = shortest(maze, number(0), maze.holds["AtGoal"])

    assert rooms_of(maze, way) == [0, 1, 2, 6, 7]
    assert rooms_of(maze, shortest(maze, number(5, 2), maze.holds["room \\in {3, 7}"])) == [2, 3]
    assert shortest(maze, number(7), maze.holds["AtGoal"]) == Way(number(7)[0], ())
    assert shortest(maze, number(4), maze.holds["AtGoal"]) is None


def test_ways_are_as_short_as_networkx_finds_them(maze):
    graph = as_networkx(maze)
    distances = dict(networkx.all_pairs_shortest_path_length(graph))

    for start in range(len(maze)):
        for end in range(len(maze)):
            goal = bytes(state == end for state in range(len(maze)))
            way = shortest(maze, [start], goal)
            assert (None if way is None else len(way.steps)) == distances[start].get(end)


def test_every_state_was_reached_by_a_way_from_the_start(maze, number):
    for state in range(len(maze)):
        way = way_to(maze, state)
        assert [way.start] == number(0)
        assert len(way.steps) == maze.depths[state]
        assert rooms_of(maze, way)[-1] == number.rooms[state]


@pytest.mark.parametrize(
    ("start", "goal", "verdict", "reason"),
    [
        (None, "AtGoal", Verdict.HELD, "4 steps lead from an initial state"),
        ("room = 4", "AtGoal", Verdict.VIOLATED, "true in 1 and 1 of 8 states"),
        (None, "Nowhere", Verdict.INCONCLUSIVE, "Nowhere is true in none of 8 states"),
        ("Nowhere", "AtGoal", Verdict.INCONCLUSIVE, "Nowhere is true in none of 8 states"),
        ("AtGoal", "AtGoal", Verdict.HELD, "0 steps lead from AtGoal"),
    ],
)
def test_a_question_for_a_path_is_answered(maze, start, goal, verdict, reason):
    found = answer(maze, start, goal)

    assert found.verdict is verdict
    assert reason in found.reason
    assert (found.way is not None) == (verdict is Verdict.HELD)


def test_networkx_sees_the_same_graph(maze, number):
    seen = as_networkx(maze)
    two, three = number(2, 3)

    assert seen.number_of_nodes() == 8
    assert {(number.rooms[a], number.rooms[b]) for a, b in seen.edges} == DOORS
    assert seen.edges[two, three] == {"actions": ("Fall",)}
    assert seen.nodes[three]["state"]["room"] == 3
    assert sorted(seen.predecessors(three)) == [two]
    assert not seen.has_edge(three, two)
    with pytest.raises(networkx.NetworkXError, match="Frozen"):
        seen.add_edge(three, two)


def test_a_way_is_a_behaviour_with_parameters(maze):
    way = shortest(maze, maze.initial(), maze.holds["AtGoal"])

    trace = behaviour(maze, way, spec="Maze", model="Maze")

    assert [(step.action, step.parameters) for step in trace.steps] == [
        ("Init", ()), ("Ring", (1,)), ("Ring", (2,)), ("Leave", ()), ("Arrive", ()),
    ]  # fmt: skip
    assert [step.state["room"] for step in trace.steps] == [0, 1, 2, 6, 7]
    assert trace.steps[1].location.startswith("Maze:")


def test_the_actions_and_parameters_of_all_steps_are_those_of_the_spec(maze):
    words, numbers = step_words(maze, range(len(maze)))
    said = [words[number] for number in numbers]

    spec = maze.found.spec
    asked = [
        (name, parameters)
        for state in maze.found.states
        for name, parameters, _ in spec.successors(state)
    ]
    assert sorted(map(str, said)) == sorted(map(str, asked))
    assert len(words) == len(set(map(str, words)))
