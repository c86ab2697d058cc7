"""A program of somebody who has a Spark session of their own: reads, asks, writes, watches.

`python -m tests.krafla.pipeline.spark_user FOLDER [REMOTE]` prints what it found as JSON, with a
session of its own or of the Spark Connect server at REMOTE. FOLDER/logs has the logs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main():
    folder, remote = Path(sys.argv[1]), sys.argv[2:]
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if remote:
        spark = builder.remote(remote[0]).getOrCreate()
    else:
        for key, value in (("ui.enabled", "false"), ("driver.host", "127.0.0.1"),
                           ("sql.warehouse.dir", str(folder / "warehouse"))):  # fmt: skip
            builder = builder.config(f"spark.{key}", value)
        spark = builder.master("local[2]").getOrCreate()
    from krafla.spark import register

    register(spark)
    try:
        sys.stdout.write(f"FOUND {json.dumps(found(spark, folder))}\n")
    finally:
        spark.stop()


def found(spark, folder):
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    logs = str(folder / "logs")
    said = {}
    for table in ("batches", "quarantine"):
        said[table] = spark.read.format("kraft-log").option("table", table).load(logs).count()
    records = spark.read.format("kraft-log").load(logs)
    records.createOrReplaceTempView("records")
    asked = "SELECT type, count(*) AS n FROM records GROUP BY type"
    said["types"] = {row["type"]: row["n"] for row in spark.sql(asked).collect()}
    topics = records.where("type = 'TOPIC_RECORD'").select("name")
    said["topics"] = sorted(row["name"] for row in topics.collect())
    chosen = spark.read.format("kraft-log").option("types", "PARTITION_RECORD, LeaderChange")
    said["isr"] = chosen.load(logs).selectExpr("max(size(isr)) AS n").collect()[0]["n"]
    records.write.parquet(str(folder / "written"))
    said["written"] = spark.read.parquet(str(folder / "written")).count()
    failfast = spark.read.format("kraft-log").option("mode", "FAILFAST").option("table", "events")
    said["failfast"] = complaint(failfast.load(logs).count)
    said["misspelt"] = complaint(
        lambda: spark.read.format("kraft-log").option("tabel", "x").load(logs).count()
    )
    said["steps"] = spark.read.format("krafla-trace").load(str(folder / "traces")).count()
    said["streamed"] = streamed(spark, folder)
    return said


def complaint(do):
    try:
        do()
    except Exception as error:  # noqa: BLE001 - its text is the result
        return str(error)
    return ""


def streamed(spark, folder):
    """Return how many records each run of a stream has added, whose query ends in between."""
    added = []
    log = folder / "growing" / "__cluster_metadata-0" / "00000000000000000000.log"
    log.parent.mkdir(parents=True)
    (whole,) = (folder / "logs").glob("crash/*/__cluster_metadata-0/*.log")
    content = whole.read_bytes()
    for size in (len(content) // 2, len(content)):
        log.write_bytes(content[:size])
        stream = (
            spark.readStream.format("kraft-log")
            .option("settleSeconds", "0")
            .option("maxBytesPerTrigger", "5000")
            .load(str(folder / "growing"))
        )
        query = (
            stream.writeStream.format("parquet")
            .option("path", str(folder / "stream"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        added.append(spark.read.parquet(str(folder / "stream")).count())
    return added


if __name__ == "__main__":
    main()
