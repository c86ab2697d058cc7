"""Campaigns on several processes, of which one ends before its run does."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from krafla.fuzz.engine.campaign import Campaign, run_campaign
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import RunOptions
from krafla.verdict import KraflaError


class KilledRuns(Runs):
    """Runs of which none ends: each notes its number and kills the process that plays it."""

    def load(self, *, brief: bool) -> None:
        """Prepare nothing."""

    def play(self, number: int, _reached: Any = ()) -> Any:
        """Die as if the operating system had no memory left; ``bounds`` is where to note it."""
        (Path(self.bounds) / str(number)).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_ends_the_campaign_with_one_sentence(tmp_path):
    runs = KilledRuns("raft", 7, RunOptions(), (), 0, str(tmp_path))

    with pytest.raises(KraflaError, match="a worker process ended in the middle of a run") as error:
        run_campaign(Campaign(runs, examples=3, workers=2))

    assert list(tmp_path.iterdir())
    assert error.value.place == "run 0 of seed 7"
    assert "--seed 7 --examples 1 and one worker" in str(error.value)
