"""The programs of docs/other-languages.md: compiled, judged while they run, and by their logs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.krafla.cli.lock_spec import EXAMPLES, LOCK, krafla

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "other-languages.md"
CLIENTS = {
    "go": ("go/trace_log.go", "go/judge.go"),
    "java": ("java/TraceLog.java", "java/Judge.java"),
    "rust": ("rust/src/trace_log.rs", "rust/src/judge.rs"),
}
# What the bug in each program makes false, and where.
BUGS = {
    "go": ("Release", "holder = c", "Lock.tla:30"),
    "java": ("Enqueue", r"c \notin Waiting", "Lock.tla:24"),
    "rust": ("Acquire", "holder = Free", "Lock.tla:17"),
}
JUDGE = (sys.executable, "-c", "from krafla.cli import main; main()", "judge", "--spec", str(LOCK))
SECONDS = 300


def tool(name):
    """Return the path of a compiler; without it nothing is shown, and that is said."""
    found = shutil.which(name)
    if found is None:
        # A machine of CI need not have every compiler: this one need not fail there as others do.
        (pytest.xfail if os.environ.get("CI") else pytest.skip)(f"{name} is not installed")
    return found


def compiled(*command, folder, **environment):
    subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, check=True, timeout=SECONDS
    )


@pytest.fixture(
    scope="module",
    params=[
        "go",
        pytest.param("java", marks=pytest.mark.nightly),
        pytest.param("rust", marks=pytest.mark.nightly),
    ],
)
def program(request, tmp_path_factory):
    """The language, and the words that start its lock server."""
    language, out = request.param, tmp_path_factory.mktemp(request.param)
    sources = EXAMPLES / language
    if language == "go":
        compiled(tool("go"), "build", "-o", out / "lock", ".", folder=sources)
        return language, (str(out / "lock"),)
    if language == "java":
        java = tool("java")
        files = sorted(sources.glob("*.java"))
        compiled(tool("javac"), "-Xlint:all", "-Werror", "-d", out, *files, folder=sources)
        return language, (java, "-cp", str(out), "LockServer")
    flags = {"CARGO_TARGET_DIR": str(out), "RUSTFLAGS": "-D warnings"}
    compiled(tool("cargo"), "build", "--offline", "--locked", "-q", folder=sources, **flags)
    return language, (str(out / "debug" / "lock"),)


def run(*words, folder=None):
    return subprocess.run(
        [*map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        cwd=folder,
    )


def validate(log):
    result = krafla("validate", log, "--spec", LOCK, "--json")
    (document,) = json.loads(result.stdout)["files"]
    return result.exit_code, document


def test_a_correct_program_is_held_by_the_judge_and_by_its_log(program, tmp_path):
    _, words = program
    live = run(*words, "judge", *JUDGE)
    assert live.returncode == 0, live.stderr
    assert live.stderr == ""

    log = tmp_path / "lock.log"
    assert run(*words, "log", log).returncode == 0
    status, document = validate(log)
    assert status == 0
    assert document["observations"] > 40, "there is something to judge"


def test_its_bug_is_found_by_the_judge_and_in_its_log(program, tmp_path):
    language, words = program
    action, conjunct, place = BUGS[language]
    live = run(*words, "--bug", "judge", *JUDGE, folder=tmp_path)
    said = live.stderr.replace("\\\\", "\\")
    assert live.returncode == 1
    assert f"{action}(c" in said
    assert conjunct in said
    assert place in said
    assert krafla("validate", tmp_path / "found.ndjson").exit_code == 1, "the bug is kept"

    log = tmp_path / "lock.log"
    assert run(*words, "--bug", "log", log).returncode == 0
    status, document = validate(log)
    assert status == 1
    (reason,) = document["stuck"][0]["reasons"]
    assert (reason["text"], reason["place"]) == (conjunct, place)


def test_a_session_without_a_step_is_no_success(program):
    """The last answer says so, and the program that never asked reads it when it closes."""
    _, words = program
    lines = "import sys; print('{\"krafla_judge\":1}', flush=True)\n"
    lines += 'print(sys.stdin.readline() and \'{"verdict":"held"}\', flush=True)\n'
    lines += 'for _ in sys.stdin: print(\'{"verdict":"held"}\', flush=True)\n'
    lines += 'print(\'{"verdict":"inconclusive","exit_status":3}\', flush=True); sys.exit(3)'
    finished = run(*words, "judge", sys.executable, "-c", lines)

    assert finished.returncode == 1
    assert "inconclusive" in finished.stderr


@pytest.mark.nightly
def test_a_judge_that_does_not_start_is_told(program):
    _, words = program
    finished = run(*words, "judge", *JUDGE[:-1], "nowhere.tla")

    assert finished.returncode == 1
    assert "nowhere.tla: there is no such file" in finished.stderr


@pytest.mark.parametrize("file", [one for files in CLIENTS.values() for one in files])
def test_a_client_has_at_most_sixty_lines_and_is_named_on_the_page(file):
    assert len((EXAMPLES / file).read_text(encoding="utf-8").splitlines()) <= 60
    assert f"](../examples/other-languages/{file})" in PAGE.read_text(encoding="utf-8")
