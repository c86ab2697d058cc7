"""Shows that each import contract of pyproject.toml is kept, and breaks when it is violated."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.forked import LINTER, forked

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).resolve().parents[1]
VIOLATIONS = [
    ("kraft/records/planted.py", "import kraft.log.planted", "point down"),
    ("kraft/records/planted.py", "import kraft.wire.planted", "point down"),
    ("kraft/wire/planted.py", "import kraft.log.planted", "point down"),
    ("kraft/controller/planted.py", "import kraft.broker.planted", "point down"),
    ("kraft/sim/planted.py", "import kraft.tools.planted", "point down"),
    ("kraft/sim/planted.py", "import kraft.node.planted", "point down"),
    ("kraft/node/planted.py", "import kraft.sim.planted", "point down"),
    ("kraft/node/planted.py", "import kraft.tools.planted", "point down"),
    ("kraft/node/planted.py", "import kraft.client.planted", "point down"),
    ("kraft/client/planted.py", "import kraft.tools.planted", "point down"),
    ("kraft/client/planted.py", "import kraft.sim.planted", "simulate nothing"),
    ("kraft/hosting/planted.py", "import kraft.node.planted", "point down"),
    ("kraft/tools/planted.py", "import kraft.sim.planted", "simulate nothing"),
    ("kraft/hosting/planted.py", "import kraft.sim.planted", "point down"),
    ("kraft/fresh/__init__.py", "", "not listed as layers"),
    ("kraft/log/planted.py", "import krafla", "does not know the judge"),
    ("kraft/sim/planted.py", "import hypothesis", "does not know the judge"),
    ("kraft/log/planted.py", "import time", "no clock"),
    ("kraft/controller/planted.py", "from random import choice", "no clock"),
    ("kraft/broker/planted.py", "import socket", "no clock"),
    ("kraft/wire/planted.py", "import asyncio", "no clock"),
    ("kraft/wire/planted.py", "from io import BytesIO", "only log reads files"),
    ("kraft/hosting/planted.py", "import asyncio", "no clock"),
    ("kraft/controller/planted.py", "import os", "only log reads files"),
    ("kraft/records/planted.py", "from pathlib import Path", "only log reads files"),
    ("krafla/oracle/planted.py", "import kraft.records.planted", "see kraft"),
    ("krafla/cli/planted.py", "import kraft.controller.planted", "see kraft"),
    ("krafla/audit/planted.py", "import kraft.controller.planted", "see kraft"),
    ("krafla/refinement/planted.py", "import jpype", "the JVM lives"),
    ("krafla/audit/planted.py", "import subprocess", "the JVM lives"),
    ("krafla/oracle/planted.py", "import subprocess", "the JVM lives"),
    ("krafla/record/planted.py", "import jpype", "the JVM lives"),
    ("krafla/record/planted.py", "import kraft.records.planted", "see kraft"),
    ("krafla/spark/planted.py", "import kraft.raft.planted", "see kraft"),
    ("krafla/match/planted.py", "import krafla.refinement.planted", "generic rooms"),
    ("krafla/traces/planted.py", "import krafla.fuzz.planted", "generic rooms"),
    ("krafla/report/planted.py", "import krafla.verify.planted", "generic rooms"),
    ("krafla/shrink/planted.py", "import krafla.audit.planted", "generic rooms"),
    ("krafla/project/planted.py", "import krafla.fuzz.planted", "generic rooms"),
    ("krafla/proofs/planted.py", "import kraft.records.planted", "generic rooms"),
    ("krafla/testing/planted.py", "import krafla.fuzz.planted", "generic rooms"),
    ("krafla/fuzz/planted.py", "from krafla.oracle import Spec", "public names"),
    ("krafla/audit/planted.py", "from krafla.oracle.state import State", "public names"),
    ("krafla/refinement/planted.py", "from krafla.traces import Trace", "public names"),
    ("krafla/tlc/planted.py", "import z3", "z3 only in proofs"),
    ("krafla/audit/planted.py", "import pyspark.sql", "z3 only in proofs"),
]
ALLOWED = [
    ("krafla/refinement/planted.py", "import kraft.controller.planted"),
    ("krafla/fuzz/planted.py", "import kraft.sim.planted"),
    ("kraft/sim/planted.py", "import kraft.hosting.planted"),
    ("krafla/audit/planted.py", "import kraft.records.planted"),
    ("krafla/oracle/planted.py", "import jpype"),
    ("krafla/audit/planted.py", "from krafla.testing import Spec, Trace"),
    ("krafla/fuzz/planted.py", "from krafla.traces.ndjson import read"),
    ("krafla/record/planted.py", "import subprocess"),
    ("krafla/tlc/planted.py", "import subprocess"),
    ("krafla/pipeline/planted.py", "import pyspark.sql"),
    ("krafla/spark/planted.py", "import kraft.log.planted"),
    ("kraft/sim/planted.py", "import random"),
    ("kraft/log/planted.py", "import gzip"),
    ("kraft/tools/planted.py", "import secrets"),
    ("kraft/tools/planted.py", "import kraft.node.planted"),
    ("kraft/tools/planted.py", "import kraft.client.planted"),
    ("kraft/client/planted.py", "import kraft.node.planted"),
    ("kraft/client/planted.py", "import socket"),
    ("kraft/node/planted.py", "import kraft.hosting.planted"),
    ("kraft/node/planted.py", "import asyncio"),
    ("kraft/node/planted.py", "from pathlib import Path"),
]


def skeleton(root: Path) -> None:
    """Lay every package of the design out, empty, under the contracts of this repository."""
    shutil.copy(ROOT / "pyproject.toml", root)
    kraft = ["", "records", "rpc", "wire", "log", "raft", "controller", "broker", "hosting"]
    kraft += ["sim", "sim/raft", "node", "client", "tools"]
    krafla = ["", "cli", "tlc", "oracle", "traces", "match", "shrink", "graph", "mutate", "proofs"]
    krafla += [
        "project",
        "report",
        "testing",
        "refinement",
        "fuzz",
        "audit",
        "pipeline",
        "spark",
        "record",
    ]
    krafla += ["verify"]
    for package, children in (("kraft", kraft), ("krafla", krafla)):
        for child in children:
            write(root / package / child / "__init__.py", "")
            if child:
                write(root / package / child / "planted.py", "")
    for name in ("explain", "spec", "state"):
        write(root / "krafla" / "oracle" / f"{name}.py", "")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lint(root: Path, *places: Path) -> subprocess.CompletedProcess[str]:
    return forked(LINTER).run(root, *(places or (root,)))


@pytest.mark.parametrize(("path", "line", "contract"), VIOLATIONS)
def test_a_violation_breaks_the_contract(tmp_path, path, line, contract):
    skeleton(tmp_path)
    write(tmp_path / path, line + "\n")

    finished = lint(tmp_path)

    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert contract in finished.stdout.partition("Broken contracts")[2]


def test_a_generic_room_may_not_reach_kafka_s_rooms_through_another_module(tmp_path):
    skeleton(tmp_path)
    write(tmp_path / "krafla/match/planted.py", "import krafla.between\n")
    write(tmp_path / "krafla/between.py", "import krafla.refinement.planted\n")

    finished = lint(tmp_path)

    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert "generic rooms" in finished.stdout.partition("Broken contracts")[2]


@pytest.mark.parametrize("place", ["", "    "])
def test_modules_that_import_each_other_break_the_contract(tmp_path, place):
    skeleton(tmp_path)
    # In a function it would work, and hide the circle from whoever reads the head of the file.
    late = "def late():\n" if place else ""
    write(tmp_path / "kraft/raft/one.py", f"{late}{place}import kraft.raft.other\n")
    write(tmp_path / "kraft/raft/other.py", "import kraft.raft.one\n")

    finished = lint(tmp_path)

    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert "import each other" in finished.stdout.partition("Broken contracts")[2]


def test_what_the_design_allows_keeps_every_contract(tmp_path):
    skeleton(tmp_path)
    for path, line in ALLOWED:
        write(tmp_path / path, line + "\n")

    finished = lint(tmp_path)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "0 broken" in finished.stdout


def test_this_repository_keeps_every_contract():
    finished = lint(ROOT, ROOT / "impl", ROOT / "model")

    assert finished.returncode == 0, finished.stdout + finished.stderr
