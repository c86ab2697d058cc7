"""The page about traces: its code runs as it stands, its story is what is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.forked import PYTEST, forked
from tests.krafla.testing.lock_server import MISTAKES, driver_of
from tests.krafla.testing.test_public_surface import written
from tests.krafla.testing.test_trace_plugin import C1, lock_trace

import krafla.testing
from krafla.testing import Spec, SpecViolation, drive
from krafla.testing.walks import walk
from krafla.traces import write_trace

PAGE = (Path(__file__).parents[3] / "docs" / "testing-traces.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(PAGE) if found == language]


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    written(tmp_path)
    # The test of the other page.
    (tmp_path / "test_lock.py").unlink()
    module = tmp_path / "specs" / "Lock.tla"
    text = module.read_text()
    assert text.endswith("====\n")
    module.write_text(text.removesuffix("====\n") + blocks("tla")[0] + "====\n")
    for text in blocks("python"):
        name = text.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(text)
    (tmp_path / "krafla.toml").write_text(blocks("toml")[0])
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "logs").mkdir()
    write_trace(lock_trace(("Acquire", C1)), tmp_path / "logs" / "run.trace.ndjson")
    finished = forked(PYTEST).run(tmp_path, "-q", "-p", "no:randomly", "-p", "no:xdist")
    assert re.search(r"^30 passed in", finished.stdout, re.MULTILINE), finished.stdout


def test_the_story_of_the_page_is_what_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    written(tmp_path)
    spec = Spec.load(tmp_path / "specs" / "Lock.tla")
    with pytest.raises(SpecViolation) as violation:
        drive(driver_of(list(MISTAKES)[3]), walk(spec, 30, "7/1"), spec=spec)
    assert blocks("text")[0] in str(violation.value)


def test_the_page_names_everything_that_drives_traces() -> None:
    names = {
        *("AmbiguousStepWarning", "Departure", "Driven", "NoBehaviour", "SpecLoader"),
        *("TraceValidator", "counterexamples", "drive", "random_walks", "shortest_paths"),
        *("spec_trace", "trace_files"),
    }
    assert names <= set(krafla.testing.__all__)
    assert not {name for name in names if name not in PAGE}
