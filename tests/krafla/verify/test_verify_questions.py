"""Each question of krafla verify, asked where the answer is bad; and the command's exit status."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.krafla.cli.lamp_room import edit, lay_out

from krafla.audit import run
from krafla.audit.server_logs.counts import Counts
from krafla.audit.server_logs.settings import ServerLogOptions
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.manifest import find_specs, load
from krafla.tlc.measured_coverage import keep_coverage
from krafla.tlc.model_check import check_model
from krafla.tlc.together import Shown
from krafla.verdict import Verdict
from krafla.verify import Question, Row, proof_questions
from krafla.verify import recorded_questions as asked
from krafla.verify.fuzz_questions import STACK_CHAOS, fuzz_question, fuzz_questions
from krafla.verify.model_questions import model_question, together_question

if TYPE_CHECKING:
    from pathlib import Path


def ask(question: Question) -> Row:
    row = question.ask(lambda _: None)
    assert row.kind is question.kind
    assert row.reproduce
    return row


@pytest.fixture
def lamp(tmp_path):
    """The specs of a small room."""
    return lay_out(tmp_path)


def lamps(specs):
    return load(specs).select(("LampLong", "LampShort"))


@pytest.mark.nightly
def test_a_small_model_with_another_number_of_states_is_in_doubt(lamp):
    (model, *_) = lamps(lamp)
    assert ask(model_question(model)).verdict is Verdict.HELD
    row = ask(model_question(replace(model, distinct=model.distinct + 1)))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "pinned" in row.reasons[0]


def test_an_action_that_no_small_model_takes_is_in_doubt_though_each_holds(lamp):
    manifest, shown = load(lamp), []
    long = next(one for one in lamps(lamp) if one.name == "LampLong")
    assert ask(model_question(long, shown.append)).verdict is Verdict.HELD
    assert ask(together_question(manifest, [long], shown)).evidence == (
        "Lamp: 2 of 2 actions taken",
    )
    row = ask(together_question(manifest, [long], []))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "Lamp: taken in no model that held: Press, Burn" in row.reasons


def test_a_kept_answer_recalls_what_the_search_has_shown(lamp):
    long = next(one for one in lamps(lamp) if one.name == "LampLong")
    check = check_model(long, workers=1)
    keep_coverage([(long, check.result)])
    shown = []
    model_question(long, shown.append, lambda: b"").recall()
    assert shown == [Shown.by(check)]


@pytest.mark.parametrize("changed", ["program", "cfg", "pin", "coverage"])
def test_an_answer_about_a_model_rests_on_all_of_it(lamp, changed):
    long = next(one for one in lamps(lamp) if one.name == "LampLong")
    result = check_model(long, workers=1).result
    keep_coverage([(long, result)])
    before = model_question(long, tools=lambda: b"").rests_on()
    assert model_question(long, tools=lambda: b"").rests_on() == before
    tools = b"other" if changed == "program" else b""
    if changed == "cfg":
        edit(lamp / "lamp" / "LampLong.cfg", "CHECK_DEADLOCK FALSE", "CHECK_DEADLOCK FALSE \\* no")
    if changed == "pin":
        long = replace(long, distinct=8)
    if changed == "coverage":
        keep_coverage([(long, replace(result, generated=99))])
    assert model_question(long, tools=lambda: tools).rests_on() != before


@pytest.mark.parametrize("verdict", [Verdict.VIOLATED, Verdict.INCONCLUSIVE])
def test_a_proof_that_is_not_held_is_not_held_in_its_row(monkeypatch, verdict):
    answer = SimpleNamespace(
        verdict=verdict, reason="a case is open", obligation=SimpleNamespace(name="Step")
    )
    report = SimpleNamespace(verdict=verdict, answers=(answer,), cases=())
    proofs = SimpleNamespace(run=lambda *_, **__: report)
    monkeypatch.setattr(proof_questions, "_proofs", lambda _: proofs)
    row = ask(proof_questions.proof_questions()[0])
    assert row.verdict is verdict
    assert row.reasons == ("Step: a case is open",)
    assert row.evidence[0] == "0 of 1 obligations proved"


@pytest.mark.nightly
def test_a_model_with_another_number_of_states_is_in_doubt(tmp_path):
    specs = tmp_path / "specs"
    shutil.copytree(find_specs(), specs)
    manifest = specs / "lease/models.toml"
    (model,) = load(specs).select(("MCUntimedLease",))
    text = manifest.read_text(encoding="utf-8")
    assert text.count(f"distinct = {model.distinct}\n") == 1
    wrong = text.replace(f"distinct = {model.distinct}\n", "distinct = 7\n")
    manifest.write_text(wrong, encoding="utf-8")
    (changed,) = load(specs).select(("MCUntimedLease",))
    row = ask(model_question(changed))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert any("but 7 are pinned" in reason for reason in row.reasons)
    assert ask(model_question(model)).verdict is Verdict.HELD


@pytest.mark.nightly
def test_an_action_that_no_model_takes_is_in_doubt_though_each_model_holds():
    manifest = load()
    (model,) = manifest.select(("MCUntimedLease",))
    shown = []
    assert ask(model_question(model, shown.append)).verdict is Verdict.HELD
    row = ask(together_question(manifest, [model], shown))
    assert row.verdict is Verdict.HELD, row.reasons
    assert row.evidence == ("UntimedLease: 9 of 9 actions taken",)
    row = ask(together_question(manifest, [model], []))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "UntimedLease: taken in no model that held: " in row.reasons[0]


def test_a_recorded_trace_that_is_judged_otherwise_than_listed_is_violated(tmp_path, monkeypatch):
    folder = some_traces(tmp_path / "traces")
    monkeypatch.setattr(asked, "find_traces", lambda: folder)
    assert ask(asked.trace_question()).verdict is Verdict.HELD
    accepted = min((folder / "accepted").rglob("*.ndjson"))
    rejected = min((folder / "rejected").rglob("*.ndjson"))
    shutil.copyfile(rejected, accepted)
    row = ask(asked.trace_question())
    assert row.verdict is Verdict.VIOLATED
    assert any(accepted.stem in reason for reason in row.reasons)


def some_traces(folder: Path) -> Path:
    """Return a corpus of one accepted trace and one rejected one; `krafla verify` asks of all."""
    corpus = asked.find_traces()
    entries = re.split(
        r"(?=^\[\[trace\]\]$)", (corpus / "index.toml").read_text(), flags=re.MULTILINE
    )
    index = entries[0]
    for kind in ("accepted", "rejected"):
        entry = next(one for one in entries if f'file = "{kind}/' in one)
        index += entry
        file = re.search(r'file = "(.+)"', entry)[1]
        (folder / file).parent.mkdir(parents=True)
        shutil.copyfile(corpus / file, folder / file)
    (folder / "index.toml").write_text(index)
    return folder


@pytest.mark.nightly
def test_a_proof_of_what_is_false_is_not_held(tmp_path, monkeypatch):
    specs = tmp_path / "specs"
    shutil.copytree(find_specs(), specs)
    module = specs / "lease" / "BrokerLease.tla"
    text = module.read_text(encoding="utf-8")
    guard = "/\\ registrations[b].incarnation = m.incarnation\n  /\\ registrations' ="
    assert text.count(guard) == 1
    monkeypatch.setattr(proof_questions, "find_specs", lambda: specs)
    (epochs,) = [one for one in proof_questions.proof_questions() if one.name == "lease: epochs"]
    module.write_text(text.replace(guard, "/\\ registrations' ="), encoding="utf-8")
    row = ask(epochs)
    assert row.verdict is Verdict.VIOLATED
    assert any("AmendRegistration" in reason for reason in row.reasons)


@pytest.mark.nightly
def test_a_server_log_that_cannot_be_is_violated_and_one_that_shows_nothing_in_doubt(tmp_path):
    (crash,) = [one for one in asked.server_log_questions() if one.name == "crash"]
    row = ask(crash)
    assert row.verdict is Verdict.HELD
    assert row.bounds == "lines in 4 of 4 folders"
    assert row.evidence[0] == "119 of 119 lines and 43 of 43 records explained"
    folder = tmp_path / "crash"
    shutil.copytree(asked.find_traces() / "kafka-4.1" / "crash", folder)
    server_log = folder / "n1" / "logs" / "server.log"
    text = server_log.read_text()
    registered = "Successfully registered broker 1 with broker epoch "
    assert registered in text
    server_log.write_text(text.replace(registered, f"{registered}9", 1))
    row = ask(asked.server_log_question(folder))
    assert row.verdict is Verdict.VIOLATED
    assert any("n1/logs/server.log" in reason for reason in row.reasons)
    for logs in folder.glob("*/logs"):
        shutil.rmtree(logs)
    assert ask(asked.server_log_question(folder)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.nightly
def test_records_without_a_line_that_was_judged_are_in_doubt(monkeypatch):
    (crash,) = [one for one in asked.server_log_questions() if one.name == "crash"]
    report = run.audit(
        [asked.find_traces() / "kafka-4.1" / "crash"], server_logs=ServerLogOptions()
    )
    (cluster,) = report.clusters
    silent = replace(cluster.server_logs, counts=Counts(records=43, records_explained=43))
    told = replace(report, clusters=(replace(cluster, server_logs=silent),))
    assert told.verdict is Verdict.HELD
    monkeypatch.setattr(run, "audit", lambda *_, **__: told)
    assert ask(crash).verdict is Verdict.INCONCLUSIVE


def test_a_log_that_does_not_follow_the_spec_is_violated(tmp_path):
    (crash,) = [one for one in asked.log_questions() if one.name == "crash"]
    assert ask(crash).verdict is Verdict.HELD
    empty = tmp_path / "n1" / "__cluster_metadata-0"
    empty.mkdir(parents=True)
    (empty / f"{0:020}.log").write_bytes(b"")
    row = ask(asked.log_question(tmp_path / "n1"))
    assert row.verdict is not Verdict.HELD
    assert row.reasons


@pytest.mark.parametrize(("name", "seed"), [("lease", 0), ("registration", 2)])
def test_a_campaign_that_is_too_short_is_in_doubt(name, seed):
    row = ask(fuzz_question(name, 1, seed))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert any("never" in reason for reason in row.reasons)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["metadata", "registration"])
def test_a_brief_question_takes_every_action_and_reaches_every_witness(name):
    (question,) = (one for one in fuzz_questions() if one.name == name)
    row = ask(question)
    assert row.verdict is Verdict.HELD, row.reasons
    assert row.reproduce == question.reproduce
    _, actions, witnesses, _ = (fact.split() for fact in row.evidence)
    assert (actions[0], witnesses[0]) == (actions[2], witnesses[2])


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("name", "runs", "options", "bug", "broken"),
    [
        ("raft", 3, RunOptions(), "leader-keeps-high-watermark",
         "NewLeaderForgetsHighWatermarkProp"),
        ("stack", 2, RunOptions(chaos=STACK_CHAOS), "answers-before-commit",
         "RepliedIsCommittedProp"),
    ],
)  # fmt: skip
def test_runs_on_machines_are_asked_about_and_a_seeded_bug_is_told(
    name, runs, options, bug, broken
):
    question = fuzz_question(name, runs, 0, options)
    row = ask(question)
    assert row.verdict is Verdict.HELD, row.reasons
    given = "" if options.chaos is None else " --chaos 4"
    given += " --require-coverage"
    assert row.reproduce == f"krafla fuzz {name} --seed 0 --examples {runs}{given}"
    assert row.evidence[2] != "0 values acknowledged"
    with find_mutant(bug, find_system(name)).applied():
        row = ask(question)
    assert row.verdict is Verdict.VIOLATED
    assert row.reasons[0].startswith(broken)


@pytest.mark.parametrize("question", fuzz_questions(), ids=lambda question: question.name)
def test_ctrl_c_in_a_campaign_ends_all_questions(question, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runs, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        question.ask(lambda _: None)
