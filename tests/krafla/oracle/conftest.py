"""The sample specs, loaded once for each test process, and TLC itself as the reference."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from krafla.oracle import Spec
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.values import Function, ModelValue
from krafla.values_text import parse_state

SPECS = Path(__file__).parent / "specs"
R1, R2 = ModelValue("r1"), ModelValue("r2")


@dataclass(frozen=True)
class Reference:
    """What a run of TLC itself said, and the states it dumped."""

    output: str
    generated: int
    distinct: int
    depth: int
    states: tuple[Function, ...]


@pytest.fixture(scope="session")
def specs() -> Path:
    return SPECS


@pytest.fixture(scope="session")
def ballot() -> Spec:
    constants = {"Replica": {R1, R2}, "MaxEpoch": 2, "Nil": ModelValue("Nil")}
    return Spec.load("Ballot", constants, path=SPECS)


@pytest.fixture(scope="session")
def shapes() -> Spec:
    constants = {
        "Colour": {ModelValue("Red"), ModelValue("Blue")},
        "Table": {2: "one", 5: (2, -2)},
        "Red": ModelValue("Red"),
    }
    return Spec.load("Shapes", constants, path=SPECS)


@pytest.fixture
def tlc(tmp_path):
    """Run TLC on a sample model in a process of its own."""

    def run(module: str, configuration: str) -> Reference:
        dump = tmp_path / "states"
        java = [str(find_jre().java), "-XX:+UseSerialGC", f"-Djava.io.tmpdir={tmp_path}"]
        program = ["-cp", str(find_jar().path), "tlc2.TLC", "-workers", "1"]
        files = ["-dump", str(dump), "-metadir", str(tmp_path / "meta")]
        command = [*java, *program, *files, "-config", f"{configuration}.cfg", module]
        found = subprocess.run(
            command, cwd=SPECS, capture_output=True, text=True, check=False, timeout=120
        )
        counts = re.search(r"(\d+) states generated, (\d+) distinct states found", found.stdout)
        depth = re.search(r"depth of the complete state graph search is (\d+)", found.stdout)
        assert counts, found.stdout
        assert depth, found.stdout
        blocks = re.split(
            r"^State \d+:\n", dump.with_suffix(".dump").read_text(), flags=re.MULTILINE
        )
        states = tuple(parse_state(block) for block in blocks if block.strip())
        return Reference(found.stdout, int(counts[1]), int(counts[2]), int(depth[1]), states)

    return run
