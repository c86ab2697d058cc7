"""A run leaves nothing behind, however it ends."""

from __future__ import annotations

import os
import signal

import pytest

from krafla.tlc.outcome import Interrupted, Killed
from krafla.tlc.run import run


def is_alive(process):
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_finished_run_leaves_no_file(counter, scratch):
    run(counter("SPECIFICATION Spec"))

    assert list(scratch.iterdir()) == []


def test_a_run_out_of_time_leaves_no_process_and_no_file(endless, scratch, started):
    result = run(endless, timeout=4.0)

    assert isinstance(result.outcome, Interrupted)
    assert [is_alive(one) for one in started] == [False]
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
def test_a_ctrl_c_passes_through_and_leaves_no_process_and_no_file(endless, scratch, started):
    def interrupt(_progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(endless, progress=interrupt)

    assert [is_alive(one) for one in started] == [False]
    assert list(scratch.iterdir()) == []


def test_a_process_killed_by_another_is_told_with_its_signal(endless, scratch, started):
    def kill(_progress):
        os.kill(started[0].pid, signal.SIGKILL)

    result = run(endless, progress=kill)

    assert result.outcome == Killed(signal.SIGKILL)
    assert list(scratch.iterdir()) == []
