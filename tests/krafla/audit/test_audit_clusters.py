"""Logs are grouped into clusters, and the logs of a cluster must agree."""

from __future__ import annotations

import shutil
from itertools import pairwise

import pytest
from tests.krafla.audit.breaking import leader_change
from tests.krafla.audit.editing import (
    LOG,
    METADATA,
    PRODUCER_IDS,
    copied,
    edited,
    records,
    with_fields,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import ExitCode, Verdict
from kraft.log.segment import iter_batches
from kraft.log.text_files import read_quorum_state
from kraft.records.builder import encode_batch

PROPERTIES = "meta.properties"


@pytest.fixture
def cluster(tmp_path, real_logs):
    """A cluster of two nodes with the same log."""
    source = real_logs / "crash" / "n3000"
    copied(source, tmp_path / "cluster" / "n3000")
    second = copied(source, tmp_path / "cluster" / "n3001")
    rename(second, "node.id", "3001")
    rename(second, "directory.id", "AAAAAAAAAAAAAAAAAAABAA")
    return tmp_path / "cluster"


def rename(node, key, value):
    """Give a node's meta.properties another value."""
    lines = (node / PROPERTIES).read_text().splitlines()
    changed = [f"{key}={value}" if line.startswith(f"{key}=") else line for line in lines]
    assert changed != lines, "nothing was renamed"
    (node / PROPERTIES).write_text("\n".join(changed) + "\n")


def kinds(report, weight):
    return [
        finding.kind
        for cluster in report.clusters
        for finding in cluster.findings
        if finding.weight is weight
    ]


def shortened(path, batches):
    """Keep the first batches of a log."""
    path.write_bytes(b"".join(batch.raw for batch in list(iter_batches(path))[:batches]))


def reencoded(batch):
    """Return a batch with one NoOpRecord in place of its single record."""
    assert batch.count == 1
    return encode_batch(
        batch.base_offset,
        batch.leader_epoch,
        batch.base_timestamp + 1,
        [b"\x01\x14\x00\x00"],
    )


def test_nodes_with_the_same_log_share_one_history(cluster, loading):
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert report.histories == 1
    first, second = report.clusters[0].directories
    assert (first.same_history_as, second.same_history_as) == (None, first.path)
    assert (first.judged_from, first.judged_to) == (0, 587)


def test_a_node_that_stopped_earlier_is_covered_by_the_longer_log(cluster, loading):
    shortened(cluster / "n3000" / METADATA / LOG, 200)
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert report.histories == 1
    first, second = report.clusters[0].directories
    assert first.same_history_as == second.path
    assert first.judged_to == first.end_offset < second.end_offset


def test_a_violation_is_charged_to_the_nodes_that_hold_the_record(cluster, loading):
    for node in ("n3000", "n3001"):
        log = cluster / node / METADATA / LOG
        log.write_bytes(edited(log, {501: with_fields(brokerEpoch=13)}))
    shortened(cluster / "n3000" / METADATA / LOG, 200)
    report = audit([cluster], loading=loading)
    verdicts = [directory.verdict for directory in report.clusters[0].directories]
    assert verdicts == [Verdict.HELD, Verdict.VIOLATED]


def test_a_changed_copy_is_a_divergence_that_names_both_nodes(cluster, loading):
    log = cluster / "n3001" / METADATA / LOG
    (offset, *_) = (r.offset for r in records(log, PRODUCER_IDS))
    log.write_bytes(edited(log, {offset: with_fields(nextProducerId=5)}))
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.VIOLATED
    assert report.histories == 2
    (found,) = report.clusters[0].findings
    assert (found.kind, found.offset) == ("divergence", offset)
    assert str(cluster / "n3000" / METADATA) in found.detail
    assert str(cluster / "n3001" / METADATA) in found.detail


def test_a_batch_of_another_epoch_is_a_divergence_where_the_logs_meet_again(
    tmp_path, real_logs, loading
):
    source = real_logs / "failover" / "n3002"
    copied(source, tmp_path / "n3002")
    other = copied(source, tmp_path / "n3001")
    rename(other, "node.id", "3001")
    rename(other, "directory.id", "AAAAAAAAAAAAAAAAAAABAA")
    log = other / METADATA / "00000000000000000504.log"
    batches = list(iter_batches(log))
    last_of_epoch, next_epoch = next(
        (b, after.leader_epoch)
        for b, after in pairwise(batches)
        if b.leader_epoch < after.leader_epoch
    )
    # The CRC does not cover the epoch: only the comparison of two nodes can notice.
    raw = bytearray(log.read_bytes())
    raw[last_of_epoch.position + 15] = next_epoch
    log.write_bytes(bytes(raw))
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.VIOLATED
    (found,) = report.clusters[0].findings
    assert found.offset == last_of_epoch.base_offset
    assert "the same offset and epoch in both" in found.detail


def test_a_tail_of_an_older_epoch_may_never_have_been_committed(cluster, loading):
    log = cluster / "n3001" / METADATA / LOG
    batches = list(iter_batches(log))
    tail = next(b for b in reversed(batches) if b.count == 1)
    kept = [b.raw for b in batches if b.base_offset < tail.base_offset]
    state = cluster / "n3001" / METADATA / "quorum-state"
    leader = read_quorum_state(state).leader_id
    begun = leader_change(tail.base_offset, tail.leader_epoch + 1, leader)
    log.write_bytes(b"".join([*kept, begun]))
    known = f'"leaderEpoch":{tail.leader_epoch}'
    state.write_text(state.read_text().replace(known, f'"leaderEpoch":{tail.leader_epoch + 1}'))
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert kinds(report, Weight.INCONCLUSIVE) == ["divergence"]
    assert "never have been committed" in report.clusters[0].findings[0].detail


def test_a_tail_of_the_same_epoch_is_a_divergence(cluster, loading):
    log = cluster / "n3001" / METADATA / LOG
    batches = list(iter_batches(log))
    tail = next(b for b in reversed(batches) if b.count == 1)
    kept = [b.raw for b in batches if b.base_offset < tail.base_offset]
    log.write_bytes(b"".join([*kept, reencoded(tail)]))
    assert kinds(audit([cluster], loading=loading), Weight.VIOLATION) == ["divergence"]


def test_another_cluster_id_among_the_nodes_is_one_finding(cluster, loading):
    copied(cluster / "n3000", cluster / "n3002")
    rename(cluster / "n3002", "node.id", "3002")
    rename(cluster / "n3002", "cluster.id", "DrCI0XzgTJ6oly5_3WHyxw")
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    found = [f for c in report.clusters for f in c.findings]
    assert [f.kind for f in found] == ["several clusters"]
    assert str(cluster / "n3002" / PROPERTIES) in str(found[0])
    assert all(d.verdict is Verdict.HELD for c in report.clusters for d in c.directories)


def test_nodes_of_two_clusters_side_by_side_are_mixed(tmp_path, real_logs, loading):
    copied(real_logs / "crash" / "n3000", tmp_path / "mixed" / "n3000")
    copied(real_logs / "combined" / "n1", tmp_path / "mixed" / "n1")
    report = audit([tmp_path / "mixed"], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert kinds(report, Weight.UNREADABLE) == ["several clusters"]


def test_two_nodes_with_one_node_id_are_one_finding(cluster, loading):
    rename(cluster / "n3001", "node.id", "3000")
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (found,) = report.clusters[0].findings
    assert found.kind == "duplicate node id"
    assert str(cluster / "n3000" / PROPERTIES) in str(found)
    assert str(cluster / "n3001" / PROPERTIES) in str(found)


def test_a_copied_node_directory_is_one_finding(cluster, loading):
    copied(cluster / "n3000", cluster / "n3000-copy")
    report = audit([cluster], loading=loading)
    assert kinds(report, Weight.UNREADABLE) == ["duplicate node id"]


def test_an_old_disk_inside_a_nodes_folder_is_compared_but_not_a_duplicate(cluster, loading):
    copied(cluster / "n3000", cluster / "n3000" / "old-data")
    shortened(cluster / "n3000" / "old-data" / METADATA / LOG, 100)
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert len(report.clusters[0].directories) == 3


def test_clusters_in_separate_folders_are_not_mixed(tmp_path, real_logs, cluster, loading):
    copied(real_logs / "combined", tmp_path / "combined")
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert [c.folder for c in report.clusters] == [cluster, tmp_path / "combined" / "n1"]


def test_two_copies_of_a_cluster_taken_at_different_times_are_two_clusters(
    tmp_path, real_logs, cluster, loading
):
    copied(cluster, tmp_path / "later")
    copied(real_logs / "combined", tmp_path / "combined")
    report = audit([cluster, tmp_path / "later", tmp_path / "combined"], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert len(report.clusters) == 3


def test_a_bare_copy_without_an_identity_joins_the_cluster_it_shares_batches_with(cluster, loading):
    shutil.copytree(cluster / "n3000" / METADATA, cluster / "bare" / METADATA)
    report = audit([cluster], loading=loading)
    assert len(report.clusters) == 1
    assert report.histories == 1


def test_bare_copies_of_different_clusters_are_not_compared(tmp_path, real_logs, loading):
    for name, node in (("a", "crash/n3000"), ("b", "combined/n1")):
        shutil.copytree(real_logs / node / METADATA, tmp_path / name / METADATA)
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert [c.cluster_id for c in report.clusters] == [None, None]


@pytest.fixture
def linked(cluster, tmp_path):
    """The link to a node that lies elsewhere, beside the other node of its cluster."""
    (cluster / "n3001").rename(tmp_path / "n3001")
    (cluster / "n3001").symlink_to(tmp_path / "n3001")
    return cluster / "n3001"


def test_a_node_behind_a_link_is_noted(linked, loading):
    report = audit([linked.parent], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert [one.path.parent.name for one in report.clusters[0].directories] == ["n3000"]
    (found,) = report.findings
    assert (found.weight, found.kind, found.path) == (Weight.NOTE, "link not followed", linked)
    assert "name it as a PATH of its own" in found.detail


@pytest.mark.parametrize("named", ["the link", "its target", "a folder with its target"])
def test_a_node_behind_a_link_that_is_named_is_audited_and_not_noted(
    linked, tmp_path, loading, named
):
    # The folder has the cluster as well.
    paths = {"the link": linked, "its target": linked.resolve()}
    report = audit([linked.parent, paths.get(named, tmp_path)], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert len([one for found in report.clusters for one in found.directories]) == 2
    assert report.findings == ()


def test_links_that_hide_no_node_are_not_noted(cluster, tmp_path, loading):
    (cluster / "n3002").symlink_to("n3000")
    (cluster / "n3000" / METADATA / "old").symlink_to(tmp_path)
    (cluster / "server.properties").symlink_to(cluster / "n3000" / PROPERTIES)
    report = audit([cluster], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert len(report.clusters[0].directories) == 2
    assert report.findings == ()


def test_a_path_with_nothing_but_a_link_names_the_link(linked, tmp_path, loading):
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "n1"
    link.symlink_to(linked.resolve())
    report = audit([tmp_path / "links"], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert [one.kind for one in report.findings] == ["nothing to audit", "link not followed"]
    assert report.findings[0].detail.endswith(f"; the link {link} is not followed")


def test_a_path_given_twice_is_audited_once(cluster, loading):
    report = audit([cluster, cluster / "n3000"], loading=loading)
    assert len(report.clusters[0].directories) == 2
