"""A campaign of each system: seed n is run n of `krafla fuzz`."""

from __future__ import annotations

import ast
import hashlib
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path

import pytest
from tests.browser import faults
from tests.krafla.fuzz.fuzz_runs import krafla
from tests.krafla.pipeline.executors import unshrunk, with_mutant

from krafla.fuzz.engine import runs as runs_module
from krafla.fuzz.engine.campaign import Campaign
from krafla.fuzz.engine.campaign import run_campaign as fuzz
from krafla.fuzz.engine.choice_run import ChoiceCase
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.runs import Failure, Run, judging_digest
from krafla.fuzz.engine.system import NAMES, RunOptions, find_system
from krafla.fuzz.engine.violation import Violation
from krafla.pipeline.campaign import findings as findings_module
from krafla.pipeline.campaign import waves as waves_module
from krafla.pipeline.campaign.findings import save_findings, shrink_batches
from krafla.pipeline.campaign.plan import SEED, WAVE, CampaignPlan
from krafla.pipeline.campaign.player import play_batches
from krafla.pipeline.campaign.result import read_outcome
from krafla.pipeline.campaign.rows import RUNS
from krafla.pipeline.campaign.run import run_campaign, store_of
from krafla.pipeline.report import stories
from krafla.pipeline.report.run import make_report
from krafla.verdict import KraflaError

pytestmark = pytest.mark.xdist_group("spark")

JUDGE = Path(runs_module.__file__).parents[1]
# Bugs that a few runs of such options find, but not the first; and runs that hold.
CASES = {
    "lease": ("heartbeat-does-not-renew-session", RunOptions(30, ("restless",))),
    "metadata": ("write-is-checked-against-stable", RunOptions(12, ("failovers",))),
    "reassignment": ("completes-when-added-are-in-sync", RunOptions(11, ("moves",))),
    "registration": ("registered-below-gate", RunOptions(60)),
    "cluster": ("unfencing-wants-end-of-log", RunOptions(200, ("two-and-two",))),
    "raft": ("boots-unattached", RunOptions(faults=("kill", "loss", "power-loss"), chaos=2.0)),
    "stack": ("claims-late", RunOptions(faults=("kill",), chaos=2.0)),
    "raft that holds": ("", RunOptions(chaos=3.0)),
    "raft in lockstep": ("", RunOptions(faults=("kill",), lockstep=True, chaos=1.0)),
    "stack that holds": ("", RunOptions(chaos=1.0)),
    "stack in lockstep": ("", RunOptions(faults=("kill",), lockstep=True, chaos=1.0)),
}


@pytest.fixture
def in_campaign(spark, tmp_path, monkeypatch):
    """Plays a campaign of the first seeds, in executors that have a seeded bug.

    Returns its outcome, its rows, and the folder with the files of its findings.
    """

    def play(runs, last, bug, *, shrinks=True):
        shrink = shrink_batches if shrinks else unshrunk(shrink_batches)
        if bug:
            play, shrink = (with_mutant(bug, one, runs.name) for one in (play_batches, shrink))
            monkeypatch.setattr(waves_module, "play_batches", play)
        monkeypatch.setattr(findings_module, "shrink_batches", shrink)
        store = store_of(spark, str(tmp_path / "out"))
        outcome = run_campaign(CampaignPlan(0, last, runs, 2), store, spark)
        save_findings(store, tmp_path / "found", outcome.load)
        rows = sorted(store.read(RUNS, WAVE).collect(), key=lambda row: row["seed"])
        return outcome, rows, tmp_path / "found", store

    return play


# By day one of each kind: what is shrunk, has no values for some constants, or is on machines.
BY_DAY = {"metadata", "reassignment", "raft", "stack", "raft that holds", "raft in lockstep"}


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    "case",
    [pytest.param(one, marks=() if one in BY_DAY else pytest.mark.nightly) for one in CASES],
)
def test_a_seed_is_the_run_of_krafla_fuzz_with_its_counts_finding_and_files(
    case, in_campaign, tmp_path, monkeypatch
):
    (word, *_), (bug, options) = case.split(), CASES[case]
    system = find_system(word)
    runs = system.runs(SEED, options)
    # All systems driven by choices are shrunk by the same code; one is enough to see it.
    shrinks = word == "reassignment"
    if not shrinks:
        monkeypatch.setattr(Failure, "shrunk", lambda failure, _: failure)
    examples = 25 if bug else 1 if options.lockstep else 2
    with find_mutant(bug, system).applied() if bug else nullcontext():
        report = fuzz(Campaign(runs, examples))
        outcome, rows, found, _ = in_campaign(runs, report.seen.runs - 1, bug, shrinks=shrinks)
        kept = report.failure.save(tmp_path) if bug else None
        played = [
            krafla("replay", str(found / name)) for one in outcome.findings for name in one["saved"]
        ]
    digests = hashlib.blake2b("".join(row["run"] for row in rows).encode(), digest_size=16)
    assert digests.hexdigest() == report.digest
    assert (outcome.system, outcome.verdict) == (word, report.verdict)
    assert (outcome.doubts, outcome.missed) == (report.doubts, report.seen.missed)
    last = "violated" if bug else "held"
    assert [row["verdict"] for row in rows] == [*["held"] * (len(rows) - 1), last]
    assert sum(row["steps"] for row in rows) == report.seen.steps
    for tally in {*outcome.tallies} - {"witnesses"}:
        assert outcome.tallies[tally] == report.seen.tallies[tally], tally
    assert [*outcome.tallies["witnesses"]] == [*report.seen.tallies["witnesses"]]
    reached = {name for name, count in outcome.tallies["witnesses"].items() if count}
    assert reached == {*report.reached}
    counts = report.seen.totals
    assert outcome.counts | {"states": 0} == outcome.counts | counts | {"states": 0}
    if kept is None:
        assert outcome.findings == ()
        return
    assert len(rows) > 1 or word == "stack"
    (finding,) = outcome.findings
    assert (finding["detail"], finding["kind"]) == (
        report.failure.smallest.detail,
        rows[-1]["finding"],
    )
    assert finding["number"] == kept.number == len(rows) - 1
    for size in ("steps", "unit", "size", "smallest"):
        assert finding[size] == getattr(kept, size)
    assert sorted(finding["saved"]) == sorted(kept.saved)
    assert sorted(path.name for path in found.iterdir()) == sorted(kept.saved)
    for name in kept.saved:
        assert (found / name).read_bytes() == (tmp_path / name).read_bytes()
    statuses = [1] * len(kept.saved)
    assert [one.exit_code for one in played] == statuses
    assert "the same run as in the file" in played[-1].output


@pytest.mark.nightly
def test_the_report_on_a_campaign_of_machines_replays_its_finding(
    in_campaign, spark, tmp_path, monkeypatch
):
    bug, options = CASES["raft"]
    outcome, _, found, store = in_campaign(find_system("raft").runs(SEED, options), 9, bug)
    (finding,) = outcome.findings
    clean = make_report(spark, store.uri)
    with monkeypatch.context() as patched:
        told = with_mutant(bug, stories.story_batches, "raft")
        patched.setattr(stories, "story_batches", told)
        made = make_report(spark, store.uri)
    assert faults({"the campaign": made.html}, tmp_path) == []
    sentence = (
        "The role of a replica after a start follows from its file: never a leader; Resigned if "
        "it led; a candidate if it voted for itself; a follower only of the leader that the file "
        "names, if that leader is a voter."
    )
    assert made.document.title == f"Violated: {sentence}"
    for text in (
        f"property RestartProp\n\n{sentence}",
        f"shrunk from {finding['size']} faults to {finding['smallest']}",
        f"{outcome.reproduce} {outcome.out} --found found",
        f"krafla replay found/{finding['saved'][0]}",
        "ended by a finding; the same run as in the file",
    ):
        assert text in made.markdown
    # The code here has no such bug: what was found is told nevertheless.
    assert "RestartProp, which the file has, is gone" in clean.markdown
    assert finding["detail"].splitlines()[0] in clean.markdown
    assert found.is_dir()


def test_everything_in_a_result_is_in_its_digest():
    small, large = (ChoiceCase(None, profile=name) for name in ("small", "large"))
    one = Run(small, None, 2, "run", {"faults": {"kill": 1}})
    finding = Violation("LeaderInv", "two of them", 3, 0, "node 1")
    other = Run(large, finding, 3, "other", {"faults": {"kill": 2}})
    left_out = {"states", "first_reached"}
    names = [one.name for one in fields(Run) if one.name not in left_out]
    changed = {replace(one, **{name: getattr(other, name)}).result_digest(1) for name in names}
    assert len(changed | {one.result_digest(1), one.result_digest(2)}) == len(names) + 2


def test_a_campaign_of_another_format_is_refused_in_a_sentence(spark, tmp_path):
    store = store_of(spark, str(tmp_path / "out"))
    with pytest.raises(KraflaError, match="no finished campaign"):
        read_outcome(store)
    store.commit("old", "campaign", {"format": 5, "counts": {"seeds": 1}})
    with pytest.raises(KraflaError, match="of another krafla"):
        read_outcome(store)


def test_each_system_is_judged_by_its_own_specs():
    every = [
        find_system(word).runs(SEED, RunOptions(lockstep=lockstep))
        for word in NAMES
        for lockstep in (False, True)
    ]
    judges = {one.modules: one.judged_by() for one in every}
    assert len(set(judges.values())) == len(judges) == 9


def test_another_text_of_a_module_is_another_judge(monkeypatch):
    before = judging_digest(("ClusterProperties",))
    right = runs_module.spec_digest
    monkeypatch.setattr(runs_module, "spec_digest", lambda name: right(name)[::-1])
    judging_digest.cache_clear()
    assert judging_digest(("ClusterProperties",)) != before
    judging_digest.cache_clear()


def test_no_code_that_judges_is_left_out_of_the_digest_of_it():
    rooms = {*runs_module.ROOMS, *(path.stem for path in JUDGE.glob("*.py"))}
    for path in sorted(one for room in runs_module.ROOMS for one in (JUDGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for name in (f"{of}{one.name}" for one in node.names):
                package, _, rest = f"{name}.".partition(".")
                assert package != "krafla" or rest.split(".")[0] in rooms, f"{path}: {name}"
