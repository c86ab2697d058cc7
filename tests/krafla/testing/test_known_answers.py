"""What the spec has answered once is not asked again, and is not mixed up with anything else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from krafla.testing import Judge, Spec, SpecViolation
from krafla.testing.grounds import Grounds
from krafla.values import ModelValue
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

SPECS = Path(__file__).parent / "specs"
EMPTY = {"holder": "Nobody", "queue": ()}
HELD = {"holder": "c1", "queue": ()}
WAITED = {"holder": "c1", "queue": ("c2",)}
LONG = ("Acquire", "c3", {"holder": "c1", "queue": ("c2", "c3")})

EITHER = """
---- MODULE Either ----
VARIABLE x
Init == x = 0
Put(v) == /\\ x = 0
          /\\ v = 1
          /\\ x' = v
Next == \\E v \\in {1, TRUE} : Put(v)
====
"""
CHOICE = """
---- MODULE Choice ----
VARIABLES x, y
Init == x = 0 /\\ y = 0
A == x' = 1 /\\ y' \\in {1, 2}
B == y = 2 /\\ x' = 2 /\\ y' = y
Next == A \\/ B
====
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the spec is asked from here on."""
    found: list[str] = []
    ask = Grounds.ask

    def counted(self: Grounds, question: Callable[[], Any], what: Callable[[], str]) -> Any:
        found.append(what())
        return ask(self, question, what)

    monkeypatch.setattr(Grounds, "ask", counted)
    return found


def a_run(judge: Judge) -> None:
    judge.start(EMPTY)
    judge.step("Acquire", "c1", seen=HELD)
    judge.refuse("Acquire", "c1")
    judge.stay(HELD)
    assert judge.enabled("Release") == ((ModelValue("c1"),),)
    judge.step("Acquire", "c2", seen=WAITED)


def test_a_run_that_comes_again_asks_for_its_beginning_only(
    lock_spec: Spec, asked: list[str]
) -> None:
    judge = Judge(lock_spec)
    a_run(judge)
    assert len(asked) == 5
    again = judge.fresh()
    a_run(again)
    assert asked[5:] == ["the beginning, Init"]
    assert again.trace == judge.trace
    assert (again.steps, again.refusals) == (2, 1)


def test_what_is_known_of_one_step_says_nothing_of_another(lock_spec: Spec) -> None:
    judge = Judge(lock_spec)
    a_run(judge)
    for action, client, seen in (
        ("Acquire", "c1", WAITED),
        ("Acquire", "c2", HELD),
        ("Release", "c1", HELD),
    ):
        other = judge.fresh()
        other.start(EMPTY)
        with pytest.raises(SpecViolation):
            other.step(action, client, seen=seen)
    other = judge.fresh()
    other.start(EMPTY)
    with pytest.raises(SpecViolation, match="which the spec allows"):
        other.refuse("Acquire", "c1")


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"invariants": ["ShortInv"]}, [("Acquire", "c1", HELD), ("Acquire", "c2", WAITED), LONG]),
        ({"properties": ["HeldProp"]}, [("Acquire", "c1", HELD), ("Release", "c1", EMPTY)]),
    ],
)
def test_a_step_that_breaks_a_property_is_never_known(
    lock_spec: Spec, options: dict[str, Any], steps: list[Any]
) -> None:
    judge = Judge(lock_spec, **options)
    *before, (action, client, seen) = steps
    for _ in range(3):
        run = judge.fresh()
        run.start(EMPTY)
        for one, other, shown in before:
            run.step(one, other, seen=shown)
        with pytest.raises(SpecViolation, match=f"{next(iter(options.values()))[0]} is false"):
            run.step(action, client, seen=seen)


def test_where_hidden_steps_may_come_each_question_is_asked(mail_spec: Spec) -> None:
    judge = Judge(mail_spec, hidden=("Deliver",))
    for is_read in (False, True, False):
        run = judge.fresh()
        run.start()
        run.step("Send", "ann", 1)
        # Before it is delivered: it may be refused, and it may not.
        if is_read:
            assert run.enabled("Read") == (("ann", 1),)
            run.step("Read", "ann", 1)
        else:
            run.refuse("Read", "ann", 1)
            run.refuse("Read", "ann", 1)
            assert run.enabled("Read") == (("ann", 1),)


def test_a_number_is_not_a_truth_value(tmp_path: Path) -> None:
    (tmp_path / "Either.tla").write_text(EITHER)
    judge = Judge(Spec.load(tmp_path / "Either.tla"))
    judge.start({"x": 0})
    judge.step("Put", 1, seen={"x": 1})
    for value, shown in ((True, 1), (1, True), (True, True)):
        other = judge.fresh()
        other.start({"x": 0})
        with pytest.raises((SpecViolation, KraflaError)):
            other.step("Put", value, seen={"x": shown})


def test_a_step_that_is_seen_in_part_is_not_one_of_which_all_was_seen(tmp_path: Path) -> None:
    (tmp_path / "Choice.tla").write_text(CHOICE)
    judge = Judge(Spec.load(tmp_path / "Choice.tla"))
    judge.start({"x": 0, "y": 0})
    judge.step("A", seen={"x": 1, "y": 1})
    other = judge.fresh()
    other.start({"x": 0, "y": 0})
    other.step("A", seen={"x": 1})
    assert sorted(one["y"] for one in other.states) == [1, 2]
    other.step("B", seen={"x": 2})


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        ({**HELD, ("queue", 1): "c2"}, "queue was seen whole and in part"),
        ({("queue", 1): "c2", **HELD}, "queue was seen whole and in part"),
    ],
)
def test_a_part_beside_the_whole_is_refused(
    lock_spec: Spec, seen: dict[Any, Any], what: str
) -> None:
    judge = Judge(lock_spec)
    for _ in range(2):
        judge.start(EMPTY)
        with pytest.raises(KraflaError, match=what):
            judge.step("Acquire", "c1", seen=seen)
        judge.step("Acquire", "c1", seen=HELD)
        with pytest.raises(KraflaError, match=what):
            judge.stay(seen)
