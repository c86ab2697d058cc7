"""A local YARN: a resource manager and a node manager in one process."""

from __future__ import annotations

import os
import sys
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
def local_yarn(folder: Path) -> Iterator[dict[str, str]]:
    """Run a YARN that writes below a folder; yield Spark's settings for it.

    ``HADOOP_CONF_DIR`` of a client is ``conf`` in the folder.
    """
    (folder / "conf").mkdir()
    spark_jars = Path(pyspark.__file__).parent / "jars"
    java = find_java()
    every = [class_path("hdfs"), class_path("yarn"), *sorted(map(str, spark_jars.glob("*.jar")))]
    words = [
        sys.executable, Path(__file__).with_name("yarn_cluster.py"),
        java.libjvm, os.pathsep.join(every), folder,
    ]  # fmt: skip
    named = {**os.environ, "JAVA_HOME": str(java.home)}
    with service(words, "YARN is ready", folder / "yarn.log", named):
        yield {
            "spark.yarn.jars": f"local:{spark_jars}/*",
            "spark.yarn.stagingDir": (folder / "staging").as_uri(),
            "spark.yarn.am.memory": "512m",
            "spark.executor.instances": "1",
            "spark.sql.execution.pyspark.python": sys.executable,
        }
