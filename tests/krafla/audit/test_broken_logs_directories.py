"""New replicas begin where Kafka puts them, and a registration names directories."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    OTHER,
    UNASSIGNED,
    Broken,
    change,
    checkpoint,
    checkpoint_name,
    directory,
    folded,
    partition,
    place,
    prefix,
    register,
    topic,
    written,
)
from tests.krafla.audit.editing import METADATA
from tests.krafla.audit.old_logs import DIRECTORIES, OldLog, continued

from krafla.audit.run import audit
from kraft.ids import ZERO_UUID, uuid_text

SECOND = uuid_text(bytes(range(2, 18)))


def kinds(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


def newcomer(*directories):
    more = {"incarnationId": OTHER, "brokerEpoch": prefix()[1], "logDirs": directories}
    return register(7, brokerId=7, **more)


def placed(where):
    return [topic(), partition(directories=(where, place(1), directory(2)))]


@pytest.mark.parametrize(("directories", "held"), [((SECOND,), True), ((), False)])
def test_a_registration_names_a_directory(tmp_path, loading, directories, held):
    log, blame = written(tmp_path, Broken([[newcomer(*directories)]], (0, 0)))
    assert kinds(log, loading) == ([] if held else [("B9", blame)])


@pytest.mark.parametrize("level", [14, 19])
def test_a_registration_before_directories_names_none_and_stays_in_a_checkpoint(
    tmp_path, loading, level
):
    log = OldLog(level, 21)
    old = {"version": 3 if level == 19 else None, "fenced": False, "logDirs": ()}
    brokers = [log.register(b, epoch=e, **old) for b, e in sorted(log.epochs.items())]
    continued(tmp_path, [*log.batches[0], *brokers], [NOTHING])
    assert kinds(tmp_path, loading) == []


@pytest.mark.parametrize(
    ("where", "held"),
    [(directory(0), True), (ZERO_UUID, False), (UNASSIGNED, False), (SECOND, False)],
)
def test_a_new_replica_begins_in_the_one_directory_of_its_broker(tmp_path, loading, where, held):
    log, blame = written(tmp_path, Broken([placed(where)], (0, 1)))
    assert kinds(log, loading) == ([] if held else [("T7", blame)])


@pytest.mark.parametrize(
    ("where", "held"),
    [(UNASSIGNED, True), (directory(0), False), (SECOND, False), (ZERO_UUID, False)],
)
def test_a_new_replica_of_a_broker_with_two_directories_begins_in_none_yet(
    tmp_path, loading, where, held
):
    again = register(0, fenced=False, logDirs=(directory(0), SECOND))
    log, blame = written(tmp_path, Broken([[again], placed(where)], (1, 1)))
    assert kinds(log, loading) == ([] if held else [("T7", blame)])


@pytest.mark.parametrize(("where", "held"), [(ZERO_UUID, True), (DIRECTORIES[0], False)])
def test_a_new_replica_of_a_broker_that_named_no_directory_begins_in_none(
    tmp_path, loading, where, held
):
    log = OldLog(14, 21)
    log.add((12, 0, {"name": "metadata.version", "featureLevel": 19}))
    log.level = 19
    log.topic(directories=(where, ZERO_UUID, ZERO_UUID))
    log.write(tmp_path)
    assert kinds(tmp_path, loading) == ([] if held else [("T7", log.end - 1)])


@pytest.mark.parametrize(("where", "held"), [(directory(2), True), (UNASSIGNED, False)])
def test_a_replica_that_a_reassignment_adds_begins_there_too(tmp_path, loading, where, held):
    made = [topic(), partition(replicas=(0, 1))]
    placed = (directory(0), place(1), where)
    adding = [change(replicas=(0, 1, 2), addingReplicas=(2,), directories=placed)]
    log, blame = written(tmp_path, Broken([made, adding], (1, 0)))
    assert kinds(log, loading) == ([] if held else [("T9", blame)])


@pytest.mark.parametrize(
    ("count", "elected", "held"),
    [(3, {}, True), (2, {}, False), (2, {"leader": 2, "isr": (1, 2)}, False), (0, {}, False)],
)
def test_a_change_names_a_directory_for_each_replica(tmp_path, loading, count, elected, held):
    named = (SECOND, place(1), directory(2))[:count]
    again = register(0, fenced=False, logDirs=(directory(0), SECOND))
    moved = change(directories=named, **elected)
    batches = [[again], [topic(), partition(directories=(UNASSIGNED, *map(place, (1, 2))))]]
    log, blame = written(tmp_path, Broken([*batches, [moved]], (2, 0)))
    assert kinds(log, loading) == ([] if held else [("T9", blame)])


@pytest.mark.parametrize(
    ("first", "second", "held"),
    [(SECOND, None, True), (None, OTHER, True), (SECOND, OTHER, False)],
)
def test_a_change_moves_one_replica_to_another_directory(tmp_path, loading, first, second, held):
    again = [register(b, fenced=False, logDirs=(directory(b), d))
             for b, d in ((0, SECOND), (1, OTHER))]  # fmt: skip
    made = [topic(), partition(directories=(UNASSIGNED, UNASSIGNED, directory(2)))]
    moved = change(directories=(first or UNASSIGNED, second or UNASSIGNED, directory(2)))
    log, blame = written(tmp_path, Broken([again, made, [moved]], (2, 0)))
    assert kinds(log, loading) == ([] if held else [("T9", blame)])


@pytest.mark.parametrize(("count", "held"), [(3, True), (2, False), (1, False)])
def test_a_checkpoint_names_a_directory_for_each_replica(tmp_path, loading, count, held):
    named = tuple(map(place, (0, 1, 2)))[:count]
    led = partition(leader=2, leaderEpoch=1, partitionEpoch=1, directories=named)
    (tmp_path / METADATA).mkdir()
    whole = checkpoint(folded(topic(), led))
    (tmp_path / METADATA / checkpoint_name(50)).write_bytes(whole)
    assert kinds(tmp_path, loading) == ([] if held else [("T9", 50)])
