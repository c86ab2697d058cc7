"""Everything with its input and output in a bucket, on workers that share nothing with the driver.

The results are those of a local Spark on local files.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.fs
import pytest
from tests.krafla.pipeline.conftest import REAL_LOGS
from tests.krafla.pipeline.places.jars import paths
from tests.krafla.pipeline.places.object_store import BUCKET, KEY, SECRET, local_s3
from tests.krafla.pipeline.places.spark_servers import standalone
from tests.krafla.pipeline.poison import LOG

from krafla.audit.server_logs.settings import ServerLogOptions
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.audit import audit_store
from krafla.pipeline.campaign.plan import SEED, CampaignPlan
from krafla.pipeline.campaign.run import run_campaign, store_of
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.report.run import write_report
from krafla.pipeline.server import Settings
from krafla.pipeline.session import session
from krafla.pipeline.tables import SCHEMAS

pytestmark = pytest.mark.xdist_group("places")
LOGS = f"s3a://{BUCKET}/logs"
# What a run took, and when a file was made, are no results.
OF_THE_PLACE = {"load", "path", "changed_ns", "milliseconds", "folder", "directory", "document"}
OF_THE_PLACE |= {"judged_on", "same_history_as"}


@pytest.mark.nightly  # six JVMs, and a Python of another user
def test_a_bucket_and_workers_of_another_user_give_what_a_local_spark_gives(
    elsewhere, tmp_path, spark
):
    logs = Path(shutil.copytree(REAL_LOGS, tmp_path / "logs"))
    broken = logs / "broken" / "n1" / "__cluster_metadata-0" / LOG
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"\xff" * 200)
    here = results(spark, str(logs), str(tmp_path / "out"), tmp_path / "here.html")
    with local_s3(tmp_path / "moto.log") as settings:
        bucket = pyarrow.fs.S3FileSystem(
            access_key=KEY, secret_key=SECRET, scheme="http", region="us-east-1",
            endpoint_override=settings["spark.hadoop.fs.s3a.endpoint"],
        )  # fmt: skip
        pyarrow.fs.copy_files(str(logs), f"{BUCKET}/logs", destination_filesystem=bucket)
        told = {
            **settings,
            "spark.jars": ",".join(map(str, paths("s3a"))),
            "spark.sql.execution.pyspark.python": str(elsewhere.environment.python),
            "spark.executor.memory": "512m",
        }
        with (
            standalone(elsewhere.folder, elsewhere.user, elsewhere.environment) as master,
            session("krafla tests", master, settings=Settings(told)) as far,
        ):
            there = results(far, LOGS, f"s3a://{BUCKET}/out", tmp_path / "there.html")
    assert there.keys() == here.keys()
    for name, found in here.items():
        assert there[name] == found, name


def results(spark, logs, out, page):
    """Return all that an ingest, an audit, a campaign and a report give, with ``logs`` left out."""
    done = ingest(spark, [logs], out)
    store = open_store(spark, out)
    report = audit_store(spark, store, ServerLogOptions())
    runs = find_system("lease").runs(SEED, RunOptions(30, ("restless",)))
    plan = CampaignPlan(0, 9, runs, 5)
    outcome = run_campaign(plan, store_of(spark, f"{out}-runs"), spark)
    write_report(spark, out, page)
    found = {
        "ingest": (done.files, done.good, done.rows, done.bytes, done.left_out),
        "audit": json.loads(json.dumps(report).replace(logs, "LOGS")),
        "campaign": (outcome.digest, outcome.counts, outcome.verdict),
        "page": "unreadable file" in page.read_text(),
    }
    again = open_store(spark, out)
    for name in SCHEMAS:
        rows = [row.asDict() for row in again.read(name).collect()]
        found[name] = sorted(
            str([value for key, value in sorted(row.items()) if key not in OF_THE_PLACE])
            for row in rows
        )
    return found
