"""What is true of the runs and campaigns of all seven systems, or of the five driven by choices."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from tests.krafla.fuzz.fuzz_runs import ALL, CHOICE_DRIVEN, ON_MACHINES, fuzz, printed

from krafla.fuzz.engine.campaign import Campaign, run_campaign
from krafla.fuzz.engine.choice_run import play_seed
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.seen import TALLIES
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.match.trace_check import check_trace
from krafla.traces import dumps, loads
from krafla.verdict import ExitCode, Verdict

# The runs of these profiles are behaviours of no model that the spec has: strays are requests of
# no process, and an eager process registers below the gate.
WITHOUT_MODEL = {"strays", "eager"}
PROFILES = [
    (example.word, name)
    for example in CHOICE_DRIVEN
    for name in sorted({*example.system.default_profiles, "restless", "cut-off"})
    if name not in WITHOUT_MODEL and name in example.system.profiles
]


def of(examples, by_day=()):
    """Return the parametrisation of a test over systems.

    Where some are named for the day, the others pass by the same code, and wait for the night.
    """
    late = [one.word for one in examples if by_day and one.word not in by_day]
    assert len(late) == len(examples) - len(by_day) or not by_day
    cases = [
        pytest.param(one, id=one.word, marks=pytest.mark.nightly if one.word in late else ())
        for one in examples
    ]
    return pytest.mark.parametrize("example", cases)


@pytest.mark.by_day(1)
@of(ALL)
def test_the_same_seed_gives_the_same_runs_and_another_gives_others(example):
    first, second = (example.runs(3).play(1) for _ in range(2))
    assert first == second
    assert first.result_digest(1) == second.result_digest(1) != first.result_digest(2)
    assert first.finding is None
    others = example.runs(3).play(2), example.runs(4).play(1)
    assert len({first.digest, *(other.digest for other in others)}) == 3


@of(CHOICE_DRIVEN, by_day=("lease", "metadata"))
def test_a_run_replays_from_its_recording_alone(example):
    system = example.system
    run = play_seed(system, system.profile(system.default_profiles[0]), 3, 100)
    again = system.play(system.decoded(run.case.encoded, "a run"))
    assert (again.case.choices, again.digest) == (run.case.choices, run.digest)
    assert again.finding is None
    trace, other = system.trace(again), system.trace(run)
    assert (other.origin.profile, other.origin.seed) == (run.profile, "3")
    assert trace == replace(other, origin=replace(other.origin, profile=None, seed=None))


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("word", "name"), PROFILES)
def test_the_trace_of_a_run_is_a_behaviour_of_the_spec(word, name):
    system = find_system(word)
    run = play_seed(system, system.profile(name), 1, 120)
    assert run.finding is None, str(run.finding)
    trace = loads(dumps(system.trace(run)))
    assert trace.spec in system.modules
    assert len(trace.steps) == run.steps + 1 > {"cluster": 60}.get(word, 30)
    report = check_trace(trace)
    assert report.verdict is Verdict.HELD, report.rejection
    assert report.steps == run.steps + 1


@of(CHOICE_DRIVEN, by_day=("lease", "cluster"))
def test_a_short_campaign_holds_and_says_in_a_line_what_it_missed_and_how_to_run_it_again(example):
    arguments = (example.word, "--examples", "2", *example.runs(0).arguments.split())
    result, as_json = fuzz(*arguments), fuzz(*arguments, "--json")
    told = json.loads(as_json.stdout)
    assert result.exit_code == as_json.exit_code == told["exit_code"] == 0, result.output
    assert (told["verdict"], told["runs"], told["failure"]) == ("held", 2, None)
    assert told["steps"] == sum(told["actions"].values())
    judged = 2 * example.short.steps
    assert told["judged"] == judged == told["steps"] + told["refused"]
    assert f"HELD  2 runs, {judged} steps judged by the spec" in result.output
    never = [name for name, count in told["actions"].items() if not count]
    missing = [name for name, step in told["witnesses"].items() if step is None]
    assert never
    assert missing
    missed = (
        f"actions never taken: {', '.join(never)}", f"witnesses never reached: {', '.join(missing)}"
    )  # fmt: skip
    assert (told["doubts"], tuple(told["missed"])) == ([], missed)
    assert f"  missed     {'; '.join(missed)}\n" in result.output
    assert told["digest"] in result.output
    assert f"reproduce  krafla fuzz {example.word} --seed 0 --examples 2" in result.output
    assert told["reproduce"].split()[2:] == [
        example.word, "--seed", "0", "--examples", "2", *example.runs(0).arguments.split(),
    ]  # fmt: skip


@of(CHOICE_DRIVEN[:1])
def test_a_campaign_that_must_cover_everything_is_inconclusive_if_it_does_not(example):
    arguments = (example.word, "--examples", "2", "--require-coverage")
    arguments += tuple(example.runs(0).arguments.split())
    result, as_json = fuzz(*arguments), fuzz(*arguments, "--json")
    told = json.loads(as_json.stdout)
    assert result.exit_code == as_json.exit_code == told["exit_code"] == 3, result.output
    assert told["verdict"] == "inconclusive"
    assert told["doubts"] == told["missed"] != []
    assert all(f"\n  {doubt}\n" in result.output for doubt in told["doubts"])
    assert "  missed " not in result.output
    assert told["reproduce"].endswith(" --require-coverage")


@of(ON_MACHINES)
def test_a_campaign_on_machines_holds_if_something_was_acknowledged_and_made_progress(example):
    arguments = (example.word, "--seed", "3", "--examples", "1", "--faults", "none")
    result, as_json = fuzz(*arguments), fuzz(*arguments, "--json")
    told = json.loads(as_json.stdout)
    assert result.exit_code == as_json.exit_code == told["exit_code"] == 0, result.output
    assert (told["verdict"], told["runs"], told["failure"]) == ("held", 1, None)
    assert told["acknowledged"] > 0
    assert told["liveness"] == {"progress": 1}
    assert told["faults"] == {}
    assert len(told["digest"]) == 32
    assert "HELD  1 run, " in result.output
    assert "simulated s" in result.output
    assert f"{len(example.system.properties)} properties" in result.output
    assert f"digest     {told['digest']}" in result.output
    assert f"reproduce  krafla fuzz {' '.join(arguments)}" in result.output


@pytest.mark.by_day(1)
@pytest.mark.parametrize("lockstep", [False, True])
def test_a_gray_link_takes_effect_in_a_run_that_holds(lockstep):
    runs = find_system("raft").runs(0, RunOptions(faults=("gray-link",), lockstep=lockstep))
    runs.load(brief=True)
    result = runs.play(26)
    assert result.finding is None
    assert result.tallies["faults"] == {"gray-link": 38}


@pytest.mark.nightly
@of(ALL, by_day=("registration",))
def test_the_number_of_workers_changes_nothing(example):
    campaign = Campaign(example.runs(5), examples=3)
    alone, together = (run_campaign(replace(campaign, workers=many)) for many in (1, 2))
    alone.seconds = together.seconds = 1.0
    assert alone.document() == together.document()
    assert list(alone.lines()) == list(together.lines())
    assert alone.states == together.states
    assert (alone.seen.runs, alone.campaign.workers, together.campaign.workers) == (3, 1, 2)


@of(ALL)
def test_a_campaign_without_a_run_is_inconclusive(example):
    report = run_campaign(Campaign(example.runs(0), seconds=0.0))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.doubts == ("no step was taken",)


@of(CHOICE_DRIVEN)
def test_with_coverage_required_every_action_must_be_taken_and_every_witness_reached(example):
    report = run_campaign(Campaign(example.runs(0), examples=1, requires_coverage=True))
    for tally in ("actions", "witnesses"):
        report.seen.tallies[tally].update(dict.fromkeys(report.seen.tallies[tally], 1))
    assert report.verdict is Verdict.HELD
    report.seen.tallies["actions"]["AnActionMore"] = 0
    assert report.doubts == ("actions never taken: AnActionMore",)
    del report.seen.tallies["actions"]["AnActionMore"]
    report.seen.tallies["witnesses"]["OneReach"] = 0
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.doubts == ("witnesses never reached: OneReach",)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("metadata", "--examples", "120", "--steps", "300"), "actions 18/18, witnesses 11/11"),
        (("registration", "--examples", "60"), "witnesses 7/7"),
        (("cluster", "--seed", "1", "--examples", "60"), "actions 32/32"),
    ],
)
def test_a_campaign_takes_every_action_and_reaches_every_witness(arguments, said):
    result = fuzz(*arguments)
    assert result.exit_code == 0, result.output
    assert said in result.output


def interrupted_in(monkeypatch, number):
    """Have Ctrl-C come in run `number` of any campaign."""
    right = Runs.play

    def play_unless(runs, one, reached=()):
        if one == number:
            raise KeyboardInterrupt
        return right(runs, one, reached)

    monkeypatch.setattr(Runs, "play", play_unless)


@of(ALL)
def test_ctrl_c_leaves_what_was_done_until_then(example, monkeypatch):
    interrupted_in(monkeypatch, 2)
    arguments = (example.word, "--examples", "9", *example.runs(0).arguments.split())
    result, as_json = fuzz(*arguments), fuzz(*arguments, "--json")
    told = json.loads(as_json.stdout)
    assert result.exit_code == as_json.exit_code == told["exit_code"] == ExitCode.INTERRUPTED
    assert result.stderr == "krafla: interrupted\n"
    assert "INCONCLUSIVE  2 runs, " in result.stdout
    assert "  it was interrupted\n" in result.stdout
    assert f"reproduce  krafla fuzz {example.word} --seed 0 --examples 2" in result.stdout
    assert (told["runs"], told["doubts"][0]) == (2, "it was interrupted")


def test_json_says_that_a_campaign_was_interrupted_in_its_first_run(monkeypatch):
    interrupted_in(monkeypatch, 0)
    told = json.loads(fuzz("metadata", "--json").stdout)
    assert (told["exit_code"], told["runs"], told["steps"]) == (130, 0, 0)
    assert told["doubts"][0] == "it was interrupted"


@of([ALL[0], ALL[5]])
def test_a_finding_survives_ctrl_c_while_it_is_shrunk(example):
    def interrupt(text):
        if text.startswith("found; "):
            raise KeyboardInterrupt

    with example.broken():
        report = run_campaign(Campaign(example.runs_with_bug(), example.examples), interrupt)
        whole = report.campaign.runs.play(report.seen.runs - 1)
        lines = printed(report)
    assert report.is_interrupted
    assert (report.verdict, report.exit_code) == (Verdict.VIOLATED, ExitCode.VIOLATED)
    assert report.failure.smallest.detail == whole.detail
    assert example.said in lines
    assert report.document()["doubts"] == []


def test_what_was_found_before_ctrl_c_is_kept(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    (lease, *_) = CHOICE_DRIVEN
    monkeypatch.setattr("krafla.fuzz.engine.choice_system.shrink", interrupted)
    with lease.broken():
        result = fuzz(*lease.arguments, "--save", str(tmp_path))
    assert result.exit_code == 1
    assert "VIOLATED" in result.stdout
    assert len(list(tmp_path.iterdir())) == 2


@of(ALL)
def test_a_finding_is_the_same_in_another_process(example):
    with example.broken():
        report = run_campaign(Campaign(example.runs_with_bug(), example.examples, shrinks=False))
    run = report.failure.run
    sent = pickle.loads(pickle.dumps(run))
    assert (sent, sent.kind, sent.detail) == (run, run.kind, run.detail)
    assert sent.finding is not None


@pytest.mark.nightly
def test_every_count_of_a_run_has_a_tally():
    runs = (example.runs(0) for example in ALL)
    assert {name for one in runs for name in one.play(0).tallies} <= {*TALLIES}


def test_a_profile_of_another_system_is_refused():
    with pytest.raises(Exception, match="'moves' is no profile of lease; it is one of reassignmen"):
        find_system("lease").runs(0, RunOptions(profiles=("moves",)))


@pytest.mark.nightly
def test_requests_out_of_order_break_what_is_promised_only_of_those_in_order():
    lease = find_system("lease")
    profile = replace(lease.profile("restless"), also=("RegistrationIsKnownInv",))
    findings = (play_seed(lease, profile, seed, 300).finding for seed in range(200))
    first = next(finding for finding in findings if finding is not None)
    assert first.kind[:2] == ("property", "RegistrationIsKnownInv")
