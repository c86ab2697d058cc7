"""Where each node lives and listens, and the files that say so to it: nothing is started here."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - the dataclass is read at run time by its tests

from krafla.record.scenario import Shape  # noqa: TC001 - as above

__all__ = ["HOST", "Layout", "NodePlace", "free_ports", "lay_out", "log4j2", "properties"]

HOST = "127.0.0.1"
_LOGS = ("server", "controller", "request", "state-change")
# Small machines, small clusters: few threads, small buffers, so that small heaps are comfortable.
_COMMON = {
    "auto.create.topics.enable": "false",
    "background.threads": "2",
    "broker.session.timeout.ms": "6000",
    "controller.listener.names": "CONTROLLER",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "group.initial.rebalance.delay.ms": "0",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.io.buffer.size": "65536",
    "log.index.size.max.bytes": "65536",
    "log.segment.bytes": "16777216",
    "num.io.threads": "2",
    "num.network.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
}
_REPLICAS_MAX = 3


@dataclass(frozen=True, slots=True)
class NodePlace:
    """A node: its id, its folder, its ports; a port is None if the node lacks that role.

    `is_kraft` if it runs `kraft server start`, and not Kafka.
    """

    node_id: int
    folder: Path
    broker_port: int | None
    controller_port: int | None
    is_kraft: bool = False

    @property
    def data(self) -> Path:
        """Return the folder of its disk."""
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        """Return the folder of its logs for people."""
        return self.folder / "logs"

    @property
    def output(self) -> Path:
        """Return the file that its process prints to; kraft prints its log."""
        return self.logs / ("server.log" if self.is_kraft else "stdout.log")

    @property
    def controller_log(self) -> Path:
        """Return the file with the lines of its controller; kraft has one file for all."""
        return self.logs / ("server.log" if self.is_kraft else "controller.log")

    @property
    def configuration(self) -> Path:
        """Return the file of its properties."""
        return self.folder / "server.properties"

    @property
    def roles(self) -> str:
        """Return `process.roles`."""
        roles = {"broker": self.broker_port, "controller": self.controller_port}
        return ",".join(role for role, port in roles.items() if port is not None)


@dataclass(frozen=True, slots=True)
class Layout:
    """All nodes of a cluster, in the order of `Shape.node_ids`."""

    shape: Shape
    nodes: tuple[NodePlace, ...]

    def node(self, node_id: int) -> NodePlace:
        """Return one node."""
        return next(node for node in self.nodes if node.node_id == node_id)


def free_ports(count: int) -> tuple[int, ...]:
    """Return different free ports of this machine."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return tuple(one.getsockname()[1] for one in sockets)


def lay_out(shape: Shape, folder: Path, ports: tuple[int, ...]) -> Layout:
    """Return a place for each node; takes `len(controller_ids) + len(broker_ids)` ports."""
    remaining = iter(ports)
    controller = {node: next(remaining) for node in shape.controller_ids}
    broker = {node: next(remaining) for node in shape.broker_ids}
    return Layout(
        shape,
        tuple(
            NodePlace(
                node,
                folder / f"n{node}",
                broker.get(node),
                controller.get(node),
                node in shape.kraft_ids,
            )
            for node in shape.node_ids
        ),
    )


def properties(layout: Layout, node: NodePlace) -> dict[str, str]:
    """Return the properties of a node, in the order of their names."""
    shape = layout.shape
    replicas = str(min(_REPLICAS_MAX, len(shape.broker_ids)))
    listeners = []
    if node.broker_port is not None:
        listeners.append(f"PLAINTEXT://{HOST}:{node.broker_port}")
    if node.controller_port is not None:
        listeners.append(f"CONTROLLER://{HOST}:{node.controller_port}")
    controllers = [layout.node(one) for one in shape.controller_ids]
    if shape.dynamic:
        name = "controller.quorum.bootstrap.servers"
        quorum = ",".join(f"{HOST}:{one.controller_port}" for one in controllers)
    else:
        name = "controller.quorum.voters"
        quorum = ",".join(f"{one.node_id}@{HOST}:{one.controller_port}" for one in controllers)
    own = {
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "process.roles": node.roles,
        "node.id": str(node.node_id),
        "log.dirs": str(node.data),
        "listeners": ",".join(listeners),
        name: quorum,
    }
    return dict(sorted({**_COMMON, **own, **dict(shape.properties)}.items()))


def log4j2(node: NodePlace) -> str:
    """Return the configuration of a node's logging: one file for each kind, as Kafka ships it."""
    files = "".join(
        f'<File name="{name}" fileName="{node.logs / name}.log">'
        '<PatternLayout pattern="[%d] %p %m (%c)%n"/></File>'
        for name in _LOGS
    )
    loggers = "".join(
        f'<Logger name="{logger}" level="{level}" additivity="false">'
        f'<AppenderRef ref="{file}"/></Logger>'
        for logger, level, file in (
            ("kafka.request.logger", "WARN", "request"),
            ("org.apache.kafka.controller", "INFO", "controller"),
            ("state.change.logger", "INFO", "state-change"),
        )
    )
    return (
        f'<Configuration status="ERROR"><Appenders>{files}</Appenders><Loggers>'
        f'<Root level="INFO"><AppenderRef ref="server"/></Root>{loggers}'
        "</Loggers></Configuration>\n"
    )
