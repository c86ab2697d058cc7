"""``krafla check`` and ``krafla doctor`` as a user meets them, with the real TLC."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from krafla.cli.check_selection import Selection
from krafla.manifest import load
from krafla.traces import read_whole_trace

SPECS = Path(__file__).parents[1] / "tlc" / "specs"
CONSTANTS = "CONSTANTS Limit = 3 Nil = Nil\nCONSTRAINT Bounded\nCHECK_DEADLOCK FALSE\n"
PINNED = "distinct = 9\nproperties"
ENTRY = """
[[model]]
name = "{name}"
module = "counter/Counter.tla"
cfg = "counter/{name}.cfg"
tier = "{tier}"
expect = "{expect}"
kind = "safety"
bounds = "counts to three"
spec = "Counter"
{more}
"""


@pytest.fixture
def specs(tmp_path):
    """A folder of specs with one model for each verdict."""
    folder = tmp_path / "specs"
    shutil.copytree(SPECS, folder / "counter")
    models = [
        ("Holds", "smoke", "holds", f"{PINNED} = 1\ntags = ['small']", "INVARIANT AtMostThree"),
        ("Fails", "full", "holds", f"{PINNED} = 1", "INVARIANT BelowTwo"),
        ("MustFail", "full", "violates", 'property = "BelowTwo"', "INVARIANT BelowTwo"),
        ("WrongPin", "nightly", "holds", "distinct = 8\nproperties = 0", ""),
        ("Faulty", "nightly", "holds", f"{PINNED} = 1", "INVARIANT NoSuchInvariant"),
    ]
    text = ""
    for name, tier, expect, more, line in models:
        text += ENTRY.format(name=name, tier=tier, expect=expect, more=more)
        config = f"{CONSTANTS}SPECIFICATION Spec\n{line}\n"
        (folder / "counter" / f"{name}.cfg").write_text(config)
    (folder / "manifest.toml").write_text(text)
    return folder


@pytest.fixture
def krafla(specs):
    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-c", "from krafla.cli import main; main()", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "KRAFLA_SPECS": str(specs), "NO_COLOR": "1", **environment},
            check=False,
        )

    return run


def test_a_model_that_holds_says_so_with_its_evidence(krafla, specs):
    finished = krafla("check")

    assert finished.returncode == 0
    lines = finished.stdout.splitlines()
    assert lines[0] == "HELD  Holds: no error in any reachable state"
    assert "9 distinct states (as pinned), 17 generated" in lines[1]
    assert "3 of 3 actions taken" in lines[1]
    assert lines[2] == "    bounds: counts to three"
    command = f"    reproduce: KRAFLA_SPECS={specs} krafla check Holds --workers "
    assert lines[3].startswith(command)
    assert finished.stderr == ""


def test_a_violation_shows_the_steps_with_only_what_changed(krafla):
    finished = krafla("check", "Fails")

    assert finished.returncode == 1
    assert "  1 Up   Counter:" in finished.stdout
    assert "      count: 0 -> 1" in finished.stdout
    assert "VIOLATED  Fails: invariant BelowTwo is violated" in finished.stdout


@pytest.mark.nightly
def test_several_models_are_counted_and_a_violation_decides(krafla):
    finished = krafla("check", "MustFail", "WrongPin", "Faulty", "Fails")

    assert finished.returncode == 1
    assert "HELD  MustFail: BelowTwo failed, as it must" in finished.stdout
    assert "INCONCLUSIVE  WrongPin: 9 distinct states, but 8 are pinned" in finished.stdout
    assert "COULD NOT RUN  model Faulty:" in finished.stdout
    totals = "4 models: 1 held, 1 violated, 1 inconclusive, 1 could not run"
    assert finished.stdout.splitlines()[-1] == totals
    rows = [line for line in finished.stdout.splitlines() if line.startswith("inconclusive")]
    assert rows[0].split()[:3] == ["inconclusive", "WrongPin", "9"]
    assert "NOT pinned" in rows[0]
    assert any(
        line.startswith("could not run  model Faulty") for line in finished.stdout.splitlines()
    )


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("name", "status"), [("MustFail", 0), ("WrongPin", 3), ("Faulty", 2)])
def test_each_verdict_has_its_exit_status(krafla, name, status):
    assert krafla("check", name).returncode == status


def test_json_is_one_document_with_the_engines_own_facts(krafla):
    finished = krafla("check", "Fails", "Faulty", "--json")

    document = json.loads(finished.stdout)
    fails, faulty = document["models"]
    assert document["exit_status"] == finished.returncode == 1
    assert (fails["verdict"], fails["outcome"]) == ("violated", "InvariantViolated")
    assert fails["tlc_exit_status"] == 12
    assert "NoSuchInvariant" in faulty["error"]


def test_the_counterexample_is_written_as_a_trace(krafla, tmp_path):
    path = tmp_path / "trace.ndjson"

    krafla("check", "Fails", "--trace", str(path))

    trace = read_whole_trace(path)
    assert [step.action for step in trace.steps] == ["Init", "Up", "Up"]
    assert (trace.spec, trace.model) == ("Counter", "Fails")


@pytest.mark.nightly
def test_simulation_is_asked_for_on_the_command_line(krafla):
    finished = krafla("check", "Fails", "--simulate", "50", "--depth", "9", "--seed", "4")

    assert finished.returncode == 1
    assert "50 random behaviours of at most 9 steps, seed 4" in finished.stdout


def test_models_are_listed_without_being_run(krafla):
    finished = krafla("check", "--list", "--tier", "full", PATH="")

    assert finished.stdout.splitlines() == [
        "Fails  full, safety, holds, 9 states",
        "MustFail  full, safety, BelowTwo must fail",
    ]


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection(("M*", "*Pin")), ["MustFail", "WrongPin"]),
        (Selection(("WrongPin", "Holds", "Hold*")), ["WrongPin", "Holds"]),
        (Selection(tags=("small",)), ["Holds"]),
        (Selection(tags=("Counter",), tier="nightly"), ["WrongPin", "Faulty"]),
        (Selection(("*s",), ("safety",), "all"), ["Holds", "Fails"]),
        (Selection(("*Fail",), tier="full"), ["MustFail"]),
    ],
)
def test_models_are_chosen_by_pattern_tag_and_tier(specs, selection, names):
    chosen = selection.models(load(specs))
    assert [model.name for model in chosen] == names


@pytest.mark.by_day(5)
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["Nowhere"], "no model 'Nowhere'"),
        (["Wrongpin"], "no model 'Wrongpin'; did you mean WrongPin"),
        (["Nothing*"], "no model matches 'Nothing*'"),
        (["--tag", "smal"], "no room or tag 'smal'; did you mean small"),
        (["--tag", "small", "--tier", "full"], "no model of tier full with tag small"),
        (["--heap", "3"], "--heap"),
        (["--tier", "slow"], "--tier is one of"),
        (["--workers", "many"], "--workers is a number"),
        (["--workers", "0"], "--workers is a number"),
        (["--timeout", "0"], "--timeout"),
        (["--tier", "full", "--trace", "x"], "--trace takes"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_cannot_be_asked_is_status_two_and_one_clear_message(krafla, arguments, problem):
    finished = krafla("check", *arguments)

    assert finished.returncode == 2
    assert problem in finished.stderr
    assert "Traceback" not in finished.stderr


def test_an_interrupt_in_the_middle_is_status_130_without_a_trace_of_it(specs):
    config = specs / "counter" / "Holds.cfg"
    config.write_text("CONSTANTS Limit = 3000000 Nil = Nil\nSPECIFICATION Spec\n")
    program = (
        "import os, signal, krafla.cli.screen as screen\n"
        "screen.LiveLine.show = lambda self, text: 'states' in text and "
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "from krafla.cli import main; main()"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program, "check", "Holds"],
        capture_output=True,
        text=True,
        env={**os.environ, "KRAFLA_SPECS": str(specs)},
        check=False,
    )

    assert finished.returncode == 130
    assert finished.stderr == "krafla: interrupted\n"


def test_the_doctor_finds_what_is_there(krafla):
    finished = krafla("doctor", "--json")

    found = {one["name"]: one for one in json.loads(finished.stdout)}
    assert finished.returncode == 0
    assert found["java"]["found"]
    assert found["tlc"]["found"]
    assert found["specs"]["detail"].endswith(": 5 models")


def test_the_doctor_says_what_is_missing_at_any_width(krafla, tmp_path):
    finished = krafla("doctor", KRAFLA_TLA2TOOLS=str(tmp_path / "none.jar"), COLUMNS="10")

    assert finished.returncode == 2
    assert "MISSING tlc" in finished.stdout
    assert "none.jar" in finished.stdout


def test_a_file_for_the_counterexample_that_cannot_be_written_is_refused_at_once(krafla, tmp_path):
    for name, said in ((str(tmp_path), "a folder"), (f"{tmp_path}/no/trace", "no such folder")):
        finished = krafla("check", "Fails", "--trace", name)
        assert finished.returncode == 2
        assert said in finished.stderr
        assert finished.stdout == ""
