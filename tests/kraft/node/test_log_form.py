"""The form of a node's log: Kafka's lines or JSON, and no floods."""

import json
import logging
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.kraft.node.node_process import PATIENCE_SECONDS
from tests.kraft.node.one_node import properties

from kraft.node.log_form import FloodFilter, LogFormat, LogLevel, start_logging

LOG = logging.getLogger("kraft.node.test")
KEYS = ["time", "level", "logger", "node_id", "message"]


def fail():
    try:
        int("of the test\nin two lines")
    except ValueError:
        LOG.exception("It failed for %s", "x")


def test_json_is_one_object_a_line(capsys):
    before = datetime.now(UTC)
    start_logging(7, ['unknown key "x"'], LogFormat.JSON)
    LOG.info("two\nlines, a %s and \ud800", "value")
    fail()

    warned, said, failed = map(json.loads, capsys.readouterr().out.splitlines())

    assert list(warned) == list(said) == KEYS
    assert (warned["level"], warned["logger"]) == ("WARN", "kraft")
    assert warned["message"] == 'unknown key "x"'
    assert (said["level"], said["logger"], said["node_id"]) == ("INFO", "kraft.node.test", 7)
    assert said["message"] == "two\nlines, a value and \ud800"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said["time"])
    assert abs((datetime.fromisoformat(said["time"]) - before).total_seconds()) < 60
    assert list(failed) == [*KEYS, "exception"]
    assert (failed["level"], failed["message"]) == ("ERROR", "It failed for x")
    assert failed["exception"].startswith("Traceback")
    assert "ValueError: invalid literal" in failed["exception"].splitlines()[-1]


def test_text_is_a_line_of_kafkas(capsys):
    start_logging(7, ["unknown key"])
    LOG.debug("not told")
    LOG.info("told")
    (warned, said) = capsys.readouterr().out.splitlines()

    stamp = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\]"
    assert re.fullmatch(stamp + r" WARN unknown key \(kraft\)", warned)
    assert re.fullmatch(stamp + r" INFO told \(kraft\.node\.test\)", said)


@pytest.mark.parametrize("level", list(LogLevel))
def test_a_level_is_the_least_that_is_told(capsys, level):
    start_logging(7, level=level)
    for number in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        LOG.log(number, "one")

    told = [line.split()[2] for line in capsys.readouterr().out.splitlines()]
    everything = ["INFO", "WARN", "ERROR"]
    assert told == everything[everything.index(level.value) :]


def record(words, at, level=logging.WARNING):
    one = logging.LogRecord("kraft", level, "", 0, words, (1,), None)
    one.created = at
    return one


MOMENTS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 400)), max_size=200)


@given(MOMENTS)
@example([("a", 0)] * 11)
def test_no_warning_is_left_out_without_being_counted(moments):
    flood, told = FloodFilter(), {"a": [], "b": []}
    # Warnings much later tell of all that were left out before.
    for words, tenths in [*sorted(moments, key=lambda one: one[1]), ("a", 9000), ("b", 9000)]:
        one = record(words, 1000 + tenths / 10)
        if flood.filter(one):
            left_out = re.search(r"\((\d+) more", one.msg)
            told[words].append((tenths, 0 if left_out is None else int(left_out[1])))
    for words, lines in told.items():
        drawn = [tenths for each, tenths in moments if each == words]
        assert len(lines) + sum(count for _, count in lines) == len(drawn) + 1
        # Ten at the end of a period, and ten at the start of the next one.
        for (first, _), (later, _) in zip(lines, lines[20:], strict=False):
            assert later - first >= 100


def test_a_flood_is_told_by_its_number_once_it_is_over():
    flood = FloodFilter()
    first = [flood.filter(record("refused %s", 100.0)) for _ in range(25)]
    after, next_one = record("refused %s", 111.0), record("refused %s", 111.0)
    harmless = [flood.filter(record("hello %s", 100.0, logging.INFO)) for _ in range(25)]

    assert first == [True] * 10 + [False] * 15
    assert flood.filter(after)
    assert flood.filter(next_one)
    assert after.getMessage() == "refused 1 (15 more like it were left out)"
    assert next_one.getMessage() == "refused 1"
    assert all(harmless)


def test_warnings_of_other_words_or_loggers_are_told_apart(capsys):
    start_logging(7, [f"unknown key {number}" for number in range(25)])
    for name in ("one", "two"):
        for _ in range(25):
            logging.getLogger(f"kraft.{name}").warning("again")

    told = capsys.readouterr().out.splitlines()
    assert sum("unknown key" in line for line in told) == 25
    assert sum("again (kraft.one)" in line for line in told) == 10
    assert sum("again (kraft.two)" in line for line in told) == 10


def test_a_reader_who_leaves_does_not_disturb_the_node(capsys, monkeypatch):
    class Gone:
        def write(self, _text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    start_logging(7)
    LOG.info("a line without a reader")

    assert capsys.readouterr().err == ""


def test_a_server_tells_everything_as_json(tmp_path):
    options = ["--log-format", "json", "--override", "not.known=1"]
    command = [sys.executable, "-P", "-m", "kraft", "server", "start", str(properties(tmp_path))]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "Kafka Server started" in line:
                process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
    finally:
        process.kill()
        process.communicate()

    told = [json.loads(line) for line in lines]
    assert {one["node_id"] for one in told} == {1}
    assert told[0]["level"] == "WARN"
    assert "not.known" in told[0]["message"]
    assert told[-1]["message"].endswith("shut down completed")
