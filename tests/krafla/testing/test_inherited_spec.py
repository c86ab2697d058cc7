"""A machine that inherits its spec may be in any folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_server import LockDriver

from krafla.testing.machine_judge import spec_of

HERE = Path(__file__).parent
# It has another invariant: at most one client waits.
SHORT = (HERE / "specs/Lock.cfg").read_text() + "INVARIANT ShortInv\n"


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path / "found"))
    return tmp_path


@pytest.mark.parametrize("base", [LockMachine, LockDriver])
def test_a_path_is_looked_for_beside_the_class_that_says_it(
    base: type[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "elsewhere.py"
    file.write_text("")
    (tmp_path / "Short.cfg").write_text(SHORT)
    wanted = importlib.util.spec_from_file_location("elsewhere", file)
    assert wanted is not None
    monkeypatch.setitem(sys.modules, "elsewhere", importlib.util.module_from_spec(wanted))
    inherited = type("Inherited", (base,), {"__module__": "elsewhere"})
    assert spec_of(inherited) is spec_of(base)
    short = type("Short", (base,), {"__module__": "elsewhere", "cfg": "Short.cfg"})
    assert spec_of(short).configuration == tmp_path / "Short.cfg"
    assert spec_of(type("Again", (short,), {})) is spec_of(short)
