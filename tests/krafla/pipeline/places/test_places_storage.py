"""Tables on storage that is no disk of this machine: a local S3, and a local HDFS."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from tests.krafla.pipeline.places.clients import run_client
from tests.krafla.pipeline.places.environments import ROOT, public_folder
from tests.krafla.pipeline.places.hdfs import local_hdfs
from tests.krafla.pipeline.places.jars import locked_jars, paths
from tests.krafla.pipeline.places.object_store import BUCKET, local_s3
from tests.krafla.pipeline.places.spark_servers import connect_server, standalone

from krafla.pipeline.ingest import ingest
from krafla.pipeline.server import Settings
from krafla.pipeline.session import JobError, session
from krafla.tlc.jre import find_system_java

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.xdist_group("places")
DOCUMENT = (ROOT / "docs" / "internals" / "places.md").read_text(encoding="utf-8")
LOCKED = locked_jars("s3a")
CENTRAL = """<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir="{cache}"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""
BUCKET_URI = f"s3a://{BUCKET}/krafla"


@pytest.fixture(scope="module")
def s3(tmp_path_factory) -> Iterator[dict[str, str]]:
    """A local S3, with the jars for it."""
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    with local_s3(tmp_path_factory.mktemp("s3") / "moto.log") as settings:
        yield {**settings, "spark.jars": ",".join(map(str, paths("s3a")))}


def stored(answer):
    """Return how many rows and files of the table are left, and whether its bytes are whole."""
    found = answer["store"]
    return found["rows"], found["files"], found["bytes"] == found["length"] > 0


@pytest.mark.nightly  # the day has local files
def test_a_classic_session_writes_and_reads_a_bucket(s3, tmp_path):
    answer = run_client("local[1]", tmp_path, {"store": [f"{BUCKET_URI}/classic"]}, s3, ships=False)
    assert stored(answer) == (1000, 2, True)


@pytest.mark.nightly  # the same as by day, over Connect
def test_a_connect_server_writes_and_reads_a_bucket(s3, tmp_path):
    with connect_server(tmp_path, {"spark.master": "local[1]", **s3}) as url:
        answer = run_client(url, tmp_path, {"store": [f"{BUCKET_URI}/connect"]}, ships=False)
    assert stored(answer) == (1000, 2, True)


@pytest.mark.nightly  # a server of its own
@pytest.mark.parametrize("gone", [r"\.key$", r"\.key$|\.provider$"])
def test_a_bucket_without_keys_is_refused_with_what_to_do(s3, tmp_path, monkeypatch, gone):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    (tmp_path / "one.log").write_text("[2026-01-01 00:00:00,000] INFO a (k.K)\n")
    keyless = {name: value for name, value in s3.items() if not re.search(gone, name)}
    assert len(keyless) < len(s3)
    with session("krafla tests", "local[1]", settings=Settings(keyless)) as spark:
        for sources, out in (([str(tmp_path)], BUCKET_URI), ([BUCKET_URI], str(tmp_path / "out"))):
            with pytest.raises(JobError, match=r"redentials.*; Spark has no keys") as refused:
                ingest(spark, sources, out)
            assert refused.value.exit_code == 2


@pytest.mark.nightly  # four JVMs: the longest of these tests
def test_workers_of_another_user_share_only_a_bucket_with_the_driver(s3, elsewhere, tmp_path):
    python = {"spark.sql.execution.pyspark.python": str(elsewhere.environment.python)}
    with standalone(elsewhere.folder, elsewhere.user, elsewhere.environment) as master:
        jobs = {"store": [f"{BUCKET_URI}/workers"]}
        answer = run_client(master, tmp_path, jobs, {**s3, **python})
    assert stored(answer) == (1000, 2, True)


@pytest.mark.nightly  # 56 MB from Maven Central
def test_a_classic_session_writes_and_reads_hdfs(tmp_path):
    with public_folder() as folder, local_hdfs(folder) as uri:
        answer = run_client("local[1]", tmp_path, {"store": [f"{uri}/krafla"]}, ships=False)
    assert stored(answer) == (1000, 2, True)


@pytest.mark.nightly  # it asks Maven Central for some 50 modules
def test_the_packages_of_the_document_are_the_locked_jars(tmp_path):
    ivy = tmp_path / "ivy"
    central = tmp_path / "central.xml"
    central.write_text(CENTRAL.format(cache=ivy / "cache"))
    settings = {
        **dict(re.findall(r"--conf (spark\.jars\.excludes)=(\S+)", DOCUMENT)),
        "spark.jars.packages": re.findall(r"--packages (\S+)", DOCUMENT)[0],
        "spark.jars.ivy": str(ivy),
        "spark.jars.ivySettings": str(central),
    }
    run_client("local[1]", tmp_path, {}, settings, ships=False)
    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in (ivy / "jars").iterdir()}
    names = {f"{jar.group}_{jar.artifact}-{jar.version}.jar": jar.sha256 for jar in LOCKED}
    assert found == names
