"""`make bench` with planted benchmarks: failures, goals, comparison; and the log that it makes."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from krafla.audit.run import audit
from krafla.verdict import Verdict

BENCH = Path(__file__).parents[1] / "bench"
HEAD = (
    "import os, sys, time\nfrom figures import benchmark\nfrom krafla.verdict import KraflaError\n"
)
END = "\nsys.exit(benchmark(measure))\n"
PLANTED = {
    "a_holds": """
def measure(_, figures):
    factor = float(os.environ.get("FACTOR", "1"))
    figures.add("memory", 100 * factor, "MiB", most=500)
    figures.add("speed", 1000 * factor, "steps/s", least=10)
    figures.add("ratio", 2.0, "times")
""",
    "b_misses": 'def measure(_, figures):\n    figures.add("slow", 3, "times", most=2)\n',
    "c_cannot": "def measure(_, figures):\n    raise KraflaError('no jar of Kafka')\n",
    "d_crashes": "def measure(_, figures):\n    figures.add('half', 1, 's')\n    raise OSError\n",
    "e_waits": """
def measure(_, figures):
    with open("draft", "w") as file:
        file.write(str(os.getpid()))
    os.rename("draft", "waits")
    time.sleep(600)
""",
    "f_is_silent": "def measure(_, figures):\n    pass\n",
}


@pytest.fixture
def folder(tmp_path):
    """Return the folder of the runner with planted benchmarks."""
    for name in ("run.py", "results.py", "figures.py", "machine.py"):
        (tmp_path / "bench").mkdir(exist_ok=True)
        shutil.copy(BENCH / name, tmp_path / "bench")
    for name, body in PLANTED.items():
        (tmp_path / "bench" / f"bench_{name}.py").write_text(HEAD + body + END)
    return tmp_path


def run(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "bench/run.py", *arguments],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_benchmark_that_fails_is_a_row_and_the_others_go_on(folder):
    names = [name for name in PLANTED if name != "e_waits"]
    ended = run(folder, *names, "--json", "now.json", "--markdown", "now.md")

    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "== [3/5] c_cannot" in ended.stdout
    page = (folder / "now.md").read_text()
    assert page in ended.stdout
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert "| a_holds | memory | 100 MiB | at most 500: met |" in rows
    assert "| b_misses | slow | 3.00 times | at most 2.00: **missed** |" in rows
    (cannot,) = (row for row in rows if "c_cannot" in row)
    assert "**failed**: exit status 2: could not be run: no jar of Kafka" in cannot
    assert next(row.split(" | ")[1] for row in rows if "d_crashes" in row) == "half"
    assert any("f_is_silent | **failed**: exit status 0: it said nothing" in row for row in rows)
    assert "Every goal met: a_holds." in page
    assert "Goals missed: b_misses." in page
    assert "Failed: c_cannot, d_crashes, f_is_silent." in page
    assert "* python: " in page
    results = json.loads((folder / "now.json").read_text())["results"]
    assert [one["name"] for one in results] == names
    assert results[0]["figures"][1]["value"] == 1000


@pytest.mark.nightly
def test_a_benchmark_without_an_end_is_ended(folder):
    ended = run(folder, "e_waits", "--limit", "5")

    assert ended.returncode == 2
    assert "| e_waits | **failed**: stopped after 5 s |  |  |" in ended.stdout
    assert not is_running(folder)


def is_running(folder):
    """Return whether the benchmark that waits still does, if it ever began."""
    if not (folder / "waits").exists():
        return False
    try:
        os.kill(int((folder / "waits").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_a_later_run_tells_what_changed_by_more_than_noise(folder):
    assert run(folder, "a_holds", "--json", "then.json").returncode == 0
    ended = run(folder, "a_holds", "c_cannot", "--against", "then.json", FACTOR="1.5")

    assert ended.returncode == 2
    assert (
        "| a_holds | memory | 150 MiB | at most 500: met | 100 MiB | **1.50, worse** |"
        in ended.stdout
    )
    assert "at least 10.0: met | 1,000 steps/s | **1.50, better** |" in ended.stdout
    assert "| a_holds | ratio | 2.00 times |  | 2.00 times | 1.00 |" in ended.stdout
    slower = run(folder, "a_holds", "--against", "then.json", FACTOR="0.5").stdout
    assert "| 50.0 MiB | at most 500: met | 100 MiB | **0.50, better** |" in slower, slower
    assert "**0.50, worse** |" in slower


@pytest.mark.parametrize("text", ["{}", "not JSON", '{"schema": 9}'])
def test_a_file_without_results_is_refused_before_anything_runs(folder, text):
    (folder / "then.json").write_text(text)
    ended = run(folder, "--against", "then.json")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("bench: then.json")
    assert len(ended.stderr.splitlines()) == 1


def test_ctrl_c_leaves_the_table_so_far_and_no_process(folder):
    (folder / "then.json").write_text("as before")
    process = subprocess.Popen(
        [sys.executable, "bench/run.py", "a_holds", "e_waits", "--json", "then.json"],
        cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not (folder / "waits").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "| a_holds | memory |" in said
    assert (folder / "then.json").read_text() == "as before"
    assert not is_running(folder)


def test_the_log_that_is_made_is_one_that_kafka_could_have_written(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    made = importlib.import_module("bench_audit")
    monkeypatch.setattr(made, "PARTITIONS", 20)
    monkeypatch.setattr(made, "BATCH", 10)
    log = tmp_path / "__cluster_metadata-0" / made.LOG_NAME
    log.parent.mkdir()
    log.write_bytes(b"".join(made.made_log()))

    report = audit([log.parent])

    (cluster,) = report.clusters
    assert report.verdict is Verdict.HELD, cluster.all_findings()
    assert cluster.directories[0].records > made.ROUNDS_OF_CHANGES * 20
