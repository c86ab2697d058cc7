"""The specs are asked once a log is read, or once many steps wait: reading does not wait."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import Broken, broker_change, change, partition, topic, written
from tests.krafla.audit.editing import LOG

from krafla.audit import spec_steps
from krafla.audit.history import History
from krafla.audit.image import Image
from krafla.audit.run import audit
from krafla.audit.specs import PARTITIONS, LoadingSpec
from kraft.log.segment import iter_batches

SETUP = [topic(), partition()]
LOSES = [change(isr=(1, 2), leader=1), broker_change(0, fenced=1)]
NO_REASON = [change(isr=(1, 2), leader=1)]


class AskedError(Exception):
    """A spec was asked for."""


class Unready(LoadingSpec):
    """Specs that are still being loaded."""

    def __init__(self):
        super().__init__(needed=False)

    def get(self, name="UntimedLease"):
        raise AskedError(name)


def history_of(tmp_path, *batches):
    """Return the history of a log with these batches, with specs that are not loaded, unread."""
    log, _ = written(tmp_path, Broken(list(batches), (0, 0)))
    return History(Unready(), 0, Image(), {}), [*iter_batches(log / LOG)]


def test_a_log_is_read_while_its_specs_are_loaded(tmp_path):
    history, batches = history_of(tmp_path, SETUP, LOSES)
    for batch in batches:
        history.add(batch)
    assert not history.stopped
    with pytest.raises(AskedError):
        history.outcome()


def test_a_log_with_many_changes_waits_for_its_specs(tmp_path, monkeypatch):
    monkeypatch.setattr(spec_steps, "_CHANGES", 1)
    history, batches = history_of(tmp_path, SETUP, LOSES)
    for batch in batches[:-1]:
        history.add(batch)
    with pytest.raises(AskedError):
        history.add(batches[-1])


def test_what_comes_after_a_change_that_a_spec_refuses_is_no_finding(tmp_path, loading):
    gone = change(7, isr=(1, 2))
    log, refused = written(tmp_path, Broken([SETUP, NO_REASON, [gone]], (1, 0)))
    (found,) = audit([log], loading=loading).clusters[0].all_findings()
    assert (found.kind, found.offset) == (f"{PARTITIONS}!ChangeIsr", refused)
    log, alone = written(tmp_path / "alone", Broken([SETUP, [gone]], (1, 0)))
    (found,) = audit([log], loading=loading).clusters[0].all_findings()
    assert found.offset == alone


def test_changes_behind_a_violation_are_not_counted_as_judged(tmp_path, loading):
    setup = [topic(), *(partition(number) for number in range(4))]
    shrinks = [change(1, isr=(0, 1))]
    again = [change(2, isr=(0, 1)), change(3, isr=(0, 1))]
    log, _ = written(tmp_path, Broken([setup, NO_REASON, shrinks, again], (1, 0)))
    stepped = audit([log], loading=loading).clusters[0].spec_counts[PARTITIONS]
    assert (stepped.steps, stepped.judged) == (1, 1)
    assert stepped.passed_over == {"a violation before them": 3}
    log, _ = written(tmp_path / "held", Broken([setup, shrinks, again], (1, 0)))
    stepped = audit([log], loading=loading).clusters[0].spec_counts[PARTITIONS]
    assert (stepped.steps, stepped.judged, stepped.passed_over) == (1, 3, {})
