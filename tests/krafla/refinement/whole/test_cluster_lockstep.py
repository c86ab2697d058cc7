"""Whole clusters in lockstep with MetadataLog: those that are right, and those with a mistake.

Nothing else judges here: what is found, the lockstep has found.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from krafla.fuzz.quorum.playing import Case, play
from krafla.fuzz.seeded_bugs import find_mutant
from krafla.fuzz.whole.in_lockstep import METADATA_REFINEMENT, VisibleJudge
from krafla.fuzz.whole.system import CLUSTER, cluster_case_of
from krafla.refinement.metadata.metadata_spec import load_metadata
from krafla.refinement.raft.runs import quorum_of
from krafla.refinement.whole.lockstep import ClusterLockstep
from krafla.refinement.whole.spec_of_cluster import (
    ACTIONS,
    NEVER_TAKEN,
    SELDOM,
    Action,
    RefusalError,
    SpecOfCluster,
)
from krafla.values import record
from kraft.controller.quorum.effects import Append, CreateSnapshot, Reply, Resign
from kraft.controller.quorum.events import BatchesCommitted, LeaderChanged, RequestReceived
from kraft.controller.quorum.memory import after_batch
from kraft.controller.quorum.operations import OPERATIONS
from kraft.controller.quorum.state import is_active
from kraft.ids import Offset
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.raft.effects import HandleCommit
from kraft.records.lease import NoOpRecord
from kraft.sim.metadata.cluster import Configuration
from kraft.sim.metadata.values import SetValue
from kraft.sim.quorum.cluster import Simulation
from kraft.sim.quorum.configuration import SECOND, Knobs, QuorumConfiguration
from kraft.sim.whole.configuration import ClusterKnobs

QUIET = Case(
    QuorumConfiguration(voters=3, observers=2, calm=2 * SECOND, chaos=1 * SECOND, kinds=()),
    7,
    (),
    Knobs(segment_bytes=100_000),
    ClusterKnobs(admin_every_ms=80, snapshot_bytes=2_000),
)
# Each is found in the first example of seed 0, and by this.
NOTICED = {
    "answers-before-commit": "HandleWrite",
    "unchanged-answered-at-once": "AnswerUnchanged",
    "no-point-to-go-back-to": "HandleWrite",
    "one-answer-for-each-commit": "HandleCommit",
    "deferred-by-the-claim": "HandleWrite",
    "overflow-is-an-ordinary-error": "DelayUnchanged",
    "keeps-uncommitted": "Renounce",
    "who-steps-back-says-yes": "Renounce",
    "waiters-are-forgotten": "Renounce",
    "bootstraps-twice": "ClaimEmptyLog",
    "claims-late": "ClaimWrittenLog",
    "replay-ignores-shutdown": "HandleWrite",
    "replay-error-is-swallowed": "ReplayCommitted",
}


class SeesNothing:
    """An observer that holds nothing to any property."""

    def __init__(self) -> None:
        self.violation = None
        self.hazards: dict[str, int] = {}
        self.unpromised = 0

    def observe(self, _step):
        """Look away."""

    def finish(self, _acknowledged):
        """Look away."""


UNJUDGED = replace(CLUSTER, checks=lambda _stable: SeesNothing())


def simulated(case):
    return Simulation(
        case.configuration, case.seed, case.plan, case.knobs, workload=CLUSTER.workload(case)
    )


@pytest.fixture(scope="module")
def quiet():
    """A run without faults: what a judge must know before, and all steps."""
    simulation = simulated(QUIET)
    return quorum_of(simulation), tuple(simulation.steps())


def judged(quiet, alter=None):
    """Judge a run. `alter` may put another step in the place of the first that it knows."""
    quorum, steps = quiet
    lockstep = ClusterLockstep(quorum, QUIET.configuration.voters)
    altered = alter is None
    for step in steps:
        other = None if altered or step.listener is None else alter(step.listener)
        if other is not None:
            altered = True
            step = step._replace(listener=other)
        lockstep.judge(step)
        if lockstep.finding is not None:
            break
    assert altered, "no step was altered"
    return lockstep


def test_a_run_without_faults_is_judged_to_its_end_and_comes_to_these_actions(quiet):
    lockstep = judged(quiet)
    assert lockstep.finding is None, lockstep.finding
    assert lockstep.steps == len(quiet[1]) > 1_000
    assert lockstep.coverage.keys() >= {
        "Elect", "ClaimEmptyLog", "Ask", "HandleWrite", "AnswerUnchanged", "RunTask", "Commit",
        "HandleCommit", "ReplayCommitted", "CreateSnapshot", "AnswerRead",
    }  # fmt: skip
    assert lockstep.coverage["ReplayCommitted"] > 100


@pytest.mark.parametrize(("name", "action"), NOTICED.items(), ids=list(NOTICED))
def test_a_seeded_bug_is_noticed_without_any_other_check(name, action):
    case = cluster_case_of(0, 0)
    with find_mutant(name).applied() as probe:
        played = play(case, VisibleJudge, UNJUDGED)
    assert probe.triggered
    assert played.violation is not None
    assert played.violation.property == METADATA_REFINEMENT
    assert f": {action}(" in str(played.violation)


# What a broker or a controller could do that no seeded bug does.


def hears_of_commits(listener):
    """Return whether a controller hears of committed batches, after the first few."""
    return (
        listener.kind == "controller"
        and isinstance(listener.event, BatchesCommitted)
        and listener.before.stable_end > 10
    )


def ignores_a_commit(listener):
    """A broker keeps what it had when it is handed committed batches."""
    if listener.kind == "broker" and isinstance(listener.event, HandleCommit):
        view = listener.after
        if view.memory.end > 20:
            older = replace(
                view.memory, written=replace(view.memory.written, end=Offset(view.memory.end - 1))
            )
            return listener._replace(after=view._replace(memory=older))
    return None


def shows_what_was_never_written(listener):
    """A broker comes to an image that the log does not have there."""
    if listener.kind == "broker" and listener.after.memory.image.topics:
        memory = listener.after.memory
        image = structs.replace(memory.image, topics=EMPTY_IMAGE.topics)
        written = replace(memory.written, image=image)
        return listener._replace(
            after=listener.after._replace(memory=replace(memory, written=written))
        )
    return None


def reads_ahead(listener):
    """A broker replays a batch more than it was handed."""
    if listener.kind == "broker" and isinstance(listener.event, HandleCommit):
        memory = listener.after.memory
        ahead = after_batch(memory, (NoOpRecord(),), memory.end, memory.epoch)
        return listener._replace(after=listener.after._replace(memory=ahead))
    return None


def standby_keeps_its_state(listener):
    """A standby does nothing with committed batches."""
    if not hears_of_commits(listener) or is_active(listener.before):
        return None
    return listener._replace(after=listener.before)


def commits_what_nobody_wrote(listener):
    """Raft hands over a batch that is not the one that was appended."""
    if hears_of_commits(listener):
        batches = listener.event.batches
        if batches[-1].records:
            wrong = (*batches[:-1], replace(batches[-1], records=(NoOpRecord(), NoOpRecord())))
            return listener._replace(event=replace(listener.event, batches=wrong))
    return None


def appends_other_records(listener):
    """The active controller appends something else than it replays."""
    appended = [one for one in listener.effects if isinstance(one, Append)]
    if not appended or not is_active(listener.before):
        return None
    first, *rest = appended[0].records
    if isinstance(first, NoOpRecord):
        return None
    other = replace(appended[0], records=(NoOpRecord(), *rest))
    return listener._replace(effects=(other,))


def claims_without_being_told(listener):
    """A standby takes itself for active when it hears that another leads."""
    if isinstance(listener.event, LeaderChanged) and not is_active(listener.after):
        return listener._replace(after=replace(listener.after, claim_epoch=listener.event.epoch))
    return None


def answers_nobody(listener):
    """Who has parked an answer gives one to somebody who did not ask."""
    if not hears_of_commits(listener) or not listener.effects:
        return None
    return listener._replace(effects=(*listener.effects, Reply(10**9, None)))


def answers_something_else(listener):
    """A parked answer is another by the time it is given."""
    if not hears_of_commits(listener) or not listener.effects:
        return None
    effects = tuple(replace(one, response="other") for one in listener.effects)
    return listener._replace(effects=effects)


def says_nothing_to_a_reader(listener):
    """A read is not answered."""
    event = listener.event
    if isinstance(event, RequestReceived) and type(event.request) in OPERATIONS.reads:
        return listener._replace(effects=())
    return None


def snapshot_lacks_a_record(listener):
    """A snapshot does not say all that its controller shows."""
    effects = tuple(
        replace(one, records=one.records[:-1]) if isinstance(one, CreateSnapshot) else one
        for one in listener.effects
    )
    return listener._replace(effects=effects) if effects != listener.effects else None


def resigns_for_nothing(listener):
    """Raft is made to resign by a controller that stays active."""
    if listener.kind == "controller" and is_active(listener.after) and listener.effects:
        resigns = Resign(listener.after.claim_epoch)
        return listener._replace(effects=(*listener.effects, resigns))
    return None


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (ignores_a_commit, "ReplayCommitted"),
        (shows_what_was_never_written, "written.image: expected"),
        (reads_ahead, "write_end: expected"),
        (standby_keeps_its_state, "ReplayCommitted"),
        (commits_what_nobody_wrote, "Commit("),
        (appends_other_records, "written.image: expected"),
        (claims_without_being_told, "claim_epoch: expected -1"),
        (answers_nobody, "answers: unexpected"),
        (answers_something_else, "gives other answers"),
        (says_nothing_to_a_reader, "AnswerRead"),
        (snapshot_lacks_a_record, "snapshot.image: expected"),
        (resigns_for_nothing, "leader_epoch: expected"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_a_step_that_is_none_of_the_spec_is_found_at_once(quiet, alter, said):
    lockstep = judged(quiet, alter)
    assert lockstep.finding is not None
    assert said in str(lockstep.finding)


# The spec's own side.


def test_every_action_of_metadata_log_is_taken_by_runs_or_said_not_to_be():
    spec = load_metadata(Configuration((0,), (1,), (SetValue(0, 1),))).spec
    of_metadata_log = {action.name for action in spec.actions}
    assert of_metadata_log <= {*ACTIONS, *SELDOM, *NEVER_TAKEN}
    assert not {*ACTIONS, *SELDOM} & set(NEVER_TAKEN)
    side = SpecOfCluster({"n0"}, {"n1"})
    for name in (*ACTIONS, *SELDOM, *NEVER_TAKEN):
        assert side.spec.definition(name) is not None


def changes(before, after):
    return (record(type="Change", **{"from": before, "to": after}),)


@pytest.fixture
def written():
    """A spec in which n0 has written two batches, both committed, and has a snapshot of the first.

    Broker n1 has read nothing.
    """
    side = SpecOfCluster({"n0"}, {"n1"})
    for action in (
        Action("Elect", ("n0", 1, 0, ())),
        Action("ReplayCommitted", ("n0", 1)),
        Action("ClaimEmptyLog", ("n0", changes(0, 1))),
        Action("Commit", (1,)),
        Action("HandleCommit", ("n0", 2)),
        Action("CreateSnapshot", ("n0",)),
        Action("RunTask", ("n0", changes(1, 2))),
        Action("Commit", (1,)),
        Action("HandleCommit", ("n0", 3)),
    ):
        side.take(action)
    return side


def test_a_process_that_starts_has_nothing_in_memory_until_it_is_handed_its_snapshot(written):
    written.take(Action("LoadSnapshot", ("n1", "n0")))
    written.take(Action("ReplayCommitted", ("n1", 3)))
    assert written.value("ViewOf", "n1").written.image == 2
    written.take(Action("StartAnew", ("n1", 2)))
    view = written.value("ViewOf", "n1")
    assert (view.written.image, view.committed_end, view.snapshot.image) == (0, 0, 1)
    written.take(Action("LoadSnapshot", ("n1", "n1")))
    assert written.value("ViewOf", "n1").written.image == 1


def test_a_snapshot_that_is_no_longer_the_newest_of_its_writer_can_be_loaded(written):
    written.take(Action("CreateSnapshot", ("n0",)))
    written.take(Action("LoadOlderSnapshot", ("n1", 2)))
    view = written.value("ViewOf", "n1")
    assert (view.written.image, view.stable_end, view.snapshot.end) == (1, 2, 2)
    with pytest.raises(RefusalError, match="LoadOlderSnapshot"):
        written.take(Action("LoadOlderSnapshot", ("n0", 2)))


def test_only_who_is_not_active_sends_writes_away(written):
    request = record(id=1, records=changes(2, 3), result="answer 1")
    written.take(Action("Ask", (request,)))
    with pytest.raises(RefusalError) as refused:
        written.take(Action("RefuseRequest", ("n0", request)))
    assert "not enabled" in str(refused.value.explanation)
    written.take(Action("LoseLeadership", ("n0",)))
    written.take(Action("RefuseAppend", ("n0", request)))
    assert written.value("ToldTo", frozenset({request})) == frozenset({(1, "NOT_CONTROLLER")})
    assert written.value("ViewOf", "n0").claim_epoch == -1


def test_hundreds_of_batches_are_replayed_in_one_step():
    side = SpecOfCluster({"n0"}, {"n1"})
    side.take(Action("Elect", ("n0", 1, 0, ())))
    side.take(Action("ReplayCommitted", ("n0", 1)))
    side.take(Action("ClaimEmptyLog", ("n0", changes(0, 1))))
    for number in range(1, 1_000):
        side.take(Action("RunTask", ("n0", changes(number, number + 1))))
    side.take(Action("Commit", (1_000,)))
    side.take(Action("ReplayCommitted", ("n1", 1_001)))
    assert side.value("ViewOf", "n1").written.image == 1_000
