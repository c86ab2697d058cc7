"""Machines of Hypothesis whose steps a spec judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from krafla.testing import Refused, SpecMachine, SpecViolation, action, member_of
from krafla.traces import read

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Lock:
    """A right lock server."""

    def __init__(self) -> None:
        self.holder = "Nobody"
        self.queue: list[str] = []

    def acquire(self, client: str) -> None:
        if client == self.holder or client in self.queue:
            raise Refused
        if self.holder == "Nobody":
            self.holder = client
        else:
            self.queue.append(client)

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop(0) if self.queue else "Nobody"


class LastComes(Lock):
    """The last client of the queue gets the lock."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop() if self.queue else "Nobody"


class LockMachine(SpecMachine):
    spec = "specs/Lock.tla"
    server: type[Lock] = Lock

    def __init__(self) -> None:
        super().__init__()
        self.lock = self.server()

    def observe(self) -> Mapping[Any, Any]:
        return {"holder": self.lock.holder, "queue": self.lock.queue}

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> None:
        self.lock.acquire(client)

    @action("Release", only_if_enabled=True)
    def release(self, client: str) -> None:
        self.lock.release(client)


class LastComesMachine(LockMachine):
    server = LastComes


def test_a_right_lock_server_is_accepted() -> None:
    run_state_machine_as_test(LockMachine, settings=settings(max_examples=20, deadline=None))


def test_a_wrong_lock_server_is_caught_by_its_smallest_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    with pytest.raises(SpecViolation) as caught:
        run_state_machine_as_test(
            LastComesMachine, settings=settings(LockMachine.TestCase.settings, database=None)
        )
    assert caught.value.reason.reasons[0].text == "holder' = Head(queue)"
    saved = read(tmp_path / "LastComesMachine.trace.ndjson")
    assert [one.action for one in saved.steps[1:]] == ["Acquire", "Acquire", "Acquire", "Release"]
