"""A run that is cut short, starved or not alone: one clear line, never green, nothing left."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.krafla.cli.lamp_room import KRAFLA, edit, environment, krafla, lay_out
from tests.limited import limited

# Tells on stdout that TLC is at work, as soon as it is.
WATCHED = (
    "import krafla.cli.screen as screen\n"
    "screen.LiveLine.show = lambda self, text: 'depth' in text and print('at work', flush=True)\n"
    "from krafla.cli import main; main()"
)
# Ends when Java runs and TLC is about to read a spec.
KILLED = (
    "import os, signal\n"
    "from krafla.oracle import loader\n"
    "loader._start_tool = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    "from krafla.cli import main; main()"
)
GREEDY = "Cardinality({<<i, j, k>> : i, j, k \\in 1 .. 400}) > 0\n  /\\ is_on' = ~is_on"
SECONDS_MAX = 60


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def specs(tmp_path):
    return lay_out(tmp_path)


@pytest.fixture
def endless(specs):
    """The specs, with a model that does not end before it is ended."""
    edit(specs / "lamp" / "LampLong.cfg", "Limit = 4", "Limit = 900000")
    return specs


def at_work(specs, scratch):
    """Start a run of LampLong; return it once TLC is at work."""
    run = subprocess.Popen(
        [sys.executable, "-c", WATCHED, "check", "LampLong", "--workers", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(specs, TMPDIR=str(scratch)),
    )  # fmt: skip
    assert run.stdout.readline() == "at work\n"
    return run


def javas(scratch):
    """Return the processes that work in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(scratch).encode() in path.read_bytes() and b"tlc2.TLC" in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def kinds(scratch):
    """Return what the folders in a folder are for."""
    return sorted(path.name.split("-")[2] for path in scratch.iterdir())


def assert_the_next_command_cleans_up(scratch):
    """Give any command, here one that is refused, and see that nothing is left."""
    refused = subprocess.run(
        [*KRAFLA, "dump", "nothing"], env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert list(scratch.iterdir()) == []


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_a_run_that_is_told_to_end_leaves_nothing(endless, scratch, number, status):
    run = at_work(endless, scratch)
    assert len(javas(scratch)) == 1

    run.send_signal(number)
    run.communicate(timeout=SECONDS_MAX)

    assert run.returncode == status
    assert javas(scratch) == []
    assert list(scratch.iterdir()) == []


def test_a_run_that_is_killed_takes_tlc_with_it_and_the_next_one_cleans_up(endless, scratch):
    run = at_work(endless, scratch)
    (java,) = javas(scratch)
    handle = os.pidfd_open(java)

    run.kill()
    run.communicate(timeout=SECONDS_MAX)

    assert select.select([handle], [], [], SECONDS_MAX)[0] == [handle], "TLC lives on"
    assert kinds(scratch) == ["tlc"]
    assert_the_next_command_cleans_up(scratch)


def test_an_oracle_that_is_killed_leaves_nothing_either(specs, scratch):
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "explore", "LampShort"],
        env=environment(specs, TMPDIR=str(scratch)), capture_output=True, check=False,
    )  # fmt: skip

    assert killed.returncode == -signal.SIGKILL
    assert kinds(scratch) == ["oracle", "spec"]
    assert_the_next_command_cleans_up(scratch)


def test_a_tlc_that_is_killed_is_no_answer(endless, scratch):
    run = at_work(endless, scratch)
    (java,) = javas(scratch)

    os.kill(java, signal.SIGKILL)
    text, _ = run.communicate(timeout=SECONDS_MAX)

    assert run.returncode == 3
    assert "INCONCLUSIVE  LampLong: TLC was killed by signal 9" in text
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
def test_two_runs_of_one_model_at_once_do_not_meet(specs, scratch):
    command = [*KRAFLA, "check", "LampLong"]
    runs = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True,
            env=environment(specs, TMPDIR=str(scratch)),
        )
        for _ in "ab"
    ]  # fmt: skip
    texts = [run.communicate(timeout=SECONDS_MAX)[0] for run in runs]

    assert [run.returncode for run in runs] == [0, 0]
    assert all("7 distinct states (as pinned)" in text for text in texts)
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
def test_a_heap_that_is_too_small_is_told_as_such(specs):
    module = specs / "lamp" / "Lamp.tla"
    edit(module, "is_on' = ~is_on", GREEDY)
    edit(module, "EXTENDS Naturals", "EXTENDS Naturals, FiniteSets")

    finished = krafla(specs, "check", "LampLong", "--heap", "48", "--workers", "1")

    assert finished.returncode == 3
    assert "INCONCLUSIVE  LampLong: TLC ran out of memory (--heap gives it more)" in finished.stdout
    assert "java.lang.OutOfMemoryError" in finished.stdout


def test_a_disk_that_takes_no_more_is_told_as_such(endless):
    finished = subprocess.run(
        limited([*KRAFLA, "check", "LampLong", "--workers", "1"], "-f 40"),
        capture_output=True, text=True, env=environment(endless), check=False, timeout=300,
    )  # fmt: skip

    assert finished.returncode == 3
    assert "INCONCLUSIVE  LampLong: TLC cannot write its files" in finished.stdout
    assert "File too large" in finished.stdout


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        ("Lamp.tla", "Next == Press", "Next = Press", r"Lamp\.tla:\d+: Was expecting"),
        ("Lamp.tla", "Next == Press", "Next == Prass", r"Lamp\.tla:\d+: Unknown operator: `Prass'"),
        ("Lamp.tla", "Naturals", "Natural", r"Lamp\.tla: Cannot find source file for .* Natural"),
        ("LampProperties.tla", "MODULE LampP", "MODULE P", r"the module in it is called Prop"),
        ("LampProperties.tla", "---- MODULE", "---- MODUL", r"Properties\.tla: this is no TLA\+"),
        (
            "LampLong.cfg",
            "Limit = 4",
            "Limits = 4",
            r":\d+: no module .* Limits; did you mean Limit\?$",
        ),
        ("LampLong.cfg", "= 4", "= 4 More = 5", r"LampLong\.cfg:2: no module declares .* More"),
        ("LampLong.cfg", "= 4", "= {4", r"LampLong\.cfg:2: .*expecting }"),
        ("LampLong.cfg", "= 4", "= 4 Burn <- Glow", r"LampLong\.cfg: .*undefined identifier Glow"),
        ("LampLong.cfg", "SPECIFICATION Spec", "SPECIFICATION Speck", r"LampLong\.cfg: .*Speck"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_told_with_its_place(specs, scratch, name, old, new, complaint):
    edit(specs / "lamp" / name, old, new)

    finished = subprocess.run(
        [*KRAFLA, "check", "LampLong"], env=environment(specs, TMPDIR=str(scratch)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert finished.returncode == 2
    (line,) = finished.stdout.splitlines()
    assert line.startswith("COULD NOT RUN  ")
    assert re.search(complaint, line), line
    assert list(scratch.iterdir()) == []


def test_an_empty_cfg_and_an_empty_module_are_told_with_their_place(specs):
    config, module = specs / "lamp" / "LampLong.cfg", specs / "lamp" / "LampProperties.tla"
    config.write_text("")
    assert "LampLong.cfg: gives the constant" in krafla(specs, "check", "LampLong").stdout
    module.write_bytes(os.urandom(500))
    finished = krafla(specs, "check", "LampLong")
    assert finished.returncode == 2
    assert "LampProperties.tla: this is no TLA+ module" in finished.stdout
