"""Places that cannot be written, and disks that are full: one sentence, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.session import JobError
from krafla.pipeline.tables import SCHEMAS

pytestmark = pytest.mark.xdist_group("spark")
LINE = "[2026-01-01 00:00:00,000] INFO {} (k.K)\n"


def test_an_output_that_cannot_be_written_is_one_line_with_what_to_do(spark, tmp_path):
    (tmp_path / "one.log").write_text(LINE.format("a"))
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(JobError, match=r"not a directory: .*; Spark cannot write there") as told:
        ingest(spark, [str(tmp_path / "one.log")], str(tmp_path / "file" / "out"))
    assert told.value.exit_code == 2
    assert "\n" not in str(told.value)


@pytest.fixture
def small_disk(tmp_path):
    """A function that mounts a disk of so many KiB, or gives it another size."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    folder = tmp_path / "disk"
    folder.mkdir()

    def sized(kib):
        word = "remount," if os.path.ismount(folder) else ""
        options = f"{word}size={kib}k"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)
        return folder

    yield sized
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.nightly  # three ingests, and it mounts a disk
def test_a_full_disk_is_told_and_the_same_command_goes_on_when_there_is_room(
    spark, logs, tmp_path, small_disk
):
    first = logs.parent / "first.log"
    first.write_text(LINE.format("a") * 10)
    out = str(small_disk(1024) / "out")
    ingest(spark, [str(first)], out)
    (logs / "long.log").write_text(
        "".join(LINE.format(os.urandom(40).hex()) for _ in range(20_000))
    )
    with pytest.raises(JobError, match=r"No space left on device; a disk is full: all that was"):
        ingest(spark, [str(logs.parent)], out)
    store = open_store(spark, out)
    assert [row["detail"] for row in store.read("events").collect()] == ["a"] * 10
    small_disk(64 * 1024)
    done = ingest(spark, [str(logs.parent)], out)
    assert done.new == done.files - 1
    whole = ingest(spark, [str(logs.parent)], str(tmp_path / "whole"))
    assert (done.files, done.quarantined) == (whole.files, ())
    for name in SCHEMAS:
        ours, theirs = (
            open_store(spark, place).read(name).drop("load", "load_number", "milliseconds")
            for place in (out, str(tmp_path / "whole"))
        )
        assert ours.exceptAll(theirs).count() == theirs.exceptAll(ours).count() == 0, name
    shutil.rmtree(out)


@pytest.mark.nightly  # ten thousand files
def test_a_poisoned_file_among_ten_thousand_is_the_one_in_quarantine(spark, tmp_path):
    folder = tmp_path / "many"
    for number in range(9_999):
        (folder / f"{number % 100}").mkdir(parents=True, exist_ok=True)
        (folder / f"{number % 100}" / f"{number}.log").write_text(LINE.format(number))
    (folder / "7" / "bad.log").write_bytes(b"\xff\xfe\n")
    done = ingest(spark, [str(folder)], str(tmp_path / "out"))
    assert (done.files, done.good, done.rows["events"]) == (10_000, 9_999, 9_999)
    assert [path for path, _ in done.quarantined] == [str(folder / "7" / "bad.log")]
