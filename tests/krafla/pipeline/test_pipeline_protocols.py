"""A campaign of each protocol: seed n comes to what run n of `krafla fuzz` comes to."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest
from krafla.fuzz.engine.choice_runs import GameRuns
from krafla.fuzz.engine.machine_runs import MachineRuns
from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.fuzz.engine.profiles import PROFILES_OF
from krafla.fuzz.engine.run import play_seed
from krafla.fuzz.engine.seeded_bugs import find_mutant
from krafla.fuzz.engine.systems import GAMES
from tests.browser import dom
from tests.krafla.pipeline.executors import Here
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine import campaign as game_campaign
from krafla.fuzz.engine import choice_runs, machine_campaign
from krafla.fuzz.engine import run_source as seeds_module
from krafla.fuzz.engine.report import save
from krafla.fuzz.engine.run_source import SEED, SeedResult, judging_digest
from krafla.pipeline.campaign import CampaignPlan, read_results, run_campaign
from krafla.pipeline.report import write_report
from krafla.verdict import KraflaError, Verdict

JUDGE = Path(seeds_module.__file__).parents[1]
# A bug of each game, the profile under which it is found in a few runs but not in the first, and
# the steps of a run.
BUGS = {
    "lease": ("a heartbeat does not renew the session", "restless", 30),
    "reassignment": ("completes when those who come in are in sync", "moves", 11),
    "registration": ("registered below the gate", None, 60),
    "metadata": ("a write is checked against what is stable", "failovers", 12),
    "together": ("unfencing wants the end of the log", "two-and-two", 200),
}


def bug_of(game):
    """Return a context in which the implementation of a game has its bug."""
    name = BUGS[game][0]
    mutant = next(one for one in import_module(f"tests.mutants.{game}").MUTANTS if one.id == name)
    applied = ExitStack()
    for place, wrong in mutant.patches.items():
        applied.enter_context(patch(place, wrong))
    return applied


def runs_of(game):
    _, profile, steps = BUGS[game]
    return GameRuns(steps, PROFILES_OF[game] if profile is None else (profile,))


def in_campaign(runs, last, out):
    """Return what a campaign of the first seeds comes to, and its rows."""
    outcome = run_campaign(CampaignPlan(0, last, runs, 2), out, Here())
    return outcome, [row for one in read_results(out) for row in one.rows]


@pytest.mark.parametrize("game", GAMES)
def test_a_seed_of_a_game_is_the_run_of_krafla_fuzz_with_its_finding_and_files(game, tmp_path):
    runs, played = runs_of(game), []

    def play(*arguments):
        played.append(play_seed(*arguments))
        return played[-1]

    fuzzed = game_campaign.Campaign(SEED, 25, None, runs.steps, runs.profiles)
    with bug_of(game), patch.object(game_campaign, "play_seed", play), ExitStack() as shrinking:
        # To shrink is all the same code; one game is enough to see it.
        for module in (game_campaign, choice_runs) if game != "reassignment" else ():
            shrinking.enter_context(patch.object(module, "shrink", lambda run, _=None: run))
        report = game_campaign.run_campaign(fuzzed)
        outcome, rows = in_campaign(runs, len(played) - 1, tmp_path / "out")
        files = save(report.failure, tmp_path / "fuzz")
    assert len(played) > 1
    assert (outcome.protocol, outcome.verdict) == (game, Verdict.VIOLATED)
    assert [(row.run, row.steps, tuple(row.finding)) for row in rows] == [
        (
            hashlib.sha256(run.game.to_json(run.recording)).hexdigest(),
            run.steps,
            () if run.finding is None else tuple(run.finding.kind),
        )
        for run in played
    ]
    coverage = report.coverage
    assert Counter(outcome.tallies["actions"]) == coverage.actions
    assert tuple(outcome.tallies["witnesses"]) == coverage.all_witnesses
    reached = {name for name, count in outcome.tallies["witnesses"].items() if count}
    assert reached == set(coverage.witnesses)
    assert outcome.counts["judged"] == coverage.steps
    assert outcome.tallies["totals"]["refused"] == coverage.steps - coverage.actions.total()
    (finding,) = outcome.findings
    assert finding["detail"] == str(report.failure.shrunk.finding)
    assert finding["shrunk_steps"] == report.failure.shrunk.steps
    found = outcome.out / "found"
    assert sorted(finding["saved"]) == sorted(path.name for path in found.iterdir())
    assert [(found / path.name).read_bytes() for path in files] == [
        path.read_bytes() for path in files
    ]


@pytest.mark.parametrize(
    "runs",
    [
        MachineRuns("raft", SYSTEMS["raft"].kinds, chaos=3.0),
        MachineRuns("raft", ("kill",), lockstep=True, chaos=1.0),
        MachineRuns("cluster", SYSTEMS["cluster"].kinds, chaos=1.0),
        MachineRuns("cluster", ("kill",), lockstep=True, chaos=1.0),
    ],
    ids=["raft", "raft in lockstep", "cluster", "cluster in lockstep"],
)
def test_a_seed_of_machines_is_the_run_of_krafla_fuzz_and_counts_what_it_counts(runs, tmp_path):
    count = 1 if runs.lockstep else 2
    fuzzed = machine_campaign.Campaign(
        SEED,
        count,
        kinds=runs.kinds,
        lockstep=runs.lockstep,
        system=runs.system,
        chaos=runs.chaos,
    )
    report = machine_campaign.run_campaign(fuzzed)
    outcome, rows = in_campaign(runs, count - 1, tmp_path / "out")
    digests = hashlib.blake2b("".join(row.run for row in rows).encode(), digest_size=16)
    assert digests.hexdigest() == report.digest
    assert (outcome.protocol, outcome.verdict) == (runs.system, report.verdict)
    assert outcome.doubts == report.doubts
    counted = {name: Counter(counts) for name, counts in outcome.tallies.items()}
    for name in ("faults", "hazards", "liveness", "actions"):
        assert counted[name] == getattr(report, name)
    assert tuple(outcome.tallies["actions"]) == report.all_actions
    totals = counted["totals"]
    assert (outcome.counts["events"], totals["judged"], totals["acknowledged"]) == (
        report.events,
        report.judged,
        report.acknowledged,
    )
    assert totals["simulated_ns"] == report.simulated
    assert outcome.counts["properties"] == len(SYSTEMS[runs.system].properties)


def test_all_that_a_seed_came_to_is_in_its_digest():
    one = SeedResult(1, "small", 2, (), "", "run", {"faults": {"kill": 1}})
    other = SeedResult(2, "large", 3, ("spec",), "text", "other", {"faults": {"kill": 2}})
    names = [field.name for field in fields(SeedResult) if field.name != "states"]
    changed = {replace(one, **{name: getattr(other, name)}).digest for name in names}
    assert len(changed | {one.digest}) == len(names) + 1


@pytest.mark.parametrize(
    ("system", "bug"), [("raft", "boots-unattached"), ("cluster", "claims-late")]
)
def test_what_is_found_on_machines_is_the_finding_and_the_file_of_krafla_fuzz(
    system, bug, tmp_path
):
    kinds = ("kill", "loss", "power-loss") if system == "raft" else ("kill",)
    options = ("--faults", ",".join(kinds), "--chaos", "2", "--save", str(tmp_path), "-q")
    runs = MachineRuns(system, machine_campaign.kinds_chosen(",".join(kinds), system), chaos=2.0)
    with find_mutant(bug).applied():
        fuzzed = CliRunner().invoke(
            application("fuzz"), ["fuzz", system, "--examples", "20", *options]
        )
        (kept,) = tmp_path.glob("*.json")
        number = int(kept.stem.rpartition("-")[2])
        outcome, rows = in_campaign(runs, number, tmp_path / "out")
        (finding,) = outcome.findings
        again = CliRunner().invoke(
            application("fuzz"),
            [*finding["replay"][0].split()[1:], str(outcome.out / "found" / kept.name)],
        )
    assert fuzzed.exit_code == again.exit_code == 1
    assert "the same run as in the file" in again.output
    assert finding["detail"] in fuzzed.output
    assert [row.verdict for row in rows] == ["held"] * number + ["violated"]
    assert finding["saved"] == [kept.name]
    assert (outcome.out / "found" / kept.name).read_bytes() == kept.read_bytes()
    assert finding["faults"] >= finding["faults_left"]
    page = dom(write_report(outcome.out))
    assert f"krafla fuzz {system} --replay {outcome.out / 'found' / kept.name}" in page
    assert f"shrunk from {finding['faults']} faults to {finding['faults_left']}" in page
    assert "events a second" in page


def test_a_campaign_of_another_format_is_refused_in_a_sentence(tmp_path):
    from krafla.pipeline.store import seal

    (tmp_path / "results").mkdir()
    seal(tmp_path, "campaign", {"digest": ""}, ("results",))
    with pytest.raises(KraflaError, match="of another krafla"):
        write_report(tmp_path)


def test_each_protocol_is_judged_by_its_own_specs():
    every = {GAMES[name].modules: runs_of(name).judged_by() for name in GAMES}
    machines = [
        MachineRuns(system, (), lockstep) for system in SYSTEMS for lockstep in (False, True)
    ]
    every |= {one.modules: one.judged_by() for one in machines}
    assert len(set(every.values())) == len(every) == 9


def test_another_text_of_a_module_is_another_judge(monkeypatch):
    before = judging_digest(("ClusterProperties",))
    right = seeds_module.spec_digest
    monkeypatch.setattr(seeds_module, "spec_digest", lambda name: right(name)[::-1])
    judging_digest.cache_clear()
    assert judging_digest(("ClusterProperties",)) != before
    judging_digest.cache_clear()


def test_no_code_that_judges_is_left_out_of_the_digest_of_it():
    rooms = {*seeds_module.ROOMS, *(path.stem for path in JUDGE.glob("*.py"))}
    for path in sorted(one for room in seeds_module.ROOMS for one in (JUDGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for name in (f"{of}{one.name}" for one in node.names):
                package, _, rest = f"{name}.".partition(".")
                assert package != "krafla" or rest.split(".")[0] in rooms, f"{path}: {name}"
