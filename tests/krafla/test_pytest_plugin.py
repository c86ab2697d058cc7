"""The plugin in projects of others and in corpora that are wrong: pytest as its own program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.forked import PYTEST, forked

from krafla.traces import read_whole_trace, write_trace

CORPUS = Path(__file__).parents[2] / "traces"
GOOD = "accepted/lease/register-and-unfence.ndjson"
BAD = "rejected/lease/runs-though-fenced.ndjson"
INDEX = f"""krafla_corpus = 1

[[trace]]
file = "{GOOD}"
reason = "A process registers and is unfenced."
tags = ["KIP-631", "calm"]
implementation = true

[[trace]]
file = "{BAD}"
reason = "A process runs after an answer that said it is fenced."
tags = ["KIP-631", "wrong"]
step = 8
names = "status"
"""
OVERLAP = """
[[trace]]
file = "counterexamples/lease/{name}"
reason = "A fenced broker serves on."
names = "~r.fenced"
"""
# The conftest of a project whose implementation has a bug, in its own process alone.
MUTATING = f"""
import sys
import pytest

sys.path.insert(0, {str(CORPUS.parent)!r})
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import find_system

bug = find_mutant("heartbeat-does-not-renew-session", find_system("lease")).applied()
bug.__enter__()
"""
# Of a project whose code goes another way than its traces.
DEPARTING = """
from krafla.fuzz.engine import kept_trace
from krafla.testing import Departure


def departed(entry):
    raise Departure("since step 1 the code is in another state")


kept_trace.check_kept = departed
"""


@pytest.fixture
def project(tmp_path):
    """A project of somebody else, with a corpus of two traces."""
    for file in (GOOD, BAD):
        target = tmp_path / "kept" / file
        target.parent.mkdir(parents=True)
        shutil.copyfile(CORPUS / file, target)
    (tmp_path / "kept" / "index.toml").write_text(INDEX)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -p no:cacheprovider")
    return tmp_path


def run(folder, *arguments):
    return forked(PYTEST).run(folder, "-p", "no:randomly", "-p", "no:xdist", *arguments)


def names(finished):
    return [line.split("::")[1] for line in finished.stdout.splitlines() if "::" in line]


def test_each_trace_is_a_test_named_by_its_path(project):
    finished = run(project, "--collect-only", "-q")
    assert names(finished) == [GOOD, BAD]


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (["-m", "calm"], [GOOD]),
        (["-m", "KIP-631 and not calm"], [BAD]),
        (["-m", "rejected"], [BAD]),
        (["-k", "wrong"], [BAD]),
        (["-k", "unfence"], [GOOD]),
        ([f"kept/index.toml::{GOOD}"], [GOOD]),
    ],
)
def test_tags_kinds_and_names_select(project, selection, chosen):
    assert names(run(project, "--collect-only", "-q", *selection)) == chosen


def test_what_comes_to_what_is_listed_passes(project):
    finished = run(project)
    assert finished.returncode == 0, finished.stdout
    assert "2 passed" in finished.stdout


def test_a_failure_is_told_by_the_steps_of_the_trace(project):
    shutil.copyfile(project / "kept" / BAD, project / "kept" / GOOD)
    finished = run(project)
    assert finished.returncode == 1
    assert "1 failed, 1 passed" in finished.stdout
    assert "accepted: A process registers and is unfenced." in finished.stdout
    assert "the spec does not have step 8" in finished.stdout
    assert "  8 HandleHeartbeatResponse" in finished.stdout
    assert "<- the spec does not have this step" in finished.stdout
    assert "krafla explain" in finished.stdout
    assert "Traceback" not in finished.stdout
    assert "pytest_plugin.py" not in finished.stdout


def test_an_implementation_that_must_follow_and_does_not_is_a_failure(project):
    # The spec has every step of the trace; the implementation has a bug.
    (project / "conftest.py").write_text(MUTATING)
    finished = run(project, "-m", "calm")
    assert finished.returncode == 1
    assert "1 failed" in finished.stdout
    assert (
        "the implementation follows 6 of 16 steps; what it does there is no step of the spec"
        in finished.stdout
    )
    assert "step 7: KeepFenced" in finished.stdout
    assert "contact_age" in finished.stdout
    assert "Traceback" not in finished.stdout


def test_a_trace_that_the_code_need_not_follow_any_more_is_a_failure(project):
    (project / "conftest.py").write_text(DEPARTING)
    finished = run(project)
    assert finished.returncode == 1
    assert "2 failed" in finished.stdout
    assert "the code is in another state" in finished.stdout
    assert "record it anew, or delete its file" in finished.stdout
    assert "Traceback" not in finished.stdout


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        ("conjunct", "breaks another conjunct of NoOverlapInv than the one it claims"),
        ("cut", "does not violate NoOverlapInv at its end"),
        ("property", "does not violate EpochUniqueInv at its end"),
    ],
)
def test_a_counterexample_that_shows_no_violation_is_a_failure(project, spoil, words):
    target = with_counterexample(project)
    write_trace(spoiled(read_whole_trace(target), spoil), target)
    finished = run(project, "-m", "counterexamples")
    assert finished.returncode == 1
    assert words in " ".join(finished.stdout.split())
    assert "Traceback" not in finished.stdout


def test_a_counterexample_that_shows_its_violation_passes(project):
    with_counterexample(project)
    assert run(project, "-m", "counterexamples").returncode == 0


def with_counterexample(project):
    source = min((CORPUS / "counterexamples" / "lease").glob("*.ndjson"))
    target = project / "kept" / "counterexamples" / "lease" / source.name
    target.parent.mkdir(parents=True)
    with (project / "kept" / "index.toml").open("a") as index:
        index.write(OVERLAP.format(name=source.name))
    shutil.copyfile(source, target)
    return target


def spoiled(trace, spoil):
    claim = trace.claim
    if spoil == "cut":
        return trace.with_steps(trace.steps[:-1])
    if spoil == "property":
        return replace(trace, claim=replace(claim, property="EpochUniqueInv", conjunct=None))
    return replace(trace, claim=replace(claim, conjunct=replace(claim.conjunct, text="r # Nil")))


def test_a_file_that_cannot_be_read_fails_with_its_place(project):
    (project / "kept" / GOOD).write_text("{}\n")
    finished = run(project, "-m", "calm")
    assert finished.returncode == 1
    assert "register-and-unfence.ndjson" in finished.stdout
    assert "Traceback" not in finished.stdout


def test_an_index_that_lists_what_is_not_there_is_an_error_of_collection(project):
    (project / "kept" / GOOD).unlink()
    finished = run(project)
    assert finished.returncode == 2
    assert f"{GOOD}: listed twice, not listed, or not there" in finished.stdout


def test_an_index_of_another_version_is_an_error_of_collection(project):
    index = project / "kept" / "index.toml"
    index.write_text(INDEX.replace("krafla_corpus = 1", "krafla_corpus = 2"))
    finished = run(project)
    assert finished.returncode == 2
    assert "krafla_corpus = 1" in finished.stdout


def test_an_index_of_somebody_else_is_left_alone(project):
    (project / "kept" / "index.toml").write_text('[book]\ntitle = "krafla_corpus = 1"\n')
    assert "no tests ran" in run(project).stdout


def test_a_project_without_a_corpus_pays_for_nothing():
    heavy = ("jpype", "z3", "rich", "typer", "krafla.oracle", "krafla.refinement", "kraft")
    program = f"import krafla.pytest_plugin, sys; print([m for m in {heavy} if m in sys.modules])"
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert finished.stdout.strip() == "[]"
