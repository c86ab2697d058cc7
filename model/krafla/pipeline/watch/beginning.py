"""Where a directory's history begins: at offset 0, or at a checkpoint that the log continues."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from krafla.audit import checkpoints
from krafla.audit.history import History
from krafla.audit.history_save import save, save_values
from krafla.audit.image import Image
from krafla.audit.inventory import unreadable
from krafla.pipeline.watch.cells import label_of
from kraft.errors import CorruptRecordError, UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec

__all__ = ["Beginning", "LaidCheckpoint", "beginning_on"]


class LaidCheckpoint(NamedTuple):
    """A checkpoint by its path, and where it lies on the bench."""

    path: str
    end: int
    place: Path


class Beginning(NamedTuple):
    """The saved history with which judging begins, and its tally; `on` is its checkpoint."""

    offset: int
    state: bytes
    tally: bytes
    on: str | None


def beginning_on(
    laid: LaidCheckpoint | None, loading: LoadingSpec, note: Callable[[Finding], None]
) -> Beginning | None:
    """Return the beginning on a checkpoint, or at offset 0 without one.

    None if the checkpoint cannot be read or breaks a spec. `note` is told what is wrong with it.
    """
    if laid is None:
        history = History(loading, 0, Image(), {})
        return Beginning(0, save(history), save_values(history.tally()), None)
    label = label_of(laid.path)
    try:
        image, faults = checkpoints.read(laid.place, judge=True)
    except (CorruptRecordError, UnreadableFileError) as error:
        error.path = label
        note(unreadable(error))
        return None
    for fault in faults:
        note(checkpoints.fault_finding(fault, label, laid.end))
    history = History(loading, laid.end, image, {}, laid.place)
    # The steps of the checkpoint name its place on the bench, which is not there tomorrow.
    ending = history.end()
    tally = history.tally()
    for found in (*ending.findings, *tally.of_raft):
        note(replace(found, path=label))
    if history.stopped:
        return None
    tally.of_raft = []
    return Beginning(laid.end, save(history), save_values(tally), laid.path)
