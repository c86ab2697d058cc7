"""All metrics of one node, in a registry of its own, and what they are taken from.

`docs/metrics.md` has a table of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from kraft.controller.state import visible
from kraft.node.metrics.exposition import Exposition
from kraft.node.metrics.gauges import GAUGES
from kraft.node.metrics.image_counts import ImageCounter
from kraft.node.metrics.metered_listener import MeteredListener
from kraft.node.metrics.metric import Kind, Metric
from kraft.node.metrics.observations import Observations
from kraft.node.metrics.reading import Reading, Tally
from kraft.node.metrics.request_metrics import RequestMetrics
from kraft.raft.configuration import MILLISECOND

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from prometheus_client.core import Metric as Family

    from kraft.hosting.controller_host import ControllerHost, Observer
    from kraft.node.apis import Apis
    from kraft.node.channels import Channels
    from kraft.node.connections import Connection
    from kraft.node.disk import Disk
    from kraft.node.loop import NodeLoop
    from kraft.node.metrics.exposition import MetricsAddress
    from kraft.node.metrics.instruments import Instrument
    from kraft.raft.state import RaftState

_CHANNELS: Final = ("kafka.server", "raft-channel-metrics")
SENT: Final = Metric(
    Kind.COUNTER,
    *_CHANNELS,
    "request-total",
    "The requests that were sent to other controllers by Raft's connections.",
)
ANSWERED: Final = Metric(
    Kind.COUNTER, *_CHANNELS, "response-total", "The responses to them that arrived."
)
CONNECTED: Final = Metric(
    Kind.COUNTER,
    *_CHANNELS,
    "connection-creation-total",
    "The connections to other controllers that were made for Raft.",
)


class NodeMetrics:
    """The metrics of a node that has booted, which is observed from now on.

    `connections` are those of others, which come by the listeners of these names.
    """

    def __init__(
        self,
        loop: NodeLoop,
        disk: Disk,
        host: ControllerHost,
        listeners: tuple[str, ...],
        connections: Collection[Connection],
    ) -> None:
        process = loop.process
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._observations = Observations()
        self._requests = RequestMetrics()
        self._source = _Source(loop, host, self._observations, listeners, connections)
        self._source.instruments = self._observations.instruments + self._requests.instruments
        self._exposition = Exposition(self.registry)
        self._now = process.outside.now
        self._next_observer = loop.after_step
        loop.after_step = self._replica_step
        disk.performed = self._observations.performed
        process.listener = MeteredListener(host, self._observations, self._now)

    @property
    def controller_step(self) -> Observer:
        """Return the observer of the controller."""
        return self._observations.controller_step

    async def start(self, address: MetricsAddress, apis: Apis, raft: Channels) -> None:
        """Serve the metrics, those of requests and of Raft's connections, too.

        Raises ConfigurationError if the address cannot be had.
        """
        apis.answered = self._requests.answered
        self._source.apis, self._source.raft = apis, raft
        self.registry.register(self._source)
        await self._exposition.start(address)

    def close(self) -> None:
        """Stop serving; a scraper that waits is cut off."""
        self._exposition.close()

    def _replica_step(self, before: RaftState, after: RaftState) -> None:
        self._next_observer(before, after)
        self._observations.replica_step(before, after, self._now)


class _Source(Collector):
    """Reads what is known when somebody asks. It is called by the thread of a scraper."""

    apis: Apis
    raft: Channels
    instruments: tuple[Instrument, ...]

    def __init__(
        self,
        loop: NodeLoop,
        host: ControllerHost,
        observations: Observations,
        listeners: tuple[str, ...],
        connections: Collection[Connection],
    ) -> None:
        self._loop = loop
        self._host = host
        self._observations = observations
        self._listeners = listeners
        self._connections = connections
        self._counter = ImageCounter()
        self._last_look = (self._now(), 0)

    def collect(self) -> Iterator[Family]:
        """Yield the gauges, and what was counted and timed."""
        reading = self._reading()
        for gauge in GAUGES:
            metric = gauge.metric
            family = GaugeMetricFamily(metric.prometheus_name, metric.help, labels=metric.labels)
            for labels, value in gauge.samples(reading):
                family.add_metric(labels, value)
            yield family
        raft = self.raft
        for metric, count in (
            (SENT, raft.requests),
            (ANSWERED, raft.responses),
            (CONNECTED, raft.connections),
        ):
            yield CounterMetricFamily(metric.prometheus_name, metric.help, count)
        for instrument in self.instruments:
            yield instrument.family()

    def _reading(self) -> Reading:
        controller = self._host.state
        return Reading(
            self._now() // MILLISECOND,
            self._loop.process.state,
            controller,
            self._host.knows_leader,
            self._counter.counts(visible(controller).image),
            self._tally(),
        )

    def _tally(self) -> Tally:
        observations = self._observations
        by_listener = Counter(connection.listener for connection in tuple(self._connections))
        return Tally(
            self._idle_ratio(),
            observations.last_applied_ms,
            observations.leaders,
            observations.events_started,
            self.apis.timed_out,
            observations.snapshots_loaded,
            {name: by_listener[name] for name in self._listeners},
            self.raft.open_connections(),
        )

    def _idle_ratio(self) -> float:
        """Return the idle part of the time since the last look. Kafka: TimeRatio.measure."""
        now, idle = self._now(), self._loop.idle
        then, idle_then = self._last_look
        self._last_look = (now, idle)
        return min(1.0, (idle - idle_then) / max(now - then, 1))

    def _now(self) -> int:
        return self._loop.process.outside.now()
