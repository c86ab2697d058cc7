"""Effects happen in their order, and a durable one stops the rest until it is on the disk."""

from __future__ import annotations

from typing import get_args

import pytest
from tests.kraft.hosting.hosted import NODE, process_of

from kraft.hosting.effects import DURABLE, perform
from kraft.ids import OffsetAndEpoch
from kraft.raft import effects as does
from kraft.raft.events import Source

FLUSH = does.FlushLog()
COMMIT = does.HandleCommit(())
ANSWER = does.SendResponse(Source(NODE, 5), "answer")


class Listener:
    def __init__(self, told):
        self.told = told

    def committed(self, effect):
        self.told.append(("committed", effect))

    def load(self, effect):
        self.told.append(("load", effect))

    def leader_changed(self, effect):
        self.told.append(("leader", effect))

    def append_refused(self):
        self.told.append(("refused",))


def world():
    process = process_of()
    process.listener = Listener(process.outside.said)
    return process, process.outside.said


def test_each_effect_happens_in_its_order():
    process, said = world()
    leader = does.HandleLeaderChange(3, NODE)
    load = does.HandleLoadSnapshot(OffsetAndEpoch(1, 1))
    steps = (
        does.SendRequest(NODE, 8, "request"), ANSWER, COMMIT, load, leader,
        does.AppendRefused("no leader"),
    )  # fmt: skip
    assert perform(process, steps) == len(steps)
    assert said == [
        ("send", NODE, 8, "request"), ("reply", 5, "answer"), ("committed", COMMIT),
        ("load", load), ("leader", leader), ("refused",),
    ]  # fmt: skip
    assert process.ended is None


def test_nothing_leaves_before_the_flush_in_front_of_it():
    process, said = world()
    steps = (FLUSH, ANSWER, FLUSH, COMMIT)
    assert perform(process, steps) == 0
    assert said == []
    assert perform(process, steps, 1) == 2
    assert said == [("reply", 5, "answer")]
    assert perform(process, steps, 3) == len(steps)
    assert said[1:] == [("committed", COMMIT)]


def test_every_durable_effect_is_left_to_the_disk():
    process, _ = world()
    assert frozenset(get_args(does.Durable)) == DURABLE
    for kind in DURABLE:
        assert perform(process, (object.__new__(kind), ANSWER)) == 0


@pytest.mark.parametrize("end", [does.Fatal("a reason"), does.ShutdownCompleted(graceful=True)])
def test_nothing_happens_after_the_end(end):
    process, said = world()
    assert perform(process, (end, ANSWER, FLUSH)) == 3
    assert (process.ended, said) == (end, [])


@pytest.mark.parametrize("refusal", [does.ResignRefused("no"), does.SnapshotRefused("no")])
def test_some_refusals_are_told_to_nobody(refusal):
    process, said = world()
    assert perform(process, (refusal,)) == 1
    assert said == []


def test_an_effect_of_another_kind_is_an_error():
    process, _ = world()
    with pytest.raises(TypeError, match="an effect of an unknown kind: 'a word'"):
        perform(process, ("a word",))
