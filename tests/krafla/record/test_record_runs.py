"""Recordings from end to end, with a stand-in for Java: nothing is left, however they end."""

from __future__ import annotations

import json
import os
import re
import select
import sys
from pathlib import Path

import pytest

from krafla.record.processes import Processes
from krafla.record.run import Recording, record
from krafla.record.scenario import parse
from krafla.verdict import KraflaError

HEAD = "sentence: A test.\ncontrollers: 1\nbrokers: 1\n"
# Only a test that fails waits so long.
HANGS_SECONDS = 60
CHILD = """
import signal, subprocess, sys
if sys.argv[2:]:
    subprocess.Popen([sys.executable, "-S", "-c", sys.argv[3], sys.argv[1]]).wait()
else:
    with open(sys.argv[1], "w") as pipe:
        pipe.write("ready\\n"); pipe.flush()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.alarm(300)
        while True: signal.pause()
"""


def recording(tmp_path, steps, head=HEAD):
    scenario = parse(head + steps, "mine", "mine.scenario")
    return Recording(scenario, None, tmp_path / "out")


def processes_of(text):
    return [int(number) for number in re.findall(r"process (\d+)", text)]


def is_gone(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_process_and_its_own_children_are_gone_when_the_context_is_left(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-S", "-c", CHILD, str(pipe), "parent", CHILD]
    with Processes() as processes:
        running = processes.start(command, tmp_path / "output")
        reader = pipe.open()
        assert reader.readline() == "ready\n"
        assert running.is_alive
    with reader:
        # The end of the pipe is only there when nobody can write to it any more.
        assert select.select([reader], [], [], HANGS_SECONDS)[0]
        assert reader.read() == ""

    assert is_gone(running.id)


def test_an_error_ends_the_processes_as_well(tmp_path):
    started = []

    def fail():
        with Processes() as processes:
            command = [sys.executable, "-S", "-c", "import signal; signal.pause()"]
            started.append(processes.start(command, tmp_path / "output"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()

    assert not started[0].is_alive
    assert is_gone(started[0].id)


def test_a_program_that_does_not_start_is_said(tmp_path):
    with pytest.raises(KraflaError, match="does not start"), Processes() as processes:
        processes.start([str(tmp_path / "none")], tmp_path / "output")


@pytest.mark.usefixtures("fake_kafka")
def test_a_recording_has_a_folder_for_each_node_and_says_what_was_done(tmp_path):
    told = []
    steps = (
        "create-topic t 1\nkill 0\nwait fenced 0\nstart 0\npause active\nresume all\nstop 3000\n"
    )
    made = recording(tmp_path, steps + "wipe 3000\nstart all\n")

    record(made, told.append)

    assert {path.name for path in made.out.iterdir()} == {
        "harness.log", "inventory.json", "mine.scenario", "n0", "n3000",
    }  # fmt: skip
    inventory = json.loads((made.out / "inventory.json").read_text())
    assert (inventory["kafka"], inventory["given_up"]) == ("4.1.0", None)
    assert (made.out / "n3000" / "old-1" / "meta.properties").is_file()
    assert (made.out / "n0" / "__cluster_metadata-0").is_dir()
    journal = (made.out / "harness.log").read_text()
    assert "--create --topic t" in journal
    assert len(processes_of(journal)) == 4
    assert all(map(is_gone, processes_of(journal)))
    assert "step 1 of 9: create-topic t 1" in told


@pytest.mark.usefixtures("fake_kafka")
def test_a_controller_of_kraft_leads_is_killed_wiped_and_started_again(tmp_path):
    steps = "kill active\nstart all\nwait leader\nstop 3000\nwipe 3000\nstart 3000\nwait leader\n"
    head = HEAD.replace("controllers: 1", "controllers: 1 kraft")
    made = recording(tmp_path, steps, head)

    record(made, lambda _: None)

    logs = made.out / "n3000" / "logs"
    assert {path.name for path in logs.iterdir()} == {"format.log", "server.log"}
    assert (logs / "server.log").read_text().count("Becoming the active controller") == 3
    assert list((made.out / "n3000" / "old-1" / "__cluster_metadata-0").glob("*.log"))
    inventory = json.loads((made.out / "inventory.json").read_text())
    assert inventory["kraft_controllers"] == [3000]
    assert "started node 3000, kraft's controller" in (made.out / "harness.log").read_text()


@pytest.mark.by_day(1)
@pytest.mark.usefixtures("fake_kafka")
@pytest.mark.parametrize(
    ("kind", "step", "asked"),
    [
        ("kraft", "upgrade", "upgrade --feature metadata.version=20:"),
        ("kraft", "downgrade", "downgrade --feature metadata.version=20 --feature group.version=0"),
        ("java", "upgrade", "upgrade --release-version 3.8:"),
    ],
)
def test_a_release_leaves_the_kraft_version_of_kraft_as_it_is(tmp_path, kind, step, asked):
    head = HEAD.replace("controllers: 1", f"controllers: 1 {kind}")
    made = recording(tmp_path, f"{step} 3.8\n", head)

    record(made, lambda _: None)

    assert asked in (made.out / "harness.log").read_text()


@pytest.mark.usefixtures("fake_kafka")
def test_what_tells_of_the_machine_is_in_no_text(tmp_path):
    made = recording(tmp_path, "")

    record(made, lambda _: None)

    texts = [path.read_text() for path in made.out.rglob("*") if path.is_file()]
    assert any("log.dirs=/var/lib/kafka/n0/data" in text for text in texts)
    assert any("log.dirs = /var/lib/kafka/n0/data" in text for text in texts)
    assert not any("krafla-scratch-record-" in text for text in texts)


@pytest.mark.usefixtures("fake_kafka")
def test_a_refused_step_names_its_line_and_leaves_what_was_recorded(tmp_path):
    made = recording(tmp_path, "create-topic refused 1\ncreate-topic other 1")

    with pytest.raises(KraflaError, match=r"mine.scenario:4: .*the fake refuses this.*is in .*out"):
        record(made, lambda _: None)

    journal = (made.out / "harness.log").read_text()
    assert "given up: mine.scenario:4" in journal
    assert "other" not in journal
    assert all(map(is_gone, processes_of(journal)))


@pytest.mark.usefixtures("fake_kafka")
def test_a_step_that_is_tried_may_be_refused(tmp_path):
    made = recording(tmp_path, "try create-topic refused 1\ncreate-topic other 1")

    record(made, lambda _: None)

    assert "--topic other" in (made.out / "harness.log").read_text()


@pytest.mark.usefixtures("fake_kafka")
def test_who_asked_a_leader_of_yesterday_asks_again(tmp_path):
    made = recording(tmp_path, "create-topic moved 1")

    record(made, lambda _: None)

    journal = (made.out / "harness.log").read_text()
    assert journal.count("--topic moved") == 2
    assert journal.count("NotLeaderOrFollowerException") == 1


@pytest.mark.usefixtures("fake_kafka")
def test_a_node_that_ends_while_it_starts_is_said_with_its_complaint(tmp_path):
    made = recording(tmp_path, "", HEAD + "set: fails=0\n")

    with pytest.raises(KraflaError, match=r"node 0 ended .*the disk of the fake is full"):
        record(made, lambda _: None)


@pytest.mark.usefixtures("fake_kafka")
def test_a_node_that_ended_by_itself_is_said_when_a_step_is_refused(tmp_path):
    made = recording(tmp_path, "create-topic refused 1", HEAD + "set: ends=0\n")

    with pytest.raises(KraflaError, match=r"refuses this.*; node 0 has ended .*has had enough"):
        record(made, lambda _: None)

    assert "node 0 has ended by itself" in (made.out / "harness.log").read_text()


@pytest.mark.usefixtures("fake_kafka")
def test_an_interrupt_leaves_no_process_and_no_folder(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    made = recording(tmp_path, "create-topic t 1")
    noted = []

    def interrupt(text):
        if text.startswith("step 1"):
            noted.append(next(scratch.rglob("harness.log")).read_text())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(made, interrupt)

    assert len(processes_of(noted[0])) == 2
    assert all(map(is_gone, processes_of(noted[0])))
    assert not made.out.exists()
    assert not list(scratch.iterdir())


def test_nothing_is_overwritten(tmp_path):
    made = recording(tmp_path, "")
    made.out.mkdir()

    with pytest.raises(KraflaError, match="nothing is overwritten"):
        record(made, lambda _: None)


def test_an_old_java_is_said_in_one_sentence(tmp_path, fake_kafka):
    Path(fake_kafka / "release").write_text('JAVA_VERSION="11.0.2"\n')

    with pytest.raises(KraflaError, match=r"Java 11\.0\.2, Kafka needs 17 or later"):
        record(recording(tmp_path, ""), lambda _: None)
