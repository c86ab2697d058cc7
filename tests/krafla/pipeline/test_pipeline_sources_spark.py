"""The data sources as a stranger uses them: in a session of their own, and over Spark Connect."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from krafla.audit.redact import redacted
from krafla.pipeline.needs import find_java
from krafla.tlc.jre import find_system_java
from kraft.log.segment import iter_batches
from kraft.records.metadata_schemas import METADATA_SCHEMAS

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
ROOT = Path(__file__).parents[3]
SECONDS = 280
STARTED = re.compile(r"started at: .*:(\d+)")
pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture
def folder(tmp_path):
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    shutil.copytree(ROOT / "traces/kafka-4.1/crash", tmp_path / "logs" / "crash")
    shutil.copytree(ROOT / "traces/accepted/lease", tmp_path / "traces")
    (tmp_path / "logs" / "broken.log").write_bytes(b"\xff\n")
    return tmp_path


def environment():
    import pyspark

    home = find_java().home
    return os.environ | {
        "JAVA_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "PYTHONHASHSEED": "0",
        "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("model", "impl", ".")),
    }  # fmt: skip


@contextmanager
def connect_server():
    """Yield the address of a Spark Connect server of this test's own."""
    env = environment() | {"SPARK_CONNECT_AUTHENTICATE_TOKEN": "token"}
    words = [
        f"{env['SPARK_HOME']}/bin/spark-submit", "--master", "local[2]",
        "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]  # fmt: skip
    for setting in ("spark.connect.grpc.binding.port=0", "spark.ui.enabled=false",
                    "spark.connect.grpc.binding.address=127.0.0.1"):  # fmt: skip
        words += ["--conf", setting]
    server = subprocess.Popen(
        [*words, "spark-internal"], env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        port = next(found[1] for line in server.stderr if (found := STARTED.search(line)))
        # What it says from now on must not fill the pipe.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        yield f"sc://localhost:{port}/;token=token"
    finally:
        server.terminate()
        server.wait()


def program(folder, *remote):
    ended = subprocess.run(
        [sys.executable, "-m", "tests.krafla.pipeline.spark_user", str(folder), *remote],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("FOUND ")]
    return json.loads(line.removeprefix("FOUND "))


def check(said, folder):
    (log,) = folder.glob("logs/crash/*/__cluster_metadata-0/*.log")
    batches = list(iter_batches(log))
    records = [one for batch in batches for one in batch.metadata_records()]
    controls = sum(len(batch.control_records()) for batch in batches)
    types = Counter(METADATA_SCHEMAS[one.api_key].name for one in records)
    assert said["batches"] == len(batches)
    assert {k: n for k, n in said["types"].items() if k.isupper()} == types
    assert sum(said["types"].values()) == said["written"] == len(records) + controls
    names = [redacted(2, one.fields)["name"] for one in records if one.api_key == 2]
    assert said["topics"] == sorted(names)
    assert said["isr"] == max(len(one.fields["isr"]) for one in records if one.api_key == 3)
    assert said["quarantine"] == 1
    assert said["steps"] > 50
    assert "line 1 is not UTF-8" in said["failfast"]
    assert "there is no option tabel" in said["misspelt"]
    added = said["streamed"]
    assert 0 < added[0] < added[1] == len(records) + controls


def test_a_session_of_ones_own_reads_asks_writes_and_watches(folder):
    check(program(folder), folder)


@pytest.mark.nightly
def test_a_client_of_spark_connect_reads_asks_writes_and_watches(folder):
    with connect_server() as remote:
        check(program(folder, remote), folder)
