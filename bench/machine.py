"""What was measured on which machine: `python bench/machine.py` prints it as JSON."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.verdict import KraflaError

ROOT = Path(__file__).resolve().parents[1]


def facts() -> dict[str, str]:
    """Return the machine, the versions, the commit and the date, each as it is printed."""
    return {
        "processor": f"{processor()}, {os.cpu_count()} processors",
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "java": or_why(lambda: find_jre().version),
        "tlc": or_why(lambda: find_jar().capabilities.version),
        "krafla": metadata.version("krafla"),
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def or_why(question) -> str:
    """Return the answer, or why there is none: what needs no Java is measured without one."""
    try:
        return question()
    except KraflaError as error:
        return f"none: {error.message}"


def processor() -> str:
    """Return the name of the processor, as far as the system knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def commit() -> str:
    """Return the commit, and whether files differ from it; outside a checkout, that."""
    described = [
        "git",
        "-C",
        str(ROOT),
        "describe",
        "--always",
        "--dirty= with edits",
        "--exclude=*",
    ]
    try:
        ended = subprocess.run(described, capture_output=True, text=True, check=False)
    except OSError:
        return "not a checkout"
    return ended.stdout.strip() if ended.returncode == 0 else "not a checkout"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(facts(), indent=2) + "\n")
