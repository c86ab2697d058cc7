"""Child processes end with their parent, whatever ends it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from krafla.child_processes import ChildGroup

SECONDS_MAX = 30
# Starts a child that does not end by itself, tells its id, and ends as it is told.
PARENT = """
import os, signal, subprocess, sys
from krafla.child_processes import ChildGroup
group = ChildGroup()
child = subprocess.Popen(["sleep", "1000"], process_group=group.id)
print(child.pid, flush=True)
sys.stdin.readline()
exec(sys.argv[1])
"""
# The same with a child of multiprocessing.
SPAWNING = """
import multiprocessing, os, signal, sys, time
from krafla.child_processes import end_with_parent
def work():
    end_with_parent()
    print(os.getpid(), flush=True)
    time.sleep(1000)
if __name__ == "__main__":
    multiprocessing.get_context("spawn").Process(target=work).start()
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def parent(*command):
    """Start a parent; return it, and a handle of its child."""
    process = subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return process, os.pidfd_open(int(process.stdout.readline()))


def has_ended(handle, seconds=SECONDS_MAX):
    return select.select([handle], [], [], seconds)[0] == [handle]


@pytest.mark.parametrize(
    "end",
    ["os.kill(os.getpid(), signal.SIGKILL)", "os.abort()", "os._exit(0)", "sys.exit()"],
    ids=["killed", "crashed", "left", "done"],
)
def test_a_child_ends_with_its_parent(end):
    process, child = parent("-c", PARENT, f"child.__class__.__del__ = lambda _: None; {end}")
    assert not has_ended(child, 0)
    process.communicate("go on\n", timeout=SECONDS_MAX)
    assert has_ended(child)


def test_a_child_of_multiprocessing_ends_with_its_parent(tmp_path):
    script = tmp_path / "spawning.py"
    script.write_text(SPAWNING)
    process, child = parent(str(script))
    assert not has_ended(child, 0)
    process.communicate("go on\n", timeout=SECONDS_MAX)
    assert has_ended(child)


def test_a_child_ends_with_its_parent_even_if_a_forked_process_lives_on():
    fork = "made = os.fork(); made or signal.pause(); print(made, flush=True)"
    process, child = parent("-c", PARENT, f"{fork}; os.kill(os.getpid(), signal.SIGKILL)")
    process.stdin.write("go on\n")
    process.stdin.flush()
    forked = int(process.stdout.readline())
    try:
        assert has_ended(child)
    finally:
        os.kill(forked, signal.SIGKILL)
        process.communicate()


def test_the_end_of_a_forked_process_ends_no_child():
    fork = "made = os.fork(); made or sys.exit(); os.waitpid(made, 0); print('forked', flush=True)"
    process, child = parent("-c", PARENT, f"{fork}; sys.stdin.read()")
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert process.stdout.readline() == "forked\n"
    assert not has_ended(child, 0.1)
    process.communicate()
    assert has_ended(child)


@pytest.mark.parametrize("is_led", [True, False], ids=["led", "without its leader"])
def test_the_end_of_a_group_is_that_of_its_children_and_theirs(is_led):
    with ChildGroup() as group:
        child = subprocess.Popen(
            ["sh", "-c", "sleep 1000 & echo $!; wait"],
            process_group=group.id, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        theirs = os.pidfd_open(int(child.stdout.readline()))
        if not is_led:
            os.kill(group.id, signal.SIGKILL)
        assert not has_ended(theirs, 0.1)
    assert has_ended(theirs)
    child.communicate(timeout=SECONDS_MAX)
    assert child.returncode == -signal.SIGKILL
    with pytest.raises(ChildProcessError):
        os.waitpid(group.id, 0)


def test_groups_do_not_share_their_ends():
    with ChildGroup() as first, ChildGroup() as second:
        child = subprocess.Popen(["sleep", "1000"], process_group=second.id)
        first.end()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.1)
    assert child.wait(SECONDS_MAX) == -signal.SIGKILL


def test_a_group_that_cannot_be_led_is_an_error_and_leaves_nothing_open(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(os, "posix_spawn", refuse)
    before = sorted(Path("/dev/fd").iterdir())
    with pytest.raises(OSError, match="no more processes"):
        ChildGroup()
    assert sorted(Path("/dev/fd").iterdir()) == before
