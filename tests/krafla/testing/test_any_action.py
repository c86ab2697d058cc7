"""A method that takes no particular action says what it took."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.match import match
from krafla.testing import (
    Driven,
    PartialTrace,
    Refused,
    SpecMachine,
    SpecViolation,
    Taken,
    action,
    drive,
    member_of,
)
from krafla.testing.machine_judge import judge_of
from krafla.verdict import KraflaError

LOCK = Path(__file__).parent / "specs" / "Lock.tla"


class Post(SpecMachine):
    """A lock whose clients are served when their letters arrive."""

    spec = LOCK

    def __init__(self) -> None:
        super().__init__()
        self.holder = "Nobody"

    def observe(self) -> dict[str, object]:
        return {"holder": self.holder, "queue": ()}

    @action(None, name=member_of("Client"), is_lost=member_of("BOOLEAN"))
    def acquire(self, name: str, *, is_lost: bool) -> list[Taken]:
        if is_lost or self.holder != "Nobody":
            return []
        self.holder = name
        return [Taken("Acquire", name)]

    @action(None)
    def lose(self) -> None:
        self.holder = "Nobody"

    @action(None)
    def refuse(self) -> type[Refused]:
        return Refused


def test_an_empty_list_says_that_no_step_was_taken() -> None:
    post = Post()
    post.acquire(name="c1", is_lost=True)
    assert post.judge.states[0]["queue"] == ()
    post.acquire(name="c1", is_lost=False)
    post.acquire(name="c2", is_lost=False)
    assert str(post.judge.states[0]["holder"]) == "c1"


def test_no_result_is_any_action() -> None:
    post = Post()
    post.acquire(name="c1", is_lost=False)
    post.lose()
    trace = post.judge.trace
    assert isinstance(trace, PartialTrace)
    behaviour = match(post.judge.spec, trace).behaviour
    assert [one.action for one in behaviour] == ["Init", "Acquire", "Release"]
    with pytest.raises(SpecViolation):
        post.lose()


def test_it_cannot_refuse_and_nothing_enables_it() -> None:
    with pytest.raises(KraflaError, match="names no action to refuse"):
        Post().refuse()
    with pytest.raises(KraflaError, match="name the action to be enabled"):
        action(None, only_if_enabled=True)


def test_a_trace_is_driven_on_it_by_its_calls() -> None:
    post = Post()
    post.acquire(name="c1", is_lost=False)
    post.acquire(name="c2", is_lost=True)
    post.lose()
    assert drive(Post, post.judge.trace) == Driven(2)


def test_steps_alone_are_not_driven_on_it() -> None:
    judge = judge_of(Post).fresh()
    judge.start()
    judge.step("Acquire", "c1")
    with pytest.raises(KraflaError, match=r"Post has no method for Acquire\(c1\)"):
        drive(Post, judge.trace)


@pytest.mark.parametrize("first", [Taken("Release", "c2"), Taken("Acquire", "c2")])
def test_each_of_several_steps_is_judged_by_its_action_and_parameters(first: Taken) -> None:
    class Blind(SpecMachine):
        spec = LOCK
        observes = False

        @action("Release", client=member_of("Client"))
        def release(self, client: str) -> list[Taken]:
            return [first, Taken("Release", client)]

    machine = Blind()
    # After some first step the lock can be released by this client.
    with pytest.raises(SpecViolation) as violation:
        machine.release(client="c1")
    denied = first if first.action == "Release" else Taken("Release", "c1")
    assert (violation.value.action, machine.judge.steps) == ("Release", int(denied != first))
