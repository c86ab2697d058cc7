"""A program: YARN in this process, until it is ended. Hadoop has no command for it.

Arguments: Java's library, the class path, a folder for all that YARN writes.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import jpype

SETTINGS = {
    "fs.defaultFS": "file:///",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
    "yarn.scheduler.minimum-allocation-mb": "128",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.9",
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
}


def main(library: str, class_path: str, folder: Path) -> None:
    """Run a resource manager and a node manager; write their addresses as Hadoop's files."""
    options = ["-Xrs", "-Xmx512m", f"-Dtest.build.data={folder}", f"-Dhadoop.log.dir={folder}"]
    jpype.startJVM(library, *options, classpath=class_path.split(":"))
    settings = jpype.JClass("org.apache.hadoop.yarn.conf.YarnConfiguration")()
    for name, value in SETTINGS.items():
        settings.set(name, value)
    cluster = jpype.JClass("org.apache.hadoop.yarn.server.MiniYARNCluster")("places", 1, 1, 1)
    cluster.init(settings)
    cluster.start()
    for name in ("core-site.xml", "yarn-site.xml"):
        file = jpype.JClass("java.io.FileOutputStream")(str(folder / "conf" / name))
        cluster.getConfig().writeXml(file)
        file.close()
    sys.stdout.write("YARN is ready\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
