"""What the steps of a scenario wait for, and which node they ask, of a cluster that is slow."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from krafla.record.cluster import PATIENCE_SECONDS, Cluster
from krafla.record.commands import TOOLS, Java
from krafla.record.drive import Driver
from krafla.record.journal import Journal
from krafla.record.layout import lay_out
from krafla.record.scenario import Shape, parse
from krafla.verdict import KraflaError

HEAD = "sentence: A test.\ncontrollers: 4\nbrokers: 2\n"
SHAPE = Shape(controllers=4, brokers=2)
PORTS = (9000, 9001, 9002, 9003, 9004, 9005)
JAVA = Java(Path("/java"), "a.jar", Path("/tools.xml"))
MOVING = "Current partition reassignments:\norders-0: replicas: 1,2. adding: 1.\n"
OTHER = MOVING.replace("orders", "payments")


class Ended:
    """A process that ended with a status; it keeps how long it was waited for."""

    id = 1
    is_alive = True

    def __init__(self, status):
        self._status = status
        self.waited = []

    def wait(self, seconds):
        self.waited.append(seconds)
        return self._status

    def end(self):
        pass


class Tools:
    """Processes that say and return what they are told to, one after the other."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.commands, self.ended = [], []

    def start(self, command, output):
        said, status = self._answers.pop(0) if self._answers else ("", 0)
        output.write_text(said)
        self.commands.append(command)
        self.ended.append(Ended(status))
        return self.ended[-1]


class SlowCluster:
    """A cluster that gives its answers one after the other, and the last one for ever."""

    def __init__(self, folder, active=(3000,), fenced=(None,)):
        self.layout = lay_out(SHAPE, folder, PORTS)
        self._active, self._fenced = list(active), list(fenced)
        self.asked, self.waited_for = [], []

    def active(self):
        self.asked.append("active")
        return self._active.pop(0) if self._active[1:] else self._active[0]

    def is_fenced(self, broker):
        self.asked.append(broker)
        return self._fenced.pop(0) if self._fenced[1:] else self._fenced[0]

    def answering(self, node_ids):
        return [self.layout.node(one) for one in node_ids]

    def until(self, is_so, what):
        self.waited_for.append(what)
        for _ in range(9):
            if is_so():
                return
        raise KraflaError(f"it was not seen that {what}")


def driver(tmp_path, cluster, tools=None):
    journal = Journal(tmp_path / "harness.log", lambda _: None)
    return Driver(cluster, JAVA, tools or Tools(), journal, tmp_path)


def taken(tmp_path, line, cluster, tools=None):
    """Take one step of a scenario."""
    (step,) = parse(HEAD + line, "mine", "mine").steps
    driver(tmp_path, cluster, tools).take(step)


def test_waiting_for_a_leader_asks_until_there_is_one(tmp_path):
    cluster = SlowCluster(tmp_path, active=(None, None, 3000))

    taken(tmp_path, "wait leader", cluster)

    assert cluster.asked == ["active"] * 3


@pytest.mark.parametrize(
    ("line", "fenced", "looks"),
    [
        ("wait fenced 1", (None, False, False, True), 4),
        ("wait unfenced 1", (None, True, True, False), 4),
        ("wait fenced 1", (True, False), 1),
        ("wait unfenced 1", (False, True), 1),
    ],
)
def test_waiting_for_a_broker_asks_about_it_until_it_is_so(tmp_path, line, fenced, looks):
    cluster = SlowCluster(tmp_path, fenced=fenced)

    taken(tmp_path, line, cluster)

    assert cluster.asked == [1] * looks


def test_waiting_for_moves_asks_until_no_partition_of_the_topic_moves(tmp_path):
    cluster = SlowCluster(tmp_path)
    tools = Tools((MOVING, 0), (MOVING + OTHER, 0), (OTHER, 0))

    taken(tmp_path, "wait reassigned orders", cluster, tools)

    assert [command[-1] for command in tools.commands] == ["--list"] * 3
    assert all(TOOLS["reassign"] in command for command in tools.commands)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("wait leader", "there is an active controller"),
        ("wait fenced 1", "broker 1 is fenced"),
        ("wait unfenced 1", "broker 1 is unfenced"),
        ("wait reassigned orders", "no partition of orders is being reassigned"),
    ],
)
def test_what_never_comes_is_said_with_the_step(tmp_path, line, what):
    cluster = SlowCluster(tmp_path, active=(None,))

    with pytest.raises(KraflaError, match=rf"mine:4: '{line}': it was not seen that {what}"):
        taken(tmp_path, line, cluster, Tools(*[(MOVING, 0)] * 9))


def after(command, word):
    return command[command.index(word) + 1]


def test_a_change_of_the_voters_is_asked_of_the_controller_that_leads_after_a_wait(tmp_path):
    cluster, tools = SlowCluster(tmp_path, active=(None, None, 3002)), Tools()

    taken(tmp_path, "add-voter 3001", cluster, tools)

    (command,) = tools.commands
    assert TOOLS["quorum"] in command
    assert command[-1] == "add-controller"
    assert after(command, "--bootstrap-controller") == "127.0.0.1:9002"
    # The tool reads from this file which controller is added.
    assert after(command, "--command-config") == f"{tmp_path}/n3001/server.properties"
    assert "--bootstrap-server" not in command


def test_the_voter_that_is_removed_is_the_named_one_with_its_directory(tmp_path):
    cluster, tools = SlowCluster(tmp_path, active=(3003,)), Tools()
    for node in cluster.layout.nodes:
        node.data.mkdir(parents=True)
        text = f"version=1\nnode.id={node.node_id}\ndirectory.id=of-{node.node_id}\n"
        (node.data / "meta.properties").write_text(text)

    taken(tmp_path, "remove-voter 3001", cluster, tools)

    (command,) = tools.commands
    assert after(command, "--bootstrap-controller") == "127.0.0.1:9003"
    assert after(command, "--controller-id") == "3001"
    assert after(command, "--controller-directory-id") == "of-3001"


def test_the_journal_has_how_each_load_ended(tmp_path):
    tools = Tools(("", 0), ("", 3), ("", None))
    steps = parse(HEAD + "load a 10\nload b 10\nload c 10\n", "mine", "mine").steps
    driving = driver(tmp_path, SlowCluster(tmp_path), tools)
    for step in steps:
        driving.take(step)
    assert [one.waited for one in tools.ended] == [[], [], []]

    driving.finish()

    assert [one.waited for one in tools.ended] == [[PATIENCE_SECONDS]] * 3
    noted = [line.partition(" ")[2] for line in (tmp_path / "harness.log").read_text().splitlines()]
    assert noted == [
        "load on a ended with status 0",
        "load on b ended with status 3",
        "load on c ended with status None",
    ]


class Servers(Tools):
    """Controllers that have started at once, with these lines about who leads."""

    def __init__(self, lines):
        super().__init__()
        self._lines = lines

    def start(self, command, output):
        logs = output.parent
        (logs / "server.log").write_text("[KafkaServer] Kafka Server started\n")
        (logs / "controller.log").write_text(self._lines[int(logs.parent.name[1:])])
        return super().start(command, output)


def test_of_controllers_that_all_believe_to_lead_the_one_of_the_latest_epoch_is_active(tmp_path):
    won = "Becoming the active controller at epoch {}\n"
    lines = {
        3000: won.format(9),
        3001: won.format(8) + won.format(12),
        3002: won.format(10),
        3003: won.format(15) + "Renouncing leadership and reverting\n",
    }
    layout = lay_out(SHAPE, tmp_path, PORTS)
    for node in layout.nodes:
        node.logs.mkdir(parents=True)
    journal = Journal(tmp_path / "harness.log", lambda _: None)
    cluster = Cluster(layout, JAVA, Servers(lines), journal)
    assert cluster.active() is None

    cluster.start([3000, 3003])
    assert cluster.active() == 3000
    cluster.start([3001, 3002])
    assert cluster.active() == 3001
    cluster.kill(3001)
    assert cluster.active() == 3002


@pytest.mark.parametrize("seen", [True, False])
def test_a_cluster_is_asked_again_after_a_rest_until_patience_ends(tmp_path, monkeypatch, seen):
    slept = []
    clock = SimpleNamespace(monotonic=lambda: sum(slept), sleep=lambda _: slept.append(100))
    monkeypatch.setattr("krafla.record.cluster.time", clock)
    journal = Journal(tmp_path / "harness.log", lambda _: None)
    cluster = Cluster(lay_out(SHAPE, tmp_path, PORTS), JAVA, Tools(), journal)
    answers = [False, False, seen, False]

    if seen:
        cluster.until(lambda: answers.pop(0), "it is so")
        assert answers == [False]
    else:
        with pytest.raises(KraflaError, match="in 240 seconds it was not seen that it is so"):
            cluster.until(lambda: answers.pop(0), "it is so")
        assert answers == []
