"""A local HDFS: a name node and a data node in one process."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from tests.krafla.pipeline.places.jars import class_path
from tests.krafla.pipeline.places.processes import service

from krafla.pipeline.needs import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def local_hdfs(folder: Path) -> Iterator[str]:
    """Run an empty HDFS that keeps its blocks below a folder; yield its URI.

    It asks no permission, since its user is this process's, and a worker's may be another.
    """
    details = folder / "details.json"
    spark_jars = Path(pyspark.__file__).parent / "jars" / "*"
    words = [
        str(find_java().java), f"-Dtest.build.data={folder}", f"-Dhadoop.log.dir={folder}",
        "-Xmx512m", "-cp", f"{class_path('hdfs')}{os.pathsep}{spark_jars}",
        "org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-format",
        "-writeDetails", str(details),
        "-D", "dfs.replication=1", "-D", "dfs.permissions.enabled=false",
    ]  # fmt: skip
    found = service(words, r'"namenode_port":(\d+)', folder / "hdfs.log", said_in=details)
    with found as port:
        yield f"hdfs://127.0.0.1:{port}"
