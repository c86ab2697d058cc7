"""A controller from its configuration to its end.

Kafka: KafkaRaftServer, SharedServer, ControllerServer, KafkaRaftManager.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
import signal
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.configuration import Configuration as ControllerConfiguration
from kraft.controller.operations.defaults import Defaults
from kraft.controller.registration_sender import RegistrationSender
from kraft.hosting.controller_host import ControllerHost
from kraft.hosting.outside import RAFT_MESSAGES
from kraft.hosting.own_requests import Shutdown
from kraft.hosting.process import HostedProcess
from kraft.ids import UUID_BYTES, ControllerId, IncarnationId, ReplicaKey, uuid_text
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.log.checkpoint import BOOTSTRAP_NAME, read_checkpoint
from kraft.log.raft_storage import RaftStorage
from kraft.log.real_files import RealFiles
from kraft.log.text_files import META_PROPERTIES, read_meta_properties
from kraft.node.acceptor import Acceptor, listening_sockets
from kraft.node.addresses import Addresses
from kraft.node.admission import Admission
from kraft.node.apis import Apis
from kraft.node.channels import Attempts, Channels
from kraft.node.clock import Clock
from kraft.node.configuration import ConfigurationError
from kraft.node.connections import Connections, limits_of
from kraft.node.described_configs import settings_of
from kraft.node.disk import Disk, DiskError, disk_errors
from kraft.node.failures import failure_text
from kraft.node.finalized_features import FinalizedFeatures
from kraft.node.inbound import Inbound, Listening
from kraft.node.local_reads import FEATURES, NodeView
from kraft.node.lock import lock_directories
from kraft.node.log_lines import NodeLog
from kraft.node.loop import Arrived, NodeLoop
from kraft.node.metrics.node_metrics import NodeMetrics
from kraft.node.outside import NodeOutside
from kraft.node.security import (
    PLAINTEXT,
    PROTOCOL_NUMBERS,
    SSL,
    client_context,
    server_context,
)
from kraft.raft.boot import boot
from kraft.raft.configuration import MILLISECOND, Configuration
from kraft.raft.effects import Fatal
from kraft.raft.voters import Voter, VoterSet
from kraft.records.cluster import FeatureLevelRecord
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.node_description import Listener

if TYPE_CHECKING:
    from pathlib import Path

    from kraft.hosting.controller_host import Observer
    from kraft.ids import NodeId
    from kraft.log.recovery import Recovered
    from kraft.node.configuration import NodeConfiguration
    from kraft.node.metrics.exposition import MetricsAddress
    from kraft.raft.effects import Effect, ShutdownCompleted
    from kraft.records.typed_record import TypedRecord

_LOG: Final = logging.getLogger("kraft.node.server")
_SHUTDOWN: Final = 5000 * MILLISECOND
"""How long an end may take. Kafka: KafkaRaftClient.shutdown's caller, RaftManager."""
_SECOND: Final = 1000 * MILLISECOND
_OTHER_TIMEOUT: Final = 30.0
"""Seconds for a request that is not Raft's: its answer waits for a commit."""


def run_server(configuration: NodeConfiguration, metrics: MetricsAddress | None = None) -> bool:
    """Run a controller until it is stopped; return False if a fault ended it.

    Its metrics are served at `metrics`, if that is given.

    Raises ConfigurationError, DiskError, and UnusableLogError or CorruptRecordError for its files.
    """
    locks = lock_directories(_existing(configuration))
    try:
        return asyncio.run(_serve(configuration, metrics))
    finally:
        for lock in locks:
            lock.close()


def _existing(configuration: NodeConfiguration) -> tuple[Path, ...]:
    for directory in configuration.directories:
        if not (directory / META_PROPERTIES).exists():
            raise ConfigurationError(
                f"{directory} is not formatted: kraft storage format does that, and makes it"
            )
    return configuration.directories


async def _serve(configuration: NodeConfiguration, metrics: MetricsAddress | None) -> bool:
    node = Node(configuration, metrics)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, node.stop)
    return await node.run()


class Node:
    """A controller that has booted from its files, and runs by `run`.

    Its metrics are served at `metrics`; without that address, nothing is measured. While it runs,
    `channels` are those of Raft and those of its other requests.

    Raises as `run_server`.
    """

    def __init__(
        self, configuration: NodeConfiguration, metrics: MetricsAddress | None = None
    ) -> None:
        self.configuration = configuration
        self._metrics_address = metrics
        self.addresses = Addresses(configuration)
        self._log = NodeLog(configuration.node_id)
        self._features = FinalizedFeatures()
        self._observers: list[Observer] = [
            self._log.controller_step,
            self._features.controller_step,
        ]
        self._connections = Connections(limits_of(configuration.values))
        self._attempts = Attempts()
        self.channels: tuple[Channels, ...] = ()
        self._is_stopping = False
        directory = configuration.metadata_directory
        identity = read_meta_properties(directory / META_PROPERTIES)
        if identity.cluster_id is None:
            raise ConfigurationError(f"{directory / META_PROPERTIES}: cluster.id is missing")
        self.cluster_id = identity.cluster_id
        voters = _static_voters(configuration)
        storage = RaftStorage(
            RealFiles(directory),
            segment_bytes=configuration.values["metadata.log.segment.bytes"],
            voters=voters.node_ids,
        )
        with disk_errors(directory):
            recovered = storage.open(self.cluster_id, configuration.node_id)
        for finding in recovered.findings:
            _LOG.warning("%s", finding)
        self.outside = NodeOutside(Clock())
        self.process = HostedProcess()
        self.process.outside = self.outside
        self.host = self._controller(voters)
        self.process.listener = self.host
        self._disk = Disk(storage, directory)
        self.loop = NodeLoop(self.process, self._disk)
        self.loop.after_step = self._log.replica_step
        self._boot_effects = self._boot(voters, recovered)
        self.metrics = None if metrics is None else self._measured()

    def _boot(self, voters: VoterSet, recovered: Recovered) -> tuple[Effect, ...]:
        configuration = self.configuration
        raft = Configuration(
            self.cluster_id,
            configuration.node_id,
            recovered.directory_id,
            tuple(sorted(Endpoint(one.name, *one.advertised) for one in configuration.listeners)),
            voters,
            self.addresses.bootstrap_ids,
            configuration.timeouts,
            default_listener=configuration.listeners[0].name,
        )
        now, chance = self.outside.now(), self.outside.chance()
        step = boot(raft, recovered.quorum_state, recovered.log, now, chance)
        self.process.become(step.state)
        return step.effects

    def _controller(self, voters: VoterSet) -> ControllerHost:
        configuration = self.configuration
        listeners = tuple(
            Listener(
                one.name, *one.advertised, PROTOCOL_NUMBERS[PLAINTEXT if one.tls is None else SSL]
            )
            for one in configuration.listeners
        )
        sender = RegistrationSender(
            ControllerId(configuration.node_id),
            IncarnationId(uuid_text(secrets.token_bytes(UUID_BYTES))),
            listeners,
            FEATURES,
        )
        controller = _controller_configuration(configuration, self.cluster_id, voters)
        return ControllerHost(self.process, controller, sender, self._controller_step)

    def _controller_step(
        self, kind: str, before: Any, event: Any, after: Any, effects: tuple[Any, ...], message: Any
    ) -> None:
        for observe in self._observers:
            observe(kind, before, event, after, effects, message)

    def _measured(self) -> NodeMetrics:
        names = tuple(one.name for one in self.configuration.listeners)
        metrics = NodeMetrics(self.loop, self._disk, self.host, names, self._connections)
        self._observers.append(metrics.controller_step)
        return metrics

    async def run(self) -> bool:
        """Serve until the end; return False if a fault caused it."""
        me = self.configuration.node_id
        listener = self.configuration.listeners[0].name
        settings = settings_of(self.configuration)
        view = NodeView(
            self.cluster_id, listener, self.host, settings, self._features, self.process
        )
        apis = Apis(view, self.loop, self.outside, self.addresses)
        raft, other = self.channels = (
            self._channels(f"raft-client-{me}", self.configuration.timeouts.request / _SECOND),
            self._channels(f"registration-client-{me}", _OTHER_TIMEOUT),
        )

        def send(destination: NodeId, correlation_id: int, request: Any) -> None:
            if destination == me:
                self._send_to_self(correlation_id, request)
            else:
                chosen = raft if type(request) in RAFT_MESSAGES else other
                chosen.send(destination, correlation_id, request)

        self.outside.send_request = send
        acceptors: list[Acceptor] = []
        try:
            if self.metrics is not None and self._metrics_address is not None:
                await self.metrics.start(self._metrics_address, apis, raft)
            await self._listen(apis, acceptors)
            _LOG.info("[KafkaRaftServer nodeId=%s] Kafka Server started", me)
            return self._ended(await self.loop.run(self._boot_effects))
        except ConfigurationError:
            raise
        except DiskError as error:
            _LOG.error("[KafkaRaftServer nodeId=%s] Fatal fault: %s", me, error)
            return False
        except Exception:  # noqa: BLE001 - told with its trace; the process ends with status 1
            _LOG.exception("[KafkaRaftServer nodeId=%s] Fatal fault", me)
            return False
        finally:
            if self.metrics is not None:
                self.metrics.close()
            for acceptor in acceptors:
                acceptor.close()
            for connection in self._connections:
                connection.close()
            raft.close()
            other.close()
            self._disk.close()

    def stop(self) -> None:
        """Let the controller give up its leadership and end; a second call changes nothing.

        Kafka: KafkaRaftServer.shutdown, KafkaRaftClient.shutdown.
        """
        if not self._is_stopping:
            self._is_stopping = True
            me = self.configuration.node_id
            _LOG.info("[KafkaRaftServer nodeId=%s] shutting down", me)
            self.loop.urge(Shutdown(_SHUTDOWN))

    def _ended(self, effect: Fatal | ShutdownCompleted) -> bool:
        me = self.configuration.node_id
        if isinstance(effect, Fatal):
            _LOG.error("[KafkaRaftServer nodeId=%s] Fatal fault: %s", me, effect)
            return False
        _LOG.info("[KafkaRaftServer nodeId=%s] shut down completed", me)
        return True

    async def _listen(self, apis: Apis, acceptors: list[Acceptor]) -> None:
        """Listen on each listener. Raises ConfigurationError for one that cannot be had."""
        limit, admission = self.configuration.values["socket.request.max.bytes"], Admission()
        for name, (host, port), _, settings in self.configuration.listeners:
            listening = Listening(name, limit, self._connections, admission)
            make = functools.partial(Inbound, apis.serve, listening)
            tls = None if settings is None else server_context(settings)
            try:
                sockets = await listening_sockets(host, port)
            except OSError as error:
                raise ConfigurationError(
                    f"listener {name} cannot be bound to {host}:{port}: {failure_text(error)}"
                ) from None
            acceptors += (Acceptor(one, make, self._connections, tls) for one in sockets)
            _LOG.info("Awaiting socket connections on %s:%s for %s.", host, port, name)
            _LOG.warning(
                "There is no authorizer: everybody who connects to %s is a superuser", name
            )

    def _channels(self, client_id: str, timeout: float) -> Channels:
        first = self.configuration.listeners[0]

        def deliver(node: NodeId, correlation_id: int, response: Any) -> None:
            self.loop.deliver(Arrived(False, 0, node, correlation_id, response))

        return Channels(
            client_id,
            first.name,
            timeout,
            lambda node: self.addresses.find(self.process.state, node),
            deliver,
            self.addresses.learn,
            self._attempts,
            None if first.tls is None else client_context(first.tls),
        )

    def _send_to_self(self, correlation_id: int, request: Any) -> None:
        me = self.configuration.node_id

        def answered(response: Any) -> None:
            self.loop.deliver(Arrived(False, 0, me, correlation_id, response))

        token = self.outside.expect(answered)
        self.loop.deliver(Arrived(True, token, me, correlation_id, request))


def _static_voters(configuration: NodeConfiguration) -> VoterSet:
    """Return the voters of a static quorum, whose disks are not known."""
    listener = configuration.listeners[0].name
    return VoterSet.of(
        Voter(ReplicaKey(node, None), (Endpoint(listener, *address),))
        for node, address in configuration.voters.items()
    )


def _controller_configuration(
    configuration: NodeConfiguration, cluster_id: str, voters: VoterSet
) -> ControllerConfiguration:
    """Return what the controller above Raft is configured with. Kafka: ControllerServer.startup."""
    values = configuration.values
    rebalances = values["auto.leader.rebalance.enable"]
    imbalance_ms = values["leader.imbalance.check.interval.seconds"] * 1000
    defaults = Defaults(
        configuration.node_id,
        unclean_leader_election_enable=values["unclean.leader.election.enable"],
        min_insync_replicas=values["min.insync.replicas"],
        num_partitions=values["num.partitions"],
        default_replication_factor=values["default.replication.factor"],
        cluster_id=cluster_id,
        broker_session_timeout_ms=values["broker.session.timeout.ms"],
        quorum_node_ids=voters.node_ids,
        delegation_token_secret_key=values["delegation.token.secret.key"],
        delegation_token_max_lifetime_ms=values["delegation.token.max.lifetime.ms"],
        delegation_token_expiry_time_ms=values["delegation.token.expiry.time.ms"],
    )
    return ControllerConfiguration(
        defaults,
        _bootstrap_records(configuration),
        metadata_max_idle_interval_ms=values["metadata.max.idle.interval.ms"],
        leader_imbalance_check_interval_ms=imbalance_ms if rebalances else 0,
        delegation_token_expiry_check_interval_ms=values[
            "delegation.token.expiry.check.interval.ms"
        ],
        max_record_bytes_between_snapshots=values[
            "metadata.log.max.record.bytes.between.snapshots"
        ],
        max_snapshot_interval_ms=values["metadata.log.max.snapshot.interval.ms"],
    )


def _bootstrap_records(configuration: NodeConfiguration) -> tuple[TypedRecord, ...]:
    """Return what the first controller of a cluster writes. Kafka: BootstrapDirectory.read."""
    path = configuration.metadata_directory / BOOTSTRAP_NAME
    if not path.exists():
        return (FeatureLevelRecord(METADATA_VERSION, LATEST_METADATA_VERSION),)
    return tuple(
        record
        for batch in read_checkpoint(path)
        if not batch.is_control
        for record in batch.typed_records()
    )
