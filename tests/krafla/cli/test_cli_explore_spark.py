"""``krafla explore --spark`` as a user meets it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from krafla.tlc.jre import find_system_java

COMMAND = [sys.executable, "-c", "from krafla.cli import main; main()", "explore"]


@pytest.fixture
def krafla(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
            cwd=tmp_path,
            check=False,
        )

    return run


@pytest.fixture
def needs_spark():
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")


@pytest.mark.nightly  # it starts a Spark of its own
@pytest.mark.usefixtures("needs_spark")
def test_an_expected_failure_is_told_with_the_way_to_it(krafla, tmp_path):
    place = (tmp_path / "kept").as_uri()

    done = krafla("NoSelfFence", "--spark", "--master", "local[1]", "--checkpoint", place)

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "the way to where NoOverlapInv is false" in lines
    assert sum("NoOverlapInv is false here" in line for line in lines) == 1
    assert "HELD  NoSelfFence: NoOverlapInv failed, as it must" in lines
    assert any("the odds that two states shared a fingerprint" in line for line in lines)
    assert lines[-1] == (
        f"    reproduce: krafla explore NoSelfFence --spark --master 'local[1]' "
        f"--checkpoint {place}"
    )
    assert (tmp_path / "kept" / "commits").is_dir()


@pytest.mark.nightly
@pytest.mark.usefixtures("needs_spark")
def test_a_property_of_whole_behaviours_is_named_and_leaves_the_verdict_open(krafla):
    done = krafla("MCReassignmentLiveTwo", "--spark", "--master", "local[1]", "--quiet")

    assert done.returncode == 3, done.stderr
    verdict = next(one for one in done.stdout.splitlines() if one.startswith("INCONCLUSIVE"))
    assert "about whole behaviours; krafla check judges them" in verdict
    assert "195 distinct states (as pinned)" in done.stdout


@pytest.mark.nightly
@pytest.mark.usefixtures("needs_spark")
def test_a_command_that_was_killed_goes_on(krafla, tmp_path):
    place = tmp_path / "kept"
    arguments = ["MCKRaftTwo", "--spark", "--master", "local[1]", "--checkpoint", place.as_uri()]
    running = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path
    )
    while running.poll() is None and not (place / "commits" / "load=plan").is_dir():
        time.sleep(0.1)
    running.send_signal(signal.SIGKILL)
    running.wait()

    done = krafla(*arguments)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "2,589 distinct states (as pinned)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["NoSelfFence", "--spark", "--html", "page.html"], "--spark keeps no graph"),
        (["NoSelfFence", "--spark", "--tier", "full"], "--spark keeps no graph"),
        (["--spark"], "name one model"),
        (["NoSelfFence", "--master", "local[1]"], "are for --spark"),
        (["NoSelfFence", "--spark", "--master", "local[1]", "--remote", "sc://x"], "give one"),
        (["NoSelfFence", "--spark", "--remote", "sc://x"], "--checkpoint URI"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(krafla, arguments, said):
    done = krafla(*arguments)

    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_the_command_that_asks_again_does_not_tell_the_token():
    from krafla.cli.explore_spark import SparkRequest

    request = SparkRequest("NoSelfFence", remote="sc://host:7/;token=abc;x=y", checkpoint="s3a://b")

    assert "abc" not in request.command
    assert "'sc://host:7/;token=...;x=y'" in request.command
