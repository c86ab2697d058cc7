"""GraphML and dot files: read back, they are the same graph."""

from __future__ import annotations

import io
import re

import networkx
import pytest

from krafla.files import write_text
from krafla.graph.export import around, dot, graphml
from krafla.verdict import KraflaError


def reread(text):
    return networkx.read_graphml(io.BytesIO("".join(text).encode()), force_multigraph=True)


def test_graphml_reads_back_as_the_same_graph(maze, number):
    read = reread(graphml(maze))

    assert sorted(read.nodes) == sorted(f"n{state}" for state in range(8))
    inside = zip(maze.found.sources, maze.found.targets, strict=True)
    assert sorted((a, b) for a, b, _ in read.edges) == sorted(
        (f"n{a}", f"n{b}") for a, b in inside if b >= 0
    )
    (goal,) = number(7)
    node = read.nodes[f"n{goal}"]
    assert (node["room"], node["depth"], node["initial"]) == ("7", 4, False)
    assert (node["AtGoal"], node["Nowhere"]) == (True, False)
    assert node["walls"] == '{"&lt;", "</script>"}'
    steps = {data["step"]: data["action"] for _, _, data in read.edges(data=True)}
    assert steps["Ring(1)"] == "Ring"
    assert steps["Stay"] == "Stay"


def test_the_neighbourhood_of_a_state_is_within_its_radius(maze, number):
    (three, six) = number(3, 6)

    assert around(maze, three, 0) == [three]
    assert around(maze, three, 1) == sorted(number(2, 3))
    assert around(maze, six, 2) == sorted(number(0, 1, 2, 3, 6, 7))


def test_a_part_of_the_graph_has_only_the_steps_inside_it(maze, number):
    states = sorted(number(2, 3, 6))

    read = reread(graphml(maze, states))

    assert len(read) == 3
    assert {data["action"] for _, _, data in read.edges(data=True)} == {"Fall", "Leave"}


def test_dot_shows_variables_that_differ_and_marks_the_given_states(maze, number):
    states = sorted(number(2, 3, 6))
    three = number(3)[0]

    text = "".join(dot(maze, states, [three]))

    nodes = dict(re.findall(r"^  (n\d+) \[(.*)\];$", text, flags=re.MULTILINE))
    assert len(nodes) == 3
    assert "room = 3" in nodes[f"n{three}"]
    assert "peripheries=2" in nodes[f"n{three}"]
    assert sum("peripheries" in node for node in nodes.values()) == 1
    label = re.search(r'label="(.*?)", tooltip="(.*?)\\l"', nodes[f"n{three}"])
    assert "walls" not in label[1]
    assert 'walls = {\\"&lt;\\", \\"</script>\\"}' in label[2]
    assert re.findall(r'-> n\d+ \[label="(.*)"\];', text) == ["Fall", "Leave"]


def test_a_file_is_written_completely_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def broken():
        yield "half"
        raise KeyError("in the middle")

    with pytest.raises(KeyError):
        write_text(path, broken())

    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    assert write_text(path, ["whole"]) == 5
    assert path.read_text() == "whole"


def test_a_file_that_cannot_be_written_is_refused_with_its_place(tmp_path):
    for path, reason in (
        (tmp_path, "this is a folder"),
        (tmp_path / "none" / "out.txt", "no such folder"),
    ):
        with pytest.raises(KraflaError, match=reason):
            write_text(path, ["text"])
