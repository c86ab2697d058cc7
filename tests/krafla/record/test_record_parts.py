"""The parts of a recording that start nothing: ports, properties, command lines, jars, logs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from krafla.record import jars
from krafla.record.collect import Scrub
from krafla.record.commands import (
    Java,
    bootstrap_brokers,
    format_command,
    server_command,
)
from krafla.record.jars import Jar, class_path, locked_jars
from krafla.record.layout import free_ports, lay_out, log4j2, properties
from krafla.record.scenario import Shape
from krafla.record.watch import Leadership, is_fenced, last_complaint, leadership, refusal
from krafla.verdict import KraflaError

FOLDER = Path("/kafka")
STATIC = lay_out(Shape(controllers=3, brokers=2), FOLDER, (1, 2, 3, 4, 5))


def test_ports_are_all_different():
    assert len(set(free_ports(9))) == 9


def test_a_broker_and_a_controller_are_told_who_they_are_and_who_votes():
    broker = properties(STATIC, STATIC.node(1))
    controller = properties(STATIC, STATIC.node(3002))

    assert broker["process.roles"] == "broker"
    assert broker["listeners"] == "PLAINTEXT://127.0.0.1:5"
    assert broker["log.dirs"] == "/kafka/n1/data"
    assert controller["process.roles"] == "controller"
    assert controller["listeners"] == "CONTROLLER://127.0.0.1:3"
    voters = "3000@127.0.0.1:1,3001@127.0.0.1:2,3002@127.0.0.1:3"
    assert broker["controller.quorum.voters"] == controller["controller.quorum.voters"] == voters
    assert broker["offsets.topic.replication.factor"] == "2"


def test_a_combined_node_of_a_dynamic_quorum_has_both_roles_and_no_fixed_voters():
    layout = lay_out(Shape(combined=1, dynamic=True), FOLDER, (1, 2))
    found = properties(layout, layout.node(1))

    assert found["process.roles"] == "broker,controller"
    assert found["listeners"] == "PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1"
    assert found["controller.quorum.bootstrap.servers"] == "127.0.0.1:1"
    assert "controller.quorum.voters" not in found


def test_what_a_scenario_sets_wins():
    shape = Shape(controllers=1, brokers=1, properties=(("num.io.threads", "9"),))
    layout = lay_out(shape, FOLDER, (1, 2))

    assert properties(layout, layout.node(0))["num.io.threads"] == "9"


def test_command_lines_name_the_program_its_file_and_its_logging():
    java = Java(Path("/java"), "a.jar:b.jar", Path("/tools.xml"))
    server = java.server(STATIC.node(0))
    formats = java.format(STATIC.node(0), "id", ["--standalone"])

    assert (server[0], server[-2:]) == ("/java", ["kafka.Kafka", "/kafka/n0/server.properties"])
    assert "-Dlog4j2.configurationFile=/kafka/n0/log4j2.xml" in server
    assert server[server.index("-cp") + 1] == "a.jar:b.jar"
    assert "-Dlog4j2.configurationFile=/tools.xml" in formats
    where = ["-c", "/kafka/n0/server.properties", "--standalone"]
    assert formats[-7:] == ["kafka.tools.StorageTool", "format", "-t", "id", *where]


def test_a_controller_of_kraft_is_started_and_formatted_by_this_python():
    java = Java(Path("/java"), "a.jar", Path("/tools.xml"))
    shape = Shape(controllers=2, brokers=1, kraft_ids=(3001,))
    kafka, kraft, broker = lay_out(shape, FOLDER, (1, 2, 3)).nodes

    configuration = "/kafka/n3001/server.properties"
    program = [sys.executable, "-P", "-m", "kraft"]
    assert server_command(java, kraft) == [*program, "server", "start", configuration]
    formats = [*program, "storage", "format", "-t", "id", "-c", configuration, "--standalone"]
    assert format_command(java, kraft, "id", ["--standalone"]) == formats
    for node in (kafka, broker):
        assert server_command(java, node) == java.server(node)
        assert format_command(java, node, "id", []) == java.format(node, "id", [])


def test_a_client_begins_with_brokers_only():
    assert bootstrap_brokers(STATIC.nodes) == "127.0.0.1:4,127.0.0.1:5"


def test_a_nodes_logging_has_a_file_for_each_kind():
    text = log4j2(STATIC.node(0))

    for name in ("server", "controller", "request", "state-change"):
        assert f'fileName="/kafka/n0/logs/{name}.log"' in text


def test_the_lock_has_kafka_its_tools_and_the_binding_of_its_logs_each_once():
    named = [jar.coordinates for jar in locked_jars()]

    assert len(set(named)) == len(named)
    assert {f"org.apache.kafka:{name}:4.1.0" for name in ("kafka_2.13", "kafka-tools")} < set(named)
    assert "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3" in named
    assert all(len(jar.sha256) == 64 for jar in locked_jars())


def test_a_jar_is_kept_only_if_it_is_the_locked_one(monkeypatch, tmp_path):
    jar = Jar("g", "a", "1", "0" * 64)
    fetched = tmp_path / "fetched"
    fetched.write_bytes(b"wrong")
    monkeypatch.delenv("KAFKA_LIBS", raising=False)
    monkeypatch.setattr(jars, "locked_jars", lambda: (jar,))
    monkeypatch.setattr(jars, "_resolve", lambda *_: fetched)

    with pytest.raises(KraflaError, match=r"g:a:1 has SHA-256 .*altered"):
        class_path(tmp_path / "cache")

    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_jar_that_rotted_is_fetched_anew(monkeypatch, tmp_path):
    fetched = tmp_path / "fetched"
    fetched.write_bytes(b"right")
    jar = Jar("g", "a", "1", jars._sha256(fetched))
    monkeypatch.delenv("KAFKA_LIBS", raising=False)
    monkeypatch.setattr(jars, "locked_jars", lambda: (jar,))
    monkeypatch.setattr(jars, "_resolve", lambda *_: fetched)

    path = Path(class_path(tmp_path))
    path.write_bytes(b"rotten")

    assert Path(class_path(tmp_path)).read_bytes() == b"right"


def test_a_folder_of_jars_that_is_none_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_LIBS", str(tmp_path / "none"))

    with pytest.raises(KraflaError, match="KAFKA_LIBS names no folder"):
        class_path()


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("", Leadership(-1, False)),
        ("x Becoming the active controller at epoch 4, next", Leadership(4, True)),
        (
            "Becoming the active controller at epoch 4\nWe were the leader at epoch 4, but in the "
            "new epoch 5, the leader is (none).",
            Leadership(4, False),
        ),
        (
            "In the new epoch 5, the leader is 3000.\nBecoming the active controller at epoch 6",
            Leadership(6, True),
        ),
        (
            "Becoming the active controller at epoch 6\n"
            "Renouncing leadership and reverting to the last committed offset 9.",
            Leadership(6, False),
        ),
    ],
)
def test_a_controllers_log_shows_whether_it_leads(log, expected):
    assert leadership(log) == expected


def test_the_log_that_shows_most_says_whether_a_broker_is_fenced():
    changed = "BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=8, fenced={}, in"
    new = "Replayed RegisterBrokerRecord about 1: RegisterBrokerRecord(brokerId=1, isM"
    long = "\n".join([new, changed.format(-1), changed.format(1)])

    assert is_fenced(1, [f"{new}\n{changed.format(-1)}", long]) is True
    assert is_fenced(1, [new]) is True
    assert is_fenced(1, [f"{new}\n{changed.format(-1)}"]) is False
    assert is_fenced(2, [long]) is None


def test_the_last_complaint_of_a_log_is_one_line():
    log = "[t] ERROR first (x)\n[t] INFO fine (x)\n[t] ERROR second (x)\n\tat somewhere\n"

    assert last_complaint(log) == "second (x)"
    assert last_complaint("[t] INFO fine (x)") == ""
    assert last_complaint("[t] INFO fine (x)\nkraft: a:6: node.id is not set\n") == (
        "a:6: node.id is not set"
    )


def test_a_refusal_is_the_line_with_the_error_and_no_line_of_its_trace():
    trace = 'Exception in thread "main" x.ConfigException: Invalid\n\tat x.main(X.scala)\n'

    assert refusal(f"Formatting\n{trace}") == trace.splitlines()[0]
    assert refusal("one\nkraft: two\n\n") == "kraft: two"


def test_folders_and_the_name_of_the_machine_are_scrubbed_longest_first(tmp_path):
    inner = tmp_path / "run"
    inner.mkdir()
    scrub = Scrub({tmp_path: "/opt/home", inner: "/var/lib/kafka"}, "mybox")

    text = scrub(f"{inner}/n1 {tmp_path}/x mybox:9 mybox. notmybox mybox-2")

    assert text == "/var/lib/kafka/n1 /opt/home/x localhost:9 localhost. notmybox mybox-2"
