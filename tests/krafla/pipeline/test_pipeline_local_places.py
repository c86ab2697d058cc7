"""What is wrong with a place on this machine is said before Spark starts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from krafla.cli.screen import LiveLine
from krafla.cli.spark_options import _runs_here
from krafla.pipeline.local_places import check_makeable, check_sources, check_store
from krafla.verdict import KraflaError

SECONDS_MAX = 60


def test_a_source_that_is_not_there_is_named_and_a_storage_is_not_asked(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    check_sources([str(tmp_path), str(tmp_path / "link"), "s3a://no/such"])
    with pytest.raises(KraflaError, match=r"missing: there is no such file or folder"):
        check_sources([str(tmp_path), str(tmp_path / "missing")])


def test_tables_are_in_a_directory(tmp_path):
    (tmp_path / "file").touch()
    check_store(str(tmp_path))
    check_store("s3a://no/such")
    with pytest.raises(KraflaError, match=r"missing: there is no such directory"):
        check_store(str(tmp_path / "missing"))
    with pytest.raises(KraflaError, match=r"file: this is a file"):
        check_store(str(tmp_path / "file"))


@pytest.mark.parametrize("place", ["file", "file/out", "/proc/none/out"])
def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path, place):
    (tmp_path / "file").touch()
    check_makeable(str(tmp_path / "new" / "out"))
    check_makeable("s3a://no/such")
    with pytest.raises(KraflaError, match=r"cannot be written, name another place: "):
        check_makeable(str(tmp_path / place))
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_places_are_looked_at_only_where_the_tasks_run():
    assert _runs_here(None, None)
    assert _runs_here("local[2]", None)
    assert not _runs_here("spark://127.0.0.1:7077", None)
    assert not _runs_here(None, "sc://127.0.0.1:1")


def test_the_first_text_of_a_long_start_comes_at_once_and_the_next_one_later(capsys):
    now = [5.0]
    with LiveLine(clock=lambda: now[0]) as live:
        live.show("too soon")
        live.begin("starting")
        live.show("too soon again")
        now[0] += 10
        live.show("later")
    assert capsys.readouterr().err == "starting\nlater\n"


def test_a_signal_ends_a_command_whose_server_never_answers(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-c", "from krafla.cli import main; main()", "pipeline"]
        with subprocess.Popen(
            [*command, "ingest", "--remote", address, str(tmp_path), str(tmp_path / "out")],
            stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "80"},
        ) as running:  # fmt: skip
            try:
                assert running.stderr.readline() == f"connecting to {address}\n"
                time.sleep(2)
                # A job in the background of a shell ignores SIGINT.
                running.send_signal(signal.SIGTERM)
                assert running.wait(SECONDS_MAX) == 128 + signal.SIGTERM
            finally:
                running.kill()
