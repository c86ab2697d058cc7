"""What Kafka's own tools print, run from the jars that `krafla record` runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from krafla.record.jars import class_path
from krafla.tlc.jre import find_jre

if TYPE_CHECKING:
    from collections.abc import Sequence

FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
SECONDS = 120
_BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) .*partitionLeaderEpoch: (\d+) "
    r".*isControl: (\w+) .*position: (\d+) .*size: (\d+) .*crc: (\d+) isvalid: (\w+)"
)


class DumpedBatch(NamedTuple):
    """What Kafka's dump says of a batch."""

    base_offset: int
    last_offset: int
    count: int
    epoch: int
    is_control: bool
    position: int
    size: int
    crc: int
    is_valid: bool


def dump(files: Sequence[Path], *options: str) -> dict[Path, list[str]]:
    """Return what DumpLogSegments prints of each file, line by line."""
    named = ",".join(map(str, files))
    lines = run("kafka.tools.DumpLogSegments", *options, "--files", named).splitlines()
    found: dict[Path, list[str]] = {}
    for line in lines:
        if line.startswith("Dumping "):
            found[Path(line.removeprefix("Dumping "))] = []
        elif line:
            found[list(found)[-1]].append(line)
    assert sorted(found) == sorted(files)
    return found


def dumped_batches(lines: Sequence[str]) -> list[DumpedBatch]:
    """Return the batches among the lines of a dump."""
    matches = [m for line in lines if (m := _BATCH.fullmatch(line))]
    assert len(matches) == sum(line.startswith("baseOffset:") for line in lines)
    found = []
    for match in matches:
        base, last, count, epoch, control, position, size, crc, valid = match.groups()
        numbers = (int(position), int(size), int(crc))
        start = (int(base), int(last), int(count), int(epoch), control == "true")
        found.append(DumpedBatch(*start, *numbers, valid == "true"))
    return found


def shell(snapshot: Path, *commands: str) -> str:
    """Return what MetadataShell answers to commands about a snapshot."""
    text = "".join(f"{command}\n" for command in commands)
    return run("org.apache.kafka.shell.MetadataShell", "--snapshot", str(snapshot), stdin=text)


def run(main: str, *arguments: str, stdin: str = "") -> str:
    """Return what a Java program of Kafka prints; it must succeed."""
    finished = answer(main, *arguments, stdin=stdin)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def answer(main: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Return how a Java program of Kafka ends, and what it prints."""
    java = str(find_jre().java)
    return subprocess.run(
        [java, *FLAGS, "-cp", class_path(), main, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
