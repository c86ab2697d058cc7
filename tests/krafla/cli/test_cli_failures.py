"""A failure as each command prints it, whole: sentence, conjunct with values, steps, commands."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import find_system
from krafla.traces import read_whole_trace, write_trace

ROOT = Path(__file__).parents[3]
LIFE = read_whole_trace(ROOT / "traces" / "accepted" / "lease" / "register-and-unfence.ndjson")
CLAIMS_LATE = ROOT / "tests" / "krafla" / "fuzz" / "stack" / "claims_late_of_version_1.json"
CONJUNCT = """\
    BrokerLease.tla:263
        status' = [status EXCEPT ![i] = "STARTING"]
      is false
      status' = (p1: RUNNING, p2: NOT_RUNNING)
      [status EXCEPT ![i] = "STARTING"] = (p1: STARTING, p2: NOT_RUNNING)
      status = (p1: NOT_RUNNING, p2: NOT_RUNNING)
      i = p1
"""
INITIAL = """\
      controller  contact_age[1] = -1
                  controlled_shutdown_offset[1] = -1
                  leads = {}
                  log_end = 0
                  metadata_offset[1] = -1
                  registrations[1] = Nil
      p1          applied_offset = -1
                  broker_epoch = -1
                  clock_lead = 0
                  lease_age = -1
                  request_age = -1
                  status = NOT_RUNNING
      p2          applied_offset = -1
                  broker_epoch = -1
                  clock_lead = 0
                  lease_age = -1
                  request_age = -1
                  status = NOT_RUNNING
"""
STEPS = f"""
  the one step that leads there (+ enters, - leaves, x: a -> b was a and is now b)
  0 Init
{INITIAL}\
  1 StartBroker(p1)   <- HERE   BrokerLease:261
      p1          status: NOT_RUNNING -> RUNNING
    p1: "broker-1-process-1---A", BrokerOf 1
    unchanged in these steps: controller, p2

  go on with
"""
EXPLAIN = "    krafla explain t.ndjson   # every step, node by node; --html FILE: as a page\n"
NO_SUCH_STEP = "the spec does not have this step"
DENIED = f"""\
  the spec does not have step 1: StartBroker leads to another value of status
  StartBroker: A process starts.
{CONJUNCT}\
    part         spec expects   was done
    status[p1]   STARTING       RUNNING
"""
REPLAY = f"""\
VIOLATED  t.ndjson: 0 of 1 steps are steps of BrokerLeaseProperties
{DENIED}{STEPS.replace("HERE", NO_SUCH_STEP)}{EXPLAIN}"""
FOLLOW = f"""\
INCONCLUSIVE  t.ndjson: the implementation follows 0 of 1 steps
  step 1, StartBroker: the implementation comes to another state; it is right, for the spec does not
  have that step
{CONJUNCT}\
    part         the trace has   the implementation has
    status[p1]   RUNNING         STARTING
{STEPS.replace("HERE", "the implementation leaves the trace here")}{EXPLAIN}"""
VALIDATE = f"""\
VIOLATED  t.ndjson
  observation 2 of 2, StartBroker(p1), is no step of the spec here, at t.ndjson:3
  StartBroker: A process starts.
{CONJUNCT}\
    part         spec expects   was seen
    status[p1]   STARTING       RUNNING
{STEPS.replace("HERE", NO_SUCH_STEP).removesuffix("  go on with" + chr(10))}\
  matched    1 of 2 observations, 1 candidate state
  searched   1 state; no hidden steps

  go on with
    krafla validate t.ndjson --any-hidden   # whether steps that were not seen explain it
"""
FUZZ = """\
VIOLATED  run 0 (moves), found at step 12; 1 of 12 steps are left
  step 1, StartReassignment: the code did what the spec does not allow
  StartReassignment: The operator gives the partition a new assignment.
    Reassignment.tla:184: ChangePartition(NewAssignment(partition, target), ActiveBrokers)
    Reassignment.tla:153
        partition' = Replay(partition, Build(partition, ask, acceptable))
      is false
      partition' = [adding {}, isr {1, 2}, leader 1, leader_epoch 1, partition_epoch 1, \
recovery RECOVERED, removing {}, replicas [2]]
      Replay(partition, Build(partition, ask, acceptable)) = [adding {}, isr {2}, leader 2, \
leader_epoch 1, partition_epoch 1, recovery RECOVERED, removing {}, replicas [2]]
      partition = [adding {}, isr {1, 2}, leader 1, leader_epoch 0, partition_epoch 0, \
recovery RECOVERED, removing {}, replicas [1, 2]]
      Build(partition, ask, acceptable) = [isr {2}, leader 2, replicas [2]]
      ask = [adding {}, election ONLINE, isr {1, 2}, recovery RECOVERED, removing {1}, \
replicas [2, 1]]
      acceptable = {1, 2, 3, 4}
    part               spec expects   was done
    partition.isr      (not there)    1
    partition.leader   2              1
    the state breaks IsrSubsetReplicasInv: The ISR is not empty, and its members are replicas.
    the state breaks PermittedChangesProp: The steps that may change each part of the partition.

  the one step that leads there (+ enters, - leaves, x: a -> b was a and is now b)
  0 Init
      controller  partition.adding = {}
                  partition.isr = {1, 2}
                  partition.leader = 1
                  partition.leader_epoch = 0
                  partition.partition_epoch = 0
                  partition.recovery = RECOVERED
                  partition.removing = {}
                  partition.replicas = [1, 2]
                  registrations[1] = [epoch 0, fenced FALSE, in_controlled_shutdown FALSE, \
registered TRUE]
                  registrations[2] = [epoch 0, fenced FALSE, in_controlled_shutdown FALSE, \
registered TRUE]
                  registrations[3] = [epoch 0, fenced FALSE, in_controlled_shutdown FALSE, \
registered TRUE]
                  registrations[4] = [epoch 0, fenced FALSE, in_controlled_shutdown FALSE, \
registered TRUE]
      b1          leading = Nil
      b2          leading = Nil
      b3          leading = Nil
      b4          leading = Nil
  1 StartReassignment([2])   <- the spec does not have this step   Reassignment:181
      controller  partition.leader_epoch: 0 -> 1
                  partition.partition_epoch: 0 -> 1
                  partition.replicas loses in front: [1]
    unchanged in these steps: b1, b2, b3, b4

  played     1 run, 28 steps judged by the spec (.../s), 9 distinct states, actions 8/16, \
witnesses 5/25
  digest     03390f719aed777fe62927750a5cefd5

  go on with
    krafla explain krafla-reassignment-0-0-StartReassignment.ndjson \
# every step, node by node; --html FILE: as a page
    krafla replay krafla-reassignment-0-0-StartReassignment.json \
# the same run of the implementation, judged again
    krafla fuzz reassignment --seed 0 --examples 1 --profile moves # the same runs again
"""


def krafla(*arguments):
    """Return what a command prints on a terminal that is a hundred columns wide."""
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"})
    result = runner.invoke(application(arguments[0]), list(arguments))
    # What a command does stands after it, in a column.
    return re.sub(r" +# ", " # ", result.stdout)


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    """A folder with a trace of one step, which leaves a process in the wrong state."""
    state = LIFE.steps[1].state
    (process, *_) = state["status"]
    state = state.replace(status=state["status"].updated(process, "RUNNING"))
    write_trace(LIFE.with_steps((LIFE.steps[0], replace(LIFE.steps[1], state=state))),
          tmp_path / "t.ndjson")  # fmt: skip
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("command", "expected"),
    [("replay", REPLAY), ("replay --impl", FOLLOW), ("validate", VALIDATE)],
    ids=["replay", "replay --impl", "validate"],
)
@pytest.mark.usefixtures("wrong")
def test_a_wrong_step_is_sentence_conjunct_steps_and_commands(command, expected):
    verb, *options = command.split()
    assert krafla(verb, "t.ndjson", *options) == re.sub(r" +# ", " # ", expected)


@pytest.mark.usefixtures("wrong")
def test_explain_has_the_same_words_before_the_steps():
    text = krafla("explain", "t.ndjson")
    first, *rest = STEPS.replace("HERE", NO_SUCH_STEP).splitlines()[2:-2]
    assert (
        text.index(DENIED) < text.index("    constants: ") < text.index("\n".join([first, *rest]))
    )


def test_a_finding_of_a_fuzz_is_sentence_conjunct_steps_and_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bug = find_mutant("completes-and-keeps-removed-in-sync", find_system("reassignment"))
    with bug.applied():
        text = krafla("fuzz", "reassignment", "--profile", "moves", "--examples", "5", "--quiet")
    assert re.sub(r"(?<=\()[\d,]+(?=/s)", "...", text) == FUZZ


def test_a_run_on_machines_is_sentence_finding_steps_of_the_node_and_faults_before_it():
    text = krafla("replay", str(CLAIMS_LATE))
    pieces = [
        "A controller is active when told that it leads, and only then.",
        "LeaderClaimsProp is false at step ",
        "the controller of node ",
        "the last steps of node ",
        "controller takes LeaderChanged(epoch ",
        "the machines",
    ]
    places = [text.find(piece) for piece in pieces]
    assert places == sorted(places), text
    assert -1 not in places, text
    (until,) = re.findall(r"LeaderClaimsProp is false at step \d+, ([\d.]+) s", text)
    begun = text.partition("the faults that had begun")[2]
    assert all(
        float(at) <= float(until) for at in re.findall(r"^ +([\d.]+) s ", begun, re.MULTILINE)
    )


def test_coverage_is_shown_only_if_asked_for():
    arguments = ("fuzz", "lease", "--profile", "restless", "--examples", "1", "--steps", "60", "-q")
    plain, covered = krafla(*arguments), krafla(*arguments, "--coverage")
    assert "  never  " not in plain
    assert re.search(r"^ +\d+  Tick$", covered, re.MULTILINE)
    assert re.search(r"^ +never  \w+Reach$", covered, re.MULTILINE)
