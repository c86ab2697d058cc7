"""A machine that inherits its spec may be in any folder, and `drive` may be given another spec."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_server import LockDriver
from tests.krafla.testing.lock_traces import C1, C2, of_lock

from krafla.testing import ModelValue, Spec, SpecViolation, action, drive, member_of
from krafla.testing.machine_judge import spec_of

HERE = Path(__file__).parent
# It has another invariant: at most one client waits.
SHORT = (HERE / "specs/Lock.cfg").read_text() + "INVARIANT ShortInv\n"
C3 = ModelValue("c3")
TWO = of_lock(("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)))
THREE = of_lock(("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)), ("Acquire", C3, C1, (C2, C3)))


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


class Asks(LockMachine):
    """It asks its judge what the spec says, as a machine may."""

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> None:
        (state,) = self.judge.states
        assert state["holder"] == ModelValue(self.lock.holder)
        self.lock.acquire(client)


@pytest.mark.parametrize("base", [LockMachine, LockDriver, Asks])
def test_a_spec_that_is_given_judges_instead_of_that_of_the_class(
    base: type[Any], tmp_path: Path
) -> None:
    (tmp_path / "Short.cfg").write_text(SHORT)
    short = Spec.load(HERE / "specs/Lock.tla", cfg=tmp_path / "Short.cfg")
    for code in (lambda: base, base):
        assert drive(code(), TWO, spec=short).steps == 2
        with pytest.raises(SpecViolation) as caught:
            drive(code(), THREE, spec=short)
        assert caught.value.broken == "ShortInv"
        assert drive(base, THREE).steps == 3
