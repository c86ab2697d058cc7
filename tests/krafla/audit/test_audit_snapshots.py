"""Nodes agree: a checkpoint's id on one content, an offset on one epoch. Each log is judged."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, TIME, change, checkpoint, folded, register
from tests.krafla.audit.test_broken_logs_checkpoints import END, MOVED, SAME, SETUP, node

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import Verdict
from kraft.records.builder import metadata_batch


def violations(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.path, f.offset) for f in found if f.weight is Weight.VIOLATION]


def beyond(folder, epoch, records):
    """Write a node whose log was cut at its start, with a checkpoint beyond its end."""
    target = node(folder, END, [[NOTHING]], {END: SAME})
    path = target / f"{END + 9:020}-{epoch:010}.checkpoint"
    path.write_bytes(checkpoint(records, epoch))
    return path


def test_checkpoints_of_one_id_that_no_log_reaches_are_equal(tmp_path, loading):
    beyond(tmp_path / "n1", 2, SAME)
    path = beyond(tmp_path / "n2", 2, [r for r in SAME if r[0] != 4])
    assert violations(tmp_path, loading) == [("L6", path, END + 9)]


def test_equal_checkpoints_of_one_id_are_held(tmp_path, loading):
    beyond(tmp_path / "n1", 2, SAME)
    beyond(tmp_path / "n2", 2, SAME)
    assert violations(tmp_path, loading) == []


def test_one_offset_has_one_epoch_on_all_nodes(tmp_path, loading):
    beyond(tmp_path / "n1", 2, SAME)
    path = beyond(tmp_path / "n2", 3, SAME)
    assert violations(tmp_path, loading) == [("S1", path, END + 9)]


def test_the_log_of_another_node_tells_the_epoch(tmp_path, loading):
    node(tmp_path / "n1", 0, [SETUP, MOVED], {})
    target = node(tmp_path / "n2", END - 1, [MOVED], {END - 1: folded(*SETUP)})
    log = target / f"{END - 1:020}.log"
    log.rename(log.with_suffix(".gone"))
    (target / f"{END - 4:020}.log").write_bytes(metadata_batch(END - 4, 1, TIME, SETUP))
    path = target / f"{END:020}-0000000003.checkpoint"
    path.write_bytes(checkpoint(SAME, 3))
    assert violations(tmp_path, loading)[0] == ("S1", path, END)


def test_epochs_do_not_fall_from_one_checkpoint_to_the_next(tmp_path, loading):
    beyond(tmp_path, 5, SAME)
    path = tmp_path / "__cluster_metadata-0" / f"{END + 12:020}-0000000004.checkpoint"
    path.write_bytes(checkpoint(SAME, 4))
    assert violations(tmp_path, loading) == [("S1", path, END + 12)]


def test_a_checkpoint_that_changes_a_broker_is_refused_at_the_record(tmp_path, loading):
    change = (17, 0, {"brokerId": 0, "brokerEpoch": register(0)[2]["brokerEpoch"], "fenced": 1})
    node(tmp_path, 0, [SETUP, MOVED], {END: [*SAME, change]})
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert found[0].kind == "S3"
    assert found[0].evidence.record is not None


@pytest.mark.parametrize("shared", [[], [[NOTHING]]], ids=["no batch shared", "a batch shared"])
def test_a_whole_log_is_judged_beside_a_longer_one_that_begins_later(tmp_path, loading, shared):
    # The longer history is judged first. It begins after the violation in the whole log.
    whole = node(tmp_path / "n1", 0, [SETUP, [change(isr=(0, 7))], *shared], {})
    node(tmp_path / "n2", END, [[NOTHING], [NOTHING] * (END + 1)], {END: SAME})
    for number in (1, 2):
        identity = f"version=1\ncluster.id=c\nnode.id={number}\n"
        (tmp_path / f"n{number}" / "meta.properties").write_text(identity)
    report = audit([tmp_path], loading=loading)
    first, second = report.clusters[0].directories
    assert first.end_offset < second.end_offset - END
    assert (first.path, first.verdict) == (whole, Verdict.VIOLATED)
    assert (second.judged_from, second.verdict) == (END, Verdict.HELD)
    (found,) = [one for one in first.findings if one.weight is Weight.VIOLATION]
    assert (found.kind, found.offset) == ("P1", END - 1)
