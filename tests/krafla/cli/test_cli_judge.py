"""``krafla judge``: its options and exit statuses, and a conversation with the process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from contextlib import contextmanager

import pytest
from tests.krafla.cli.lamp_room import KRAFLA
from tests.krafla.cli.lock_spec import LOCK, krafla

from krafla.testing.schemas import SCHEMAS

SECONDS = 60
START = '{"start": {"seen": {"holder": "Free"}}}\n'
ACQUIRE = '{"step": "Acquire", "parameters": ["c1"], "seen": {"holder": "c1"}}\n'
STOLEN = '{"step": "Release", "parameters": ["c2"]}\n'


def run(*arguments, lines=""):
    return krafla("judge", *arguments, lines=lines)


@pytest.mark.parametrize(
    ("lines", "status", "verdict"),
    [
        (START + ACQUIRE, 0, "held"),
        (START + ACQUIRE[:-1], 0, "held"),
        (START + STOLEN + "hello\n", 1, "violated"),
        (START + ACQUIRE + "hello\n", 2, "inconclusive"),
        ("", 3, "inconclusive"),
    ],
)
def test_the_end_of_the_input_sums_up(lines, status, verdict):
    result = run("--spec", LOCK, lines=lines)

    assert result.exit_code == status
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert answers[0]["krafla_judge"] == 1
    assert len(answers) == lines.count("\n") + 2 + (bool(lines) and not lines.endswith("\n"))
    assert answers[-1]["verdict"] == verdict
    assert answers[-1]["exit_status"] == status


def test_a_saved_violation_is_one_of_a_program_that_krafla_cannot_run(tmp_path):
    saved = tmp_path / "found.ndjson"
    started = json.dumps({"start": {"seen": {"holder": "Free", "queue": []}}})
    seen = {"holder": "c2", "queue": []}
    stolen = json.dumps({"step": "Acquire", "parameters": ["c1"], "seen": seen})
    run("--spec", LOCK, lines=f"{started}\n{stolen}\n{json.dumps({'save': str(saved)})}\n")

    assert '"made_by":"krafla judge"' in saved.read_text(encoding="utf-8")
    shrunk = krafla("shrink", saved)
    assert shrunk.exit_code == 2
    assert "recorded by krafla judge, and krafla cannot run your program again" in shrunk.stderr
    assert "machine" not in shrunk.stderr


def test_hidden_actions_are_those_of_the_options():
    lines = START + '{"step": "Release", "parameters": ["c1"]}\n'

    assert run("--spec", LOCK, lines=lines).exit_code == 1
    assert run("--spec", LOCK, "--hidden", "Enqueue,Acquire", lines=lines).exit_code == 0
    assert run("--spec", LOCK, "--hidden", "Enqueue", lines=lines).exit_code == 1
    assert run("--spec", LOCK, "--any-hidden", lines=lines).exit_code == 0
    assert run("--spec", LOCK, "--any-hidden", "--max-hidden", "0", lines=lines).exit_code == 1


def test_an_invariant_of_the_options_is_judged_instead_of_the_cfgs(tmp_path):
    module = tmp_path / "Lock.tla"
    text = LOCK.read_text(encoding="utf-8")
    module.write_text(text.replace("Spec ==", "FreeInv == holder = Free\nSpec =="))
    config = ("--cfg", LOCK.with_suffix(".cfg"))

    assert run("--spec", module, *config, lines=START + ACQUIRE).exit_code == 0
    result = run("--spec", module, *config, "--invariant", "FreeInv", lines=START + ACQUIRE)
    assert result.exit_code == 1
    answer = json.loads(result.stdout.splitlines()[2])
    assert answer["property"] == "FreeInv"
    assert answer["conjunct"] == "holder = Free"


def test_a_property_of_the_options_is_judged_instead_of_the_cfgs(tmp_path):
    module = tmp_path / "Lock.tla"
    text = LOCK.read_text(encoding="utf-8")
    stable = (
        "StableProp == [][holder = Free]_holder\nOtherProp == [][holder # Free]_holder\nSpec =="
    )
    module.write_text(text.replace("Spec ==", stable))
    config = ("--cfg", LOCK.with_suffix(".cfg"))
    lines = START + ACQUIRE + '{"step": "Release", "parameters": ["c1"]}\n'

    result = run("--spec", module, *config, "--property", "StableProp", lines=lines)
    assert result.exit_code == 1
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert answers[2]["verdict"] == "held"
    assert answers[3]["property"] == "StableProp"
    both = ("--property", "StableProp", "--property", "OtherProp")
    answer = json.loads(run("--spec", module, *config, *both, lines=lines).stdout.splitlines()[2])
    assert answer["property"] == "OtherProp"
    own = tmp_path / "own.cfg"
    own.write_text(LOCK.with_suffix(".cfg").read_text() + "PROPERTY OtherProp\n")
    assert run("--spec", module, "--cfg", own, lines=lines).exit_code == 1
    stead = run("--spec", module, "--cfg", own, "--property", "TypeOK", lines=lines)
    assert stead.exit_code == 0, "the property of the cfg is not judged"


def test_constants_are_taken_from_a_file(tmp_path):
    constants = tmp_path / "constants.json"
    constants.write_text(
        '{"Client": {"#set": [{"#model": "c1"}]}, "Free": {"#model": "Free"}}', encoding="utf-8"
    )
    lines = START + '{"enabled": "Acquire"}\n'
    result = run("--spec", LOCK, "--constants", constants, lines=lines)

    assert json.loads(result.stdout.splitlines()[2])["enabled"] == [["c1"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--spec", "nowhere.tla"], "nowhere.tla: there is no such file"),
        ([], "no spec is named: say --spec FILE.tla"),
        (["--spec", LOCK, "--cfg", "nowhere.cfg"], "nowhere.cfg: there is no such cfg"),
        (["--spec", LOCK, "--constants", "no.json"], "no.json: there is no such file"),
        (["--spec", LOCK, "--hidden", "Aquire"], "Aquire: no action of Lock; did you mean Acquire"),
        (["--spec", LOCK, "--invariant", "NoInv"], "NoInv"),
        (["--spec", LOCK, "--property", "NoProp"], "Lock has no operator NoProp"),
    ],
)
def test_a_spec_that_does_not_load_is_said_to_the_program_too(
    tmp_path, monkeypatch, arguments, said
):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, lines=START)

    assert result.exit_code == 2
    assert said in result.stderr
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["line"] == 0
    assert said in json.loads(line)["error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cfg", "x.cfg"], "need --spec FILE.tla"),
        (["--schema", "replies"], "one of request, answer, log, trace"),
        (["--spec", LOCK, "--any-hidden", "--hidden", "Acquire"], "nothing for --hidden"),
    ],
)
def test_options_that_make_no_sense_are_told(arguments, said):
    result = run(*arguments)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_printed(name):
    assert run("--schema", name).stdout == SCHEMAS[name]()


def test_a_line_that_is_too_long_is_told_and_the_session_goes_on():
    result = run("--spec", LOCK, lines=START + "x" * 5_000_000 + "\n" + ACQUIRE)

    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert answers[2] == {"error": "a line of more than 4,194,304 bytes", "line": 2}
    assert answers[3] == {"verdict": "held", "candidates": 1, "line": 3}


@contextmanager
def process(*options, spec=LOCK, **environment):
    """Run ``krafla judge`` as a program does; it never outlives the test."""
    with subprocess.Popen(
        [*KRAFLA, "judge", "--spec", str(spec), *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={one: word for one, word in os.environ.items() if one != "PYTHONUNBUFFERED"}
        | environment,
    ) as judge:  # fmt: skip
        # Without it a judge that does not answer would hold the test for ever.
        end = threading.Timer(SECONDS, judge.kill)
        end.start()
        try:
            yield judge
        finally:
            end.cancel()
            judge.kill()


def ask(judge, line):
    judge.stdin.write(line)
    judge.stdin.flush()
    return json.loads(judge.stdout.readline())


def test_each_answer_comes_before_the_next_request_and_sigterm_ends_with_a_summary():
    with process() as judge:
        assert json.loads(judge.stdout.readline())["spec"] == "Lock"
        assert ask(judge, START)["verdict"] == "held"
        assert ask(judge, ACQUIRE)["line"] == 2
        judge.send_signal(signal.SIGTERM)
        rest, said = judge.communicate(timeout=SECONDS)

        assert [json.loads(line)["steps"] for line in rest.splitlines()] == [1]
        assert judge.returncode == 128 + signal.SIGTERM
        assert said == ""


def test_what_java_prints_is_no_answer():
    with process(_JAVA_OPTIONS="-Xlog:os=info:stdout") as judge:
        assert json.loads(judge.stdout.readline())["spec"] == "Lock"
        rest, said = judge.communicate(START, timeout=SECONDS)

        assert [json.loads(line)["verdict"] for line in rest.splitlines()] == [
            "held",
            "inconclusive",
        ]
        assert "[os]" in said, "Java has printed something"


def test_a_reader_that_has_left_ends_the_process_without_a_word():
    with process() as judge:
        judge.stdout.readline()
        judge.stdout.close()
        judge.stdin.write(START)
        judge.stdin.flush()

        assert judge.wait(timeout=SECONDS) == 141
        assert judge.stderr.read() == ""


def test_a_spec_that_takes_for_ever_is_inconclusive_and_holds_no_process(tmp_path):
    module = tmp_path / "Lock.tla"
    text = LOCK.read_text(encoding="utf-8")
    endless = "  /\\ \\A n \\in 1..2000000000 : n > 0\n  /\\ queue' = Append"
    module.write_text(text.replace("  /\\ queue' = Append", endless))
    shutil.copy(LOCK.with_suffix(".cfg"), tmp_path)
    with process("--limit-s", "1", spec=module) as judge:
        judge.stdout.readline()
        ask(judge, START)
        assert ask(judge, ACQUIRE)["verdict"] == "held"
        found = ask(judge, '{"step": "Enqueue", "parameters": ["c2"]}\n')
        assert found["verdict"] == "inconclusive"
        assert "still being evaluated after 1 s" in found["reason"]
        judge.stdin.close()

        assert json.loads(judge.stdout.readline())["doubts"] == 1
        assert judge.wait(timeout=SECONDS) == 3
