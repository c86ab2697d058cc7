"""``krafla explore`` as a user meets it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import networkx
import pytest

from krafla.cli.explore_view import histogram
from krafla.match.trace_check import check_trace
from krafla.skeleton import write_skeleton
from krafla.traces import read_whole_trace
from krafla.verdict import Verdict


@pytest.fixture
def krafla(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", "from krafla.cli import main; main()", "explore", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
            cwd=tmp_path,
            check=False,
        )

    return run


def test_a_model_is_explored_and_everything_is_told(krafla, tmp_path):
    done = krafla(
        "MCBrokerLeaseRefinementRepeat", "--to", "log_end = 2", "--save", "way.ndjson",
        "--html", "page.html", "--graphml", "graph.xml", "--dot", "near.dot",
        "--around", "log_end = 1", "--radius", "1", "--progress", "log_end = 3",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "krafla:" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("MCBrokerLeaseRefinementRepeat: 1,892 states, ")
    for heading in (
        "dead ends:", "strongly connected components:", "states by depth", "predicates",
    ):  # fmt: skip
        assert sum(line.startswith(heading) for line in lines) == 1
    assert any(line.startswith("SendRegistration ") for line in lines)
    (path,) = (line for line in lines if line.startswith("path: "))
    assert lines.index(path) < lines.index("states by depth"), "the answer comes first"
    steps = int(path.split()[1])
    trace = read_whole_trace(tmp_path / "way.ndjson")
    assert len(trace) == steps + 1
    assert check_trace(trace).verdict is Verdict.HELD
    assert trace.steps[-1].state["log_end"] == 2
    assert all(step.state["log_end"] < 2 for step in trace.steps[:-1])
    assert any(line.startswith("HELD  MCBrokerLeaseRefinementRepeat") for line in lines)
    assert any("1,892 distinct states (as pinned)" in line for line in lines)
    assert lines[-1] == (
        "    reproduce: krafla explore MCBrokerLeaseRefinementRepeat "
        "--to 'log_end = 2' --progress 'log_end = 3'"
    )
    assert len(networkx.read_graphml(tmp_path / "graph.xml")) > 1
    assert (tmp_path / "near.dot").read_text().startswith("digraph")
    assert "</html>" in (tmp_path / "page.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "graph.xml", "near.dot", "page.html", "way.ndjson",
    ]  # fmt: skip


def test_the_nearest_state_is_the_one_to_which_the_path_leads(krafla, tmp_path):
    write_skeleton(tmp_path)
    done = krafla("Lock.tla", "--to", "Len(queue) = 2")
    path = re.search(r"path: (\d+) steps lead from .*\((state \d+)\)$", done.stdout, re.MULTILINE)
    assert path is not None, done.stdout
    said = f"  Len(queue) = 2: true in 12 states; the nearest is {path[2]}, depth {path[1]}\n"
    assert said in done.stdout


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--from", "log_end = 2", "--to", "log_end = 1"], 1, "no path leads from log_end = 2"),
        (["--to", "log_end = 99"], 3, "log_end = 99 is true in none of 1,193 states"),
        (["--limit", "50"], 3, "the search was cut at"),
    ],
)
def test_the_exit_status_tells_what_was_found(krafla, arguments, status, said):
    done = krafla("MCUntimedLease", "--quiet", *arguments)

    assert done.returncode == status
    (verdict,) = (line for line in done.stdout.splitlines() if "  MCUntimedLease" in line)
    assert verdict.startswith("VIOLATED" if status == 1 else "INCONCLUSIVE")
    assert said in verdict


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["MCBrokerLeaseSmok"], "no model 'MCBrokerLeaseSmok'; did you mean MCBrokerLeaseSmoke"),
        (["Nothing"], "no model 'Nothing'; there are 2"),
        (["MCUntimedLease", "--html", "no/where.html"], "krafla: no: there is no such folder"),
        (["MCUntimedLease", "--to", "1 +"], "krafla: --to: '1 +' does not parse"),
        (["MCUntimedLease", "--from", "TRUE"], "say where it ends with --to"),
        (["MCUntimedLease", "--around", "FALSE", "--graphml", "x"], "--around: true in no state"),
        (
            ["MCUntimedLease", "--dot", "x.dot"],
            "x.dot: a picture shows at most 500 states, and there are 1,193",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_and_no_file(krafla, tmp_path, arguments, said):
    done = krafla(*arguments)

    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_histogram_shows_every_row_and_no_count_as_none():
    assert histogram({0: 1, 2: 4000}) == [
        "0           1  #",
        "1           0",
        f"2       4,000  {'#' * 40}",
    ]
    assert histogram({}) == []


def test_a_long_histogram_has_ranges_that_lose_nothing():
    counts = dict.fromkeys(range(0, 1000, 3), 1)

    lines = histogram(counts)

    assert len(lines) < 40
    assert sum(int(line.split()[1]) for line in lines) == len(counts)
    assert lines[-1].split()[0] == "512-999"


@pytest.mark.nightly
def test_a_report_on_several_models_is_written_and_one_model_is_needed_without(krafla, tmp_path):
    done = krafla("--report", "graphs.html", "MCBrokerStates", "MCUntimedLease")

    assert done.returncode == 0, done.stderr
    assert "held         MCBrokerStates: 48 states" in done.stdout
    assert (tmp_path / "graphs.html").is_file()
    assert (tmp_path / "graphs.json").is_file()
    for names in ((), ("MCBrokerStates", "MCUntimedLease")):
        refused = krafla(*names)
        assert refused.returncode == 2
        assert "name one model" in refused.stderr
    for options in (("MCBrokerStates", "--tier", "smoke"), ("--report", "g.html", "--html", "h")):
        refused = krafla(*options)
        assert refused.returncode == 2
        assert "--report" in refused.stderr
