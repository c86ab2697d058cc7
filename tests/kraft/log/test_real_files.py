"""The files of a replica on a real file system do what the disk in memory does."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.kraft.log.crashing_files import CrashingFiles
from tests.kraft.log.log_samples import CLUSTER, DIRECTORY, NODE, VOTERS, batch
from tests.kraft.log.test_recovery_crashes import drawn

from kraft.errors import UnreadableFileError
from kraft.log import real_files
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.log.real_files import RealFiles
from kraft.log.unusable import UnusableLogError
from kraft.raft.effect_storage import perform

if TYPE_CHECKING:
    from kraft.log.storage_files import Files


def filled(files: Files, seed: int) -> None:
    """Format, start, and do what a script asks for."""
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    storage = RaftStorage(files, segment_bytes=400, voters=VOTERS)
    storage.open(CLUSTER, NODE)
    for effect in drawn(random.Random(seed)):
        perform(storage, effect)


@pytest.mark.parametrize("seed", range(6))
def test_a_real_directory_holds_the_bytes_that_the_disk_in_memory_holds(tmp_path, seed):
    disk = CrashingFiles()
    real = RealFiles(tmp_path / "not" / "there yet")
    for files in (disk, real):
        filled(files, seed)
    names = (*real.names("__cluster_metadata-0"), *real.names(""))
    assert {name: real.read(name) for name in names} == disk.contents()
    assert set(names) == {
        str(path.relative_to(real.place("")))
        for path in real.place("").rglob("*")
        if path.is_file()
    }
    again = RaftStorage(real).open(CLUSTER, NODE)
    assert again.log == RaftStorage(disk).open(CLUSTER, NODE).log


def test_what_is_flushed_is_flushed_with_fsync_and_a_name_by_its_directory(tmp_path, monkeypatch):
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr(real_files.os, "fsync", fsync)
    files = RealFiles(tmp_path / "root")
    files.append("d/a", b"1")
    files.append("d/a", b"2")
    assert synced == []
    files.flush("d/a")
    files.rename("d/a", "d/b")
    files.flush_directory("d")
    files.flush_directory("")
    assert synced == ["a", "d", "root", "root"]


def test_the_operations_do_what_they_say(tmp_path):
    files = RealFiles(tmp_path)
    assert files.names("d") == ()
    files.append("d/b", b"12345")
    files.append("d/a", b"")
    files.append("top", b"t")
    assert files.names("d") == ("d/a", "d/b")
    assert files.names("") == ("top",)
    files.truncate("d/b", 2)
    files.rename("d/b", "d/a")
    assert files.read("d/a") == b"12"
    files.remove("d/a")
    assert files.names("d") == ()


def test_a_name_that_is_not_there_is_an_error_and_nothing_is_made(tmp_path):
    files = RealFiles(tmp_path)
    for operation in (
        lambda: files.read("a"),
        lambda: files.truncate("a", 0),
        lambda: files.flush("a"),
        lambda: files.rename("a", "b"),
        lambda: files.remove("a"),
        lambda: files.flush_directory("d"),
    ):
        with pytest.raises(FileNotFoundError):
            operation()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../a", "a/../b", "/etc/passwd", "a//b", "a/b/c", "."])
def test_a_name_cannot_lead_elsewhere(tmp_path, name):
    with pytest.raises(ValueError, match="not a name below a log directory"):
        RealFiles(tmp_path).append(name, b"x")


def test_a_directory_or_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path):
    files = RealFiles(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("pipe", "directory"):
        with pytest.raises(UnreadableFileError, match=name):
            files.read(name)
    (tmp_path / "__cluster_metadata-0").touch()
    with pytest.raises(UnreadableFileError, match="not a directory"):
        files.names("__cluster_metadata-0")


def test_a_start_says_which_file_it_cannot_read(tmp_path):
    files = RealFiles(tmp_path)
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    (tmp_path / "__cluster_metadata-0").write_bytes(b"")
    with pytest.raises(UnusableLogError, match="__cluster_metadata-0: not a directory; "):
        RaftStorage(files).open(CLUSTER, NODE)


def test_a_log_of_a_real_directory_goes_on_after_a_restart(tmp_path):
    files = RealFiles(tmp_path)
    filled(files, 3)
    storage = RaftStorage(files, segment_bytes=400)
    log = storage.open(CLUSTER, NODE).log
    more = (batch(log.end_offset, log.last_epoch + 1, 2),)
    storage.append(more)
    storage.flush()
    assert RaftStorage(files).open(CLUSTER, NODE).log == log.append(more)
