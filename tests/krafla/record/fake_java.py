"""A stand-in for `java` with Kafka on its class path: what a recording sees of either."""

from __future__ import annotations

import signal
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Do as little as the program that is named would."""
    program, *rest = arguments[arguments.index("-cp") + 2 :]
    if program == "kafka.tools.StorageTool":
        return formatted(read(Path(rest[rest.index("-c") + 1])))
    if program == "kafka.Kafka":
        return served(Path(rest[0]))
    if any(word.startswith("refused") for word in rest):
        sys.stdout.write("Error while executing: the fake refuses this.\n")
        return 1
    if "version-mapping" in rest:
        sys.stdout.write("metadata.version=20 (3.8)\nkraft.version=1\ngroup.version=0\n")
        return 0
    if "moved" in rest:
        # The first that asks is told so, and nobody after it.
        asked = Path("asked")
        if not asked.exists():
            asked.touch()
            sys.stdout.write("x.NotLeaderOrFollowerException: \n")
            return 1
    sys.stdout.write("Done.\n")
    return 0


def read(path: Path) -> dict[str, str]:
    """Return properties."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def formatted(properties: dict[str, str]) -> int:
    """Leave what StorageTool leaves."""
    disk = Path(properties["log.dirs"])
    (disk / "__cluster_metadata-0").mkdir()
    (disk / "meta.properties").write_text(f"version=1\nnode.id={properties['node.id']}\n")
    return 0


def served(path: Path) -> int:
    """Write what a server writes when it has started, and wait for the end."""
    properties, logs = read(path), path.parent / "logs"
    number = properties["node.id"]
    with (logs / "server.log").open("a") as server:
        if properties.get("fails") == number:
            server.write("[now] ERROR the disk of the fake is full (kafka.Kafka)\n")
            return 1
        server.write(f"log.dirs = {properties['log.dirs']}\n[KafkaServer] Kafka Server started\n")
        server.write("The broker has been unfenced. Transitioning from RECOVERY to RUNNING.\n")
        if properties.get("ends") == number:
            server.write("[now] ERROR the fake has had enough (kafka.Kafka)\n")
            return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (logs / "controller.log").open("a") as controller:
        if "controller" in properties["process.roles"]:
            controller.write(f"[id={number}] Becoming the active controller at epoch {number}\n")
        # A tool cannot ask this one, so that a broker is fenced as soon as anybody looks.
        controller.write("BrokerRegistrationChangeRecord(brokerId=0, brokerEpoch=9, fenced=1, x)\n")
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
