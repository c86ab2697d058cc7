"""A program of somebody who uses Spark: one session, some jobs, their answers as JSON.

It runs as a script, and so its functions go to the Python workers by value.
"""

from __future__ import annotations

import json
import sys

ANSWER = (
    "pid long, parent long, uid long, reads long, krafla string, states long, held long,"
    " heap_mib long, rss_mib long, packages string"
)


def main() -> None:
    """Do what the JSON in the first argument says."""
    asked = json.loads(sys.argv[1])
    spark = session(asked)
    try:
        if asked["ships"]:
            from krafla.pipeline.shipping import ship

            ship(spark)
            ship(spark)
        jobs = {"judge": judge, "store": store, "import_path": import_path, "source": source}
        answers = {name: jobs[name](spark, *words) for name, words in asked["jobs"].items()}
    finally:
        spark.stop()
    json.dump(answers, sys.stdout)


def session(asked):
    """Return a session over Connect, or a classic one of a master."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in asked["settings"].items():
        builder = builder.config(name, value)
    if asked["where"].startswith("sc://"):
        return builder.remote(asked["where"]).getOrCreate()
    return builder.master(asked["where"]).getOrCreate()


def import_path(spark):
    """Return whether a worker finds krafla in what was sent, and this program in its own place."""

    def task(batches):
        import sys

        import pyarrow as pa

        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"path": ["\n".join(sys.path)]})

    import krafla

    there = spark.range(1).mapInArrow(task, "path string").collect()[0].path
    return {"sent": "krafla-" in there, "here": [krafla.__file__, *sys.path]}


def source(spark):
    """Return what a data source says that needs krafla: for its schema, its partitions, its rows.

    Spark plans it in Python processes beside the driver.
    """
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Reader(DataSourceReader):
        def partitions(self):
            import krafla

            return [InputPartition(krafla.__file__)]

        def read(self, partition):
            import krafla

            yield partition.value, krafla.__file__

    class Source(DataSource):
        @classmethod
        def name(cls):
            return "places"

        def schema(self):
            import krafla

            return "planned string, read string" if krafla.__file__ else ""

        def reader(self, schema):
            assert schema.names == ["planned", "read"]
            return Reader()

    spark.dataSource.register(Source)
    return list(spark.read.format("places").load().collect()[0])


def judge(spark, forbidden, paths):
    """Return what four tasks say, each of which loads a spec and plays a run of lease and raft.

    They try to read the forbidden folders.
    """

    def task(batches):
        import os
        import re
        import time
        from contextlib import suppress
        from pathlib import Path

        import pyarrow as pa

        for _ in batches:
            # The other worker shall have some of the tasks.
            time.sleep(0.3)
        import krafla
        from krafla.audit.specs import LoadingSpec
        from krafla.fuzz.engine.system import RunOptions, find_system
        from krafla.oracle.jvm import java

        spec = LoadingSpec().get()
        runs = [find_system(name).runs(1, RunOptions()) for name in ("lease", "raft")]
        held = [one.play(0).finding is None for one in runs]
        reads = 0
        for name in forbidden:
            with suppress(OSError):
                reads += any(True for _ in Path(name).iterdir())
        files = [getattr(one, "__file__", None) or "" for one in list(sys.modules.values())]
        packages = {found[1] for file in files if (found := re.search(paths + r"/([^/.]+)", file))}
        status = Path("/proc/self/status").read_text()
        row = {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "uid": os.getuid(),
            "reads": reads,
            "krafla": krafla.__file__,
            "states": len(spec.initial_states()),
            "held": sum(held),
            "heap_mib": int(java("java.lang.Runtime").getRuntime().maxMemory()) >> 20,
            "rss_mib": int(status.partition("VmRSS:")[2].split()[0]) // 1024,
            "packages": " ".join(sorted(packages)),
        }
        yield pa.RecordBatch.from_pylist([row])

    rows = spark.range(0, 4, 1, 4).mapInArrow(task, ANSWER).collect()
    return [row.asDict() for row in rows]


def store(spark, uri):
    """Return what is read of a table that was written twice below a URI."""
    table = f"{uri}/__cluster_metadata-0"
    for _ in range(2):
        spark.range(1000).repartition(2).write.mode("overwrite").parquet(table)
    # Spark passes over names that begin with an underscore, unless it is told otherwise.
    reader = spark.read.option("ignoredPathSegmentRegex", "").option("recursiveFileLookup", "true")
    files = reader.format("binaryFile").load(uri).where("path like '%.parquet'")
    return {
        "rows": spark.read.parquet(table).distinct().count(),
        "files": files.count(),
        "bytes": sum(len(row.content) for row in files.select("content").collect()),
        "length": files.selectExpr("sum(length) n").collect()[0].n,
    }


if __name__ == "__main__":
    main()
