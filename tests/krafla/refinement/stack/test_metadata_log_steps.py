"""MetadataLogSteps by itself: the actions that MetadataLog does not have."""

from __future__ import annotations

import pytest

from krafla.refinement.common.spec_run import Action, RefusalError
from krafla.refinement.metadata.spec import load
from krafla.refinement.stack.spec import ACTIONS, NEVER_TAKEN, SELDOM, StackSpecRun
from krafla.values import record
from kraft.sim.metadata.cluster import Configuration
from kraft.sim.metadata.values import SetValue


def test_every_action_of_metadata_log_is_taken_by_runs_or_listed_as_never_taken():
    spec = load(Configuration((0,), (1,), (SetValue(0, 1),))).spec
    of_metadata_log = {action.name for action in spec.actions}
    assert of_metadata_log <= {*ACTIONS, *SELDOM, *NEVER_TAKEN}
    assert not {*ACTIONS, *SELDOM} & set(NEVER_TAKEN)
    side = StackSpecRun({"n0"}, {"n1"})
    for name in (*ACTIONS, *SELDOM, *NEVER_TAKEN):
        assert side.spec.definition(name) is not None


def changes(before, after):
    return (record(type="Change", **{"from": before, "to": after}),)


@pytest.fixture
def written():
    """A spec in which n0 has written and committed two batches, and has a snapshot of the first.

    Broker n1 has read nothing.
    """
    side = StackSpecRun({"n0"}, {"n1"})
    for action in (
        Action("Elect", ("n0", 1, 0, ())),
        Action("ReplayCommitted", ("n0", 1)),
        Action("ClaimEmptyLog", ("n0", changes(0, 1))),
        Action("Commit", (1,)),
        Action("HandleCommit", ("n0", 2)),
        Action("CreateSnapshot", ("n0",)),
        Action("RunTask", ("n0", changes(1, 2))),
        Action("Commit", (1,)),
        Action("HandleCommit", ("n0", 3)),
    ):
        side.take(action)
    return side


def test_a_process_that_starts_has_nothing_in_memory_until_it_loads_its_snapshot(written):
    written.take(Action("LoadSnapshot", ("n1", "n0")))
    written.take(Action("ReplayCommitted", ("n1", 3)))
    assert written.value("ViewOf", "n1").written.image == 2
    written.take(Action("StartAnew", ("n1", 2)))
    view = written.value("ViewOf", "n1")
    assert (view.written.image, view.committed_end, view.snapshot.image) == (0, 0, 1)
    written.take(Action("LoadSnapshot", ("n1", "n1")))
    assert written.value("ViewOf", "n1").written.image == 1


def test_a_snapshot_that_is_no_longer_its_writers_newest_can_be_loaded(written):
    written.take(Action("CreateSnapshot", ("n0",)))
    written.take(Action("LoadOlderSnapshot", ("n1", 2)))
    view = written.value("ViewOf", "n1")
    assert (view.written.image, view.stable_end, view.snapshot.end) == (1, 2, 2)
    with pytest.raises(RefusalError, match="LoadOlderSnapshot"):
        written.take(Action("LoadOlderSnapshot", ("n0", 2)))


def test_only_a_controller_that_is_not_active_refuses_writes(written):
    request = record(id=1, records=changes(2, 3), result="answer 1")
    written.take(Action("Ask", (request,)))
    with pytest.raises(RefusalError) as refused:
        written.take(Action("RefuseRequest", ("n0", request)))
    assert "not enabled" in str(written.explain(refused.value))
    written.take(Action("LoseLeadership", ("n0",)))
    written.take(Action("RefuseAppend", ("n0", request)))
    assert written.value("ToldTo", frozenset({request})) == frozenset({(1, "NOT_CONTROLLER")})
    assert written.value("ViewOf", "n0").claim_epoch == -1


def test_hundreds_of_batches_are_replayed_in_one_step():
    side = StackSpecRun({"n0"}, {"n1"})
    side.take(Action("Elect", ("n0", 1, 0, ())))
    side.take(Action("ReplayCommitted", ("n0", 1)))
    side.take(Action("ClaimEmptyLog", ("n0", changes(0, 1))))
    for number in range(1, 1_000):
        side.take(Action("RunTask", ("n0", changes(number, number + 1))))
    side.take(Action("Commit", (1_000,)))
    side.take(Action("ReplayCommitted", ("n1", 1_001)))
    assert side.value("ViewOf", "n1").written.image == 1_000
