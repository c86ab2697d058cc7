"""How a seeded bug of a game is looked for: run after run, until one is found to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.mutants.mutant import objection

from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.run import play, play_seed
from krafla.fuzz.engine.shrink import shrink

if TYPE_CHECKING:
    from tests.mutants.mutant import Mutant

    from krafla.fuzz.engine.run import Run


def first_failing_run(mutant: Mutant, most: int, steps_of_a_run: int = 300) -> tuple[Run, int]:
    """Return the first run with a finding, or the last one, and how many steps were judged.

    About `most` steps are judged, in runs of so many choices.
    """
    profile = find_profile(mutant.profile)
    steps = seed = 0
    while steps < most:
        run = play_seed(profile, seed, steps_of_a_run)
        steps, seed = steps + run.steps, seed + 1
        if run.finding is not None:
            break
    return run, steps


def assert_shrinks(mutant: Mutant, run: Run, most: int) -> None:
    """Assert that a run shrinks to so many steps, and is still wrong for the same reason."""
    shrunk = shrink(run)
    assert shrunk.steps < run.steps
    assert shrunk.steps <= most
    assert objection(mutant, shrunk.finding) is None
    recording = shrunk.recording
    again = play(recording.configuration, recording.choices, game=shrunk.game)
    assert str(again.finding) == str(shrunk.finding)
