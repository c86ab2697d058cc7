"""The public package: what it offers is what its page says, and the page's code runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forked import PYTEST, forked

import krafla.testing

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block that is a file begins with its name.
FILE = re.compile(r"(?:#|\\\*) (\S+\.(?:tla|cfg|py))\n")


def blocks() -> list[tuple[str, str]]:
    return [(language, text) for language, text in BLOCK.findall(PAGE)]


def written(folder: Path) -> list[str]:
    """Write the files of the page to a folder, and return its other blocks of Python."""
    others = []
    for language, text in blocks():
        named = FILE.match(text)
        if named is not None:
            path = folder / named[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif language == "python":
            others.append(text)
    return others


def test_the_page_names_all_that_is_public_and_nothing_else() -> None:
    table = PAGE.partition("## Names")[2]
    named = {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert named == set(krafla.testing.__all__)
    assert sorted(krafla.testing.__all__) == krafla.testing.__all__


@pytest.mark.parametrize("name", krafla.testing.__all__)
def test_each_public_name_is_there_and_explained(name: str) -> None:
    found = getattr(krafla.testing, name)
    assert name in dir(krafla.testing)
    assert name == "Value" or found.__doc__


def test_another_name_is_an_error_of_its_own() -> None:
    with pytest.raises(AttributeError, match=r"module 'krafla\.testing' has no attribute 'Jugde'"):
        _ = krafla.testing.Jugde


FEW = """
from hypothesis import settings
settings.register_profile("few", max_examples=20, derandomize=True, database=None)
settings.load_profile("few")
"""


def test_the_machine_of_the_page_finds_a_mistake_and_passes_without_it(tmp_path: Path) -> None:
    written(tmp_path)
    server = tmp_path / "lock.py"
    right = server.read_text()
    server.write_text(right.replace("queue.pop(0)", "queue.pop()"))
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "conftest.py").write_text(FEW)
    options = ("-q", "-p", "no:randomly", "-p", "no:xdist", "test_lock.py")
    finished = forked(PYTEST).run(tmp_path, *options)
    assert "holder' = Head(queue)" in finished.stdout, finished.stdout
    saved = ".krafla/found/LockMachine.trace.ndjson"
    assert saved in PAGE
    assert (tmp_path / saved).is_file()
    server.write_text(right)
    mended = forked(PYTEST).run(tmp_path, *options)
    assert re.search(r"^1 passed in", mended.stdout, re.MULTILINE), mended.stdout


def test_the_other_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = written(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for text in others:
        exec(compile(text, "docs/testing.md", "exec"), names)
    assert len(others) == 6


LAZY = "import sys, krafla.testing; print(sorted({'hypothesis', 'jpype'} & sys.modules.keys()))"


def test_the_import_loads_neither_hypothesis_nor_java() -> None:
    asked = [sys.executable, "-c", LAZY]
    assert subprocess.run(asked, capture_output=True, check=True).stdout == b"[]\n"


STORY = """
import sys
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.krafla.testing.lock_machines import LastComes, LockMachine, machine_of
given = settings(LockMachine.TestCase.settings, database=None, derandomize=True, max_examples=10)
try:
    run_state_machine_as_test(machine_of(LastComes), settings=given)
except AssertionError as violation:
    print(violation)
"""


def test_neither_story_nor_trace_depends_on_the_seed_of_hashes(tmp_path: Path) -> None:
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        path = os.pathsep.join([str(ROOT), *sys.path])
        around = os.environ | {"PYTHONHASHSEED": seed, "KRAFLA_FOUND": ".", "PYTHONPATH": path}
        told = subprocess.run(
            [sys.executable, "-c", STORY], cwd=folder, env=around, capture_output=True, check=True
        ).stdout
        found.append((told, (folder / "LastComesMachine.trace.ndjson").read_bytes()))
    assert b"holder' = Head(queue)" in found[0][0]
    assert found[0] == found[1]


TYPED = (ROOT / "tests" / "krafla" / "testing" / "typed_machine.py").read_text(encoding="utf-8")
REVEALED = """
reveal_type(Machine().judge.trace)
reveal_type(Machine().acquire)
"""


@pytest.mark.nightly
def test_a_type_checker_knows_the_public_names(tmp_path: Path) -> None:
    """Without the settings of this repository, whose own check covers the file by day."""
    (tmp_path / "typed.py").write_text(TYPED.partition("  # type: ignore[arg-type]")[0] + REVEALED)
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "typed.py"], cwd=tmp_path, check=False,
        env=os.environ | {"MYPYPATH": str(ROOT / "model")}, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert 'Revealed type is "krafla.traces.trace.Trace | krafla.traces.partial.Part' in told
    assert 'Revealed type is "def (client: str) -> krafla.testing.taken.Taken | None"' in told
    assert 'error: Argument 1 to "step" of "Judge" has incompatible type "int"' in told
    assert "Found 1 error in 1 file" in told
