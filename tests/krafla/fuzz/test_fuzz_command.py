"""``krafla fuzz`` on the command line: what it refuses, lists, and says of seeded bugs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.krafla.fuzz.fuzz_runs import ALL, CHOICE_DRIVEN, ON_MACHINES, fuzz, krafla
from tests.krafla.takers import check_taken

from krafla.fuzz.engine import mutant_search
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import NAMES, System, find_system
from krafla.verdict import KraflaError

OLD_WORDS = {
    "together": "cluster",
    "whole": "stack",
    "quorum": "raft",
    "controlling": "metadata",
    "moving": "reassignment",
    "registering": "registration",
}
BESIDE_REPLAY = "not together with --replay"
BESIDE_MUTANTS = "not together with --mutants"
NOT_ON_MACHINES = "only for `krafla fuzz` lease, metadata, reassignment, registration, cluster"
ON_MACHINES_ONLY = "only for `krafla fuzz` raft, stack"
REFUSED = [
    *((f"{command} {old}", f"{old!r} is called {new!r} now")
      for old, new in OLD_WORDS.items() for command in ("fuzz", "campaign")),
    *((f"{command} cluster --faults kill", f"--faults: only for `krafla {command}` raft, stack; "
       f"did you mean `krafla {command} stack`?")
      for command in ("fuzz", "campaign")),
    ("fuzz rafting", "nothing is called 'rafting' here; did you mean raft?"),
    ("fuzz xyzzy", f"there are: {', '.join(NAMES)}"),
    ("fuzz raft --faults kil", "no fault is called 'kil'; did you mean kill"),
    ("fuzz raft --faults no-such-fault", "`krafla fuzz raft --faults list` shows them"),
    *((f"fuzz raft --faults {word}", f"no fault is called {word.split(',')[-1]!r}")
      for word in ("broker", "kill,broker-shutdown", "lost-directory")),
    ("fuzz stack --faults netwrk,kill", "no fault is called 'netwrk'; did you mean network"),
    ("fuzz raft --mutants second-votes", "no seeded bug 'second-votes'; did you mean second-vote"),
    ("fuzz lease --mutants two-request-in-flight", "did you mean two-requests-in-flight"),
    ("fuzz raft --mutants no-such-bug", "`krafla fuzz raft --mutants list` shows them"),
    ("fuzz lease --profile restles", "'restles' is no profile of lease; did you mean restless"),
    ("fuzz lease --profile kafka-9", "kafka-4.1"),
    ("fuzz reassignment --profile restless",
     "'restless' is no profile of reassignment; it is one of lease"),
    ("fuzz cluster --profile moves", "'moves' is no profile of cluster; it is one of reassignment"),
    *((f"fuzz {one.word} --faults loss --lockstep",
       f"--faults, --lockstep: {ON_MACHINES_ONLY}") for one in CHOICE_DRIVEN),
    *((f"fuzz {one.word} --chaos 3", f"--chaos: {ON_MACHINES_ONLY}") for one in CHOICE_DRIVEN),
    *((f"fuzz {one.word} --steps 5 --profile x", f"--steps, --profile: {NOT_ON_MACHINES}")
      for one in ON_MACHINES),
    *((f"fuzz {one.word} --replay nothere.json", "nothere.json: there is no such file")
      for one in ALL),
    *((f"fuzz {one.word} --replay x --examples 2 --seconds 3 --workers 2",
       f"--examples, --seconds, --workers: {BESIDE_REPLAY}") for one in ALL),
    ("fuzz raft --replay x --examples 3 --lockstep", f"--examples, --lockstep: {BESIDE_REPLAY}"),
    ("fuzz raft --replay x --chaos 3", f"--chaos: {BESIDE_REPLAY}"),
    ("fuzz lease --replay x --mutants all", f"--mutants: {BESIDE_REPLAY}"),
    ("fuzz raft --mutants all --lockstep --json", f"--lockstep, --json: {BESIDE_MUTANTS}"),
    ("fuzz raft --mutants all --chaos 3", f"--chaos: {BESIDE_MUTANTS}"),
    ("fuzz lease --mutants all --profile restless", f"--profile: {BESIDE_MUTANTS}"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_run_exits_with_2_and_one_sentence(line, said, tmp_path):
    command, *arguments = line.split()
    more = (str(tmp_path / "out"), "--seeds", "0..1") if command == "campaign" else ()
    result = krafla(command, *arguments, *more, "--quiet")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize("word", NAMES)
def test_all_faults_and_seeded_bugs_can_be_listed_with_what_they_are(word):
    system = find_system(word)
    listed = fuzz(word, "--mutants", "list")
    assert listed.exit_code == 0
    told = [tuple(line.split(maxsplit=1)) for line in listed.output.splitlines()]
    assert told == [(bug.name, f"{bug.sentence} ({bug.source})") for bug in system.mutants]
    if "--profile" in system.takes:
        listed = fuzz(word, "--profile", "list")
        assert listed.exit_code == 0
        *lines, _ = listed.output.splitlines()
        assert [(line[0] == "*", *line[1:].split(maxsplit=1)) for line in lines] == [
            (name in system.default_profiles, name, profile.sentence)
            for name, profile in system.profiles.items()
        ]
    if "--faults" in system.takes:
        faults = fuzz(word, "--faults", "list")
        drawn = [line.split()[2] for line in faults.output.splitlines() if line.startswith("*")]
        assert faults.exit_code == 0
        assert tuple(drawn) == system.kinds
        assert ("broker-shutdown" in faults.output) == (word == "stack")


def test_help_teaches_the_seven_systems():
    result = krafla("fuzz", "--help")
    assert result.exit_code == 0
    assert "krafla fuzz stack --seconds 60" in result.output
    assert all(word in result.output for word in NAMES)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("example", ALL, ids=lambda example: example.word)
def test_the_run_that_found_a_seeded_bug_is_in_the_table_and_kept(example, tmp_path):
    name, word = example.bug, example.word
    result = fuzz(word, "--mutants", name, "--save", str(tmp_path / "found"))
    assert result.exit_code == 0, result.output
    assert "1 seeded bugs; each was found" in result.output
    assert f"reproduce  krafla fuzz {word} --mutants {name} --seed 0 --examples " in result.output
    (kept,) = (tmp_path / "found").glob("*.json")
    assert f"replay     krafla replay {kept}" in result.output
    again = fuzz(word, "--replay", str(kept))
    assert again.exit_code == 1
    assert f"with the seeded bug {name}" in again.output
    assert "the same run as in the file" in again.output
    (row,) = (line for line in result.output.splitlines() if line.startswith(name))
    assert row.split()[-1] in again.output
    kind = "a run on machines" if example in ON_MACHINES else "a run of choices"
    # A run of the stack without its bug takes long; those of raft are kept in the same way.
    without = ("keep",) if word == "stack" else ()
    smaller = check_taken(kept, kind, tmp_path, without)
    assert krafla("replay", str(smaller)).exit_code == 1
    for trace in (tmp_path / "found").glob("*.ndjson"):
        # It is the trace that was made of the run for the other verbs.
        check_taken(trace, kind, tmp_path, ("explain", "validate", "keep"))


@pytest.mark.nightly
def test_seeded_bugs_are_searched_for_with_another_seed():
    result = fuzz("lease", "--mutants", "all", "--seed", "3", "--examples", "1")
    assert result.exit_code == 1
    assert "31 seeded bugs; not found: " in result.output
    assert "reproduce  krafla fuzz lease --mutants all --seed 3 --examples 1" in result.output


def test_ctrl_c_leaves_the_seeded_bugs_that_were_looked_for(monkeypatch):
    right, asked = mutant_search.search, []

    def search(mutant, *limits):
        asked.append(mutant.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return right(mutant, *limits)

    monkeypatch.setattr(mutant_search, "search", search)
    result = fuzz("raft", "--mutants", "vote-before-write,asks-before-write")
    assert result.exit_code == 130
    assert "VoteWrittenBeforeAnsweredInv" in result.output
    assert "stopped after 1 of 2 seeded bugs" in result.output


@pytest.mark.parametrize(
    ("word", "name"),
    [("raft", "boots-unattached"), ("lease", "heartbeat-does-not-renew-session")],
)
def test_a_seeded_bug_that_is_not_found_exits_with_1(word, name, monkeypatch):
    # A mistake that is none: nothing can find it.
    harmless = replace(find_mutant(name, find_system(word)), wrong=lambda right, _probe: right)
    monkeypatch.setattr(System, "mutants", (harmless,))
    result = fuzz(word, "--mutants", "all", "--examples", "2")
    assert result.exit_code == 1
    assert f"not found: {name}" in result.output


def test_a_finding_that_cannot_be_kept_is_shown_all_the_same(monkeypatch):
    def fails(*_):
        raise KraflaError("Read-only file system", "here")

    (lease, *_) = CHOICE_DRIVEN
    monkeypatch.setattr("krafla.fuzz.engine.run_file.write", fails)
    with lease.broken():
        result, as_json = fuzz(*lease.arguments), fuzz(*lease.arguments, "--json")
    assert result.exit_code == as_json.exit_code == 1
    assert lease.said in result.stdout
    assert "not saved (--save names another folder): here: Read-only" in result.stderr
    assert json.loads(as_json.stdout)["failure"]["saved"] == []
