"""Runs of controllers over one log: they can be repeated, and impossible choices are refused."""

from __future__ import annotations

from random import Random

import pytest
from tests.kraft.sim.scheduled import play, told

from kraft.controller.events import RenounceRequested, SnapshotLoaded
from kraft.ids import NodeId, OffsetAndEpoch
from kraft.sim.common.recording import Recording, RecordingError, from_json, to_json
from kraft.sim.common.step import Done, Refused
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import Configuration, count_before, first_cluster
from kraft.sim.metadata.effects import ControllerFault, handle
from kraft.sim.metadata.scheduler import Scheduler
from kraft.sim.metadata.step import step
from kraft.sim.metadata.values import LEFT, RIGHT, SetValue, value_of

_ONE, _TWO, _BROKER, _UNKNOWN = (NodeId(number) for number in (1, 2, 11, 99))
_REQUESTS = (SetValue(0, 1), SetValue(1, 0), SetValue(0, 0), SetValue(1, 1))
_CONFIGURATION = Configuration(
    (_ONE, _TWO), (_BROKER,), _REQUESTS, transactions=True, snapshots=True, restarts=True
)
_LED = (
    choices.Elect(_ONE, 1, 0),
    choices.HandOver(_ONE, 1),
    choices.TellLeader(_ONE),
)


def _after(*taken: choices.Choice):
    """Return the cluster after choices that are all possible."""
    cluster = first_cluster(_CONFIGURATION)
    for choice in taken:
        result = step(cluster, choice)
        assert isinstance(result.outcome, Done), (choice, result.outcome)
        cluster = result.after
    return cluster


def _played(seed, count):
    """Return the steps that a scheduler draws."""
    scheduler = Scheduler(_CONFIGURATION, Random(seed))
    return play(scheduler, step, first_cluster(_CONFIGURATION), count)


def test_the_same_seed_is_the_same_run():
    first, second = (_played(3, 150) for _ in range(2))
    assert told(first) == told(second)
    assert first[-1].after == second[-1].after
    assert first[-1].after != _played(4, 150)[-1].after


def test_the_choices_of_a_run_make_it_again():
    first = _played(5, 120)
    taken = tuple(one.choice for one in first)
    recording = from_json(
        to_json(Recording(_CONFIGURATION, taken)), Configuration, choices.Choice, "a metadata log"
    )
    cluster = first_cluster(recording.configuration)
    for choice in recording.choices:
        cluster = step(cluster, choice).after
    assert cluster == first[-1].after


def test_an_invalid_recording_is_refused():
    with pytest.raises(RecordingError, match="not a recording of a metadata log"):
        from_json("{}", Configuration, choices.Choice, "a metadata log")


def test_a_broker_shows_a_change_once_it_is_committed_and_handed_over():
    asked = _after(*_LED, choices.Ask(_ONE, SetValue(0, 1)), choices.HandOver(_BROKER, 1))
    assert SetValue(0, 1) not in asked.answers
    told = asked
    for choice in (choices.Commit(1), choices.HandOver(_ONE, 1), choices.HandOver(_BROKER, 1)):
        told = step(told, choice).after
    assert told.answers[SetValue(0, 1)] == "NONE"
    image = told.nodes[_BROKER].written.image
    assert (value_of(image, LEFT), value_of(image, RIGHT)) == (1, 1)


def test_the_election_of_another_controller_drops_uncommitted_batches():
    deposed = (
        choices.Ask(_ONE, SetValue(0, 1)),
        choices.Elect(_TWO, 2, 0),
        choices.LoseLeadership(_ONE),
        choices.TellOther(_ONE),
    )
    cluster = _after(*_LED, *deposed)
    assert cluster.answers[SetValue(0, 1)] == "NOT_CONTROLLER"
    assert cluster.uncommitted == ()
    assert value_of(cluster.nodes[_ONE].written.image, LEFT) == 0


@pytest.mark.parametrize(
    "choice",
    [
        choices.Elect(_ONE, 2, 0),
        choices.Elect(_UNKNOWN, 2, 0),
        choices.Elect(_TWO, 1, 0),
        choices.Elect(_TWO, 2, 1),
        choices.Elect(_TWO, 2, 0, ((3, _ONE),)),
        choices.LoseLeadership(_TWO),
        choices.Commit(1),
        choices.Commit(0),
        choices.LoseTail(1),
        choices.TellLeader(_ONE),
        choices.TellLeader(_TWO),
        choices.TellOther(_ONE),
        choices.TellOther(_TWO),
        choices.MakeMistake(_TWO),
        choices.Ask(_TWO, SetValue(0, 1)),
        choices.Ask(_ONE, SetValue(7, 8)),
        choices.EndTransaction(_ONE),
        choices.BeginTransaction(_BROKER),
        choices.HandOver(_ONE, 1),
        choices.HandOver(_BROKER, 2),
        choices.HandOver(_UNKNOWN, 1),
        choices.CreateSnapshot(_BROKER),
        choices.CreateSnapshot(_UNKNOWN),
        choices.LoadSnapshot(_BROKER, _TWO),
        choices.LoadSnapshot(_UNKNOWN, _ONE),
        choices.Restart(_UNKNOWN),
    ],
    ids=repr,
)
def test_an_impossible_choice_is_refused_and_changes_nothing(choice):
    cluster = _after(*_LED)
    result = step(cluster, choice)
    assert isinstance(result.outcome, Refused)
    assert result.after == cluster


def test_a_node_that_believes_to_lead_gets_no_batches_of_a_later_leader():
    cluster = _after(*_LED, choices.Elect(_TWO, 2, 0))
    assert isinstance(step(cluster, choices.HandOver(_ONE, 1)).outcome, Refused)
    assert isinstance(step(cluster, choices.HandOver(_BROKER, 2)).outcome, Done)


def test_a_leader_does_not_load_a_snapshot():
    ahead = (choices.HandOver(_BROKER, 1), choices.CreateSnapshot(_BROKER))
    cluster = _after(choices.Elect(_ONE, 1, 0), *ahead)
    assert isinstance(step(cluster, choices.LoadSnapshot(_ONE, _BROKER)).outcome, Refused)
    loaded = step(cluster, choices.LoadSnapshot(_TWO, _BROKER))
    assert loaded.after.nodes[_TWO].committed_end == 1
    again = step(loaded.after, choices.Restart(_TWO)).after
    assert again.nodes[_TWO].committed_end == 1


def test_requests_to_a_process_that_ends_are_disconnected():
    cluster = _after(*_LED, choices.Ask(_ONE, SetValue(0, 1)), choices.Restart(_ONE))
    assert cluster.answers[SetValue(0, 1)] == "DISCONNECTED"
    assert cluster.nodes[_ONE].committed_end == 0


def test_a_controller_that_cannot_go_on_ends_the_run():
    cluster = _after(*_LED)
    event = SnapshotLoaded(0, OffsetAndEpoch(9, 1), ())
    with pytest.raises(ControllerFault, match=r"node 1: .* active in epoch 1"):
        handle(cluster, _ONE, event)
    assert handle(cluster, _BROKER, RenounceRequested(0)).cluster == cluster


def test_an_end_of_the_spec_counts_batches():
    log = _after(*_LED, choices.Ask(_ONE, SetValue(0, 1)), choices.Commit(1)).committed
    assert [one.end for one in log] == [1, 3]
    assert [count_before(log, end) for end in (0, 1, 2, 3, 9)] == [0, 1, 1, 2, 2]
