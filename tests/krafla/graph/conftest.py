"""A small graph with known properties, in a manifest of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.graph import Question, build
from krafla.manifest import load

SPECS = Path(__file__).parent / "specs"
ENTRY = """
[[model]]
name = "{name}"
module = "Maze.tla"
cfg = "{name}.cfg"
spec = "Maze"
tier = "smoke"
kind = "safety"
expect = "{expect}"
bounds = "the rooms below 9"
{more}
"""
UNTAKEN = '[model.untaken]\nNever = "no such door"'
CONFIG = "INIT Init\nNEXT Next\nCONSTRAINT InBounds\n"
QUIET = f"{CONFIG}CHECK_DEADLOCK FALSE\n"
MODELS = {
    "Maze": ("holds", f"distinct = 8\ngenerated = 12\n{UNTAKEN}", QUIET),
    "MazeMiscounted": ("holds", f"distinct = 9\n{UNTAKEN}", QUIET),
    "MazeUntaken": ("holds", "distinct = 8", QUIET),
    "MazeUnpinned": ("holds", UNTAKEN, QUIET),
    "MazeDeadlock": ("holds", f"distinct = 8\n{UNTAKEN}", CONFIG),
    "MazeWitness": ("holds", f'distinct = 8\nwitnesses = ["Nowhere"]\n{UNTAKEN}', QUIET),
    "MazeTrapped": ("holds", f"distinct = 8\n{UNTAKEN}", f"{QUIET}INVARIANT NotTrapped\n"),
    "MazeEmpty": ("holds", UNTAKEN, f"{QUIET}CONSTRAINT Nowhere\n"),
    "MazeBounded": ("holds", UNTAKEN, f"{QUIET}INVARIANT InBounds\n"),
    "MazeClimbs": ("holds", UNTAKEN, f"{QUIET}PROPERTY Climbs\n"),
    "MazeMustTrap": ("violates", 'property = "NotTrapped"', f"{QUIET}INVARIANT NotTrapped\n"),
    "MazeMustFail": ("violates", 'property = "InHouse"', f"{QUIET}INVARIANT InHouse\n"),
}


@pytest.fixture(scope="session")
def specs(tmp_path_factory):
    """A folder of specs with the maze in it, and one model for each verdict."""
    folder = tmp_path_factory.mktemp("specs")
    (folder / "Maze.tla").write_text((SPECS / "Maze.tla").read_text())
    manifest = ""
    for name, (expect, more, config) in MODELS.items():
        manifest += ENTRY.format(name=name, expect=expect, more=more)
        (folder / f"{name}.cfg").write_text(config)
    (folder / "manifest.toml").write_text(manifest)
    (folder / "witnesses.toml").write_text("MazeWitness = 1\n")
    return folder


@pytest.fixture(scope="session")
def model(specs):
    """Return a model of the maze by name."""

    def select(name="Maze"):
        return load(specs).select((name,))[0]

    return select


@pytest.fixture(scope="session")
def maze(model):
    """The graph of the maze, with some predicates."""
    texts = ["AtGoal", "Nowhere", "room = 4", "room \\in {3, 7}", "TRUE"]
    return build(model(), [Question(text, "here") for text in texts])


@pytest.fixture(scope="session")
def number(maze):
    """Return the number of the state that is a room, and back."""
    rooms = [state["room"] for state in maze.found.states]

    def numbered(*wanted):
        return [rooms.index(room) for room in wanted]

    numbered.rooms = rooms
    return numbered
