"""What the check of data reports of a leader that lacks acknowledged data, and what it excuses."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.committed_log import CommittedLog
from krafla.fuzz.stack.data_checks import DataChecks
from kraft.broker.partitions import LEADS, OPENED, ReplicaChange
from kraft.broker.replica_log import EMPTY_LOG, ReplicaLog
from kraft.ids import ReplicaKey
from kraft.image.entries import Partition
from kraft.sim.raft.steps import ListenerStep, SimStep
from kraft.sim.stack.replicas import Acknowledged, Lost

KEY = ("a-topic-of-some-name-A", 0)
THREE, FIVE = ReplicaLog(((0, 3),)), ReplicaLog(((0, 3), (2, 5)))
FIRST, SECOND = "first-directory-of-one", "second-directory-of-1A"


class Cluster:
    """One partition on brokers 1, 2 and 3, as the check hears of it."""

    def __init__(self):
        self.committed_log = CommittedLog()
        self.data = DataChecks(self.committed_log)
        self.is_led_by(1, epoch=0, isr=(1, 2, 3))

    def has_eligibility(self, level):
        before = self.committed_log.image
        features = before.features.set("eligible.leader.replicas.version", level)
        self.committed_log.image = replace(before, features=features)
        for observer in self.committed_log.observers:
            observer(None, before, self.committed_log.image)

    def is_led_by(self, leader, *, epoch, isr, replicas=(1, 2, 3), **fields):
        places = (FIRST,) * len(replicas)
        led = Partition(replicas, places, isr, leader=leader, leader_epoch=epoch, **fields)
        before = self.committed_log.image
        self.committed_log.image = replace(before, partitions=before.partitions.set(KEY, led))
        for observer in self.committed_log.observers:
            observer(None, before, self.committed_log.image)

    def does(self, broker, effect):
        step = SimStep(0, 0, "listener", ReplicaKey(broker, FIRST))
        self.data.check(step, ListenerStep("broker", None, "due", None, (effect,)))

    def acknowledges(self, broker, epoch, log):
        self.does(broker, Acknowledged(KEY, epoch, log))

    def leads(self, broker, epoch, log):
        self.does(broker, ReplicaChange(LEADS, KEY, log, epoch))

    def may_lead(self, broker, epoch, log):
        try:
            self.leads(broker, epoch, log)
        except Violated:
            return False
        return True

    def starts(self, broker, directory):
        self.data.observe(SimStep(0, 0, "start", ReplicaKey(broker, directory)))

    def opens(self, broker):
        self.does(broker, ReplicaChange(OPENED, KEY, EMPTY_LOG))


def test_a_leader_that_lacks_what_was_acknowledged_is_noticed():
    cluster = Cluster()
    cluster.acknowledges(1, 0, THREE)
    cluster.is_led_by(2, epoch=1, isr=(2, 3))
    with pytest.raises(Violated, match="all before offset 3"):
        cluster.leads(2, 1, ReplicaLog(((0, 2),)))


def test_a_leader_that_has_what_was_acknowledged_is_accepted():
    cluster = Cluster()
    cluster.acknowledges(1, 0, THREE)
    cluster.is_led_by(2, epoch=1, isr=(2, 3))
    assert cluster.may_lead(2, 1, THREE)
    cluster.acknowledges(2, 2, FIVE)
    assert cluster.may_lead(3, 3, FIVE)
    assert not cluster.may_lead(3, 4, THREE)


def test_what_a_deposed_leader_acknowledges_later_is_noticed():
    cluster = Cluster()
    cluster.is_led_by(2, epoch=1, isr=(2, 3))
    cluster.leads(2, 1, EMPTY_LOG)
    with pytest.raises(Violated, match="AcknowledgedDataStaysProp"):
        cluster.acknowledges(1, 0, THREE)


def test_after_an_unclean_election_nothing_from_before_is_expected():
    for fields in ({"isr": (3,)}, {"isr": (3,), "leader_recovery_state": 1}):
        cluster = Cluster()
        cluster.acknowledges(1, 0, THREE)
        cluster.is_led_by(1, epoch=0, isr=(1,))
        cluster.is_led_by(3, epoch=1, **fields)
        assert cluster.may_lead(3, 1, EMPTY_LOG)


def test_a_leader_whose_disk_was_lost_is_excused_until_it_rejoins_the_isr():
    for is_let_in in (False, True):
        cluster = Cluster()
        cluster.starts(2, FIRST)
        cluster.acknowledges(1, 0, THREE)
        cluster.starts(2, SECOND)
        cluster.opens(2)
        if is_let_in:
            cluster.is_led_by(1, epoch=0, isr=(1, 3), partition_epoch=1)
            cluster.is_led_by(1, epoch=0, isr=(1, 3, 2), partition_epoch=2)
        cluster.is_led_by(2, epoch=1, isr=(2, 3), partition_epoch=3)
        assert cluster.may_lead(2, 1, EMPTY_LOG) is not is_let_in


def test_a_leader_whose_directory_failed_is_excused():
    cluster = Cluster()
    cluster.acknowledges(1, 0, THREE)
    cluster.does(2, Lost(KEY))
    cluster.is_led_by(2, epoch=1, isr=(2, 3))
    assert cluster.may_lead(2, 1, EMPTY_LOG)


def test_only_a_leader_that_stayed_eligible_without_a_replica_is_excused():
    for leader, is_excused in ((2, True), (3, False)):
        cluster = Cluster()
        cluster.is_led_by(1, epoch=1, isr=(1, 3), replicas=(1, 3), eligible_leader_replicas=(2,))
        cluster.acknowledges(1, 1, FIVE)
        cluster.is_led_by(1, epoch=1, isr=(1,), eligible_leader_replicas=(2, 3))
        cluster.is_led_by(-1, epoch=2, isr=(), eligible_leader_replicas=(1, 2, 3))
        cluster.is_led_by(leader, epoch=3, isr=(leader,))
        assert cluster.may_lead(leader, 3, EMPTY_LOG) is is_excused


@pytest.mark.parametrize("is_given_up", [False, True])
def test_a_leader_that_was_eligible_when_the_feature_was_disabled_is_excused(is_given_up):
    cluster = Cluster()
    cluster.has_eligibility(1)
    cluster.is_led_by(1, epoch=1, isr=(1,), eligible_leader_replicas=(2,))
    if is_given_up:
        cluster.has_eligibility(0)
    cluster.acknowledges(1, 1, FIVE)
    cluster.has_eligibility(1)
    cluster.is_led_by(2, epoch=2, isr=(2,))
    assert cluster.may_lead(2, 2, EMPTY_LOG) is is_given_up


def test_a_leader_that_becomes_eligible_after_that_is_not_excused():
    cluster = Cluster()
    cluster.has_eligibility(1)
    cluster.is_led_by(1, epoch=1, isr=(1, 3), eligible_leader_replicas=(2,))
    cluster.has_eligibility(0)
    cluster.has_eligibility(1)
    cluster.acknowledges(1, 1, FIVE)
    cluster.is_led_by(1, epoch=1, isr=(1,), eligible_leader_replicas=(2, 3))
    cluster.is_led_by(3, epoch=2, isr=(3,))
    assert not cluster.may_lead(3, 2, EMPTY_LOG)


def test_a_leader_that_has_caught_up_since_it_was_eligible_without_a_replica_is_not_excused():
    cluster = Cluster()
    cluster.is_led_by(1, epoch=1, isr=(1, 3), replicas=(1, 3), eligible_leader_replicas=(2,))
    cluster.is_led_by(1, epoch=1, isr=(1, 2, 3))
    cluster.acknowledges(1, 1, FIVE)
    cluster.is_led_by(1, epoch=1, isr=(1,), eligible_leader_replicas=(2, 3))
    cluster.is_led_by(2, epoch=2, isr=(2,), eligible_leader_replicas=(1, 3))
    assert not cluster.may_lead(2, 2, EMPTY_LOG)


def test_two_processes_of_one_broker_promise_nothing():
    cluster = Cluster()
    fault = SimStep(0, 0, "fault", ReplicaKey(2, SECOND), fault="duplicate-node-id")
    cluster.data.observe(fault)
    cluster.acknowledges(1, 0, THREE)
    cluster.is_led_by(2, epoch=1, isr=(2, 3))
    assert cluster.may_lead(2, 1, EMPTY_LOG)
