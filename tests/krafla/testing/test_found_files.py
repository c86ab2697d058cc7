"""Each failure of a run has its own file, and the same failure of a later run the same one."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.krafla.testing import lock_traces
from tests.krafla.testing.lock_machines import Forgets, Lock, LockMachine, Overtakes, machine_of
from tests.krafla.testing.lock_traces import C1, C2, NOBODY, of_lock

import krafla.testing.found_files
from krafla.testing import Refused, SpecViolation, drive
from krafla.testing.found_files import LIST_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.testing import Trace

SHORT = of_lock(("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)))
AROUND = (("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))
LONG = of_lock(*AROUND, *AROUND, ("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)))


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


def names(found: Path) -> set[str]:
    return {one.name.partition(".")[0] for one in found.glob("*.ndjson")}


def file_of(machine: type[Any], trace: Trace) -> str:
    """Return the name of the file that the commands of a failure show."""
    with pytest.raises(SpecViolation) as caught:
        drive(machine, trace, shrinks=0)
    (name,) = set(re.findall(r"/([\w-]+)\.trace\.ndjson", str(caught.value)))
    return str(name)


def test_another_failure_of_a_run_has_a_number(
    found: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of(Forgets)
    given = [file_of(machine, one) for one in (SHORT, LONG, SHORT, LONG)]
    assert given == ["ForgetsMachine", "ForgetsMachine-2"] * 2
    # A later run begins anew: nothing piles up.
    monkeypatch.setattr(krafla.testing.found_files, "_saved", {})
    assert file_of(machine, LONG) == "ForgetsMachine"
    assert names(found) == set(given)


def test_a_class_of_the_same_name_in_another_file_has_its_module(
    found: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = machine_of(Forgets)
    there = type("ForgetsMachine", (here,), {"__module__": lock_traces.__name__})
    for _ in range(2):
        assert file_of(here, SHORT) == "ForgetsMachine"
        assert file_of(there, SHORT) == "ForgetsMachine-lock_traces"
        assert file_of(there, LONG) == "ForgetsMachine-lock_traces-2"
        # A later run knows it by the list.
        monkeypatch.setattr(krafla.testing.found_files, "_saved", {})
    listed = (found / LIST_NAME).read_text().splitlines()
    assert [one.partition(" ")[0] for one in listed if not one.startswith("#")] == [
        f"ForgetsMachine{more}.trace.ndjson" for more in ("", "-lock_traces", "-lock_traces-2")
    ]
    (found / "ForgetsMachine.trace.ndjson").unlink()
    # The last line of a name counts: the file is of the other class from here on.
    assert [file_of(there, SHORT) for _ in range(2)] == ["ForgetsMachine"] * 2
    assert file_of(here, SHORT) == "ForgetsMachine-lock_machines"


def test_a_folder_that_is_renamed_keeps_its_names(
    found: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("moved")
    monkeypatch.setitem(sys.modules, "moved", module)
    machine = type("ForgetsMachine", (machine_of(Forgets),), {"__module__": "moved"})
    for name in ("before", "after"):
        folder = found / name
        if name == "after":
            (found / "before").rename(folder)
        module.__file__ = str(folder / "moved.py")
        monkeypatch.setenv("KRAFLA_FOUND", str(folder / "failures"))
        monkeypatch.setattr(krafla.testing.found_files, "_saved", {})
        assert file_of(machine, SHORT) == "ForgetsMachine"


class TwoFaults(Lock):
    """A third client is refused, and the code breaks where a second one waits."""

    def acquire(self, client: str) -> None:
        if self.queue:
            raise Refused
        super().acquire(client)

    def release(self, client: str) -> None:
        if client == self.holder and self.queue:
            raise ZeroDivisionError
        super().release(client)


class TwoDenied(TwoFaults):
    """Both are denied by the spec."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = "Nobody"


@pytest.mark.parametrize(("lock", "more"), [(TwoFaults, "-error"), (TwoDenied, "-2")])
def test_each_mistake_that_hypothesis_finds_has_its_own_file(
    lock: type[Lock], more: str, found: Path
) -> None:
    given = settings(
        LockMachine.TestCase.settings, max_examples=100, database=None, derandomize=True
    )
    machine = machine_of(lock)
    with pytest.raises(ExceptionGroup) as caught:
        run_state_machine_as_test(machine, settings=given)
    told = ("\n".join((str(one), *one.__notes__)) for one in caught.value.exceptions)
    shown = [set(re.findall(r"/([\w-]+)\.trace\.ndjson", one)) for one in told]
    assert sorted(map(sorted, shown)) == [[machine.__name__], [machine.__name__ + more]]
    assert names(found) == set.union(*shown)


def test_a_list_of_an_older_krafla_names_files_without_classes(found: Path) -> None:
    (found / LIST_NAME).write_text("OvertakesMachine.trace.ndjson\n")
    (found / "OvertakesMachine.trace.ndjson").write_text("")
    assert file_of(machine_of(Overtakes), SHORT) == "OvertakesMachine"
