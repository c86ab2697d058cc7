"""The commands that ask a cluster: against a node in this process, and what is refused before."""

from __future__ import annotations

import asyncio
import re
import shutil

import pytest
from tests.kraft.node.certificates import Authority
from tests.kraft.node.one_node import (
    BROKER,
    CLUSTER,
    DIRECTORY,
    broker,
    port_of,
    properties,
    serving,
    until_active,
)
from typer.testing import CliRunner

from kraft.ids import ZERO_UUID
from kraft.node.security import client_context, tls_settings
from kraft.tools import application

NOWHERE = "127.0.0.1:1"
QUORUM = ("quorum", "--bootstrap-controller", NOWHERE)
FEATURES = ("features", "--bootstrap-controller", NOWHERE)


def kraft(*arguments: object):
    return CliRunner().invoke(application(), [str(one) for one in arguments])


def answers(path, questions, *, has_broker=False):
    """Return how commands end and what they print, asked of one node in their order."""

    async def main():
        async with serving(path) as (node, client):
            await until_active(client)
            if has_broker:
                await broker(client)
            place = f"127.0.0.1:{port_of(node.configuration)}"
            found = []
            for group, *question in questions:
                start = (group, "--bootstrap-controller", place)
                if group == "cluster":
                    start, question = (group,), [*question, "--bootstrap-controller", place]
                asked = await asyncio.to_thread(kraft, *start, *question)
                found.append((asked.exit_code, asked.stdout.replace(place, "HERE"), asked.stderr))
            return found

    return asyncio.run(main())


def test_the_cluster_commands(tmp_path):
    questions = [
        ("cluster", "cluster-id"),
        ("cluster", "list-endpoints"),
        ("cluster", "unregister", "--id", BROKER),
        ("cluster", "unregister", "--id", BROKER),
    ]
    cluster_id, endpoints, done, again = answers(properties(tmp_path), questions, has_broker=True)
    assert cluster_id == (0, f"Cluster ID: {CLUSTER}\n", "")
    assert re.fullmatch(
        r"ID .* ENDPOINT_TYPE  \n1 +127.0.0.1 \d+ +null +controller +\n", endpoints[1]
    )
    assert done == (0, f"Broker {BROKER} is no longer registered.\n", "")
    assert again == (1, "", f"kraft: no broker {BROKER} is registered\n")


def test_the_quorum_commands(tmp_path):
    questions = [
        ("quorum", "describe", "--status"),
        ("quorum", "describe", "--replication"),
        ("quorum", "describe", "--replication", "--human-readable"),
        ("quorum", "remove-controller", "-i", "3", "-d", DIRECTORY),
    ]
    status, replication, readable, removed = answers(properties(tmp_path), questions)
    # A static quorum does not know the directories of its voters.
    voter = '{"id": 1, "endpoints": ["CONTROLLER://HERE"]}'
    assert f"ClusterId:              {CLUSTER}\nLeaderId:               1\n" in status[1]
    assert status[1].endswith(f"CurrentVoters:          [{voter}]\nCurrentObservers:       []\n")
    row = rf"1     \t{ZERO_UUID}\t\d+ *\t0  \t{{}}\tLeader\t"
    assert re.fullmatch(row.format(r"\d{13}     \t\d{13}        "), replication[1].splitlines()[1])
    assert re.fullmatch(row.format(r"\d+ ms ago *\t\d+ ms ago *"), readable[1].splitlines()[1])
    assert removed == (1, "", "kraft: kraft.version 0 has no record of the voters\n")


def test_the_feature_commands(tmp_path):
    questions = [
        ("features", "upgrade", "--feature", "share.version=1", "--dry-run"),
        ("features", "describe"),
        ("features", "upgrade", "--feature", "share.version=1"),
        ("features", "describe"),
        ("features", "downgrade", "--feature", "share.version=0"),
        ("features", "upgrade", "--feature", "share.version=1", "--feature", "a=1"),
        ("features", "disable", "--feature", "share.version"),
        ("features", "disable", "--feature", "a", "--dry-run"),
        ("features", "downgrade", "--metadata", "3.3"),
        ("features", "downgrade", "--metadata", "3.3", "--unsafe"),
    ]
    found = answers(properties(tmp_path), questions)
    levels = [
        re.search(r"share.version\t.*FinalizedVersionLevel: (\d)", found[at][1])[1] for at in (1, 3)
    ]
    assert levels == ["0", "1"]
    assert found[0] == (0, "share.version can be upgraded to 1.\n", "")
    assert found[2] == (0, "share.version was upgraded to 1.\n", "")
    assert found[4] == (0, "share.version was downgraded to 0.\n", "")
    assert found[6] == (0, "share.version was disabled.\n", "")
    both = found[5][1].splitlines()
    assert both[0].startswith("Could not upgrade a to 1. a cannot have level 1: ")
    assert both[1].startswith("Could not upgrade share.version to 1. a cannot have level 1: ")
    assert (found[5][0], found[5][2]) == (1, "kraft: 2 out of 2 operation(s) failed.\n")
    assert found[7][1].startswith("Can not disable a. ")
    assert found[7][2] == "kraft: 1 out of 1 operation(s) failed.\n"
    deprecated = " `metadata` flag is deprecated and may be removed in a future release.\n"
    assert all(printed.startswith(deprecated) for _, printed, _ in found[8:])
    assert found[8][1].endswith("level 7: metadata might be lost\n")
    assert found[9][1].endswith("level 7: an unsafe downgrade of metadata is not supported\n")


def test_a_quorum_that_can_change(tmp_path):
    path = properties(tmp_path, controller_quorum_voters="")
    listener = re.search(r"CONTROLLER://(\S+)", path.read_text())[1]
    with path.open("a") as file:
        file.write(f"controller.quorum.bootstrap.servers={listener}\n")
    shutil.rmtree(tmp_path / "data")
    formatted = kraft("storage", "format", "-t", CLUSTER, "-c", path, "--standalone")
    assert formatted.exit_code == 0, formatted.output
    questions = [
        ("features", "upgrade", "--release-version", "4.1"),
        ("features", "describe"),
        ("features", "downgrade", "--feature", "kraft.version=0"),
        ("quorum", "--command-config", path, "add-controller"),
        ("quorum", "remove-controller", "-i", "3", "-d", DIRECTORY),
    ]
    upgraded, described, downgraded, added, removed = answers(path, questions)
    levels = {"eligible.leader.replicas.version": 1, "group.version": 1, "kraft.version": 1}
    levels |= {"metadata.version": 27, "transaction.version": 2}
    lines = "".join(f"{name} was upgraded to {level}.\n" for name, level in levels.items())
    assert upgraded == (0, lines, "")
    assert re.search(r"kraft.version\t.*FinalizedVersionLevel: 1\t", described[1])
    assert downgraded[1].startswith("Could not downgrade kraft.version to 0. kraft.version cannot")
    assert added == (1, "", "kraft: node 1 is a voter already\n")
    assert removed == (1, "", "kraft: node 3 is no voter, or the only one\n")


def test_a_client_speaks_tls_as_its_properties_say(tmp_path):
    authority = Authority(tmp_path)
    other = Authority(tmp_path, "other")
    own = {
        "listener_security_protocol_map": "CONTROLLER:SSL",
        "ssl_keystore_type": "PEM",
        "ssl_keystore_location": str(authority.keystore("node")),
        "ssl_truststore_type": "PEM",
        "ssl_truststore_location": str(authority.truststore),
    }

    def configured(name, lines):
        path = tmp_path / name
        path.write_text("security.protocol=SSL\nssl.truststore.type=PEM\n" + lines)
        return path

    good = configured("good", f"ssl.truststore.location={authority.truststore}\n")
    bad = configured("bad", f"ssl.truststore.location={other.truststore}\n")
    no_names = configured("no_names", good.read_text() + "ssl.endpoint.identification.algorithm=\n")
    absent = configured("absent", "ssl.truststore.location=/nowhere\n")
    tls = client_context(
        tls_settings(
            {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(authority.truststore),
            }.get,
            is_listener=False,
        )
    )

    async def main():
        async with serving(properties(tmp_path, **own), tls) as (node, client):
            await until_active(client)
            port = port_of(node.configuration)

            async def ask(host, path):
                place = ("--bootstrap-controller", f"{host}:{port}", "-c", path)
                return await asyncio.to_thread(kraft, "cluster", "cluster-id", *place)

            here = [await ask("127.0.0.1", path) for path in (good, bad, absent)]
            # The certificate is for an address, and not for this name.
            return here, [await ask("localhost", path) for path in (good, no_names)]

    (done, refused, unusable), (misnamed, unnamed) = asyncio.run(main())
    assert "its certificate is not accepted: Hostname mismatch" in misnamed.stderr
    assert unnamed.exit_code == 0
    assert (done.exit_code, done.stdout) == (0, f"Cluster ID: {CLUSTER}\n")
    assert refused.exit_code == 2
    assert "cannot be reached: its certificate is not accepted: " in refused.stderr
    assert unusable.stderr == (
        f"kraft: {absent}: ssl.truststore.location cannot be used: no such file or directory\n"
    )


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("cluster", "cluster-id", "-C", NOWHERE), 2, f"{NOWHERE} cannot be reached: connection r"),
        (("cluster", "cluster-id", "-C", "localhost"), 2, "--bootstrap-controller has 'localhost'"),
        (("cluster", "cluster-id", "-b", "a:b"), 2, "--bootstrap-server has 'a:b', not host:port"),
        (("cluster", "cluster-id", "-b", "a:99999"), 2, "--bootstrap-server has 'a:99999', not"),
        (("cluster", "cluster-id", "-b", ","), 2, "--bootstrap-server names no server"),
        (("cluster", "cluster-id", "-b", "a:1", "-C", "a:1"), 2, "give either --bootstrap-server"),
        (("cluster", "list-endpoints"), 2, "give either --bootstrap-server or --bootstrap-contr"),
        (("cluster", "unregister", "--id", "7"), 2, "give either --bootstrap-server or --bootst"),
        (
            ("cluster", "list-endpoints", "-C", NOWHERE, "--include-fenced-brokers"),
            1,
            "The option --include-fenced-brokers is only supported with --bootstrap-server option",
        ),
        (("quorum", "describe", "--status"), 2, "give either --bootstrap-server or --bootstrap-"),
        ((*QUORUM, "describe"), 1, "One of --status or --replication must be specified"),
        ((*QUORUM, "describe", "--status", "--replication"), 1, "Only one of --status or --repl"),
        (
            (*QUORUM, "describe", "--status", "--human-readable"),
            1,
            "The option --human-readable is only supported along with --replication",
        ),
        ((*QUORUM, "remove-controller", "-i", "-4", "-d", "x"), 1, "Invalid negative --controller"),
        (
            (*QUORUM, "remove-controller", "-i", "4", "-d", "xyz"),
            1,
            "Failed to parse --controller-directory-id: Input string `xyz` decoded as 2 bytes,"
            " which is not equal to the expected 16 bytes of a base64-encoded UUID",
        ),
        ((*QUORUM, "remove-controller", "-i", "4", "-d", "x~"), 1, "'x~' is no base64"),
        (
            (*QUORUM, "add-controller"),
            1,
            "You must supply the configuration file of the controller",
        ),
        ((*FEATURES, "upgrade"), 1, "You must specify at least one feature to upgrade"),
        ((*FEATURES, "disable"), 1, "You must specify at least one feature to disable"),
        ((*FEATURES, "upgrade", "--feature", "a"), 1, "Can't parse feature=level string a: equals"),
        ((*FEATURES, "upgrade", "--feature", "a=x"), 1, "unable to parse x as a short"),
        (
            (*FEATURES, "upgrade", "--feature", "a=0"),
            1,
            "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the"
            " provided maxVersionLevel:0 is < 1.",
        ),
        ((*FEATURES, "downgrade", "--feature", "a=-1"), 1, "Cannot specify a negative version le"),
        (
            (*FEATURES, "upgrade", "--feature", "a=1", "--feature", "a=1"),
            1,
            "Feature a was specified more than once.",
        ),
        (
            (*FEATURES, "disable", "--feature", "a", "--feature", "a"),
            1,
            "Feature a was specified more than once.",
        ),
        (
            (*FEATURES, "upgrade", "--release-version", "4.1", "--feature", "a=1"),
            1,
            "Can not specify `release-version` with other feature flags.",
        ),
        (
            (*FEATURES, "upgrade", "--release-version", "9.9"),
            1,
            "Unknown metadata.version 9.9. Supported metadata.version are 3.3-IV3, 3.4-IV0, ",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(arguments, status, said):
    refused = kraft(*arguments)
    assert said in refused.stderr
    assert (refused.exit_code, refused.stderr.count("\n")) == (status, 1)
    assert not refused.stdout


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("request.timeout.ms=x\n", "request.timeout.ms is not a number from 1 on: 'x'"),
        ("default.api.timeout.ms=0\n", "default.api.timeout.ms is not a number from 1 on: '0'"),
        ("security.protocol=SASL_SSL\n", "security.protocol is 'SASL_SSL', and PLAINTEXT and SSL"),
        ("security.protocol=SSL\nssl.truststore.location=a\n", "ssl.truststore.type is not PEM"),
    ],
)
def test_a_wrong_property_is_named(tmp_path, lines, said):
    path = tmp_path / "client.properties"
    path.write_text(lines)
    refused = kraft("cluster", "cluster-id", "-C", NOWHERE, "-c", path)
    assert refused.stderr.startswith(f"kraft: {path}: {said}")
    assert refused.exit_code == 2


def controller(tmp_path, **changes):
    """Write the server.properties of a controller whose directory is formatted."""
    path = properties(tmp_path, **changes)
    return path.rename(tmp_path / "new.properties")


def test_a_dry_run_asks_nobody(tmp_path):
    path = controller(tmp_path, listeners="CONTROLLER://:9093,B://[::1]:9094",
                      controller_listener_names="CONTROLLER,b")  # fmt: skip
    added = kraft(*QUORUM, "--command-config", path, "add-controller", "--dry-run")
    assert added.stdout == (
        f"DRY RUN of adding controller 1 with directory id {DIRECTORY} and endpoints:"
        " CONTROLLER://localhost:9093, B://[::1]:9094\n"
    )
    about = ("-i", "3", "-d", DIRECTORY)
    removed = kraft(*QUORUM, "remove-controller", *about, "--dry-run")
    # The two blanks are Kafka's.
    what = f"KRaft controller 3 with directory id {DIRECTORY}"
    assert removed.stdout == f"DRY RUN of removing  {what}\n"


IS_THIS = "Is this a valid controller configuration file?"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"node_id": "-3"}, f"node.id was negative in configuration file. {IS_THIS}"),
        ({"node_id": "x"}, f"node.id is no number in configuration file. {IS_THIS}"),
        ({"process_roles": "broker"}, "process.roles did not contain 'controller' in configura"),
        ({"log_dirs": ""}, f"Neither metadata.log.dir nor log.dirs were found. {IS_THIS}"),
        ({"controller_listener_names": "OTHER"}, "Cannot find information about controller liste"),
    ],
)
def test_what_is_no_controller_is_not_added(tmp_path, changes, said):
    path = controller(tmp_path, **changes)
    refused = kraft(*QUORUM, "--command-config", path, "add-controller", "--dry-run")
    assert said in refused.stderr
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
