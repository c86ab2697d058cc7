"""The command lines of Kafka's tools that ask controllers, and the nodes that they are asked on."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.record.commands import TOOLS
from kraft.node.java_properties import read_properties

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.record.cluster import Cluster
    from krafla.record.layout import NodePlace

_CLASSES: Final = {**TOOLS, "tokens": "org.apache.kafka.tools.DelegationTokenCommand"}
NO_DIRECTORY: Final = "AAAAAAAAAAAAAAAAAAAAAg"
"""The id of a directory that no node has."""

PROPERTIES: Final = (
    ("delegation.token.secret.key", "open sesame"),
    ("log.retention.hours", "100"),
    ("no.such.key", "5"),
    ("ssl.truststore.password", "open sesame"),
)
"""What both kinds of nodes are told besides: a secret, a synonym, an unknown key."""

STATIC: Final = """
configs CONTROLLER --describe --entity-type brokers --entity-name 3000
configs CONTROLLER --describe --entity-type brokers --entity-name 3000 --all
configs CONTROLLER --describe --entity-type brokers --entity-default
configs CONTROLLER --describe --entity-type brokers --entity-default --all
configs CONTROLLER --describe --entity-type brokers
configs CONTROLLER --describe --broker 0
configs CONTROLLER --describe --broker 9
configs CONTROLLER --describe --broker x
configs CONTROLLER --describe --broker-logger 3000
configs CONTROLLER --describe --broker-logger 0
configs CONTROLLER --describe --topic calm
configs CONTROLLER --describe --topic calm --all
configs CONTROLLER --describe --topic absent
configs CONTROLLER --describe --entity-type topics
configs CONTROLLER --describe --group team
configs CONTROLLER --describe --group team --all
configs CONTROLLER --describe --group absent --all
configs CONTROLLER --describe --client-metrics watch
configs CONTROLLER --describe --client-metrics absent
configs CONTROLLER --describe --user ann
configs CONTROLLER --describe --user-defaults
configs CONTROLLER --describe --client-defaults
configs CONTROLLER --describe --client c
configs CONTROLLER --describe --ip 127.0.0.1
configs CONTROLLER --describe --ip-defaults
configs CONTROLLER --alter --broker 3000 --add-config log.cleaner.threads=2
configs CONTROLLER --describe --broker 3000
configs CONTROLLER --alter --broker 3000 --delete-config log.cleaner.threads
configs CONTROLLER --alter --broker 3000 --delete-config log.cleaner.threads
configs CONTROLLER --alter --broker 0 --add-config log.cleaner.threads=3
configs CONTROLLER --alter --broker-defaults --add-config log.cleaner.threads=2
configs CONTROLLER --describe --broker-defaults
configs CONTROLLER --alter --broker-defaults --delete-config log.cleaner.threads
configs CONTROLLER --alter --broker-logger 3000 --add-config org.apache.kafka.image=WARN
configs CONTROLLER --alter --topic calm --add-config retention.ms=150000
configs CONTROLLER --alter --topic calm --add-config retention.ms=soon
configs CONTROLLER --alter --topic calm --add-config no.such.key=1
configs CONTROLLER --alter --topic absent --add-config retention.ms=150000
configs CONTROLLER --alter --topic calm --delete-config flush.ms
configs CONTROLLER --alter --group team --add-config consumer.heartbeat.interval.ms=6000
configs CONTROLLER --alter --group team --add-config consumer.heartbeat.interval.ms=1
configs CONTROLLER --alter --client-metrics watch --add-config match=client_id=c
configs CONTROLLER --alter --client-metrics watch --add-config match=no
configs CONTROLLER --alter --client-metrics watch --add-config nothing=1
configs CONTROLLER --alter --user ann --add-config producer_byte_rate=2048
configs CONTROLLER --alter --user ann --add-config SCRAM-SHA-256=[password=secret]
configs CONTROLLER --alter --client c --add-config producer_byte_rate=2048
configs CONTROLLER --alter --ip-defaults --add-config connection_creation_rate=3
configs BROKER-AS-CONTROLLER --describe --entity-type brokers --entity-default
acls CONTROLLER --list
acls CONTROLLER --add --allow-principal User:ann --operation READ --topic calm
acls CONTROLLER --add --deny-principal User:b --operation ALL --topic c PREFIXED
acls CONTROLLER --add --allow-principal User:ann --operation CREATE --cluster
acls CONTROLLER --list
acls CONTROLLER --list --topic calm
acls CONTROLLER --list --principal User:ann
acls CONTROLLER --list --topic calm --resource-pattern-type match
acls CONTROLLER --remove --topic c PREFIXED --force
acls CONTROLLER --remove --topic absent --force
acls CONTROLLER --list
acls CONTROLLER --add --allow-principal ann --operation READ --topic calm
quorum CONTROLLER describe --status
quorum CONTROLLER describe --replication
quorum CONTROLLER describe --replication --human-readable
quorum CONTROLLER remove-controller --controller-id 9 --controller-directory-id DIRECTORY --dry-run
quorum CONTROLLER remove-controller --controller-id 9 --controller-directory-id DIRECTORY
quorum CONTROLLER remove-controller --controller-id 3000 --controller-directory-id DIRECTORY
quorum CONTROLLER --command-config UNREACHABLE add-controller --dry-run
quorum CONTROLLER --command-config UNREACHABLE add-controller
quorum CONTROLLER add-controller
quorum BROKER-AS-CONTROLLER describe --status
features CONTROLLER describe
features CONTROLLER version-mapping
features CONTROLLER version-mapping --release-version 3.9
features CONTROLLER version-mapping --release-version 1.0
features CONTROLLER feature-dependencies --feature metadata.version=27
features CONTROLLER feature-dependencies --feature no.such.feature=1
features CONTROLLER upgrade --metadata 4.1-IV1
features CONTROLLER upgrade --feature metadata.version=99
features CONTROLLER upgrade --feature metadata.version=20
features CONTROLLER upgrade --feature no.such.feature=1
features CONTROLLER upgrade --feature metadata.version=27 --dry-run
features CONTROLLER downgrade --feature metadata.version=25 --dry-run
features CONTROLLER downgrade --feature metadata.version=26
features CONTROLLER downgrade --feature metadata.version=1
features CONTROLLER downgrade --feature metadata.version=9 --unsafe
features CONTROLLER downgrade --feature eligible.leader.replicas.version=0
features CONTROLLER upgrade --feature eligible.leader.replicas.version=1
features CONTROLLER disable --feature group.version
features CONTROLLER disable --feature metadata.version
features CONTROLLER disable --feature no.such.feature
features CONTROLLER upgrade --feature group.version=1
features CONTROLLER upgrade --feature metadata.version=27
features CONTROLLER upgrade --feature kraft.version=0
features CONTROLLER describe
features BROKER-AS-CONTROLLER describe
cluster cluster-id CONTROLLER
cluster list-endpoints CONTROLLER
cluster list-endpoints CONTROLLER --include-fenced-brokers
cluster unregister CONTROLLER --id 9
cluster unregister CONTROLLER --id -1
cluster cluster-id BROKER-AS-CONTROLLER
reassign CONTROLLER --list
reassign CONTROLLER --cancel --reassignment-json-file MOVES
reassign CONTROLLER --generate --topics-to-move-json-file MOVES --broker-list 0
reassign BROKER-AS-CONTROLLER --list
tokens --bootstrap-server CONTROLLER-AS-SERVER --command-config UNREACHABLE --describe
configs --bootstrap-server CONTROLLER-AS-SERVER --describe --entity-type brokers --entity-default
features --bootstrap-server CONTROLLER-AS-SERVER describe
features CONTROLLER upgrade --release-version 4.1
"""
"""Command lines for one static controller, 3000, and one broker, 0, in their order."""

DYNAMIC: Final = """
features CONTROLLER describe
quorum CONTROLLER describe --replication
quorum CONTROLLER --command-config SECOND add-controller --dry-run
quorum CONTROLLER --command-config SECOND add-controller
quorum CONTROLLER --command-config SECOND add-controller
quorum CONTROLLER --command-config UNREACHABLE add-controller
quorum CONTROLLER describe --status
quorum CONTROLLER remove-controller --controller-id 3001 --controller-directory-id DIRECTORY
quorum CONTROLLER remove-controller --controller-id 9 --controller-directory-id DIRECTORY
quorum CONTROLLER remove-controller --controller-id 3001 --controller-directory-id OF-SECOND
quorum CONTROLLER remove-controller --controller-id 3001 --controller-directory-id OF-SECOND
quorum CONTROLLER remove-controller --controller-id 3000 --controller-directory-id OF-FIRST
cluster list-endpoints CONTROLLER
features CONTROLLER upgrade --feature kraft.version=2
features CONTROLLER downgrade --feature kraft.version=0
features CONTROLLER upgrade --release-version 4.1
"""
"""Command lines for a dynamic quorum of 3000, which 3001 may join, and one broker."""


def commands(cluster: Cluster, folder: Path, lines: str) -> list[tuple[str, str, list[str]]]:
    """Return each command line: its name, its class, its arguments for one cluster.

    `folder` gets the files that they name. A line that is there again has its number in its name.
    """
    node = cluster.layout.node
    controllers = f"127.0.0.1:{node(3000).controller_port}"
    brokers = f"127.0.0.1:{node(0).broker_port}"
    unreachable = str(_unreachable_controller(folder, controllers))
    words = {
        "CONTROLLER": ["--bootstrap-controller", controllers],
        "BROKER-AS-CONTROLLER": ["--bootstrap-controller", brokers],
        "CONTROLLER-AS-SERVER": [controllers],
        "UNREACHABLE": [unreachable],
        "MOVES": [str(_moves(folder))],
        "PREFIXED": ["--resource-pattern-type", "prefixed"],
        "DIRECTORY": [NO_DIRECTORY],
    }
    if len(cluster.layout.shape.controller_ids) > 1:
        words["SECOND"] = [str(node(3001).configuration)]
        words["OF-FIRST"] = [directory_of(node(3000))]
        words["OF-SECOND"] = [directory_of(node(3001))]
    times: Counter[str] = Counter()
    found = []
    for line in lines.strip().splitlines():
        times[line] += 1
        tool, *arguments = shlex.split(line)
        placed = [part for one in arguments for part in words.get(one, [one])]
        name = line if times[line] == 1 else f"{line} ({times[line]})"
        found.append((name, _CLASSES[tool], placed))
    return found


def directory_of(node: NodePlace) -> str:
    """Return the directory id of a formatted node."""
    return read_properties(node.data / "meta.properties")["directory.id"]


def _moves(folder: Path) -> Path:
    """Write a plan that leaves a partition where it is, and return its path."""
    move = {"topic": "calm", "partition": 0, "replicas": [0]}
    plan = {"version": 1, "partitions": [move], "topics": [{"topic": "calm"}]}
    path = folder / "moves.json"
    path.write_text(json.dumps(plan))
    return path


def _unreachable_controller(folder: Path, controllers: str) -> Path:
    """Write the server.properties of a controller that does not run, and return its path."""
    data = folder / "added"
    data.mkdir()
    (data / "meta.properties").write_text(
        f"version=1\nnode.id=3009\ncluster.id=x\ndirectory.id={NO_DIRECTORY}\n"
    )
    path = folder / "added.properties"
    path.write_text(
        "process.roles=controller\nnode.id=3009\n"
        f"controller.quorum.bootstrap.servers={controllers}\n"
        "listeners=CONTROLLER://127.0.0.1:1\ncontroller.listener.names=CONTROLLER\n"
        f"log.dirs={data}\ndefault.api.timeout.ms=8000\nrequest.timeout.ms=8000\n"
    )
    return path
