"""The page about traces: its code runs as it stands, its story is what is told."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.forked import PYTEST, forked
from tests.krafla.testing.lock_server import MISTAKES, driver_of
from tests.krafla.testing.test_trace_plugin import C1, lock_trace

import krafla.testing
from krafla.testing import Spec, SpecViolation, drive
from krafla.testing.walks import walk
from krafla.traces import write_trace

HERE = Path(__file__).parent
PAGE = (HERE.parents[2] / "docs" / "testing-traces.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOCK = """
class LockServer:
    def __init__(self):
        self.holder, self.waiting = None, []

    def acquire(self, client):
        if client == self.holder or client in self.waiting:
            return False
        if self.holder is None:
            self.holder = client
        else:
            self.waiting.append(client)
        return True

    def release(self, client):
        if client != self.holder:
            return False
        self.holder = self.waiting.pop(0) if self.waiting else None
        return True
"""
QUEUE_IS_SHORT = "\nQueueIsShort == Len(queue) < 2\n"


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(PAGE) if found == language]


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    shutil.copytree(HERE / "specs", tmp_path / "specs")
    module = tmp_path / "specs" / "Lock.tla"
    end = "============================================================================="
    text = module.read_text()
    assert QUEUE_IS_SHORT.strip() in PAGE
    module.write_text(text.replace(text.splitlines()[-1], QUEUE_IS_SHORT + end))
    for text in blocks("python"):
        name = text.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(text)
    (tmp_path / "krafla.toml").write_text(blocks("toml")[0])
    (tmp_path / "lock.py").write_text(LOCK)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "logs").mkdir()
    write_trace(lock_trace(("Acquire", C1)), tmp_path / "logs" / "run.trace.ndjson")
    finished = forked(PYTEST).run(tmp_path, "-q", "-p", "no:randomly", "-p", "no:xdist")
    assert re.search(r"^30 passed in", finished.stdout, re.MULTILINE), finished.stdout


def test_the_story_of_the_page_is_what_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    trace = walk(Spec.load(HERE / "specs" / "Lock.tla"), 30, "7/1")
    with pytest.raises(SpecViolation) as violation:
        drive(driver_of(list(MISTAKES)[3]), trace)
    assert blocks("text")[0] in str(violation.value)


def test_the_page_names_everything_that_drives_traces() -> None:
    names = {
        *("AmbiguousStepWarning", "Departure", "Driven", "NoBehaviour", "SpecLoader"),
        *("TraceValidator", "counterexamples", "drive", "random_walks", "shortest_paths"),
        *("spec_trace", "trace_files"),
    }
    assert names <= set(krafla.testing.__all__)
    assert not {name for name in names if name not in PAGE}
