"""Every seeded bug of Raft and of the stack is found, soon; the cheapest by what must notice it."""

from __future__ import annotations

import os

import pytest

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.mutant_search import (
    EXAMPLES_MAXIMUM,
    SECONDS_MAXIMUM,
    search,
    table_lines,
)
from krafla.fuzz.engine.system import find_system

# The first runs find these; the night looks for the others.
CHEAPEST = [
    ("raft", "vote-before-write", "VoteWrittenBeforeAnsweredInv"),
    ("raft", "asks-before-write", "VoteWrittenBeforeAnsweredInv"),
    ("raft", "vote-not-written", "VoteWrittenBeforeAnsweredInv"),
    ("raft", "epoch-not-written", "RoleMatchesStateInv"),
    ("raft", "boots-as-leader", "RestartProp"),
    ("raft", "boots-unattached", "RestartProp"),
    ("raft", "leader-never-flushes", "OnlyLeaderOwesFlushInv"),
    ("raft", "follower-never-flushes", "OnlyLeaderOwesFlushInv"),
    ("raft", "sent-is-received", "NotedIsDurableInv"),
    ("raft", "leader-keeps-high-watermark", "NewLeaderForgetsHighWatermarkProp"),
    ("raft", "observers-commit", "CommittedOnMajorityInv"),
    ("raft", "resigned-stays", "LeaderRememberedProp"),
    ("raft", "message-before-due-poll", "DueFirstProp"),
    ("raft", "sends-before-the-disk", "SentInOrderProp"),
    ("raft", "sends-in-any-order", "SentInOrderProp"),
    ("stack", "urgent-waits-its-turn", "AppendsAtOnceProp"),
    ("stack", "prepared-is-not-scheduled", "AppendsAtOnceProp"),
    ("stack", "leader-told-before-commits", "ToldInOrderProp"),
    ("stack", "told-at-the-append", "ToldInOrderProp"),
    ("stack", "snapshot-due-since-time-zero", "SnapshotsAreSpacedProp"),
    ("stack", "answers-before-commit", "RepliedIsCommittedProp"),
    ("stack", "last-answer-first", "AnswersInOrderProp"),
    ("stack", "one-answer-for-each-commit", "EveryRequestIsAnsweredProp"),
    ("stack", "claims-late", "LeaderClaimsProp"),
    ("stack", "control-records-move-stable", "EndsInOrderInv"),
    ("stack", "resigning-says-yes", "RepliedIsCommittedProp"),
    ("stack", "keeps-uncommitted", "RevertsToCommittedProp"),
    ("stack", "follows-beyond-its-log", "HighWatermarkInLogInv"),
    ("stack", "every-stop-was-clean", "UncleanIsNotEligibleProp"),
    ("stack", "settings-outlive-their-topic", "ImagesAgreeInv"),
    ("stack", "ended-token-lives-on", "TokenLivesItsTimeProp"),
    ("stack", "as-many-partitions-as-there-are", "AnsweredIsCommittedInv"),
    ("stack", "removed-entry-stays", "ImagesAgreeInv"),
]
FEW = {"raft": 20, "stack": 3}
# No minute of runs finds these bugs of the stack, for the reason given. Unit tests of the
# operations, and histories by hand, have them.
SELDOM = {
    "steps-back-without-resigning": "no controller steps back for an error of its own",
    "ahead-is-behind": "a controller knows all that a broker knows which takes it for active",
    "rebooted-replica-joins-isr": "the request must be in flight for a whole restart",
    "colliding-names": "topics with colliding names are seldom created",
    "any-process-fetched": "a replica with another disk must join within one replica lag",
    "commits-without-the-asked-for": "the leader must end between the grant and its next fetch",
    "joins-at-a-stale-high-watermark": "a new leader must let a replica in before it commits",
    "snapshot-before-the-bootstrap": "control records must first make up for a snapshot's bytes",
    "commits-with-too-few": "all replicas left in sync must lose their disks at once",
}
BY_DAY = {"two-voters-at-once", "unfences-too-soon"}
LOOKED_FOR = [
    pytest.param(word, mutant, id=f"{word} {mutant.name}")
    for word in ("raft", "stack")
    for mutant in find_system(word).mutants
    if not (word == "stack" and mutant.name in SELDOM)
    and (os.environ.get("KRAFLA_NIGHTLY") or mutant.name in BY_DAY)
]


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("word", "name", "property_name"), CHEAPEST)
def test_a_seeded_bug_is_found_by_what_must_notice_it(word, name, property_name):
    system = find_system(word)
    found = search(find_mutant(name, system), system, 0, FEW[word])
    assert found.failure is not None, list(table_lines([found]))
    assert found.failure.run.found_by == property_name
    assert found.triggered >= 1
    assert found.reached >= found.triggered


def test_without_the_bug_the_same_run_holds():
    raft = find_system("raft")
    found = search(find_mutant("sent-is-received", raft), raft, 0, FEW["raft"])
    case = raft.case_of(0, found.examples - 1, raft.kinds)
    assert raft.play(case).finding is None


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("word", "mutant"), LOOKED_FOR)
def test_every_seeded_bug_is_found_within_its_budget(word, mutant):
    found = search(mutant, find_system(word), 0, EXAMPLES_MAXIMUM, SECONDS_MAXIMUM)
    assert found.failure is not None, list(table_lines([found]))


def test_an_empty_snapshot_of_a_fresh_cluster_is_found():
    """The two mistakes together killed a standby of a real Kafka that loaded the snapshot.

    The quorum is a static one: a checkpoint with the first voters, once loaded, sets the time.
    """
    stack = find_system("stack")
    late, early = "snapshot-due-since-time-zero", "snapshot-before-the-bootstrap"
    with find_mutant(late, stack).applied(), find_mutant(early, stack).applied() as probe:
        case = stack.case_of(0, 2, stack.kinds)
        finding = stack.play(case).finding
    assert case.configuration.kraft_version == 0
    assert probe.triggered
    assert finding is not None
    assert finding.property == "SnapshotAfterBootstrapProp"


def test_there_are_enough_bugs_and_many_of_them_kafkas_own():
    raft, stack = find_system("raft").mutants, find_system("stack").mutants
    assert len(raft) >= 40
    assert sum("log." in one.place or "disk" in one.name for one in raft) >= 10
    assert sum("KAFKA-" in one.source for one in raft) >= 20
    assert len(stack) == 148
    assert sum("KAFKA-" in one.source for one in stack) == 64
    assert set(SELDOM) < {one.name for one in stack}


@pytest.mark.parametrize(
    ("word", "number", "name"),
    [("raft", 0, "vote-before-write"), ("stack", 6, "answers-before-commit")],
)
def test_a_bug_is_gone_after_its_block(word, number, name):
    system = find_system(word)
    case = system.case_of(0, number, system.kinds)
    first = system.play(case)
    with find_mutant(name, system).applied():
        assert system.play(case).finding is not None
    assert first.finding is None
    assert system.play(case).digest == first.digest
