"""The metadata shell answers as Kafka's, and ends in one line and the right status."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kraft.kafka_tools import shell as kafkas_shell
from tests.kraft.tools.shell_logs import everything, log_bytes, quota
from typer.testing import CliRunner

from kraft.ids import METADATA_DIRECTORY
from kraft.records.builder import encode_batch
from kraft.records.cluster import BeginTransactionRecord, EndTransactionRecord
from kraft.records.lease import FenceBrokerRecord, NoOpRecord
from kraft.records.topics import ConfigRecord
from kraft.tools import application
from kraft.tools.shell.columns import in_columns
from kraft.tools.shell.commands import Problem, Shell
from kraft.tools.shell.image_loader import Loaded, load
from kraft.tools.shell.image_nodes import root_of
from kraft.tools.shell.interactive import completions

TRACES = Path(__file__).resolve().parents[3] / "traces" / "kafka-4.1"
LOG = TRACES / "combined" / "n1" / METADATA_DIRECTORY / "00000000000000000000.log"
CHECKPOINT = (
    TRACES
    / "failover"
    / "n3002"
    / METADATA_DIRECTORY
    / "00000000000000001326-0000000012.checkpoint"
)
RECORDED = Path(__file__).with_name("metadata_shell.txt")
"""What Kafka 4.1.0 answered to WALK about the log of `everything`."""
_LOGGED = re.compile(r"\d\d:\d\d:\d\d\.\d{3} \[")
"""How a line begins that Kafka logs: without a configuration it logs to where it answers."""
NAME = "00000000000000000000.log"
WALK = (
    "tree /image /local",
    "ls /image/*",
    "find /image/cluster /image/topics /image/clientQuotas /image/configs /image/acls /image/scram",
    "cat /image/configs/TOPIC:*/* /image/cluster/{brokers,controllers}/* /local/*",
    "cat /image/provenance nosuch /image /image/features/zkMigrationState",
    "ls /image/topics/by*/*/{0,name} /local nosuch",
    "cd nosuch",
    "cd /image/provenance",
    "cd image/../image/./topics",
    "pwd",
    "find . a",
    "tree byName nosuch",
    "cd ..",
    "cd a b",
    "pwd",
    "cat",
    "cat \"provenance\" 'producerIds/nextProducerId' {a",
    "ls --bogus",
    "bogus",
    "history 2",
    "man bogus",
    "exit",
)


def answers_of_kafka(path: Path) -> list[str]:
    """Return what Kafka's shell answers to WALK, without its banner and its prompts."""
    printed = kafkas_shell(path, *WALK).splitlines()
    lines = [line for line in printed if not _LOGGED.match(line)]
    assert lines[:3] == ["Loading...", "Starting...", "[ Kafka Metadata Shell ]"]
    answers = [re.sub("^(>> )+", "", line) for line in lines[3:]]
    return answers[:-1] if answers[-1] == "" else answers


def kraft(path: Path, *command: str, stdin: str | bytes = ""):
    arguments = ["metadata-shell", "--snapshot", str(path), *command]
    return CliRunner().invoke(application(), arguments, input=stdin)


def written(tmp_path: Path, batches, start: int = 0) -> Path:
    path = tmp_path / NAME
    path.write_bytes(log_bytes(batches, start=start))
    return path


def shell_of(path: Path = LOG, width: int | None = None) -> Shell:
    return Shell(root_of(load(path)), width)


# One process fetches Kafka's jars; another would only wait for it.
@pytest.mark.by_day(1)
@pytest.mark.xdist_group("kafka-jars")
@pytest.mark.parametrize("path", [LOG, CHECKPOINT], ids=["log", "checkpoint"])
def test_the_shell_answers_as_kafkas_does(path):
    ours = kraft(path, stdin="\n".join(WALK))
    assert ours.stdout.splitlines() == answers_of_kafka(path)


@pytest.mark.xdist_group("kafka-jars")
def test_kafka_answers_what_was_recorded_of_it(tmp_path):
    path = written(tmp_path, everything())
    assert answers_of_kafka(path) == RECORDED.read_text().splitlines()


def test_the_shell_answers_what_was_recorded_of_kafka(tmp_path):
    path = written(tmp_path, everything())
    assert kraft(path, stdin="\n".join(WALK)).stdout == RECORDED.read_text()


def test_a_transaction_that_is_still_open_does_not_count(tmp_path):
    begun = [BeginTransactionRecord(), ConfigRecord(2, "orders", "open", "yes")]
    before, path = load(written(tmp_path, everything())), tmp_path / "begun.log"
    path.write_bytes(log_bytes([*everything(), begun]))
    assert load(path) == before
    path.write_bytes(log_bytes([*everything(), begun, [EndTransactionRecord()]]))
    assert load(path).image.configurations[2, "orders"]["open"] == "yes"


def test_find_and_patterns_pass_what_kafka_falls_over(tmp_path):
    """A name without a node, and the default of a quota: Kafka's shell ends there."""
    default = [quota("rate", 1.0, user=None), quota("rate", 2.0, user="a", client_id=None)]
    path = written(tmp_path, [*everything(), default])
    found = kraft(path, "find", "/image").stdout.splitlines()
    assert "/image/features/zkMigrationState" in found
    assert {"/image/clientQuotas/user()/rate", "/image/clientQuotas/clientId()_user(a)/rate"} <= {
        *found
    }
    features = kraft(path, "cat", "/image/features/*")
    assert (features.exit_code, features.stdout) == (0, "1\nOptional[4.1-IV1]\n")
    for name in ("abc", "-", "é"):
        refused = kraft(path, "cat", f"/image/cluster/brokers/{name}x")
        assert refused.exit_code == 1


@pytest.mark.parametrize(
    ("command", "status", "expected"),
    [
        (["cat", "/local/version"], 0, "4.1.0"),
        (["ls", "/local"], 0, "commitId\nversion"),
        (["cat", "/x"], 1, "cat: /x: No such file or directory."),
        (["cat", "/local"], 1, "cat: /local: Is a directory"),
        (["pwd"], 1, "invalid choice: 'pwd' (choose from 'cat', 'find', 'ls', 'tree')"),
        (["tree", ""], 1, "too few arguments"),
        (["find", "/local"], 0, "/local\n/local/commitId\n/local/version"),
    ],
)
def test_a_command_of_the_arguments_is_answered_alone(command, status, expected):
    done = kraft(LOG, *command)
    assert (done.exit_code, done.stdout, done.stderr) == (status, f"{expected}\n", "")


def test_a_script_goes_on_after_a_problem_and_tells_of_it_at_its_end():
    done = kraft(LOG, stdin="\n  \ncd nosuch\npwd\n'open\nexit\npwd\n")
    expected = "cd: nosuch: no such directory.\n/\nno closing quotation: 'open\n"
    assert (done.exit_code, done.stdout) == (1, expected)
    assert kraft(LOG, stdin="pwd").exit_code == 0
    assert kraft(LOG, stdin=b"cat \xff\x00\n").exit_code == 1


def test_each_command_has_help_and_is_in_the_list():
    done = kraft(LOG, stdin="help\nman tree\ntree --help\nhistory x\n")
    listed = re.findall(r"^  (\w+) ", done.stdout, re.MULTILINE)
    names = ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd"]
    assert listed == [*names, "tree"]
    assert done.stdout.count("usage: tree PATH...") == 2
    assert done.stdout.endswith("history: x: not a number of lines\n")


def test_the_history_counts_from_zero_and_has_a_repeated_line_once():
    shell = shell_of()
    for line in ("pwd", "pwd", "ls"):
        list(shell.run_line(line))
    assert list(shell.run_line("history")) == ["    0  pwd", "    1  ls", "    2  history"]
    assert list(shell.run_line("history 1")) == ["    3  history 1"]


def test_text_that_could_steer_a_terminal_is_escaped(tmp_path):
    path = written(tmp_path, [[ConfigRecord(2, "t\x1b[2J", "k\n", "a\x07\nb")]])
    lines = kraft(path, "tree", "/image/configs").stdout.splitlines()
    assert lines == ["TOPIC:t\\x1b[2J:", "  k\\n:", "    a\\x07\\nb"]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("*", ["0", "1", "2", "id", "name"]),
        ("?", ["0", "1", "2"]),
        ("{0,na*,id}", ["0", "id", "name"]),
        ("[01]", []),
        ("{0,1", []),
        ("{0,{1}}", []),
        ("*}", []),
        (r"\*", []),
        (r"n?m\e", ["name"]),
        ("0/*", []),
        ("{?,n*e,}{,m}", ["0", "1", "2", "name"]),
        ("{a,i,n}{d,?}*", ["id", "name"]),
        ("{a,,n}" * 60 + "*a*" * 40 + "x", []),
    ],
)
def test_a_pattern_is_matched_as_kafka_matches_it(pattern, matching):
    found = shell_of().find(f"/image/topics/byName/q/{pattern}")
    assert [one.name for one in found] == matching


def test_an_empty_directory_has_no_title_and_what_follows_it_is_set_off():
    lines = ["", "local:", "commitId", "version"]
    assert list(shell_of().run_line("ls /image/clientQuotas /local")) == lines


def test_names_are_in_the_order_of_java(tmp_path):
    names = ["10", "9", "a", "\U0001f600", "\uffee"]
    records = [ConfigRecord(2, name, "k", "v") for name in sorted(names)]
    listed = kraft(written(tmp_path, [records]), "ls", "/image/configs").stdout.splitlines()
    assert listed == [f"TOPIC:{name}" for name in names]


def test_a_name_with_a_slash_is_reached_by_a_pattern(tmp_path):
    path = written(tmp_path, [[ConfigRecord(4, "a/b", "k", "v")]])
    assert kraft(path, "cat", "/image/configs/BROKER:a?b/k").stdout == "v\n"


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("", "c", ["cat ", "cd "]),
        ("man ", "h", ["help ", "history "]),
        ("ls ", "", ["image/", "local/"]),
        ("cat ", "/image/pro", ["/image/producerIds/", "/image/provenance "]),
        ("cat /local ", "image/topics/byN", ["image/topics/byName/"]),
        ("cat ", "/image/features/z", []),
        ("cat ", "/nosuch/x", []),
        ("cat ", "/local/version/x", []),
        ("history ", "", []),
        ("bogus ", "", []),
    ],
)
def test_commands_and_paths_are_completed(before, word, expected):
    assert completions(shell_of(), before, word) == expected


@pytest.mark.parametrize("width", [None, 3, 20, 24, 80])
def test_columns_hold_every_name_and_fit(width):
    names = [f"{'n' * (n % 5 + 1)}{n}" for n in range(17)]
    lines = list(in_columns(names, width))
    assert sorted(" ".join(lines).split()) == sorted(names)
    if width in {None, 3}:
        assert lines == names
    else:
        assert max(map(len, lines)) <= width
        assert len(lines) < len(names)
    assert list(in_columns([], width)) == []


def test_the_image_of_nothing_can_be_walked():
    shell = Shell(root_of(Loaded()))
    lines = list(shell.run_line("tree /image"))
    assert "  offset -1, epoch -1, time 1969-12-31T23:59:59.999Z[UTC]" in lines
    assert "    Optional.empty" in lines
    assert not any(isinstance(line, Problem) for line in lines)


def unknown(api_key: int, version: int) -> bytes:
    return log_bytes([[NoOpRecord()]]) + encode_batch(1, 5, 0, [bytes([1, api_key, version])])


def broken(path: Path, kind: str) -> None:
    data = LOG.read_bytes()
    contents = {
        "garbage": b"\x5a" * 400,
        "truncated": data[:-9],
        "huge": data[:8] + b"\x7f\xff\xff\xff" + data[12:],
        "bad sum": data[:80] + bytes([data[80] ^ 1]) + data[81:],
        "unknown type": unknown(120, 0),
        "unknown version": unknown(20, 77),
        "refused": log_bytes([[NoOpRecord(), FenceBrokerRecord(1, 7)]]),
        "nested": log_bytes([[BeginTransactionRecord()], [BeginTransactionRecord()]]),
        "unbegun": log_bytes([[NoOpRecord(), EndTransactionRecord()]]),
    }
    if kind == "a directory":
        path.mkdir()
    elif kind != "absent":
        path.write_bytes(contents[kind])


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("garbage", "byte 16"),
        ("truncated", "byte 9040"),
        ("huge", "byte 8"),
        ("bad sum", "byte 17"),
        ("unknown type", "record at offset 1"),
        ("unknown version", "record at offset 1"),
        ("refused", "record at offset 1"),
        ("nested", "record at offset 1"),
        ("unbegun", "record at offset 1"),
        ("a directory", "directory"),
        ("absent", "o such file"),
    ],
)
def test_a_file_that_is_no_image_ends_in_one_line(tmp_path, kind, place):
    path = tmp_path / NAME
    broken(path, kind)
    refused = kraft(path, "ls", "/")
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert str(path) in refused.stderr
    assert place in refused.stderr


def test_a_checkpoint_without_its_end_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT.name
    path.write_bytes(CHECKPOINT.read_bytes()[:-75])
    refused = kraft(path, "ls", "/")
    assert (refused.exit_code, "no SnapshotFooter" in refused.stderr) == (2, True)


def started(path: Path, **streams: int) -> subprocess.Popen[bytes]:
    # Whoever runs the tests in the background may have interrupts ignored.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "import kraft.tools; kraft.tools.main()"
    )
    command = [sys.executable, "-c", program, "metadata-shell", "-s", str(path)]
    paths = os.pathsep.join(one for one in sys.path if one)
    environment = {**os.environ, "PYTHONPATH": paths, "TERM": "dumb", "INPUTRC": os.devnull}
    return subprocess.Popen(command, env=environment, **streams)


def test_an_interrupt_ends_a_script_with_its_own_status():
    pipe = subprocess.PIPE
    with started(LOG, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        process.stdin.write(b"pwd\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"/\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"kraft: interrupted\n"
        assert process.wait() == 130


def test_a_reader_that_has_left_is_no_fault():
    pipe = subprocess.PIPE
    with started(CHECKPOINT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        process.stdin.write(b"tree /\n" * 3)
        process.stdin.close()
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 128 + signal.SIGPIPE


def test_on_a_terminal_the_shell_prompts_completes_and_outlives_an_interrupt():
    ours, theirs = pty.openpty()
    try:
        with started(LOG, stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            seen = read_until(ours, b">> ")
            assert b"[ Kafka Metadata Shell ]" in seen
            # One that comes after the prompt, and before Python waits for a line, is lost there.
            while not select.select([ours], [], [], 1)[0]:
                process.send_signal(signal.SIGINT)
            read_until(ours, b"^C\r\n>> ")
            os.write(ours, b"cat /loc\tversi\t\n")
            assert b"4.1.0" in read_until(ours, b"4.1.0\r\n>> ")
            os.write(ours, b"exit\n")
            assert process.wait() == 0
    finally:
        os.close(ours)


def read_until(terminal: int, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        assert select.select([terminal], [], [], 60)[0], f"after {seen!r} comes nothing"
        seen += os.read(terminal, 4096)
    return seen
