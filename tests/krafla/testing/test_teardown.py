"""A teardown that fails hides nothing of what was found before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_traces import C1, C2, NOBODY, of_lock

from krafla.testing import ModelValue, Refused, SpecViolation, action, drive, member_of
from krafla.testing.machine_replay import replay_on_machine
from krafla.testing.machine_search import Search, search
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

C3 = ModelValue("c3")
TRACE = of_lock(
    ("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)), ("Acquire", C3, C1, (C2, C3)),
    ("Release", C1, C2, (C3,)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


class Leaves(LockMachine):
    """What a wrong release leaves cannot be closed."""

    is_broken = False

    @action("Release", client=member_of("Client"))
    def release(self, client: str) -> None:
        self.is_broken = client == self.lock.holder
        self.wrong()

    def wrong(self) -> None:
        """Do nothing: the lock is not given back."""
        if not self.is_broken:
            raise Refused

    def teardown(self) -> None:
        if self.is_broken:
            raise OSError("cannot be closed")


class Raises(Leaves):
    def wrong(self) -> None:
        super().wrong()
        raise ZeroDivisionError("no release")


class Right(Leaves):
    def wrong(self) -> None:
        self.lock.release("c1")


def test_a_violation_is_shrunk_saved_and_raised(found: Path) -> None:
    with pytest.raises(SpecViolation) as caught:
        drive(Leaves, TRACE)
    assert len(caught.value.trace) == 4
    assert caught.value.__notes__ == ["krafla: teardown raised OSError: cannot be closed"]
    assert (found / "Leaves.trace.ndjson").is_file()


def test_an_error_of_the_code_is_raised() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        drive(Raises, TRACE)
    assert caught.value.__notes__[-1] == "krafla: teardown raised OSError: cannot be closed"


def test_a_teardown_alone_fails_a_run() -> None:
    with pytest.raises(OSError, match="cannot be closed"):
        drive(Right, of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ())))


TOLD = [
    (Leaves, "does what Lock does not allow; teardown raised OSError: cannot be closed"),
    (Raises, "raised ZeroDivisionError: no release; teardown raised OSError: cannot be closed"),
]


@pytest.mark.parametrize(("machine", "told"), TOLD)
def test_a_replay_on_a_machine_tells_both(machine: type[Leaves], told: str) -> None:
    found = replay_on_machine(TRACE, machine)
    assert (found.verdict, found.sentence) == (Verdict.VIOLATED, f"{machine.__name__} {told}")
    assert (found.account is None) == (machine is Raises)


@pytest.mark.parametrize("machine", [Leaves, Raises])
def test_a_search_tells_both(machine: type[Leaves]) -> None:
    report = search(machine, Search(examples=40, steps=10))
    assert report.verdict is Verdict.VIOLATED
    assert report.sentence.endswith("; teardown raised OSError: cannot be closed")
    assert (report.violation is None) == (machine is Raises)
    assert "ZeroDivisionError" in report.sentence or machine is Leaves
