"""The commands that ask a cluster print what Kafka's tools print of it, but for ids and times."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from tests.kraft.kafka_tools import answer
from tests.kraft.node.certificates import Authority
from tests.kraft.node.java_cluster import running
from typer.testing import CliRunner

from krafla.record.scenario import Shape
from kraft.log.text_files import META_PROPERTIES, read_meta_properties
from kraft.tools import application

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]

TOOLS = {"cluster": "ClusterTool", "quorum": "MetadataQuorumCommand", "features": "FeatureCommand"}
UUID = "AAAAAAAAAAAAAAAAAAAAAQ"
CONTROLLERS = (3000, 3001)
MASKED = (
    (r"(?m)^[\d:.]+ \[kafka-admin-client-thread.*\n", ""),
    (r"\d+ ms ago", "AGO"),
    (r"\b\d{13}\b", "TIME"),
    (r"((?:Leader)?Epoch|HighWatermark|MaxFollowerLag(?:TimeMs)?): +-?\d+", r"\1: N"),
    # The ends of the logs in the table of the replicas.
    (r"([\w-]{22})[ \t]+\d+[ \t]+-?\d+[ \t]", r"\1 END LAG "),
    (r"[ \t]+", " "),
)

READS = [
    ("cluster", "cluster-id"),
    ("cluster", "list-endpoints"),
    ("cluster", "unregister", "--id", "77"),
    ("quorum", "describe", "--status"),
    ("quorum", "describe", "--replication"),
    ("quorum", "describe", "--replication", "--human-readable"),
    ("quorum", "remove-controller", "-i", "99", "-d", UUID),
    ("quorum", "remove-controller", "-i", "99", "-d", UUID, "--dry-run"),
    ("features", "describe"),
    ("features", "upgrade", "--release-version", "4.1", "--dry-run"),
    ("features", "upgrade", "--feature", "bogus=1"),
    ("features", "upgrade", "--feature", "bogus=1", "--feature", "share.version=1", "--dry-run"),
]
CHANGES = [
    ("features", "upgrade", "--release-version", "9.9"),
    ("features", "upgrade", "--feature", "bogus"),
    ("features", "upgrade", "--feature", "bogus=x"),
    ("features", "upgrade", "--feature", "share.version=0"),
    ("features", "upgrade"),
    ("features", "disable"),
    ("features", "upgrade", "--feature", "share.version=1"),
    ("features", "describe"),
    ("features", "downgrade", "--feature", "share.version=0"),
    ("features", "upgrade", "--feature", "share.version=1", "--feature", "transaction.version=1"),
    ("features", "downgrade", "--feature", "transaction.version=1", "--dry-run"),
    ("features", "disable", "--feature", "share.version", "--dry-run"),
    ("features", "disable", "--feature", "share.version"),
    ("features", "disable", "--feature", "kraft.version"),
    ("features", "downgrade", "--metadata", "4.0", "--dry-run"),
    ("features", "downgrade", "--metadata", "3.3", "--dry-run"),
    ("features", "downgrade", "--metadata", "3.9", "--unsafe", "--dry-run"),
    ("features", "downgrade", "--release-version", "4.0"),
    ("features", "describe"),
    ("features", "upgrade", "--release-version", "4.1"),
    ("features", "upgrade", "--feature", "metadata.version=99"),
    ("features", "upgrade", "--feature", "kraft.version=9", "--dry-run"),
    ("quorum", "describe"),
    ("quorum", "describe", "--status", "--human-readable"),
    ("quorum", "add-controller"),
    ("quorum", "remove-controller", "-i", "-4", "-d", UUID),
    ("quorum", "remove-controller", "-i", "4", "-d", "xyz"),
]


class Told(NamedTuple):
    """How a command ended, what it printed, and its first complaint."""

    status: int
    printed: str
    complaint: str


def told(status: int, printed: str, complaints: str) -> Told:
    for pattern, masked in MASKED:
        printed = re.sub(pattern, masked, printed)
    first = complaints.partition("\n")[0].strip()
    return Told(status, printed, re.sub(r"^(?:kraft: |org\.apache\.kafka\.[\w.]+: )", "", first))


def arguments(bootstrap: tuple[str, str], tool: str, *question: str) -> list[str]:
    options = [*question]
    before = [*bootstrap]
    if options[0].startswith("--command-config"):
        before += [options.pop(0), options.pop(0)]
    return [*options, *before] if tool == "cluster" else [*before, *options]


def ours(bootstrap: tuple[str, str], tool: str, *question: str) -> Told:
    asked = CliRunner().invoke(application(), [tool, *arguments(bootstrap, tool, *question)])
    return told(asked.exit_code, asked.stdout, asked.stderr)


def theirs(bootstrap: tuple[str, str], tool: str, *question: str) -> Told:
    asked = answer(f"org.apache.kafka.tools.{TOOLS[tool]}", *arguments(bootstrap, tool, *question))
    return told(asked.returncode, asked.stdout, asked.stderr)


def servers(cluster) -> list[tuple[str, str]]:
    """Return both ways to begin."""
    nodes = cluster.layout.node
    controllers = ",".join(f"127.0.0.1:{nodes(one).controller_port}" for one in CONTROLLERS)
    broker = f"127.0.0.1:{nodes(0).broker_port}"
    return [("--bootstrap-controller", controllers), ("--bootstrap-server", broker)]


def differences(bootstrap, questions):
    found = []
    for question in questions:
        expected, printed = theirs(bootstrap, *question), ours(bootstrap, *question)
        if expected != printed:
            found.append((bootstrap[0], question, expected, printed))
    return found


@pytest.mark.parametrize("kraft_ids", [(), CONTROLLERS], ids=["kafka", "kraft"])
def test_the_commands_print_what_kafkas_print(tmp_path, kraft_ids):
    shape = Shape(controllers=2, brokers=2, dynamic=True, kraft_ids=kraft_ids)
    found = []
    with running(shape, tmp_path) as cluster:
        at_controllers, at_broker = servers(cluster)
        for bootstrap in (at_controllers, at_broker):
            found += differences(bootstrap, READS)
        found += differences(at_controllers, CHANGES)
        found += differences(at_broker, CHANGES[:9])
        voters = changed_voters(cluster, at_controllers, at_broker)
        brokers = unregistered(cluster, at_controllers, at_broker)
        mistaken = [
            (theirs(bootstrap, "cluster", "cluster-id"), ours(bootstrap, "cluster", "cluster-id"))
            for bootstrap in (
                ("--bootstrap-controller", at_broker[1]),
                ("--bootstrap-server", at_controllers[1]),
            )
        ]

    assert found == []
    assert voters == []
    assert brokers == []
    (to_broker, our_to_broker), (to_controller, our_to_controller) = mistaken
    assert to_broker == our_to_broker
    # Kafka's client asks a controller for its topics first.
    assert to_controller.complaint == "The node does not support METADATA"
    assert (our_to_controller.status, our_to_controller.printed) == (1, "")


def changed_voters(cluster, at_controllers, at_broker):
    """Let both sides add and remove a voter in turn; return where they differ."""
    place = cluster.layout.node(3001)
    directory = read_meta_properties(place.data / META_PROPERTIES).directory_id
    add = ("quorum", "--command-config", str(place.configuration), "add-controller")
    remove = ("quorum", "remove-controller", "-i", "3001", "-d", directory)
    broker = str(cluster.layout.node(0).configuration)
    found = differences(
        at_controllers,
        [("quorum", "--command-config", broker, "add-controller"), (*add, "--dry-run")],
    )
    for bootstrap in (at_controllers, at_broker):
        their_add, our_remove = theirs(bootstrap, *add), ours(bootstrap, *remove)
        our_add = ours(bootstrap, *add)
        found += differences(bootstrap, [add, ("quorum", "describe", "--status")])
        their_remove = theirs(bootstrap, *remove)
        if their_add != our_add or our_remove != their_remove:
            found.append((bootstrap[0], their_add, our_add, their_remove, our_remove))
        found += [one for one in (their_add, their_remove) if one.status]
    return found


def unregistered(cluster, at_controllers, at_broker):
    """Let a broker be fenced, and unregister it; return where both sides differ."""
    cluster.kill(1)
    endpoints = ("cluster", "list-endpoints", "--include-fenced-brokers")
    cluster.until(lambda: "fenced " in ours(at_broker, *endpoints).printed.replace("unfenced", ""),
                  "the broker is fenced")  # fmt: skip
    found = differences(at_broker, [endpoints, endpoints[:2]])
    found += differences(at_controllers, [endpoints])
    done = ours(at_broker, "cluster", "unregister", "--id", "1")
    if done != (0, "Broker 1 is no longer registered.\n", ""):
        found.append(done)
    return found + differences(at_broker, [endpoints])


def test_both_speak_tls_to_a_static_quorum_of_kafka(tmp_path):
    authority = Authority(tmp_path)
    stores = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.keystore("node")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.truststore),
    }
    secure = {f"listener.name.controller.{key}": value for key, value in stores.items()}
    secure["listener.name.controller.ssl.client.auth"] = "required"
    secure["listener.security.protocol.map"] = "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT"
    secure["super.users"] = "User:CN=node;User:ANONYMOUS"
    client = tmp_path / "client.properties"
    lines = {"security.protocol": "SSL", **stores}
    client.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    shape = Shape(controllers=1, brokers=1, properties=tuple(secure.items()))
    with running(shape, tmp_path) as cluster:
        place = f"127.0.0.1:{cluster.layout.node(3000).controller_port}"
        describe = ("quorum", "--command-config", str(client), "describe")
        questions = [(*describe, "--status"), (*describe, "--replication")]
        found = differences(("--bootstrap-controller", place), questions)
        done = ours(("--bootstrap-controller", place), *questions[0])

    assert found == []
    assert done.status == 0
