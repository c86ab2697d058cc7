"""A verdict line says what was judged, and a state that a sound node can be in is held."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    TIME,
    checkpoint,
    folded,
    leader_change,
    partition,
    prefix,
    topic,
)
from tests.krafla.audit.editing import LOG, METADATA, copied

from krafla.audit.render import counts_of
from krafla.audit.report_text import text_lines
from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import ExitCode, Verdict
from kraft.records.builder import metadata_batch

CLUSTER = "V3K6ZRUyTJSbL-UG_3kT-g"


def identity(folder, node):
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["version=1", f"cluster.id={CLUSTER}", f"node.id={node}"]
    (folder / "meta.properties").write_text("\n".join(lines) + "\n")


def member(folder, node, *batches):
    """Write a node with the real batches and some more."""
    identity(folder / f"n{node}", node)
    directory = folder / f"n{node}" / METADATA
    directory.mkdir()
    (directory / LOG).write_bytes(b"".join([*prefix()[0], *batches]))
    return directory


def tail(epoch):
    """Return batches after the real ones: a new leader's, or one that the old one appended."""
    end = prefix()[1]
    if epoch == 1:
        return [metadata_batch(end, 1, TIME, [NOTHING])]
    return [
        leader_change(end, epoch, 3001),
        metadata_batch(end + 1, epoch, TIME, [NOTHING]),
    ]


def lines(report):
    return list(text_lines(report))


def test_the_counts_are_of_the_records_that_were_judged(tmp_path, real_logs, loading):
    node = copied(real_logs / "failover" / "n3002", tmp_path / "n3002")
    report = audit([node], loading=loading)
    (directory,) = report.clusters[0].directories
    assert (directory.judged_records, directory.records) == (1029, 1048)
    assert counts_of(report)["judged_records"] == 1029
    said = lines(report)
    assert any(
        "1,029 of 1,048 records judged, offsets 523 to 1551, on"
        " 00000000000000000523-0000000008.checkpoint (the log has 504 to 1551, in" in line
        for line in said
    )
    assert any(line.startswith("HELD  1 cluster") and "1,029 of 1,048 records" in line
               for line in said)  # fmt: skip


def test_a_torn_tail_is_in_the_verdict_lines_with_its_offset(tmp_path, real_logs, loading):
    node = copied(real_logs / "combined" / "n1", tmp_path / "n1")
    log = node / METADATA / LOG
    log.write_bytes(log.read_bytes()[:-3])
    report = audit([node], loading=loading)
    (directory,) = report.clusters[0].directories
    assert (report.exit_code, directory.torn_at) == (ExitCode.HELD, directory.end_offset)
    said = lines(report)
    verdict = [line for line in said if line.startswith("HELD")]
    assert verdict[0].endswith(f", a torn tail at offset {directory.end_offset}")
    assert verdict[1].endswith(f", a torn tail at offset {directory.end_offset}")
    assert any("held" in line and f"torn tail at offset {directory.end_offset}" in line
               for line in said)  # fmt: skip


def test_the_tail_of_a_dead_leader_beside_two_nodes_that_went_on_is_held(tmp_path, loading):
    dead = member(tmp_path, 3000, *tail(1))
    for node in (3001, 3002):
        member(tmp_path, node, *tail(2))
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.HELD
    (found,) = report.clusters[0].all_findings()
    assert (found.weight, found.kind, found.path, found.offset) == (
        Weight.NOTE, "uncommitted tail", dead, prefix()[1],
    )  # fmt: skip


def fetched(tmp_path, records, name="0000000002"):
    """Write a node that fetched a checkpoint and stopped before it dropped its log, and two more.

    Return the findings and the checkpoint.
    """
    end = prefix()[1] + 2
    dead = member(tmp_path, 3000, *tail(1), metadata_batch(end - 1, 1, TIME, [NOTHING] * 4))
    path = dead / f"{end:020}-{name}.checkpoint"
    path.write_bytes(checkpoint(records, int(name)))
    for node in (3001, 3002):
        member(tmp_path, node, *tail(2))
    return dead, path


def test_a_crash_between_a_fetched_checkpoint_and_the_drop_of_the_log_is_held(tmp_path, loading):
    dead, _ = fetched(tmp_path, folded())
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.HELD
    (found,) = report.clusters[0].all_findings()
    assert (found.kind, found.path, found.offset) == ("uncommitted tail", dead, prefix()[1])
    by_node = {one.path: one.checkpoints for one in report.clusters[0].directories}
    assert by_node[dead] == 1


@pytest.mark.parametrize(
    ("records", "name", "kinds"),
    [
        (folded()[:-1], "0000000002", {"L4"}),
        (folded(topic("not valid"), partition()), "0000000002", {"L4", "T2"}),
        (folded(), "0000000003", {"L5", "divergence"}),
    ],
    ids=["another image", "an image that breaks an invariant", "an epoch that no log has"],
)
def test_a_fetched_checkpoint_that_no_log_can_have_made_is_refused(
    tmp_path, loading, records, name, kinds
):
    _, path = fetched(tmp_path, records, name)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    broken = [one for one in found if one.weight is Weight.VIOLATION]
    assert kinds <= {one.kind for one in broken}
    assert path in {one.path for one in broken}


def test_a_checkpoint_that_a_node_with_less_of_the_same_log_fetched_is_compared(tmp_path, loading):
    member(tmp_path, 3001, *tail(2))
    path = member(tmp_path, 3000) / f"{prefix()[1] + 2:020}-0000000002.checkpoint"
    path.write_bytes(checkpoint(folded()[:-1], 2))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert ("L4", path) in {(one.kind, one.path) for one in found}


def test_a_log_without_its_beginning_beside_a_fetched_checkpoint_is_not_judged(tmp_path, loading):
    dead, _ = fetched(tmp_path, folded())
    whole = (dead / LOG).read_bytes()
    tail_of_it = whole[len(b"".join(prefix()[0])) :]
    (dead / LOG).unlink()
    (dead / f"{prefix()[1]:020}.log").write_bytes(tail_of_it)
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.HELD
    said = {one.kind: one.detail for one in report.clusters[0].all_findings()}
    assert "older than the newest checkpoint; a start drops it" in said["not judged"]


def test_a_tail_that_most_voters_may_hold_stays_inconclusive(tmp_path, loading):
    member(tmp_path, 3000, *tail(1))
    member(tmp_path, 3001, *tail(2))
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert {f.kind for f in report.clusters[0].all_findings()} == {"divergence"}


def test_brokers_do_not_count_as_voters(tmp_path, loading):
    member(tmp_path, 3000, *tail(1))
    for node in (3001, 0, 1):
        member(tmp_path, node, *tail(2))
    assert audit([tmp_path], loading=loading).exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("content", [None, b""], ids=["no segment", "an empty segment"])
def test_a_freshly_formatted_node_is_held(tmp_path, loading, content):
    member(tmp_path, 3000)
    identity(tmp_path / "n3001", 3001)
    fresh = tmp_path / "n3001" / METADATA
    fresh.mkdir()
    if content is not None:
        (fresh / LOG).write_bytes(content)
    report = audit([tmp_path], loading=loading)
    assert [d.verdict for d in report.clusters[0].directories] == [Verdict.HELD, Verdict.HELD]
    (found,) = [f for f in report.clusters[0].all_findings() if f.kind == "freshly formatted"]
    assert (found.weight, found.path) == (Weight.NOTE, fresh)


def test_an_empty_log_without_an_identity_is_inconclusive(tmp_path, loading):
    (tmp_path / METADATA).mkdir()
    (tmp_path / METADATA / LOG).write_bytes(b"")
    assert audit([tmp_path], loading=loading).exit_code is ExitCode.INCONCLUSIVE
