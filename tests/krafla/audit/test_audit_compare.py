"""Logs of one cluster that split, and the leaders that they and their quorum-state files name."""

from __future__ import annotations

import json

import pytest
from tests.krafla.audit.breaking import leader_change as elected
from tests.krafla.audit.editing import LOG, METADATA
from tests.kraft.records.samples import leader_change, no_ops

from krafla.audit.compare import UNCOMMITTED_TAIL, compare, leader_conflicts
from krafla.audit.invariants import LEADER_OF_EPOCH
from krafla.audit.inventory import take_inventory
from krafla.audit.result import Weight
from kraft.ids import ZERO_UUID
from kraft.log.directory import find_metadata_logs

SPLIT = 3
NAMES = {"older first": ("a", "b"), "newer first": ("b", "a")}


def split_logs(tmp_path, names, checkpoints):
    """Return the inventories of an older and a newer log that differ from `SPLIT` on, by name.

    `checkpoints` has the end offset of a checkpoint for "older", "newer" or both.
    """
    for name, role, epoch in zip(names, ("older", "newer"), (1, 2), strict=True):
        directory = tmp_path / name / METADATA
        directory.mkdir(parents=True)
        tail = [no_ops(offset, epoch=epoch) for offset in range(SPLIT, SPLIT + 3)]
        (directory / LOG).write_bytes(b"".join([leader_change(), no_ops(1), no_ops(2), *tail]))
        if role in checkpoints:
            (directory / f"{checkpoints[role]:020}-0000000001.checkpoint").touch()
    return [take_inventory(log) for log in find_metadata_logs(tmp_path)]


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("end", [SPLIT + 1, SPLIT + 2])
def test_a_checkpoint_of_the_older_log_shows_that_the_offset_was_committed(tmp_path, names, end):
    (found,) = compare(split_logs(tmp_path, names, {"older": end}))
    older = tmp_path / names[0] / METADATA
    assert (found.weight, found.kind, found.offset) == (Weight.VIOLATION, "divergence", SPLIT)
    assert found.detail.endswith(f", and {older} has committed that offset, by a checkpoint")


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize(
    "checkpoints",
    [
        {},
        {"newer": SPLIT + 1},
        {"newer": SPLIT + 3},
        {"older": SPLIT},
        {"older": SPLIT - 1},
        {"older": SPLIT, "newer": SPLIT + 2},
    ],
    ids=str,
)
def test_without_such_a_checkpoint_the_older_log_may_have_an_uncommitted_tail(
    tmp_path, names, checkpoints
):
    (found,) = compare(split_logs(tmp_path, names, checkpoints))
    assert (found.weight, found.kind, found.offset) == (Weight.INCONCLUSIVE, "divergence", SPLIT)
    assert found.detail.endswith("; the older one may never have been committed")
    assert found.evidence is None


def members(folder, logs, state=None):
    """Return the inventories of nodes with these ids and batches, and this quorum-state file."""
    for number, batches in logs.items():
        directory = folder / f"n{number}" / METADATA
        directory.mkdir(parents=True)
        identity = f"version=1\ncluster.id=c\nnode.id={number}\n"
        (directory.parent / "meta.properties").write_text(identity)
        (directory / LOG).write_bytes(b"".join(batches))
        if state is not None:
            (directory / "quorum-state").write_text(json.dumps(state))
    return [take_inventory(log) for log in find_metadata_logs(folder)]


@pytest.mark.parametrize(
    ("voters", "expected"),
    [
        ((1, 2, 3), (Weight.NOTE, UNCOMMITTED_TAIL)),
        ((1, 2, 3, 4), (Weight.INCONCLUSIVE, "divergence")),
    ],
    ids=["two of three", "two of four"],
)
def test_half_of_the_voters_are_no_majority(tmp_path, voters, expected):
    begun = [leader_change(leader=1), no_ops(1)]
    newer = [*begun, elected(2, 2, 2, voters)]
    logs = members(tmp_path, {1: [*begun, no_ops(2)], 2: newer, 3: newer})
    assert {(found.weight, found.kind) for found in compare(logs)} == {expected}


@pytest.mark.parametrize(
    ("leader", "epoch", "held"),
    [(1, 2, True), (3, 3, True), (-1, 2, True), (3, 2, False), (1, 1, False)],
    ids=["the same", "of a later epoch", "none", "another", "another in an earlier epoch"],
)
def test_a_quorum_state_names_no_other_leader_than_its_log(tmp_path, leader, epoch, held):
    state = {"leaderId": leader, "leaderEpoch": epoch, "votedId": -1, "data_version": 1}
    batches = [elected(0, 1, 2), elected(1, 2, 1)]
    logs = members(tmp_path, {1: batches}, {**state, "votedDirectoryId": ZERO_UUID})
    found = leader_conflicts(logs)
    assert (not found) is held
    for one in found:
        assert (one.weight, one.kind) == (Weight.VIOLATION, LEADER_OF_EPOCH.id)
        assert one.path == logs[0].path / "quorum-state"
        assert f"node {leader} leads epoch {epoch}, but node {3 - epoch} by " in one.detail
