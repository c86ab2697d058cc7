"""A call of the code is judged alike under Hypothesis and in a trace: its errors are told alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_server import LockDriver
from tests.krafla.testing.lock_traces import C1, NOBODY, of_lock

from krafla.testing import Inconclusive, action, drive, member_of
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TRACE = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))


def called(machine: type[LockMachine]) -> None:
    """Call the methods as Hypothesis does."""
    run = machine()
    run.acquire(client="c1")
    run.release(client="c1")


def driven(machine: type[LockMachine]) -> None:
    drive(machine, TRACE)


both_ways = pytest.mark.parametrize("run", [called, driven])


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


@both_ways
def test_an_error_in_observe_says_after_which_call_it_came(run: Callable[[Any], None]) -> None:
    class Unreadable(LockMachine):
        def observe(self) -> Mapping[Any, Any]:
            return {"holder": {"Nobody": "Nobody"}[self.lock.holder], "queue": self.lock.queue}

    with pytest.raises(KeyError) as error:
        run(Unreadable)
    told = error.value.__notes__[0]
    assert told.endswith("in step 1, observe after Acquire(c1), after 0 judged steps")


@both_ways
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (3, "release of Faulty returned 3: it returns None, Taken.nothing, a Taken"),
        (KraflaError("a mistake of the machine"), "a mistake of the machine"),
        (Inconclusive("a judge in the method cannot tell"), "a judge in the method cannot tell"),
    ],
    ids=["result", "fault", "doubt"],
)
def test_what_is_no_error_of_the_code_is_not_told_as_one(
    run: Callable[[Any], None], answer: Any, said: str, found: Path
) -> None:
    class Faulty(LockMachine):
        @action("Release", client=member_of("Client"))
        def release(self, client: str) -> Any:
            del client
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises((KraflaError, Inconclusive), match=said) as error:
        run(Faulty)
    assert not getattr(error.value, "__notes__", ())
    assert not list(found.iterdir())


@both_ways
def test_what_is_seen_is_a_mapping(run: Callable[[Any], None]) -> None:
    class Bare(LockMachine):
        def observe(self) -> Any:
            return None if self.lock.holder == "c1" else super().observe()

    with pytest.raises(KraflaError) as error:
        run(Bare)
    said = "observe after Acquire(c1) of Bare returned None, not a mapping from variables to values"
    assert str(error.value) == said


def test_methods_with_an_action_of_driven_code_may_call_each_other() -> None:
    class Calling(LockDriver):
        @action("Acquire", client=member_of("Client"))
        def take(self, client: str) -> None:
            super().acquire(client)

        @action("Release", client=member_of("Client"))
        def give(self, client: str) -> None:
            super().release(client)
            self.take(client)
            super().release(client)

    assert drive(Calling, TRACE).steps == 2
