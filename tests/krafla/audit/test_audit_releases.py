"""Each rule that changed between releases: right, or a known bug, in its time, and wrong after."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    OTHER,
    TOPIC,
    Broken,
    feature,
    from_start,
    topic,
    written,
)
from tests.krafla.audit.old_logs import (
    ELECTED_LAST_KNOWN,
    ELR,
    ENDPOINT,
    LEAST_NAMED,
    NEW_INCARNATION,
    OldLog,
    elected_by_a_heartbeat,
    leaving,
    restarted_uncleanly,
    without_a_leader,
    without_directory,
)

from krafla.audit.releases import NEWEST, RELEASES, RULES
from krafla.audit.report_text import text_lines
from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.audit.specs import PARTITIONS
from krafla.verdict import ExitCode
from kraft.image.entries import LOST

PAGE = Path(__file__).parents[3] / "docs" / "audit-invariants.md"


def epoch_of_amendment(newest):
    log = OldLog(19, 27 if newest else 19)
    log.add(log.fence(0))
    return log, log.add(log.register(0, epoch=log.end))


def state_of_amendment(newest):
    log = OldLog(14, 21 if newest else 14)
    log.topic()
    offset = log.add(log.register(0, epoch=log.end))
    log.add(log.unfence(0))
    return log, offset


def early_completion(newest):
    log = OldLog(14, 20 if newest else 14)
    log.topic((0, 1))
    log.add(log.change(replicas=(2, 1, 0), addingReplicas=(2,), removingReplicas=(0,)))
    log.add(log.change(isr=(0,)))
    ended = {"addingReplicas": (), "removingReplicas": ()}
    return log, log.add(log.change(replicas=(2, 1), isr=(2,), leader=2, **ended))


def no_effect(newest):
    log = OldLog(11, 20 if newest else 11)
    log.topic()
    return log, log.add(log.change(leader=0))


def elected_in_a_lost_directory(newest):
    log = without_a_leader()
    if newest:
        log.add(log.change(directories=(LOST, LOST)))
        return log, log.add(log.change(leader=0))
    return log, log.add(log.change(leader=0, directories=(LOST, LOST)))


def repeated_by_a_heartbeat(newest):
    log = OldLog(19, 27 if newest else 19)
    log.topic((0,))
    gone = log.change(leader=-1)
    if newest:
        log.add(gone, without_directory(log, 0))
        return log, log.add(gone)
    return log, log.add(leaving(log, 0), gone, gone, without_directory(log, 0)) - 1


def elected_by_its_heartbeat(newest):
    log, (unfenced, elected, lost) = elected_by_a_heartbeat(19)
    if newest:
        log.add(unfenced, elected)
        return log, log.add(lost)
    return log, log.add(unfenced, elected, lost) - 1


def last_known_leader_elected(newest):
    log = restarted_uncleanly(27 if newest else 25)
    return log, log.add(log.change(**ELECTED_LAST_KNOWN))


def shrink_with_an_epoch(newest):
    log = OldLog(12 if newest else 11, 14)
    log.topic()
    return log, log.add(log.change(isr=(0, 1), leader=0))


def shrink_in_a_migration(newest):
    log = OldLog(14, 14)
    log.add((21, 0, {"zkMigrationState": 0 if newest else 2}))
    log.topic()
    return log, log.add(log.change(isr=(0, 1), leader=0))


def replaced_leader(newest):
    log = OldLog(27, 27, (ELR,)) if newest else OldLog(19, 19)
    log.topic()
    return log, log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))


def unclean_leader(newest):
    log = OldLog(4 if newest else 1, 7)
    log.topic()
    log.add(log.change(isr=(0, 1), leader=0))
    return log, log.add(log.change(isr=(2,), leader=2))


CASES = {
    "KAFKA-16952": epoch_of_amendment,
    "KAFKA-16757": state_of_amendment,
    "KAFKA-15665": early_completion,
    "KAFKA-16624": no_effect,
    "KIP-858 P14": elected_in_a_lost_directory,
    "KIP-858 E7": repeated_by_a_heartbeat,
    "KIP-858 P14 2": elected_by_its_heartbeat,
    "KAFKA-19522": last_known_leader_elected,
    "KAFKA-15021": shrink_with_an_epoch,
    "KAFKA-15109": shrink_in_a_migration,
    "KAFKA-18106": replaced_leader,
    "KIP-704": unclean_leader,
}
"""By rule, the log that is written by the rule's time, or after it, and the offset in question."""


def name_of(rule):
    """Return the id of a rule, with its first invariant and a number where another is alike."""
    same = [one for one in RULES if one.id == rule.id]
    alike = [one for one in same if one.invariants[0] == rule.invariants[0]]
    name = rule.id if len(same) == 1 else f"{rule.id} {rule.invariants[0]}"
    return name if alike[0] is rule else f"{name} {alike.index(rule) + 1}"


def findings(folder, loading):
    report = audit([folder], loading=loading)
    return report, [f for f in report.clusters[0].all_findings() if f.weight is not Weight.NOTE]


def test_every_rule_that_changed_has_a_case_and_a_row_on_the_page():
    assert [name_of(rule) for rule in RULES] == list(CASES)
    page = PAGE.read_text(encoding="utf-8")
    for rule in RULES:
        kind = "known bug" if rule.bug else "right then"
        row = (
            f"| {rule.id} | {', '.join(rule.invariants)} | {rule.until} | {kind} | {rule.before} |"
        )
        assert row in page


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_in_its_time_it_is_right_or_a_known_bug_behind_which_the_audit_goes_on(
    tmp_path, loading, rule
):
    log, offset = CASES[name_of(rule)](newest=False)
    last = log.add(NOTHING) if log.level >= 5 else log.end - 1
    log.write(tmp_path)
    report, found = findings(tmp_path, loading)
    assert report.clusters[0].directories[0].judged_to == last + 1
    if not rule.bug:
        assert {f.kind for f in found} == ({"L2"} if log.level < LEAST_NAMED else set())
        return
    (one,) = found
    assert (one.weight, one.offset) == (Weight.VIOLATION, offset)
    is_kip = rule.id.startswith("KIP-")
    kip = f"a bug of Kafka {rule.span} that has no issue, in {rule.id}"
    assert one.known_bug == (kip if is_kip else f"{rule.id}, a known bug of Kafka {rule.span}")
    assert any(name in one.name for name in rule.invariants)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_after_its_time_it_is_a_violation(tmp_path, loading, rule):
    log, offset = CASES[name_of(rule)](newest=True)
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert (found[0].weight, found[0].offset) == (Weight.VIOLATION, offset)
    assert found[0].known_bug is None
    assert any(one in found[0].name for one in rule.invariants)


def test_a_violation_behind_a_known_bug_is_found(tmp_path, loading):
    log, offset = epoch_of_amendment(newest=False)
    wrong = log.add((17, 0, {"brokerId": 0, "brokerEpoch": 2, "fenced": -1}))
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert [(f.offset, f.known_bug is None) for f in found] == [(wrong, True), (offset, False)]


@pytest.mark.parametrize("epoch", [1, 99], ids=["an epoch that falls", "an epoch to come"])
def test_an_amendment_that_the_bug_does_not_explain_is_a_violation(tmp_path, loading, epoch):
    log = OldLog(19, 19)
    log.add(log.fence(0))
    offset = log.add(log.register(0, epoch=epoch))
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert (found[0].offset, found[0].known_bug) == (offset, None)


def test_after_a_migration_a_controller_may_still_be_configured_to_migrate(tmp_path, loading):
    log = OldLog(21, 27)
    for state in (2, 1, 3):
        log.add((21, 0, {"zkMigrationState": state}))
    log.topic()
    log.add(log.change(isr=(0, 1), leader=0))
    log.add(feature("metadata.version", 22))
    offset = log.add(log.change(isr=(0,), leader=0))
    log.write(tmp_path)
    assert [(f.kind, f.offset) for f in findings(tmp_path, loading)[1]] == [("E6", offset)]


def completed_at_once(most):
    """Return a log in which one record sets and completes a target that is not all in sync."""
    log = OldLog(14, most)
    log.topic()
    log.add(log.change(isr=(0, 2)))
    return log, log.add(log.change(replicas=(0, 1), isr=(0,), leader=0))


def test_a_target_that_only_removes_completes_early_in_the_record_that_sets_it(tmp_path, loading):
    log, offset = completed_at_once(14)
    last = log.add(NOTHING)
    log.write(tmp_path)
    report, (found,) = findings(tmp_path, loading)
    assert (found.kind, found.offset) == ("X5", offset)
    assert found.known_bug == "KAFKA-15665, a known bug of Kafka 3.3 to 3.7"
    assert report.clusters[0].directories[0].judged_to == last + 1


def test_after_the_bug_no_target_completes_in_one_record_without_its_replicas(tmp_path, loading):
    log, offset = completed_at_once(20)
    log.write(tmp_path)
    _, (found, *_) = findings(tmp_path, loading)
    assert (found.kind, found.offset, found.known_bug) == ("X5", offset, None)


@pytest.mark.parametrize("most", [14, 20])
def test_a_new_target_completes_early_in_a_reassignment_that_is_stuck(tmp_path, loading, most):
    log = OldLog(14, most)
    log.topic()
    log.add(log.change(isr=(0,)))
    log.add(log.change(replicas=(1, 2, 0), removingReplicas=(0,)))
    offset = log.add(log.change(replicas=(0, 1), removingReplicas=(), leader=0))
    last = log.add(NOTHING)
    log.write(tmp_path)
    report, (found, *others) = findings(tmp_path, loading)
    assert (found.kind, found.offset, others) == ("X8", offset, [])
    bug = "KAFKA-15665, a known bug of Kafka 3.3 to 3.7"
    assert (found.known_bug, report.clusters[0].directories[0].judged_to) == (
        (bug, last + 1) if most == 14 else (None, last)
    )


@pytest.mark.parametrize("most", [14, 20])
def test_a_target_in_another_order_needs_no_replica_in_sync(tmp_path, loading, most):
    log = OldLog(14, most)
    log.topic()
    log.add(log.change(isr=(0, 2)))
    log.add(log.change(replicas=(2, 1, 0)))
    log.write(tmp_path)
    report, found = findings(tmp_path, loading)
    assert found == []
    assert report.clusters[0].spec_counts[PARTITIONS].passed_over == {}


@pytest.mark.parametrize(
    ("voter", "most", "held"),
    [(3000, 25, False), (3000, 27, False), (3000, 21, True), (3001, 27, True)],
    ids=["4.0", "4.1", "3.9", "the voter is not registered"],
)
def test_controllers_of_kafka_4_take_a_replaced_broker_out_of_the_isr(
    tmp_path, loading, voter, most, held
):
    log = OldLog(21, 27)
    versions = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": most}
    fields = {"controllerId": voter, "incarnationId": OTHER, "zkMigrationReady": False}
    log.add((27, 0, {**fields, "endPoints": (ENDPOINT,), "features": (versions,)}))
    log.topic()
    offset = log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))
    log.write(tmp_path)
    found = [(f.kind, f.offset) for f in findings(tmp_path, loading)[1]]
    assert found == ([] if held else [("P11", offset), ("P12", offset)])


def test_a_bug_is_said_once_with_the_number_of_other_records(tmp_path, loading):
    log = OldLog(19, 19)
    log.add(log.fence(0))
    offsets = [log.add(log.register(0, epoch=log.end)) for _ in range(3)]
    log.write(tmp_path)
    _, (found,) = findings(tmp_path, loading)
    assert found.offset == offsets[0]
    assert found.detail.endswith(f"; so at 2 more offsets ({offsets[1]}, {offsets[2]})")


def test_a_bug_is_counted_for_each_partition_with_an_equal_change(tmp_path, loading):
    log = OldLog(11, 11)
    log.topic()
    named, plain = log.batches[-1]
    log.batches[-1] = [named, *((*plain[:2], {**plain[2], "partitionId": n}) for n in range(5))]
    changes = [(5, 0, {"partitionId": n, "topicId": TOPIC, "leader": 0}) for n in range(5)]
    offset = log.add(*changes) - 4
    log.write(tmp_path / "once")
    _, (found,) = findings(tmp_path / "once", loading)
    assert (found.kind, found.offset) == ("E7", offset)
    assert found.detail.endswith("; so at 4 more offsets")
    log.add(log.fence(2), log.unfence(2))
    again = log.add(*changes[:1])
    log.write(tmp_path / "twice")
    _, (found,) = findings(tmp_path / "twice", loading)
    assert found.detail.endswith(f"; so at 5 more offsets ({again}, ...)")


@pytest.mark.parametrize("release", RELEASES, ids=[release.name for release in RELEASES])
def test_the_report_names_the_release(tmp_path, loading, release):
    OldLog(release.most, release.most).write(tmp_path)
    report = audit([tmp_path], loading=loading)
    assert report.clusters[0].releases.startswith(f"Kafka {release.name} (metadata.version ")
    assert any(f"release      Kafka {release.name} (" in line for line in text_lines(report))


def test_an_upgraded_cluster_has_a_range_of_releases(tmp_path, loading):
    log = OldLog(19, 19)
    log.most = NEWEST.most
    log.add(log.fence(0))
    log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))
    log.write(tmp_path)
    said = audit([tmp_path], loading=loading).clusters[0].releases
    assert said == "Kafka 3.7 to 4.1 (metadata.version 19; nodes support 1 to 19, 7 to 27)"


def test_without_registrations_the_release_is_at_least_that_of_the_version(tmp_path, loading):
    from_start(tmp_path, [feature("metadata.version", 11)])
    said = audit([tmp_path], loading=loading).clusters[0].releases
    assert said == "Kafka 3.5 or later (metadata.version 11)"


UNKNOWN = {
    "metadata.version": feature("metadata.version", 29),
    "a level of a feature": feature("share.version", 9),
    "a feature": feature("streams.version", 1),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_level_beyond_the_newest_release_is_inconclusive(tmp_path, loading, what):
    level = [] if what == "metadata.version" else [feature("metadata.version", 27)]
    from_start(tmp_path, [*level, UNKNOWN[what]], [NOTHING])
    report, (found,) = findings(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert (found.kind, found.offset) == ("unknown level", 1 + len(level))
    assert "by the rules of 4.1" in found.detail


def test_what_breaks_a_rule_behind_an_unknown_level_is_inconclusive(tmp_path, loading):
    from_start(tmp_path, [feature("metadata.version", 29)], [topic("not valid")])
    report, found = findings(tmp_path, loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert {(f.kind, f.offset) for f in found} >= {("T2", 2), ("unknown level", 1)}


def test_what_breaks_a_rule_with_an_unknown_level_is_a_violation(tmp_path, loading):
    log, offset = written(tmp_path, Broken([[feature("metadata.version", 29)]], (0, 0)))
    report, found = findings(log, loading)
    assert report.exit_code is ExitCode.VIOLATED
    assert ("B8", offset) in {(f.kind, f.offset) for f in found}
