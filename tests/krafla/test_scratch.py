"""Temporary folders are gone once their process is, and no others are touched."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from krafla import scratch
from krafla.scratch import lasting_folder, scratch_folder, sweep
from krafla.verdict import KraflaError

# Makes a folder with a file in it, tells its path, and ends as it is told.
MAKER = """
import os, signal, sys, time
from krafla.scratch import lasting_folder
folder = lasting_folder("test")
(folder / "file").touch()
print(folder, flush=True)
exec(sys.argv[1])
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder for temporary files, not yet swept by this process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "_swept", set())
    return tmp_path


def maker(place, end):
    """Start a process that makes a folder; return it and the folder's path once it is there."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAKER, end],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )  # fmt: skip
    return process, process.stdout.readline().strip()


def left_in(place):
    return [str(path) for path in place.iterdir()]


def test_a_folder_lasts_as_long_as_its_context(place):
    with scratch_folder("test") as folder:
        (folder / "file").touch()
        assert left_in(place) == [str(folder)]
    assert left_in(place) == []


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError"])
def test_a_lasting_folder_is_gone_with_its_process(place, end):
    process, _ = maker(place, f"sys.stderr = open(os.devnull, 'w'); {end}")
    process.communicate()
    assert left_in(place) == []


def test_the_folder_of_a_killed_process_is_removed_by_the_next(place):
    process, folder = maker(place, "os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate()
    assert left_in(place) == [folder]
    with scratch_folder("test") as ours:
        assert left_in(place) == [str(ours)]


def test_the_folder_of_a_living_process_stays(place):
    process, folder = maker(place, "sys.stdin.read()")
    sweep()
    assert left_in(place) == [folder]
    process.communicate()


def test_a_forked_process_removes_none_of_its_parents_folders(place):
    fork = "made = os.fork(); made or sys.exit(); os.waitpid(made, 0); print('forked', flush=True)"
    process, folder = maker(place, f"{fork}; sys.stdin.read()")
    assert process.stdout.readline() == "forked\n"
    assert left_in(place) == [folder]
    process.communicate()
    assert left_in(place) == []


def test_what_a_person_has_made_stays(place, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "dear").touch()
    made = ["krafla-scratch-test-abcdefgh.bak", "krafla-scratch-notes", "krafla-results"]
    for name in made:
        (place / name).mkdir()
    (place / "krafla-scratch-file-abcdefgh").touch()
    os.mkfifo(place / "krafla-scratch-pipe-abcdefgh")
    (place / "krafla-scratch-link-abcdefgh").symlink_to(other)
    before = sorted(left_in(place))

    sweep()

    assert sorted(left_in(place)) == before
    assert [path.name for path in other.iterdir()] == ["dear"]


def test_the_folder_of_another_user_stays(place, monkeypatch):
    process, folder = maker(place, "os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    sweep()
    assert left_in(place) == [folder]


def test_a_place_is_swept_once(place):
    sweep()
    process, folder = maker(place, "os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate()
    sweep()
    assert left_in(place) == [folder]


def test_folders_that_are_made_while_others_sweep_stay(place):
    is_over = threading.Event()

    def keep_sweeping():
        while not is_over.is_set():
            scratch._swept.clear()
            sweep()

    sweepers = [threading.Thread(target=keep_sweeping) for _ in "ab"]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for _ in range(100):
            with scratch_folder("test") as folder:
                (folder / "file").touch()
                time.sleep(0)
                assert [path.name for path in folder.iterdir()] == ["file"]
    finally:
        is_over.set()
        for sweeper in sweepers:
            sweeper.join()
    assert left_in(place) == []


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(place, monkeypatch):
    lock, removed = fcntl.flock, []

    def too_late(descriptor, operation):
        if not removed:
            removed.extend(left_in(place))
            shutil.rmtree(removed[0])
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    with scratch_folder("test") as folder:
        assert folder.is_dir()
        assert removed != [str(folder)]


def test_without_locks_folders_are_made_and_nothing_is_swept(place, monkeypatch):
    process, folder = maker(place, "os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate()

    def refuse(*_):
        raise OSError("no locks on this file system")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with scratch_folder("test") as ours:
        assert sorted(left_in(place)) == sorted([folder, str(ours)])
    assert left_in(place) == [folder]


def test_a_folder_that_cannot_be_made_is_one_error(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(KraflaError, match="cannot make a temporary folder: No such file"):
        lasting_folder("test")
    with pytest.raises(FileNotFoundError), scratch_folder("test", tmp_path / "nowhere"):
        pass
