"""Where the metrics of a node come from: its loop, its host, its connections, its channels."""

from types import SimpleNamespace

import pytest
from immutables import Map
from tests.kraft.hosting.hosted import sole_controller

from kraft.controller import events
from kraft.controller.configuration import Configuration
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import Written
from kraft.controller.state import first_state
from kraft.image.entries import Partition
from kraft.image.metadata_image import MetadataImage
from kraft.node.metrics.metered_listener import MeteredListener
from kraft.node.metrics.node_metrics import _Source
from kraft.node.metrics.observations import (
    ELR_ELECTIONS,
    FLUSH_TIME,
    PROCESSING_TIME,
    QUEUE_TIME,
    UNCLEAN_ELECTIONS,
    Observations,
)
from kraft.raft import effects
from kraft.raft.configuration import MILLISECOND
from kraft.records.topics import RECOVERING, PartitionChangeRecord

RAFT = "kafka_server_raft_metrics_"
CHANNELS = "kafka_server_raft_channel_metrics_"
KAFKA = "kafka_controller_kafkacontroller_"


class Clock:
    """A clock that goes on only when a test says so."""

    def __init__(self):
        self.now_ns = 0

    def now(self):
        return self.now_ns

    def goes_on(self, milliseconds):
        self.now_ns += milliseconds * MILLISECOND


def shown(families):
    """Return each sample by its name and its labels."""
    return {
        ",".join([one.name, *(f"{k}={v}" for k, v in one.labels.items())]): one.value
        for family in families
        for one in family.samples
    }


class Measured:
    """A source whose parts are stand-ins, and what it shows."""

    def __init__(self):
        process = sole_controller()
        self.clock = Clock()
        self.loop = SimpleNamespace(
            idle=0, process=SimpleNamespace(state=process.state, outside=self.clock)
        )
        self.host = SimpleNamespace(state=process.listener.state, knows_leader=7)
        self.connections = [SimpleNamespace(listener=name) for name in ("ONE", "TWO", "TWO")]
        self.observations = Observations()
        names = ("ONE", "TWO", "NONE")
        self.source = _Source(self.loop, self.host, self.observations, names, self.connections)
        self.source.instruments = ()
        self.source.apis = SimpleNamespace(timed_out=11)
        self.source.raft = SimpleNamespace(
            requests=13, responses=17, connections=19, open_connections=lambda: 23
        )

    def shown(self):
        return shown(self.source.collect())


def test_requests_responses_and_connections_of_raft_are_those_of_its_channels():
    said = Measured().shown()

    assert said[f"{CHANNELS}request_total"] == 13
    assert said[f"{CHANNELS}response_total"] == 17
    assert said[f"{CHANNELS}connection_creation_total"] == 19
    assert said[f"{CHANNELS}connection_count"] == 23


def test_each_listener_has_its_own_connections():
    said = Measured().shown()

    count = "kafka_server_socket_server_metrics_connection_count,listener="
    assert {name: said[count + name] for name in ("ONE", "TWO", "NONE")} == {
        "ONE": 1, "TWO": 2, "NONE": 0,
    }  # fmt: skip


def test_the_idle_ratio_is_that_of_the_time_since_the_last_look():
    measured = Measured()
    ratios = []
    for idle, busy in ((30, 10), (10, 30), (0, 8), (5, 0)):
        measured.loop.idle += idle * MILLISECOND
        measured.clock.goes_on(idle + busy)
        ratios.append(measured.shown()[f"{RAFT}poll_idle_ratio_avg"])

    assert ratios == [0.75, 0.25, 0, 1]


def test_what_was_counted_has_its_own_name():
    measured = Measured()
    counted = measured.observations
    counted.last_applied_ms, counted.leaders = 29, 31
    counted.events_started, counted.snapshots_loaded = 37, 41
    measured.clock.goes_on(129)

    said = measured.shown()

    assert said[f"{KAFKA}lastappliedrecordtimestamp"] == 29
    assert said[f"{KAFKA}lastappliedrecordlagms"] == 100
    assert said[f"{KAFKA}newactivecontrollerscount"] == 31
    assert said[f"{KAFKA}eventqueueoperationsstartedcount"] == 37
    assert said[f"{KAFKA}eventqueueoperationstimedoutcount"] == 11
    assert said["kafka_server_metadataloader_handleloadsnapshotcount"] == 41
    assert said["kafka_server_metadataloader_currentcontrollerid"] == 7


def numbers(observed, metric):
    """Return a counter's number, or the sum and the count of a histogram."""
    said, name = shown(one.family() for one in observed.instruments), metric.prometheus_name
    return said[name] if name in said else (said[f"{name}_sum"], said[f"{name}_count"])


def test_committed_elections_are_counted_by_their_kind():
    partition = Partition((1, 2), (), (), eligible_leader_replicas=(2,))
    image = MetadataImage(partitions=Map({("t", 0): partition}))
    before = first_state(Configuration(Defaults(1), ()), 0, Memory(Written(image)))
    unclean = PartitionChangeRecord(1, "t", isr=(1,), leader=1, leader_recovery_state=RECOVERING)
    eligible = PartitionChangeRecord(0, "t", isr=(2,), leader=2)
    batches = (
        events.CommittedBatch(0, 4, (unclean, unclean, eligible), 3),
        events.CommittedBatch(3, 4, (unclean,), 1),
    )
    observed = Observations()

    observed.controller_step(
        "controller", before, events.BatchesCommitted(5, batches), before, (), None
    )

    assert numbers(observed, UNCLEAN_ELECTIONS) == 3
    assert numbers(observed, ELR_ELECTIONS) == 1


def test_only_a_flush_of_the_log_is_timed():
    observed = Observations()
    for number, effect in enumerate(
        (effects.AppendLog(()), effects.FlushLog(), effects.TruncateLog(3), effects.FlushLog())
    ):
        observed.performed(effect, 10**number * MILLISECOND)

    assert numbers(observed, FLUSH_TIME) == (1010, 2)


@pytest.mark.parametrize("call", ["load", "leader_changed"])
def test_what_comes_from_raft_has_not_waited(call):
    clock, observed = Clock(), Observations()
    inner = SimpleNamespace(**{call: lambda _effect: clock.goes_on(5)})

    getattr(MeteredListener(inner, observed, clock.now), call)(None)

    assert numbers(observed, QUEUE_TIME) == (0, 0)
    assert numbers(observed, PROCESSING_TIME) == (5, 1)


def test_a_request_waits_until_its_handler_begins_and_the_handler_takes_until_its_end():
    clock, observed = Clock(), Observations()
    inner = SimpleNamespace(receive=lambda _message: clock.goes_on(5))
    clock.goes_on(100)

    MeteredListener(inner, observed, clock.now).receive(SimpleNamespace(at=97 * MILLISECOND))

    assert numbers(observed, QUEUE_TIME) == (3, 1)
    assert numbers(observed, PROCESSING_TIME) == (5, 1)
