"""Runs that were kept: of every system, of older versions, and files that are no run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.krafla.fuzz.fuzz_runs import ALL, CHOICE_DRIVEN, ON_MACHINES, fuzz, krafla, printed

from krafla.fuzz.engine.campaign import Campaign, run_campaign
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.run_file import replay_file, write
from krafla.fuzz.engine.system import find_system
from krafla.match.trace_check import check_trace
from krafla.traces import read_whole_trace
from krafla.verdict import KraflaError, Verdict

RAFT, STACK = find_system("raft"), find_system("stack")
HERE = Path(__file__).parent
# Written before `cluster` was the word for another system; its digest is that of today's code.
OLD_STACK = HERE / "stack" / "claims_late_of_version_1.json"
OLD_RAFT = HERE / "raft" / "shutdown_over_the_heal.json"


# The others are driven by the same code, and wait for the night.
BY_DAY = {"metadata", "registration", "raft"}


@pytest.fixture(
    params=[
        pytest.param(one, id=one.word, marks=() if one.word in BY_DAY else pytest.mark.nightly)
        for one in ALL
    ]
)
def example(request):
    """Return each of the seven systems."""
    return request.param


@pytest.fixture(scope="module")
def failing():
    """A run of raft with a seeded bug, as it is kept."""
    with find_mutant("boots-unattached", RAFT).applied():
        return next(
            run
            for number in range(20)
            if (run := RAFT.play(RAFT.case_of(0, number, RAFT.kinds))).finding is not None
        )


def test_a_finding_is_shown_and_kept_and_replays_with_the_bug_and_holds_without_it(
    example, tmp_path
):
    with example.broken():
        result = fuzz(*example.arguments, "--no-shrink", "--save", str(tmp_path))
        assert result.exit_code == 1, result.output
        assert "VIOLATED" in result.output
        assert example.said in result.output
        (kept,) = tmp_path.glob("*.json")
        assert f"krafla replay {kept} " in result.output
        again, also = fuzz(example.word, "--replay", str(kept)), krafla("replay", str(kept))
    assert again.exit_code == also.exit_code == 1
    for shown in (again, also):
        assert "VIOLATED" in shown.output
        assert example.said in shown.output
    header = json.loads(kept.read_text())
    assert (header["format"], header["version"]) == (f"krafla fuzz {example.word}", 2)
    assert header["mutant"] == ""
    assert example.said in header["text"]
    assert "the same run as in the file" in again.output
    mended = fuzz(example.word, "--replay", str(kept), "--json")
    told = json.loads(mended.stdout)
    assert mended.exit_code == told["exit_code"] == 0
    assert (told["verdict"], told["finding"]) == ("held", None)
    assert told["same"] is False
    held = krafla("replay", str(kept)).output
    gone = f"{header['failed']}, which the file has, is gone"
    assert f"nothing was found: {gone}; the code or the specs have changed since" in held
    assert len(held.splitlines()) == 1, "no steps, which lead nowhere"
    if example not in ON_MACHINES:
        (trace,) = tmp_path.glob("*.ndjson")
        assert f"krafla explain {trace} " in result.output


@pytest.mark.parametrize("lease", CHOICE_DRIVEN[:1], ids=["lease"])
def test_a_violation_is_shrunk_shown_saved_and_found_again_in_its_trace(lease, tmp_path):
    with find_mutant("fencing-leaves-leaderships", lease.system).applied():
        report = run_campaign(Campaign(lease.runs_with_bug(), examples=400))
        assert report.verdict is Verdict.VIOLATED
        text = printed(report)
        kept = report.failure.save(tmp_path)
        trace, recording = (tmp_path / name for name in kept.saved)
        again = replay_file(recording).run
        assert again.finding is not None
    assert "leads" in text
    assert "BrokerLease.tla:" in text
    assert report.reproduce in text
    rejection = check_trace(read_whole_trace(trace)).rejection
    assert rejection is not None
    assert rejection.index == len(read_whole_trace(trace)) - 1 == kept.smallest
    assert kept.smallest < kept.steps
    again = replay_file(recording).run
    assert again.finding is None
    told = report.document()
    assert told["verdict"] == "violated"
    assert (told["failure"]["smallest"], told["failure"]["unit"]) == (kept.smallest, "steps")
    assert (
        json.loads(report.failure.smallest.case.recording).items()
        <= json.loads(recording.read_text()).items()
    )


@pytest.mark.parametrize("change", [{"kind": ["property", "AnyInv", ""]}, {"digest": "0"}])
def test_a_run_with_another_finding_is_not_the_run_in_the_file(change, tmp_path):
    (lease, *_) = CHOICE_DRIVEN
    with lease.broken():
        failure = run_campaign(Campaign(lease.runs_with_bug(), 50, shrinks=False)).failure
        write(lease.system, failure.run, tmp_path / "run.json")
        assert replay_file(tmp_path / "run.json").is_same is True
        other = json.loads((tmp_path / "run.json").read_text()) | change
        (tmp_path / "run.json").write_text(json.dumps(other))
        assert replay_file(tmp_path / "run.json").is_same is False


def test_a_conditional_property_that_does_not_exist_is_refused_with_the_path(tmp_path):
    (lease, *_) = CHOICE_DRIVEN
    run = lease.runs(0).play(0)
    write(lease.system, run, tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text()) | {"also": ["NoSuchInv"]}
    (tmp_path / "run.json").write_text(json.dumps(content))
    result = krafla("replay", str(tmp_path / "run.json"))
    assert result.exit_code == 2
    assert "run.json: NoSuchInv is no conditional property of lease" in result.stderr


def test_a_seeded_bug_that_nobody_knows_is_refused_with_the_path(failing, tmp_path):
    write(RAFT, failing, tmp_path / "run.json", "no-such-bug")
    result = krafla("replay", str(tmp_path / "run.json"))
    assert result.exit_code == 2
    assert "run.json: no seeded bug 'no-such-bug'" in result.stderr


def test_a_kept_run_of_machines_is_played_bit_for_bit(failing, tmp_path):
    path = tmp_path / "run.json"
    write(RAFT, failing, path, "boots-unattached")
    again = replay_file(path)
    assert (again.run.digest, again.run.detail) == (failing.digest, failing.detail)
    assert again.is_same is True
    assert again.mutant == "boots-unattached"
    assert again.verdict is Verdict.VIOLATED


def test_a_run_that_held_and_is_another_run_now_is_inconclusive(failing, tmp_path):
    held = tmp_path / "held.json"
    write(RAFT, failing, held, "boots-unattached")
    fields = json.loads(held.read_text()) | {"failed": "", "text": "", "mutant": ""}
    held.write_text(json.dumps(fields))
    result = fuzz("raft", "--replay", str(held))
    assert result.exit_code == 3
    assert "INCONCLUSIVE" in result.output
    assert "not the run in the file" in result.output


@pytest.mark.parametrize("command", [("replay",), ("fuzz", "stack", "--replay")])
def test_a_run_of_version_1_of_what_was_cluster_is_of_stack_and_the_same_run(command):
    result = krafla(*command, str(OLD_STACK))
    assert result.exit_code == 1
    assert "with the seeded bug claims-late" in result.output
    assert "LeaderClaimsProp is false at step" in result.output
    assert "the same run as in the file" in result.output


def test_a_run_of_version_1_is_not_of_the_system_that_has_its_word_now():
    result = fuzz("cluster", "--replay", str(OLD_STACK))
    assert result.exit_code == 2
    assert "is a run of `krafla fuzz stack`, not of cluster" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [("replay",), ("fuzz", "raft", "--replay")])
def test_a_run_of_raft_of_version_1_still_plays(command):
    result = krafla(*command, str(OLD_RAFT))
    assert json.loads(OLD_RAFT.read_text())["version"] == 1
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", [("replay",), ("fuzz", "lease", "--replay")])
def test_a_recording_without_a_format_is_of_the_lease(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # there the failing run is kept
    (lease, *_) = CHOICE_DRIVEN
    with lease.broken():
        failure = run_campaign(Campaign(lease.runs_with_bug(), 50, shrinks=False)).failure
        path = tmp_path / "old.json"
        path.write_bytes(failure.smallest.case.recording)
        result = krafla(*command, str(path))
    assert result.exit_code == 1
    assert lease.said in result.output
    assert krafla(*command, str(path)).exit_code == 0


@pytest.mark.by_day(2)
@pytest.mark.parametrize("word", ["metadata", "reassignment", "registration", "cluster"])
def test_a_recording_without_a_format_is_of_the_system_that_is_named(word, tmp_path):
    (example,) = (one for one in CHOICE_DRIVEN if one.word == word)
    path = tmp_path / "old.json"
    with example.broken():
        runs = example.runs_with_bug()
        failure = run_campaign(Campaign(runs, example.examples, shrinks=False)).failure
    path.write_bytes(failure.smallest.case.recording)
    assert fuzz(word, "--replay", str(path)).exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"choices": 1}', "not a recording of lease"),
        ('{"configuration": {}, "choices": []}', "not a recording of lease"),
        ('{"format": "krafla fuzz together", "version": 2}', "'together' is called 'cluster' now"),
        ('{"format": "krafla fuzz raft", "version": 2}', "is a run of `krafla fuzz raft`, not of"),
        ('{"format": "krafla fuzz lease", "version": 9}', "is of version 9"),
        ('{"format": "krafla fuzz", "version": 2}', "says that it is 'krafla fuzz'"),
        ("[]", "array"),
        ("", "no run of `krafla fuzz`"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_its_path(text, said, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(text)
    result = fuzz("lease", "--replay", str(path))
    assert result.exit_code == 2
    assert f"{path}: " in result.stderr
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("word", ["metadata", "reassignment", "registration", "cluster"])
def test_a_recording_of_something_else_is_refused(word, tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"configuration": {}, "choices": []}')
    result = fuzz(word, "--replay", str(path))
    assert result.exit_code == 2
    assert f"not a recording of {word}" in result.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data | {"version": 9}, "version 9"),
        (lambda data: data | {"format": "another"}, "'another'"),
        (lambda data: data | {"seed": "x"}, "seed"),
        (lambda data: data | {"plan": [[1, "no-such-fault", 0, 0, 0]]}, "no-such-fault"),
        (lambda data: data | {"plan": [[1, "lost-directory", 0, 0, 0]]}, "does not exist"),
        (lambda data: data | {"plan": [[-1, "loss", 0, 0, 0]]}, "does not exist"),
        (lambda data: data | {"configuration": data["configuration"] | {"voters": 0}}, "voters"),
        (lambda _data: [], "array"),
    ],
)
def test_a_file_that_is_no_run_of_machines_is_refused_with_its_path(
    failing, tmp_path, change, said
):
    path = tmp_path / "run.json"
    write(RAFT, failing, path, "boots-unattached")
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(KraflaError, match=said) as refused:
        replay_file(path)
    assert refused.value.place == str(path)


def test_a_file_that_is_not_there_is_refused_with_its_path(tmp_path):
    with pytest.raises(KraflaError, match="nowhere"):
        replay_file(tmp_path / "nowhere.json")


@pytest.mark.nightly
def test_a_run_of_machines_is_shrunk_to_the_faults_it_needs_and_stays_a_run(failing, tmp_path):
    path = tmp_path / "run.json"
    write(RAFT, failing, path, "boots-unattached")
    result = krafla("shrink", str(path), "--quiet")
    assert result.exit_code == 0, result.output
    smaller = tmp_path / "run.shrunk.json"
    assert f"  look       krafla replay {smaller}\n" in result.stdout
    again = replay_file(smaller)
    assert (again.verdict, again.is_same) == (Verdict.VIOLATED, True)
    assert again.run.kind == failing.kind
    assert again.run.case.size < failing.case.size


@pytest.mark.parametrize("verb", ["shrink", "replay"])
def test_a_run_in_which_nothing_is_found_has_nothing_to_shrink_and_replays(verb, failing, tmp_path):
    path = tmp_path / "run.json"
    write(RAFT, failing, path)
    result = krafla(verb, str(path))
    if verb == "shrink":
        assert result.exit_code == 2
        assert f"{path}: nothing is found in this run: there is nothing to" in result.stderr
    else:
        assert result.exit_code == 0
