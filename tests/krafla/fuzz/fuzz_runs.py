"""What the tests of `krafla fuzz` share, whichever game it plays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.run import play_seed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from click.testing import Result
    from tests.mutants.mutant import Mutant


def fuzz(game: str, *arguments: str) -> Result:
    """Return what `krafla fuzz` of a game comes to."""
    return CliRunner().invoke(application("fuzz"), ["fuzz", game, *arguments])


def assert_a_seed_is_a_run(profile_name: str, recording: Any, steps: int) -> None:
    """Assert that a seed has one run, another seed another, and that its file says all of it."""
    profile = find_profile(profile_name)
    first, second = (play_seed(profile, 3, steps).recording for _ in range(2))
    assert recording.to_json(first) == recording.to_json(second)
    assert first != play_seed(profile, 4, steps).recording
    assert recording.from_json(recording.to_json(first)) == first


def assert_found_kept_and_played_again(
    game: str, mutant: Mutant, where: tuple[str, ...], said: str, place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Assert that a bug is found and kept, that its file shows it, and holds without the bug."""
    with monkeypatch.context() as wrong:
        for patched, function in mutant.patches.items():
            wrong.setattr(patched, function)
        ended = fuzz(game, *where, "--save", str(place), "-q")
        assert ended.exit_code == 1, ended.output
        assert said in ended.output
        (kept,) = place.glob("*.json")
        again = fuzz(game, "--replay", str(kept))
        assert again.exit_code == 1
        assert "VIOLATED" in again.output
    mended = fuzz(game, "--replay", str(kept), "--json")
    assert mended.exit_code == 0
    assert json.loads(mended.output)["verdict"] == "held"


def assert_refused(game: str, arguments: tuple[str, ...], said: str) -> None:
    """Assert that what cannot be is refused in a line."""
    ended = fuzz(game, *arguments)
    assert ended.exit_code == 2
    assert said in ended.output
    assert "Traceback" not in ended.output
