"""Two logs split: that is a violation if a checkpoint of the older one covers the offset."""

from __future__ import annotations

import pytest
from tests.krafla.audit.editing import LOG, METADATA
from tests.kraft.records.samples import leader_change, no_ops

from krafla.audit.compare import compare
from krafla.audit.inventory import take_inventory
from krafla.audit.result import Weight
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
