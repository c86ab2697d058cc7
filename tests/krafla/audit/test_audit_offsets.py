"""Whole batches whose offsets do not continue a log are a violation, at the batch to blame."""

from __future__ import annotations

import gzip

import pytest
from tests.krafla.audit.breaking import TIME, checkpoint
from tests.krafla.audit.editing import LOG, METADATA, copied

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import ExitCode
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch

NO_OP = (20, 0, {})


@pytest.fixture
def node(tmp_path, real_logs):
    return copied(real_logs / "combined" / "n1", tmp_path / "n1")


def batches(log):
    """Return the batches in the middle of a log, and the bytes of all of them."""
    read = list(iter_batches(log))
    raw = log.read_bytes()
    parts = [raw[one.position : one.position + one.size] for one in read]
    return read, parts, len(read) // 2


def only_violation(report):
    every = [f for one in report.clusters for f in one.all_findings()]
    (found,) = [f for f in every if f.weight is Weight.VIOLATION]
    assert (report.exit_code, found.kind) == (ExitCode.VIOLATED, "L13")
    return found


def without_one(parts, at):
    return [*parts[:at], *parts[at + 1 :]], at + 1


def with_one_twice(parts, at):
    return [*parts[:at], parts[at - 1], *parts[at:]], at - 1


def with_two_swapped(parts, at):
    return [*parts[:at], parts[at + 1], parts[at], *parts[at + 2 :]], at + 1


@pytest.mark.parametrize("edit", [without_one, with_one_twice, with_two_swapped])
def test_a_log_is_judged_up_to_the_batch_that_does_not_continue_it(node, loading, edit):
    log = node / METADATA / LOG
    read, parts, at = batches(log)
    assert read[at - 1].leader_epoch == read[at + 1].leader_epoch
    edited, blamed = edit(parts, at)
    log.write_bytes(b"".join(edited))
    report = audit([node], loading=loading)
    found = only_violation(report)
    place = sum(map(len, parts[:at]))
    assert (found.path, found.position, found.offset) == (log, place, read[blamed].base_offset)
    assert f"starts at {found.offset}, the one before it ends at {read[at].base_offset - 1}" in (
        found.detail
    )
    left = len(log.read_bytes()) - place
    assert found.detail.endswith(f"; nothing from there on is judged: {left:,} bytes of the file")
    (directory,) = report.clusters[0].directories
    assert (directory.judged_to, directory.end_offset) == (read[at].base_offset,) * 2


def test_the_segments_of_a_log_continue_one_another(node, loading):
    log = node / METADATA / LOG
    read, parts, at = batches(log)
    log.write_bytes(b"".join(parts[:at]))
    offset = read[at + 1].base_offset
    later = log.with_name(f"{offset:020}.log")
    later.write_bytes(b"".join(parts[at + 1 :]))
    found = only_violation(audit([node], loading=loading))
    assert (found.path, found.position, found.offset) == (later, 0, offset)


def test_a_segment_begins_at_the_offset_of_its_name(node, loading):
    log = node / METADATA / LOG
    read, parts, at = batches(log)
    log.write_bytes(b"".join(parts[:at]))
    later = log.with_name(f"{read[at].base_offset:020}.log")
    later.write_bytes(b"".join(parts[at + 1 :]))
    found = only_violation(audit([node], loading=loading))
    assert (found.path, found.offset) == (later, read[at + 1].base_offset)
    assert f"the segment is named {read[at].base_offset} and starts with" in found.detail


def test_the_batches_of_a_checkpoint_continue_one_another(node, loading):
    log = node / METADATA / LOG
    whole = checkpoint([NO_OP])
    end = max(one.next_offset for one in iter_batches(log))
    path = log.with_name(f"{end:020}-0000000001.checkpoint")
    path.write_bytes(whole + metadata_batch(1000, 1, TIME, [NO_OP]))
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.VIOLATED
    assert [f.offset for f in report.clusters[0].all_findings() if f.kind == "L13"] == [1000]


def test_one_segment_in_two_files_is_unreadable_and_no_violation(node, loading):
    log = node / METADATA / LOG
    log.with_name(f"{LOG}.gz").write_bytes(gzip.compress(log.read_bytes()))
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (found,) = [f for f in report.clusters[0].all_findings() if f.weight is Weight.UNREADABLE]
    assert found.path == log.with_name(f"{LOG}.gz")
    assert found.detail == f"{LOG} is the same segment"
