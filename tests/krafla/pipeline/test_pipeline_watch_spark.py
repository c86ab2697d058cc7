"""A watch as Spark runs it: killed and started again, and beside a real cluster of Kafka."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.pipeline.watches import SAME, audited, told

from krafla.audit.specs import LoadingSpec
from krafla.record import scenario as scenarios
from krafla.record.cluster import Cluster
from krafla.record.commands import Java
from krafla.record.drive import Driver
from krafla.record.jars import class_path
from krafla.record.journal import Journal
from krafla.record.layout import free_ports, lay_out
from krafla.record.processes import Processes
from krafla.record.run import JAVA_MINIMUM
from krafla.tlc.jre import find_jre
from krafla.verdict import ExitCode, Verdict
from kraft.log.segment import iter_batches
from kraft.records.metadata_schemas import TOPIC as TOPIC_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.pipeline.session import Session

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

ROOT = Path(__file__).parents[3]
SECONDS = 240
TOPIC = frozenset({TOPIC_SCHEMA.api_key})
LOG = f"{0:020d}.log"


def seen(rows: Any) -> dict[str, Any]:
    """Return what the rows of a watch say, of each directory and cluster, however it went."""
    return {
        row["directory"] or row["cluster"]: {
            name: row[name] for name in (*SAME, "batches", "records", "waiting", "unjudged")
        } | {"findings": told(row["findings"])}
        for row in rows
    }  # fmt: skip


def follower(logs: Sequence[Path]) -> bytes:
    """Return the last batch of a log that makes a topic, to be placed behind the whole log.

    Its CRC stays right: that covers neither offset nor epoch.
    """
    batches = [one for log in sorted(logs) for one in iter_batches(log)]
    made = [one for one in batches if not one.is_control and one.metadata_records(TOPIC)]
    raw = bytearray(made[-1].raw)
    struct.pack_into(">q", raw, 0, batches[-1].next_offset)
    struct.pack_into(">i", raw, 12, batches[-1].leader_epoch)
    return bytes(raw)


@pytest.mark.nightly
def test_a_watch_goes_on_from_its_checkpoint_and_names_a_tampered_batch(
    spark: Session, logs: Path, tmp_path: Path
) -> None:
    from krafla.pipeline.watch.stream import WatchOptions, standings, watch

    (log,) = logs.glob(f"*/__cluster_metadata-0/{LOG}")
    content = log.read_bytes()
    cut = list(iter_batches(log))[200].position + 30
    log.write_bytes(content[:cut])
    out = str(tmp_path / "out")
    found: list[dict[str, Any]] = []

    def tell(_row: dict[str, Any], finding: dict[str, Any]) -> None:
        found.append(finding)

    once = WatchOptions(once=True)
    held = watch(spark, [str(logs)], out, once, tell)
    assert held.verdict is Verdict.HELD
    assert [row["batches"] for row in held.rows] == [None, 200]
    log.write_bytes(content)
    end = list(iter_batches(log))[-1].next_offset
    log.write_bytes(content + follower([log]))
    ended = watch(spark, [str(logs)], out, WatchOptions(every=1, fails_fast=True), tell)
    assert ended.verdict is Verdict.VIOLATED
    assert {one["offset"] for one in found} == {end}
    assert all(len(content) <= one["byte"] < log.stat().st_size for one in found)
    expected = audited(logs, LoadingSpec())
    row = ended.rows[1]
    assert told(row["findings"]) == expected[row["directory"]]["findings"]
    assert row["turn"] == 2
    assert standings(spark, out) == list(ended.rows)
    assert watch(spark, [str(logs)], out, WatchOptions(fails_fast=True), tell) == ended


def command(*words: object) -> list[str]:
    # Each query is small and asked once: what makes a long one quick only takes time.
    brief = (
        "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
        "spark.sql.codegen.factoryMode=NO_CODEGEN",
        "spark.sql.codegen.wholeStage=false",
    )
    return [
        sys.executable, "-m", "krafla", "pipeline", "watch", *map(str, words),
        "--master", "local[2]", "--json", *(part for one in brief for part in ("--conf", one)),
    ]  # fmt: skip


def environment() -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k != "SPARK_CONNECT_MODE_ENABLED"}
    paths = os.pathsep.join(str(ROOT / name) for name in ("model", "impl", "."))
    return inherited | {"PYTHONPATH": paths}


def ended(*words: object) -> tuple[int, dict[str, Any]]:
    """Return the exit status of a watch that ends by itself, and its last line."""
    done = subprocess.run(
        command(*words), env=environment(), cwd=ROOT, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr[-3000:]
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


@contextmanager
def started(complaints: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """Yield a watch that runs; it is killed at the end if it still does."""
    with complaints.open("w") as stderr:
        running = subprocess.Popen(
            command(*words), env=environment(), cwd=ROOT, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=stderr, text=True,
        )  # fmt: skip
        try:
            yield running
        finally:
            running.kill()
            running.communicate()


def progress(out: Path) -> int:
    """Return how often a watch has begun or ended a trigger."""
    places = ("offsets", "commits")
    found = (one for place in places for one in out.glob(f"watch/checkpoint/{place}/*"))
    return sum(one.name.isdigit() for one in found)


@pytest.mark.nightly
@pytest.mark.xdist_group("spark")
def test_a_watch_that_is_killed_ten_times_ends_as_one_that_was_left_alone(
    tmp_path: Path,
) -> None:
    source = ROOT / "traces" / "kafka-4.1" / "crash" / "n3000"
    folder = tmp_path / "logs" / "n3000" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    shutil.copy(source / "meta.properties", folder.parent)
    log, whole = folder / LOG, (source / folder.name / LOG).read_bytes()
    logs, out = tmp_path / "logs", tmp_path / "killed"
    for killed in range(10):
        log.write_bytes(whole[: len(whole) * (killed + 1) // 11])
        complaints = tmp_path / "complaints"
        with started(complaints, logs, out, "--every", 1) as running:
            before, began = progress(out), time.monotonic()
            # A trigger has begun or ended. What is killed then, or soon after, is any part of one.
            while progress(out) == before:
                assert running.poll() is None, complaints.read_text()
                assert time.monotonic() - began < SECONDS, "a watch goes on"
                time.sleep(0.02)
            time.sleep(0.3 * (killed % 4))
    log.write_bytes(whole)
    spoiled = follower([log])
    log.write_bytes(whole + spoiled)
    status, disturbed = ended(logs, out, "--once")
    left_alone = ended(logs, tmp_path / "alone", "--once")[1]
    assert status == ExitCode.VIOLATED
    assert seen(disturbed["standings"]) == seen(left_alone["standings"])
    (violation, *_) = [
        one for one in disturbed["standings"][-1]["findings"] if one["weight"] == "violation"
    ]
    assert len(whole) <= violation["byte"] < len(whole) + len(spoiled)


@pytest.mark.nightly
@pytest.mark.xdist_group("spark")
def test_a_running_cluster_of_kafka_holds_and_a_tampered_replica_is_named(tmp_path: Path) -> None:
    text = (
        "sentence: A cluster is watched while its controllers change.\ncontrollers: 3\n"
        "brokers: 1\nset: metadata.log.max.record.bytes.between.snapshots=4000\n\n"
        "create-topic orders 4 replicas=1\nkill active\nwait leader\n"
        "create-topic payments 3 replicas=1\nstart all\nstop active\nwait leader\nstart all\n"
        "delete-topic orders\n"
    )
    scenario = scenarios.parse(text, "watched", "watched")
    shape = scenario.shape
    ports = free_ports(len(shape.controller_ids) + len(shape.broker_ids))
    root, out = tmp_path / "nodes", tmp_path / "out"
    root.mkdir()
    logging = tmp_path / "log4j2.xml"
    logging.write_text("<Configuration status='ERROR'/>\n")
    java = Java(find_jre(JAVA_MINIMUM, "Kafka").java, class_path(progress=lambda _: None), logging)
    journal = Journal(tmp_path / "harness.log", lambda _: None)
    with Processes() as processes:
        cluster = Cluster(lay_out(shape, root, ports), java, processes, journal)
        cluster.boot()
        with started(tmp_path / "complaints", root, out, "--every", 2) as running:
            driver = Driver(cluster, java, processes, journal, tmp_path)
            for step in scenario.steps:
                driver.take(step)
            until_settled(out)
            running.send_signal(signal.SIGINT)
            said, _ = running.communicate(timeout=120)
        cluster.shut_down()
    lines = [json.loads(line) for line in said.splitlines()]
    # A follower that was ahead may be cut back; nothing worse is said of a sound cluster.
    assert {one["weight"] for one in lines[:-1]} <= {"note", "inconclusive"}, lines[:-1]
    assert (running.returncode, lines[-1]["verdict"]) == (ExitCode.HELD, "held")
    assert len({row["cluster"] for row in lines[-1]["standings"]}) == 1
    status, held = ended(root, out, "--once")
    assert status == ExitCode.HELD, held
    found, expected = seen(held["standings"]), audited(root, LoadingSpec())
    assert expected.keys() <= found.keys()
    for path, one in expected.items():
        assert (found[path]["verdict"], found[path]["judged_to"]) == (
            one["verdict"], one["judged_to"],
        )  # fmt: skip
    log = max((root / "n3001").glob("data/**/__cluster_metadata-0/*.log"))
    content = log.read_bytes()
    log.write_bytes(content + follower([*log.parent.glob("*.log")]))
    status, tampered = ended(root, out, "--once")
    assert status == ExitCode.VIOLATED
    row = next(one for one in tampered["standings"] if one["verdict"] == "violated")
    assert row["directory"] == str(log.parent)
    places = [one["byte"] for one in row["findings"] if one["weight"] == "violation"]
    assert all(len(content) <= one < log.stat().st_size for one in places)
    assert places


def until_settled(out: Path) -> None:
    """Wait until some triggers have come after now."""
    before, began = progress(out), time.monotonic()
    while progress(out) < before + 8:
        assert time.monotonic() - began < SECONDS, "a watch goes on"
        time.sleep(0.5)
