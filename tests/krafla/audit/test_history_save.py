"""A history that is saved and restored goes on as if nothing had happened."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.krafla.audit.breaking import NOTHING
from tests.krafla.audit.editing import METADATA
from tests.krafla.audit.old_logs import OldLog
from tests.krafla.audit.test_audit_heartbeats import leaving, without_directory

from krafla.audit import history_save
from krafla.audit.history import History
from krafla.audit.history_outcome import outcome_of
from krafla.audit.history_replay import Replay
from krafla.audit.history_save import digest_of, restore, restore_values, save, save_values
from krafla.audit.image import Image
from krafla.audit.saved_values import SavedStateError, ValueSaver
from kraft.log.directory import open_metadata_log, read_metadata_log

CRASH = Path(__file__).parents[3] / "traces" / "kafka-4.1" / "crash" / "n3000" / METADATA


def batches(folder):
    return [*read_metadata_log(open_metadata_log(folder))]


def histories(loading, log):
    """Return the outcome of the whole log, and the saved state and tally before each batch."""
    history, saved = History(loading, 0, Image(), {}), []
    for batch in log:
        saved.append((save(history), save_values(history.tally())))
        history.add(batch)
    return history.outcome(), saved


def check_each(loading, log, places):
    whole, saved = histories(loading, log)
    for at in places:
        state, tally = saved[at]
        history = restore(state, loading, {})
        assert save(history) == state
        for batch, (later, _) in zip(log[at:], saved[at:], strict=True):
            assert digest_of(save(history)) == digest_of(later), (at, batch.base_offset)
            history.add(batch)
        ending = history.end()
        found = outcome_of(restore_values(tally).then(history.tally()), ending)
        assert repr(found) == repr(whole), at
    return whole


@pytest.mark.nightly
def test_a_restored_history_has_the_states_and_the_outcome_of_the_whole(loading):
    log = batches(CRASH)[:80]
    whole = check_each(loading, log, range(0, len(log), 15))
    assert whole.records == log[-1].next_offset


def test_a_history_saved_within_an_operation_goes_on_with_it(loading, tmp_path, monkeypatch):
    monkeypatch.setattr("krafla.audit.history.MAX_RECORDS_PER_BATCH", 2)
    log = OldLog(19, 19)
    log.topic((1, 2, 0))
    log.add(NOTHING)
    once = log.change(isr=(1, 2))
    log.add(leaving(log, 0), once)
    log.add(once, without_directory(log, 0))
    log.add(NOTHING)
    log.write(tmp_path)
    read = batches(tmp_path / METADATA)
    whole = check_each(loading, read, range(len(read)))
    judged, replayed = History(loading, 0, Image(), {}), Replay(loading, 0, Image(), {})
    for batch in read:
        judged.add(batch)
        replayed.replay(batch)
        assert save(judged) == save(replayed), batch.base_offset
    # Only the whole operation shows that a known bug explains its second change.
    assert {found.known_bug is None for found in whole.findings} == {False}


def test_a_state_is_saved_alike_in_every_process(loading):
    code = (
        "from krafla.audit.specs import LoadingSpec;"
        "from tests.krafla.audit.test_history_save import *;"
        "print(digest_of(first_saved(LoadingSpec(needed=False))))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert digests == {digest_of(first_saved(loading))}


def first_saved(loading):
    """Return the state after some batches; it needs no spec yet."""
    history = History(loading, 0, Image(), {})
    for batch in batches(CRASH)[:60]:
        history.add(batch)
    return save(history)


@pytest.mark.parametrize("at", [0, 40, 200], ids=["digest", "head", "body"])
def test_a_damaged_state_is_refused(loading, at):
    data = bytearray(first_saved(loading))
    data[at] ^= 1
    with pytest.raises(SavedStateError, match="damaged"):
        restore(bytes(data), loading, {})


def test_a_state_saved_by_other_code_is_refused(loading, monkeypatch):
    data = first_saved(loading)
    monkeypatch.setattr(history_save.saved_graph, "signature", lambda: [["Other"]])
    with pytest.raises(SavedStateError, match="other code"):
        restore(data, loading, {})


def test_a_class_that_is_not_listed_is_not_saved():
    @dataclass
    class Unlisted:
        field: int = 0

    with pytest.raises(SavedStateError, match="a Unlisted is no part of a saved state"):
        ValueSaver().tree((1, Unlisted()))


def test_a_history_that_a_finding_has_stopped_is_not_saved(loading):
    history = History(loading, 0, Image(), {})
    first, *_ = batches(CRASH)
    for _ in range(2):
        history.add(first)
    history.end()
    assert history.stopped
    with pytest.raises(SavedStateError, match="stopped"):
        save(history)
