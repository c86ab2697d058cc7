"""Recordings that come through a pipe, or begin with a byte order mark."""

from __future__ import annotations

import json
import os
import threading

import pytest
from tests.krafla.cli.lock_spec import LOCK, RUN, krafla, write_log

TRACE = LOCK.parents[2] / "traces" / "accepted" / "lease" / "register-and-unfence.ndjson"
LINES = "".join(f"{json.dumps(one)}\n" for one in RUN)


@pytest.fixture
def piped(tmp_path):
    """A function that returns the path of a pipe with a text, which can be read once."""
    writers = []

    def path_of(text):
        path = tmp_path / f"pipe{len(writers)}"
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_text, args=(text,), daemon=True))
        writers[-1].start()
        return path

    yield path_of
    for one in writers:
        one.join()


def test_a_log_comes_through_a_pipe_or_the_standard_input(piped):
    for result in (
        krafla("validate", piped(LINES), "--spec", LOCK),
        krafla("validate", "-", "--spec", LOCK, lines=LINES),
    ):
        assert result.exit_code == 0, result.output
        assert "matched    4 observations" in result.output


@pytest.mark.parametrize(
    "words", [("explain", "-", "--no-ask"), ("validate", "-"), ("replay", "-")], ids=lambda w: w[0]
)
def test_a_trace_comes_through_the_standard_input(words):
    result = krafla(*words, lines=TRACE.read_text())
    assert result.exit_code == 0, result.output


def test_a_trace_in_the_standard_input_is_converted_once_its_format_is_said():
    text = TRACE.read_text()
    assert "say --from FORMAT" in krafla("convert", "-", "-", lines=text).output
    again = krafla("convert", "-", "-", "--from", "ndjson", "--to", "ndjson", lines=text)
    assert again.stdout.partition("\n")[2] == text.partition("\n")[2]


def test_what_is_shrunk_from_the_standard_input_needs_a_file_for_the_result():
    result = krafla("shrink", "-", lines=TRACE.read_text())
    assert result.exit_code == 2
    assert "name a file with --output" in result.output


def test_each_command_reads_the_standard_input_anew():
    assert krafla("validate", "-", "--spec", LOCK, lines=LINES).exit_code == 0
    empty = krafla("validate", "-", "--spec", LOCK, lines="")
    assert empty.exit_code == 2
    assert "-: a log without a line" in empty.output or "empty" in empty.output


def test_a_log_and_a_trace_may_begin_with_a_byte_order_mark(tmp_path):
    log = write_log(tmp_path / "run.log", *RUN)
    log.write_text("\ufeff" + log.read_text())
    assert krafla("validate", log, "--spec", LOCK).exit_code == 0
    trace = tmp_path / "trace.ndjson"
    trace.write_text("\ufeff" + TRACE.read_text())
    assert krafla("replay", trace).exit_code == 0


def test_a_file_that_is_no_recording_is_told_what_would_be_one(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("no JSON\n")
    told = krafla("validate", notes).output
    assert "notes.txt:1: no recording" in told
    assert "`krafla judge --schema log`" in told
    assert "Lock.tla: a spec, no recording: `--spec` takes it" in krafla("validate", LOCK).output
