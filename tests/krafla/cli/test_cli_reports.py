"""The reports of each verdict command, as CI systems get them."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.audit.editing import spoiled, with_fields
from tests.krafla.cli.lamp_room import KRAFLA, edit, krafla, lay_out
from tests.krafla.report.ci_reports import file_of, run_in, suite_in

from krafla.cli import VERBS
from krafla.cli.ci.reports import reported, tell
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import find_system
from krafla.report.entries import Entry
from krafla.traces import read_whole_trace, write_trace
from krafla.verdict import ExitCode, KraflaError, Verdict

ROOT = Path(__file__).parents[3]
LOGS = ROOT / "traces" / "kafka-4.1" / "crash" / "n3000"
LIFE = ROOT / "traces" / "accepted" / "lease" / "register-and-unfence.ndjson"
# What these do is no verdict; that of judge is for the program that asks it, step by step.
WITHOUT = {
    "init", "judge", "shrink", "convert", "explain", "keep", "pipeline", "dump", "doctor",
}  # fmt: skip
SCANNED = {"check", "fuzz", "validate", "audit"}


@pytest.fixture
def specs(tmp_path, monkeypatch):
    """The room of the lamp, in which an invariant is false; the working directory holds it."""
    monkeypatch.chdir(tmp_path)
    found = lay_out(tmp_path)
    edit(
        found / "lamp" / "LampProperties.tla",
        "OffAtFirstInv == presses = 0 => ~is_on",
        "(* A lamp is off until it is pressed twice. *)\nOffAtFirstInv == presses < 2 => ~is_on",
    )
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_with_a_verdict_has_the_options(verb):
    module = importlib.import_module(f"krafla.cli.{verb}")
    options = inspect.signature(getattr(module, "command", lambda: None)).parameters
    assert {"junit", "github"} <= {*options} or verb in WITHOUT
    assert ("sarif" in options) is (verb in SCANNED)


def test_a_violated_model_is_a_failure_at_the_line_of_the_false_conjunct(specs, tmp_path):
    done = krafla(specs, "check", "LampShort", "--junit", "j.xml", "--sarif", "s.json")
    assert done.returncode == ExitCode.VIOLATED, done.stderr
    (case,) = suite_in(Path("j.xml").read_text())
    failure = case.find("failure")
    assert failure.get("message") == "A lamp is off until it is pressed twice."
    assert "is_on = TRUE" in failure.text
    run = run_in(Path("s.json").read_text())
    rules = {one["id"]: one["fullDescription"]["text"] for one in run["tool"]["driver"]["rules"]}
    assert rules.keys() == {"Lamp!PressesInv", "Lamp!OffAtFirstInv", "Lamp!CountsUpProp"}
    (result,) = run["results"]
    assert result["ruleId"] == "Lamp!OffAtFirstInv"
    (location,) = result["locations"]
    source = file_of(location, run)
    assert source == tmp_path / "specs" / "lamp" / "LampProperties.tla"
    line = location["physicalLocation"]["region"]["startLine"]
    assert source.read_text().splitlines()[line - 1].startswith("OffAtFirstInv ==")
    (flow,) = result["codeFlows"][0]["threadFlows"]
    start, press = [one["location"] for one in flow["locations"]]
    assert start["message"]["text"] == "0 Init"
    assert press["message"]["text"] == "1 Press"
    assert file_of(press, run).name == "Lamp.tla"


@pytest.mark.nightly
def test_models_that_hold_are_green_and_doubts_are_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    specs = lay_out(tmp_path)
    edit(specs / "lamp" / "models.toml", "distinct = 7", "distinct = 8")
    words = ("check", "LampLong", "LampOn", "--junit", "j.xml", "--sarif", "s.json")
    assert krafla(specs, *words).returncode == ExitCode.INCONCLUSIVE
    suite = suite_in(Path("j.xml").read_text())
    tags = {case.get("name"): case[0].tag for case in suite}
    assert tags == {"LampLong": "error", "LampOn": "system-out"}
    assert {one["kind"] for one in run_in(Path("s.json").read_text())["results"]} == {"open"}


def test_github_gets_annotations_and_one_table_on_its_own(specs, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    Path("summary.md").write_text("of the command before\n")
    done = krafla(specs, "check", "LampShort", "--json")
    json.loads(done.stdout)
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("::")]
    place = "file=specs/lamp/LampProperties.tla,line=7,title=violated%3A LampShort"
    assert line.startswith(f"::error {place}::  A lamp is off until it is pressed twice.%0A")
    summary = Path("summary.md").read_text()
    assert summary.startswith("of the command before\n### krafla check: violated\n")
    assert summary.count("| verdict |") == 1
    assert "1 Press   <- OffAtFirstInv is false here" in summary


def test_what_could_not_run_is_an_error_in_every_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    specs = lay_out(tmp_path)
    done = krafla(specs, "check", "Lantern", "--junit", "j.xml", "--sarif", "s.json", "--github")
    assert done.returncode == ExitCode.COULD_NOT_RUN
    (case,) = suite_in(Path("j.xml").read_text())
    assert "Lantern" in case.find("error").get("message")
    assert case.find("error").get("type") == "could not run"
    assert not run_in(Path("s.json").read_text())["invocations"][0]["executionSuccessful"]
    assert "::error title=could not run%3A krafla check::" in done.stderr


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
@pytest.mark.parametrize("name", ["missing/out", ""])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(specs, option, name, tmp_path):
    done = krafla(specs, "check", "LampShort", option, str(tmp_path / name))
    assert done.returncode == ExitCode.COULD_NOT_RUN
    assert "LampShort" not in done.stdout
    said = "there is no such folder" if name else "is a directory"
    assert said in done.stderr + done.stdout


def test_an_explored_violation_tells_the_way_there(specs):
    done = krafla(specs, "explore", "LampShort", "--quiet", "--junit", "j.xml")
    assert done.returncode == ExitCode.VIOLATED
    (case,) = suite_in(Path("j.xml").read_text())
    assert case.get("classname") == "krafla.state_graph"
    assert "1 Press   <- OffAtFirstInv is false here" in case.find("failure").text


def test_each_finding_of_an_audit_is_a_result_at_its_byte(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    node = spoiled(LOGS, tmp_path / "n3000", {95: with_fields(brokerEpoch=16)})
    done = krafla(ROOT / "specs", "audit", node, "--junit", "j.xml", "--sarif", "s.json")
    assert done.returncode == ExitCode.VIOLATED
    suite = suite_in(Path("j.xml").read_text())
    assert int(suite.get("failures")) == len(suite)
    run = run_in(Path("s.json").read_text())
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert file_of(result["locations"][0], run).suffix == ".log"
        assert place["region"]["byteOffset"] > 0
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["fullDescription"]["text"].endswith(".")
        (flow,) = result["codeFlows"][0]["threadFlows"]
        assert "16" in flow["locations"][-1]["location"]["message"]["text"]


@pytest.mark.nightly
def test_an_audit_that_held_lists_the_invariants_it_asked_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = krafla(ROOT / "specs", "audit", LOGS, "--junit", "j.xml", "--sarif", "s.json")
    assert done.returncode == ExitCode.HELD
    suite = suite_in(Path("j.xml").read_text())
    assert {case.get("classname") for case in suite} == {"krafla.cluster", "krafla.log"}
    run = run_in(Path("s.json").read_text())
    assert run["results"] == []
    sentences = {
        one["id"]: one["fullDescription"]["text"] for one in run["tool"]["driver"]["rules"]
    }
    assert sentences["P2"] == "A leader is in the ISR."


@pytest.fixture
def denied(tmp_path, monkeypatch):
    """A trace whose second step the spec does not have; the working directory holds it."""
    monkeypatch.chdir(tmp_path)
    first, second = read_whole_trace(LIFE).steps[:2]
    (process, *_) = second.state["status"]
    status = second.state["status"].updated(process, "RUNNING")
    wrong = replace(second, state=second.state.replace(status=status))
    write_trace(read_whole_trace(LIFE).with_steps((first, wrong)), tmp_path / "t.ndjson")
    return tmp_path / "t.ndjson"


def test_a_trace_that_fits_no_behaviour_is_placed_at_its_line_and_in_the_spec(denied):
    words = ("t.ndjson", "missing.ndjson", "--junit", "j.xml", "--sarif", "s.json")
    done = krafla(ROOT / "specs", "validate", *words)
    assert done.returncode == ExitCode.VIOLATED
    false, missing = suite_in(Path("j.xml").read_text())
    assert "is no step of the spec here" in false.find("failure").get("message")
    assert missing.find("error").get("type") == "could not run"
    run = run_in(Path("s.json").read_text())
    (result,) = run["results"]
    (location,) = result["locations"]
    assert file_of(location, run) == denied
    assert location["physicalLocation"]["region"] == {"startLine": 3}
    conjunct, *_ = result["relatedLocations"]
    assert file_of(conjunct, run).name == "BrokerLease.tla"


@pytest.mark.nightly
def test_a_replayed_trace_that_is_denied_is_a_failure(denied):
    done = krafla(ROOT / "specs", "replay", denied, LIFE, "--junit", "j.xml")
    assert done.returncode == ExitCode.VIOLATED
    false, good = suite_in(Path("j.xml").read_text())
    assert "StartBroker" in false.find("failure").text
    assert good.find("failure") is None


def test_a_finding_of_a_fuzz_is_a_failure_at_the_line_of_the_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bug = find_mutant("completes-and-keeps-removed-in-sync", find_system("reassignment"))
    words = ("fuzz", "reassignment", "--profile", "moves", "--examples", "5", "--quiet")
    with bug.applied():
        done = krafla(ROOT / "specs", *words, "--junit", "j.xml", "--sarif", "s.json")
    assert done.returncode == ExitCode.VIOLATED
    (case,) = suite_in(Path("j.xml").read_text())
    assert "1 StartReassignment([2])" in case.find("failure").text
    run = run_in(Path("s.json").read_text())
    (result,) = run["results"]
    assert result["ruleId"] == "ReassignmentProperties!StartReassignment"
    assert file_of(result["locations"][0], run).name == "Reassignment.tla"
    saved = [file_of(one, run) for one in result["relatedLocations"]]
    assert {path.suffix for path in saved if path.parent == tmp_path} == {".json", ".ndjson"}
    assert all(path.is_file() for path in saved)


@pytest.mark.nightly
def test_a_finding_of_a_machine_tells_the_calls_that_lead_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "lock-server", "lock")
    monkeypatch.chdir("lock")
    edit(Path("lock_server") / "lock.py", "if self.holder is None:", "if True:")
    machine = ("tests/lock_machine.py::LockMachine", "--examples", "200", "--quiet")
    words = [*KRAFLA, "fuzz", *machine, "--junit", "j.xml", "--sarif", "s.json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([".", *sys.path])}
    done = subprocess.run(words, env=environment, check=False, capture_output=True)
    assert done.returncode == ExitCode.VIOLATED, done.stderr
    (case,) = suite_in(Path("j.xml").read_text())
    failure = case.find("failure")
    assert failure.get("message").startswith("the spec does not have step ")
    assert "    state.acquire(client='c2')" in failure.text
    run = run_in(Path("s.json").read_text())
    assert [file_of(one["locations"][0], run).name for one in run["results"]] == ["Lock.tla"]


COUNTER = """\
---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Limit
ASSUME Limit \\in Nat
VARIABLE n
TypeOK == n \\in Nat
Init == n = 0
Up == n < Limit /\\ n' = n + 1
Next == Up
Spec == Init /\\ [][Next]_n
BelowInv == n <= Limit
NotTwoInv == n # 2
====
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("invariant", "text", "status", "tag"),
    [
        ("BelowInv", COUNTER, ExitCode.HELD, "system-out"),
        ("NotTwoInv", COUNTER, ExitCode.VIOLATED, "failure"),
        ("BelowInv", COUNTER.replace("ASSUME", "Is =="), ExitCode.INCONCLUSIVE, "error"),
    ],
    ids=["proved", "refuted", "refused"],
)
def test_each_claim_that_is_tried_is_a_case(invariant, text, status, tag, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("Counter.tla").write_text(text)
    words = ("prove", "Counter.tla", "--invariant", invariant, "--quiet", "--junit", "j.xml")
    assert krafla(ROOT / "specs", *words).returncode == status
    (case,) = suite_in(Path("j.xml").read_text())
    assert case[0].tag == tag


@pytest.mark.nightly
def test_each_case_of_a_proof_and_each_mutant_is_a_case(specs):
    words = ("prove", "lease", "--only", "overlap/Tick", "--quiet", "--junit", "p.xml")
    assert krafla(ROOT / "specs", *words).returncode == ExitCode.HELD
    (case,) = suite_in(Path("p.xml").read_text())
    assert case.get("name") == "overlap/Tick"
    (specs / "mutation.toml").touch()
    words = ("mutate", "specs", "--sample", "2", "--junit", "m.xml")
    assert krafla(specs, *words).returncode == ExitCode.VIOLATED
    suite = suite_in(Path("m.xml").read_text())
    kinds = [case.get("classname") for case in suite]
    assert kinds.count("krafla.mutant") == 2
    assert {case.find("failure").get("type") for case in suite[:2]} == {"violated"}


def _command(ending):
    """A command that gives one answer that held, and ends as it is told."""

    @reported()
    def command() -> ExitCode:
        tell(lambda: Entry("question", "good", Verdict.HELD))
        if isinstance(ending, BaseException):
            raise ending
        return ending

    return command


@pytest.mark.parametrize(
    ("ending", "tag"),
    [
        (ExitCode.HELD, None),
        (ExitCode.VIOLATED, "failure"),
        (ExitCode.INCONCLUSIVE, "error"),
        (ExitCode.INTERRUPTED, "error"),
        (KraflaError("no Java"), "error"),
        (ValueError("a fault of krafla"), "error"),
    ],
    ids=str,
)
def test_no_report_is_green_unless_the_command_is(ending, tag, tmp_path):
    path = tmp_path / "j.xml"
    if isinstance(ending, BaseException):
        with pytest.raises(type(ending)):
            _command(ending)(junit=path)
    else:
        assert _command(ending)(junit=path) is ending
    _, *others = suite_in(path.read_text())
    assert [one[0].tag for one in others] == ([] if tag is None else [tag])


@pytest.mark.parametrize(
    ("variable", "github", "told"),
    [
        ("true", None, True),
        ("true", False, False),
        ("false", None, False),
        (None, None, False),
        (None, True, True),
    ],
)
def test_github_is_told_where_it_runs_unless_asked_otherwise(
    variable, github, told, monkeypatch, capsys
):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    if variable is not None:
        monkeypatch.setenv("GITHUB_ACTIONS", variable)
    _command(ExitCode.VIOLATED)(github=github)
    assert ("::error " in capsys.readouterr().err) is told


def test_a_summary_that_cannot_be_written_changes_no_verdict(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert _command(ExitCode.HELD)(github=True) is ExitCode.HELD
    assert f"krafla: no summary, {tmp_path}: Is a directory" in capsys.readouterr().err


def test_an_interrupt_leaves_the_answers_up_to_it(tmp_path):
    path = tmp_path / "j.xml"
    with pytest.raises(KeyboardInterrupt):
        _command(KeyboardInterrupt())(junit=path)
    good, interrupted = suite_in(path.read_text())
    assert good.get("name") == "good"
    assert interrupted.find("error") is not None


def test_an_error_stays_the_error_when_its_report_cannot_be_written(tmp_path, capsys):
    path = tmp_path / "gone" / "j.xml"
    path.parent.mkdir()

    @reported()
    def command() -> ExitCode:
        path.parent.rmdir()
        raise KraflaError("the first error")

    with pytest.raises(KraflaError, match="the first error"):
        command(junit=path)
    assert "there is no such folder" in capsys.readouterr().err


def test_answers_are_not_made_where_no_report_is_wanted():
    assert not os.environ.get("GITHUB_ACTIONS")

    @reported()
    def command() -> ExitCode:
        tell(pytest.fail, "an answer was made")
        return ExitCode.HELD

    assert command() is ExitCode.HELD
