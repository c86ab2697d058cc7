"""The stack in lockstep with MetadataLogSteps: a correct run, and runs with a mistake.

Nothing else judges here, so every finding is the lockstep's.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from msgspec import structs
from tests.krafla.refinement.stack.stack_runs import (
    DROPPED,
    STORMY,
    UNCHECKED,
    judged,
    refused_append,
    stormy_run,
    stormy_simulation,
)

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.stack.lockstep_judge import METADATA_REFINEMENT, VisibleJudge
from krafla.fuzz.stack.system import SYSTEM, stack_case_of
from krafla.refinement.stack.lockstep import StackLockstep
from krafla.refinement.stack.spec import ACTIONS, SELDOM
from kraft.controller.effects import Append, CreateSnapshot, Reply, Resign
from kraft.controller.events import (
    AppendRefused,
    BatchesCommitted,
    LeaderChanged,
    RequestReceived,
    SnapshotLoaded,
)
from kraft.controller.memory import after_batch
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.resignation import NOT_CONTROLLER
from kraft.controller.state import is_active
from kraft.ids import Offset
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.raft.effects import HandleCommit
from kraft.records.lease import NoOpRecord
from kraft.rpc.topics import DeleteTopicsRequest

# The seeded bugs that the first example of seed 0 finds, with the action that is refused.
NOTICED = {
    "answers-before-commit": "HandleWrite",
    "unchanged-answered-at-once": "AnswerUnchanged",
    "no-point-to-go-back-to": "HandleWrite",
    "one-answer-for-each-commit": "HandleCommit",
    "deferred-by-the-claim": "HandleWrite",
    "overflow-is-an-ordinary-error": "DelayUnchanged",
    "keeps-uncommitted": "Renounce",
    "resigning-says-yes": "Renounce",
    "waiters-are-forgotten": "Renounce",
    "bootstraps-twice": "ClaimEmptyLog",
    "claims-late": "ClaimWrittenLog",
    "replay-ignores-shutdown": "HandleWrite",
    "replay-error-is-swallowed": "ReplayCommitted",
}


VISIBLE = replace(UNCHECKED, judge=VisibleJudge)


@pytest.fixture(scope="module")
def run():
    """The quorum of the stormy run, and all its steps."""
    return stormy_run()


def test_a_correct_run_is_judged_to_its_end_and_takes_every_action(run):
    lockstep = judged(run)
    assert lockstep.finding is None, lockstep.finding
    assert lockstep.steps == len(run[1]) > 5_000
    assert set(ACTIONS) <= lockstep.coverage.keys() <= {*ACTIONS, *SELDOM}
    assert lockstep.coverage["ReplayCommitted"] > 100


@pytest.mark.parametrize(("name", "action"), NOTICED.items(), ids=list(NOTICED))
def test_a_seeded_bug_is_noticed_without_any_other_check(name, action):
    case = stack_case_of(0, 0)
    # Without requests at the edges, of which there are many, the mistakes come sooner.
    case = replace(case, above=replace(case.above, edge_every_ms=0, token_lifetime_ms=0))
    with find_mutant(name, SYSTEM).applied() as probe:
        played = VISIBLE.play(replace(case, lockstep=True))
    assert probe.triggered
    assert played.kind == ("property", METADATA_REFINEMENT)
    assert f": {action}(" in played.detail


# Mistakes of a broker or a controller that are no seeded bugs. Each alters one step of the run.


def hears_of_commits(listener):
    """Return whether a controller hears of committed batches, after the first few."""
    return (
        listener.kind == "controller"
        and isinstance(listener.event, BatchesCommitted)
        and listener.before.stable_end > 10
    )


def ignores_a_commit(listener):
    """A broker keeps its state when it receives committed batches."""
    if listener.kind == "broker" and isinstance(listener.event, HandleCommit):
        view = listener.after
        if view.memory.end > 20:
            older = replace(
                view.memory, written=replace(view.memory.written, end=Offset(view.memory.end - 1))
            )
            return listener._replace(after=view._replace(memory=older))
    return None


def shows_what_was_never_written(listener):
    """A broker shows an image that the log does not have there."""
    if listener.kind == "broker" and listener.after.memory.image.topics:
        memory = listener.after.memory
        image = structs.replace(memory.image, topics=EMPTY_IMAGE.topics)
        written = replace(memory.written, image=image)
        return listener._replace(
            after=listener.after._replace(memory=replace(memory, written=written))
        )
    return None


def reads_ahead(listener):
    """A broker replays one batch more than it received."""
    if listener.kind == "broker" and isinstance(listener.event, HandleCommit):
        memory = listener.after.memory
        ahead = after_batch(memory, (NoOpRecord(),), memory.end, memory.epoch)
        return listener._replace(after=listener.after._replace(memory=ahead))
    return None


def standby_keeps_its_state(listener):
    """A standby ignores committed batches."""
    if not hears_of_commits(listener) or is_active(listener.before):
        return None
    return listener._replace(after=listener.before)


def commits_what_nobody_wrote(listener):
    """Raft delivers another batch than the one that was appended."""
    if hears_of_commits(listener):
        batches = listener.event.batches
        if batches[-1].records:
            wrong = (*batches[:-1], replace(batches[-1], records=(NoOpRecord(), NoOpRecord())))
            return listener._replace(event=replace(listener.event, batches=wrong))
    return None


def appends_other_records(listener):
    """The active controller appends other records than it replays."""
    appended = [one for one in listener.effects if isinstance(one, Append)]
    if not appended or not is_active(listener.before):
        return None
    first, *rest = appended[0].records
    if isinstance(first, NoOpRecord):
        return None
    other = replace(appended[0], records=(NoOpRecord(), *rest))
    return listener._replace(effects=(other,))


def claims_without_being_told(listener):
    """A standby becomes active when it hears that another node leads."""
    if isinstance(listener.event, LeaderChanged) and not is_active(listener.after):
        return listener._replace(after=replace(listener.after, claim_epoch=listener.event.epoch))
    return None


def answers_nobody(listener):
    """A controller answers a request that was never made."""
    if not hears_of_commits(listener) or not listener.effects:
        return None
    return listener._replace(effects=(*listener.effects, Reply(10**9, None)))


def answers_something_else(listener):
    """A deferred answer has changed by the time it is sent."""
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


def answers_a_reader_something_else(listener):
    """A read is answered with something else than the node shows."""
    said = says_nothing_to_a_reader(listener)
    return said and said._replace(effects=(Reply(listener.event.token, "other"),))


def refuses_a_request_for_nothing(listener):
    """A request that asks for nothing is answered with something."""
    said = answers_a_reader_something_else(listener)
    return said and said._replace(event=replace(said.event, request=DeleteTopicsRequest(())))


def snapshot_lacks_a_record(listener):
    """A snapshot lacks a record of what its controller shows."""
    effects = tuple(
        replace(one, records=one.records[:-1]) if isinstance(one, CreateSnapshot) else one
        for one in listener.effects
    )
    return listener._replace(effects=effects) if effects != listener.effects else None


def stays_active_when_refused(listener):
    """Raft has refused a batch, and its controller keeps the state with it."""
    if isinstance(listener.event, AppendRefused) and is_active(listener.before):
        return listener._replace(after=listener.before, effects=())
    return None


def appends_when_raft_does_not_lead(listener):
    """Raft accepts a batch of a controller for which it no longer leads."""
    return DROPPED if stays_active_when_refused(listener) else None


def loads_another_snapshot(listener):
    """A node receives a snapshot and keeps what it had."""
    if isinstance(listener.event, SnapshotLoaded) and listener.event.records:
        return listener._replace(after=listener.before)
    return None


class RemembersItsPast:
    """A new broker process has in memory what the previous one had."""

    def __init__(self):
        self.memories = {}

    def __call__(self, listener):
        if listener.kind != "broker":
            return None
        view = listener.after
        broker = view.life.lifecycle.broker_id
        last = self.memories.get(broker, view.memory)
        self.memories[broker] = view.memory
        if view.memory.end >= last.end:
            return None
        return listener._replace(after=view._replace(memory=last))


def resigns_for_nothing(listener):
    """A controller makes Raft resign and stays active."""
    if listener.kind == "controller" and is_active(listener.after) and listener.effects:
        resigns = Resign(listener.after.claim_epoch)
        return listener._replace(effects=(*listener.effects, resigns))
    return None


def tells_two_answers(listener):
    """A wrong answer is sent before the right one."""
    if not hears_of_commits(listener) or not listener.effects:
        return None
    wrong = replace(listener.effects[0], response="other")
    return listener._replace(effects=(wrong, *listener.effects))


def parks_an_answer_twice(listener):
    """An answer is deferred twice."""
    if listener.kind == "controller" and listener.after.deferred:
        parked = listener.after.deferred
        return listener._replace(after=replace(listener.after, deferred=(*parked, parked[-1])))
    return None


def says_that_it_is_no_controller(listener):
    """The active controller answers NOT_CONTROLLER to a request that changes nothing."""
    event, effects = listener.event, listener.effects
    if not isinstance(event, RequestReceived) or not is_active(listener.before):
        return None
    if type(event.request) in OPERATIONS.reads:
        return None
    if len(effects) != 1 or not isinstance(effects[0], Reply):
        return None
    return listener._replace(effects=(replace(effects[0], response=NOT_CONTROLLER),))


def appends_in_another_epoch(listener):
    """The active controller appends in an epoch that it has not claimed."""
    if not is_active_controller(listener) or not any_of(Append, listener):
        return None
    effects = tuple(
        replace(one, epoch=99) if isinstance(one, Append) else one for one in listener.effects
    )
    return listener._replace(effects=effects)


def is_refused_while_raft_leads(listener):
    """Raft refuses an append although it leads, and its controller steps back."""
    if not is_active_controller(listener) or listener.effects:
        return None
    refused = AppendRefused(listener.event.now_ms, listener.before.claim_epoch)
    return listener._replace(event=refused)


def is_active_controller(listener):
    return listener.kind == "controller" and is_active(listener.before)


def any_of(kind, listener):
    return any(isinstance(one, kind) for one in listener.effects)


def test_a_request_whose_append_raft_refuses_gets_that_one_answer(run):
    appends, refused = refused_append(run[1])
    asked = appends.event.token
    says_yes = (*appends.effects, Reply(asked, "yes"))
    says_nothing = tuple(
        one for one in refused.effects if not isinstance(one, Reply) or one.token != asked
    )
    for right, effects in ((appends, says_yes), (refused, says_nothing)):
        wrong = right._replace(effects=effects)
        lockstep = judged(run, {id(right): wrong}.get, key=id)
        assert lockstep.finding is not None
        assert "gives other answers" in str(lockstep.finding)


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
        (answers_a_reader_something_else, "AnswerRead"),
        (refuses_a_request_for_nothing, "AnswerRead"),
        (snapshot_lacks_a_record, "snapshot.image: expected"),
        (stays_active_when_refused, "RefuseAppend"),
        (appends_when_raft_does_not_lead, "HandleWrite("),
        (loads_another_snapshot, "LoadSnapshot"),
        (RemembersItsPast(), "a step that is no action changes the state"),
        (resigns_for_nothing, "leader_epoch: expected"),
        (tells_two_answers, "gives other answers"),
        (parks_an_answer_twice, "deferred: "),
        (says_that_it_is_no_controller, "gives other answers"),
        (appends_in_another_epoch, "appends in epoch 99"),
        (is_refused_while_raft_leads, "RefuseAppend"),
    ],
    ids=lambda one: getattr(one, "__name__", "" if isinstance(one, str) else "remembers"),
)
def test_a_step_that_the_spec_forbids_is_found_at_once(run, alter, said):
    lockstep = judged(run, alter)
    assert lockstep.finding is not None
    assert said in str(lockstep.finding)


# Where the judging ends.


def test_a_disk_with_an_old_image_ends_the_judging(run):
    judge = VisibleJudge(stormy_simulation())
    steps = run[1]
    half = len(steps) // 2
    for step in steps[:half]:
        assert judge.judge(step) is None
    judged_before = judge.judged
    assert judge.judge(steps[half]._replace(kind="fault", fault="old-image")) is None
    # The steps after the fault are not those of the spec.
    for step in steps[half + 200 :]:
        assert judge.judge(step) is None
    assert judge.judged == judged_before > 0


def test_a_sole_voter_that_lost_what_only_it_had_ends_the_judging(run):
    quorum, steps = run
    lockstep = StackLockstep(quorum, STORMY.configuration.voters)
    for step in steps:
        is_again = step.kind == "start" and lockstep.log.end > 20 and step.replica.node_id < 3
        if is_again:
            alone = SimpleNamespace(voters=SimpleNamespace(node_ids=(step.replica.node_id,)))
            log = SimpleNamespace(end_offset=5, latest_snapshot=None)
            after = SimpleNamespace(role=step.after.role, controls=alone, log=log)
            step = step._replace(after=after)
        lockstep.judge(step)
        assert lockstep.is_over == is_again
        if is_again:
            return
    pytest.fail("no controller started again")
