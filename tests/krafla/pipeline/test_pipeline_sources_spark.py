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

from krafla.pipeline.needs import find_java
from krafla.tlc.jre import find_system_java
from kraft.log.segment import iter_batches
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.metadata_schemas import METADATA_SCHEMAS, PARTITION, TOPIC

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
    inherited = {k: v for k, v in os.environ.items() if k != "SPARK_CONNECT_MODE_ENABLED"}
    return inherited | {
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
    said = server.stderr
    # What it says from then on must not fill the pipe.
    drain = threading.Thread(target=said.read, daemon=True)
    try:
        port = next(found[1] for line in said if (found := STARTED.search(line)))
        drain.start()
        yield f"sc://localhost:{port}/;token=token"
    finally:
        server.terminate()
        server.wait()
        if drain.ident is not None:
            drain.join()
        said.close()


def program(folder, *remote):
    ended = subprocess.run(
        [sys.executable, "-m", "tests.krafla.pipeline.spark_user", str(folder), *remote],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("FOUND ")]
    return json.loads(line.removeprefix("FOUND "))


def expected(folder):
    """Return what kraft's own reader has of the same files."""
    (log,) = folder.glob("logs/crash/*/__cluster_metadata-0/*.log")
    batches = list(iter_batches(log))
    records = [one for batch in batches for one in batch.metadata_records()]
    controls = [one for batch in batches for one in batch.control_records()]
    types = Counter(METADATA_SCHEMAS[one.api_key].name for one in records)
    types += Counter(CONTROL_SCHEMAS[one.control_type].name for one in controls)
    return {
        "batches": len(batches),
        "quarantine": 1,
        "types": types,
        "topics": sorted(one.fields["name"] for one in records if one.api_key == TOPIC.api_key),
        "isr": max(len(r.fields["isr"]) for r in records if r.api_key == PARTITION.api_key),
        "written": types.total(),
    }


def without_complaints(said, folder):
    """Return the counts of what was found after checking the rest of it."""
    assert "line 1 is not UTF-8" in said.pop("failfast")
    assert "there is no option tabel" in said.pop("misspelt")
    steps = [line for path in folder.glob("traces/*.ndjson")
             for line in path.read_text().splitlines()[1:]]  # fmt: skip
    assert 0 < said.pop("steps") <= len(steps)
    first, last = said.pop("streamed")
    assert 0 < first < last == said["written"]
    return said


@pytest.mark.nightly
def test_a_session_of_ones_own_reads_asks_writes_and_watches(folder):
    assert without_complaints(program(folder), folder) == expected(folder)


@pytest.mark.nightly
def test_a_client_of_spark_connect_reads_asks_writes_and_watches(folder):
    with connect_server() as remote:
        said = program(folder, remote)
    assert without_complaints(said, folder) == expected(folder)
