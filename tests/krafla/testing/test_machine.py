"""Machines of Hypothesis whose steps a spec judges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test
from tests.krafla.testing import lock_machines
from tests.krafla.testing.lock_machines import NOBODY, Lock, LockMachine, machine_of

import krafla.testing.found
from krafla.testing import (
    Function,
    Judge,
    Record,
    Refused,
    SpecMachine,
    SpecViolation,
    Taken,
    Trace,
    action,
    member_of,
)
from krafla.traces import read_whole_trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


def run(machine: type[SpecMachine], examples: int = 30, **options: Any) -> None:
    """Run a machine as a test does, from the same beginning each time."""
    given = settings(
        machine.TestCase.settings, database=None, derandomize=True, max_examples=examples, **options
    )
    run_state_machine_as_test(machine, settings=given)


def violation_of(machine: type[SpecMachine], **options: Any) -> SpecViolation:
    with pytest.raises(SpecViolation) as caught:
        run(machine, **options)
    return caught.value


def test_a_right_lock_server_is_accepted(found: Path) -> None:
    run(LockMachine, examples=15)
    assert not list(found.iterdir())


# Each mistake, the formula that is false, and the actions of the smallest example.
MISTAKES = {
    "LastComes": ("holder' = Head(queue)", "Acquire Acquire Acquire Release"),
    "Overtakes": ("queue' = Append(queue, c)", "Acquire Acquire"),
    "Forgets": ("queue' = Append(queue, c)", "Acquire Acquire"),
    "LeavesFree": ("holder' = Head(queue)", "Acquire Acquire Release"),
    "KeepsWaiting": ("queue' = Tail(queue)", "Acquire Acquire Release"),
    "HolderWaits": ("holder # c", "Acquire Acquire"),
    "WaitsTwice": (r"c \notin Waiting", "Acquire Acquire Acquire"),
    "AnybodyReleases": ("holder = c", "Release"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_caught_by_its_formula_in_the_smallest_example(
    name: str, found: Path
) -> None:
    formula, actions = MISTAKES[name]
    violation = violation_of(machine_of(getattr(lock_machines, name)))
    assert [one.text for one in violation.reason.reasons] == [formula]
    saved = read_whole_trace(found / f"{name}Machine.trace.ndjson")
    assert " ".join(one.action for one in saved.steps[1:]) == actions
    assert saved == violation.trace


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("RefusesSecond", "after step 2 the code refuses Acquire(c3), which the spec allows"),
        ("RefusesButWaits", "after step 1 the code refused Acquire(c1), but its state is another"),
        ("BeginsHeld", "the code does not begin where the spec does"),
    ],
)
def test_what_the_code_does_not_do_is_judged_too(name: str, sentence: str) -> None:
    assert sentence in str(violation_of(machine_of(getattr(lock_machines, name))))


def test_a_folder_that_cannot_be_written_is_told_with_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path / "file"))
    (told,) = violation_of(machine_of(lock_machines.Overtakes)).commands
    assert re.fullmatch(r"export KRAFLA_FOUND=\S+/found", told.line)
    assert told.purpose.startswith("then again: the trace could not be written: ")


def test_only_the_smallest_example_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(krafla.testing.found, "write_trace", lambda trace, _: written.append(trace))
    violation = violation_of(machine_of(lock_machines.LastComes))
    assert written == [violation.trace]


PINNED = """\
the spec does not have step 3: Release leads to other values of holder, queue
  Release: The holder gives the lock back, and the first client that waits gets it.
    Lock.tla:26: IF queue = <<>> is FALSE
    Lock.tla:28
        holder' = Head(queue)
      is false
      holder' = Nobody
      Head(queue) = c2
      queue = [c2]
    part       spec expects   was done
    holder     c2             Nobody
    queue[1]   (not there)    c2

  the 3 steps that lead there (+ enters, - leaves, x: a -> b was a and is now b)
  0 Init
      holder = Nobody
      queue = []
  1 Acquire(c1)   Lock:16
      holder: Nobody -> c1
  2 Acquire(c2)   Lock:16
      queue appends c2
  3 Release(c1)   <- the spec does not have this step   Lock:24
      holder: c1 -> Nobody

  go on with
    krafla explain {file}   # every step, node by node; --html FILE: as a page
    krafla replay {file}   # the same steps, judged by the spec again"""


def test_a_failure_tells_what_explain_tells(found: Path) -> None:
    violation = violation_of(machine_of(lock_machines.LeavesFree))
    told = "\n".join(line.rstrip() for line in str(violation).splitlines())
    assert told == PINNED.format(file=found / "LeavesFreeMachine.trace.ndjson")


class TryLock(Lock):
    """A lock that can be asked for without waiting, and a queue that somebody empties."""

    def try_acquire(self, client: str) -> bool:
        if self.holder == NOBODY and client not in self.queue:
            self.holder = client
            return True
        return False


taken: set[str] = set()
"""What the methods of the next machine did."""


class TryLockMachine(LockMachine):
    """Methods that say themselves what the code did."""

    server = TryLock
    lock: TryLock

    @action("Acquire", client=member_of("Client"))
    def try_acquire(self, client: str) -> Taken | None:
        if self.lock.try_acquire(client):
            taken.add("Acquire")
            return None
        taken.add("nothing")
        return Taken.nothing

    @action("Acquire", client=member_of("Client"))
    def borrow(self, client: str) -> Any:
        if self.lock.holder != NOBODY:
            return Refused if self.lock.holder == client else Taken.nothing
        self.lock.acquire(client)
        self.lock.release(client)
        taken.add("both")
        return [Taken("Acquire", client), Taken("Release", ...)]

    @action("Acquire", client=member_of("Client"), may_refuse=True)
    def acquire_alone(self, client: str) -> type[Refused] | None:
        if self.lock.holder != NOBODY or self.lock.queue:
            taken.add("Refused")
            return Refused
        self.lock.acquire(client)
        return None

    @action("Release", only_if_enabled=True, observe=lambda self: {"holder": self.lock.holder})
    def release_enabled(self, client: str) -> None:
        assert client == self.lock.holder, "only the holder's release is enabled"
        taken.add("Release")
        self.lock.release(client)


def test_a_method_may_say_what_was_taken() -> None:
    taken.clear()
    run(TryLockMachine, examples=15)
    assert taken == {"Acquire", "nothing", "Refused", "both", "Release"}


def test_a_method_that_says_nothing_was_taken_is_held_to_it() -> None:
    class Silent(LockMachine):
        @action("Acquire", client=member_of("Client"))
        def try_acquire(self, client: str) -> Taken:
            if self.lock.holder == NOBODY:
                self.lock.holder = client
            return Taken.nothing

    assert "the code says that it took no step" in str(violation_of(Silent))


done: set[tuple[str, int]] = set()
"""The letters that were read, each with its reader."""


class Mail(SpecMachine):
    """A post that delivers letters, each method for whatever the spec allows now."""

    spec = "specs/Mail.tla"
    constants = {"Person": {"ann", "bob"}, "Letter": {1, 2}}  # noqa: RUF012 - never changed

    def __init__(self) -> None:
        super().__init__()
        self.post: set[Function] = set()
        self.inbox: dict[str, list[int]] = {"ann": [], "bob": []}

    def observe(self) -> Mapping[str, Any]:
        return {"post": self.post, "inbox": self.inbox}

    @action("Send", only_if_enabled=True)
    def send(self, person: str, letter: int) -> None:
        self.post.add(Record(to=person, letter=letter))

    @action("Deliver", only_if_enabled=True)
    def deliver(self, sent: Function) -> None:
        self.post.remove(sent)
        self.inbox[sent.to].append(sent.letter)

    @action("Read", only_if_enabled=True)
    def read(self, person: str, letter: int) -> None:
        assert self.inbox[person].pop(0) == letter
        done.add((person, letter))


def test_parameters_are_drawn_one_by_one_among_those_enabled() -> None:
    done.clear()
    run(Mail, examples=8)
    assert done == {(one, two) for one in ("ann", "bob") for two in (1, 2)}


class Started(LockMachine):
    """A machine with Hypothesis's own means beside those of the spec."""

    server = lock_machines.BeginsHeld

    @initialize()
    def begin(self) -> None:
        self.lock = Lock()

    @invariant()
    def the_queue_is_short(self) -> None:
        assert len(self.lock.queue) < 3

    @action("Acquire", client=st.sampled_from(["c1", "c2", "c3"]))
    def acquire_assumed(self, client: str) -> None:
        assume(client != self.lock.holder)
        self.lock.acquire(client)


def test_the_means_of_hypothesis_work_beside_those_of_the_spec(found: Path) -> None:
    run(Started, examples=10)
    assert not list(found.iterdir())


class Raises(Lock):
    """It fails with an error of its own."""

    def release(self, client: str) -> None:
        super().release(client)
        if self.queue:
            raise IndexError("no such client")


def test_an_error_of_the_code_stays_visible_and_says_after_which_steps(found: Path) -> None:
    with pytest.raises(IndexError, match="no such client") as caught:
        run(machine_of(Raises))
    notes = [one for one in caught.value.__notes__ if one.startswith("krafla: ")]
    # Which client it is differs with the version of Hypothesis.
    assert [re.sub(r"c[123]", "c1", one) for one in notes] == [
        "krafla: the code raised this in step 4, Release(c1), after 3 judged steps",
        f"krafla: the steps before it: krafla explain {found / 'RaisesMachine-error.trace.ndjson'}",
    ]
    saved = read_whole_trace(found / "RaisesMachine-error.trace.ndjson")
    assert isinstance(saved, Trace)
    assert [one.action for one in saved.steps[1:]] == ["Acquire"] * 3


def test_an_error_while_the_state_is_read_says_so() -> None:
    class Unreadable(LockMachine):
        def observe(self) -> Mapping[Any, Any]:
            return {"holder": {NOBODY: NOBODY}[self.lock.holder], "queue": self.lock.queue}

    with pytest.raises(KeyError) as caught:
        run(Unreadable)
    assert "step 1, observe after Acquire(c1), after 0 judged steps" in caught.value.__notes__[0]


def one_parameter(_machine: Any, client: str) -> None:
    """Take one client."""


def two_parameters(_machine: Any, client: str, more: int) -> None:
    """Take a client and something that the action does not have."""


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"spec": "specs/Absent.tla"}, "there is no module Absent here"),
        ({"spec": "specs/Lok.tla"}, "there is no module Lok here; did you mean Lock"),
        ({"constants": {"Nobody": None}}, "the constant Nobody: NoneType None has no counterpart"),
        ({"spec": None}, 'Faulty names no spec: give it spec = "specs/Lock.tla"'),
        ({"hidden": ["Aquire"]}, "hidden: Aquire: no action of Lock; did you mean Acquire"),
        ({"spec_invariants": ["HolderInvv"]},
         "Lock has no operator HolderInvv; did you mean HolderInv"),
        ({"observe": lambda _: None}, "observe of Faulty returned None, not a mapping"),
        ({"act": action("Aquire")(lambda _: None)}, "no action of Lock; did you mean Acquire"),
        ({"act": action("Release")(lambda _: None)}, r"Release\(c\) takes 1 parameter, not 0"),
        ({"act": action("Release")(lambda _: 7)}, "<lambda> of Faulty returned 7: it returns"),
        ({"act": action("Release", client=member_of("Clients"))(one_parameter)},
         "Lock has no operator Clients; did you mean Client"),
        ({"act": action("Release", client=member_of("Nobody"))(one_parameter)},
         "Nobody of Lock is no set"),
        ({"act": action("Acquire", only_if_enabled=True)(two_parameters)},
         "the method of Acquire has more parameters than the action, which has 1"),
        ({"act": action("Aquire", client=member_of("Client"))(one_parameter)},
         "one_parameter: Aquire: no action of Lock; did you mean Acquire"),
    ],
)  # fmt: skip
def test_a_machine_that_does_not_fit_its_spec_is_told_where(
    attributes: dict[str, Any], message: str
) -> None:
    base = {"spec": "specs/Lock.tla", "__module__": lock_machines.__name__}
    machine = type("Faulty", (LockMachine,), base | attributes)
    with pytest.raises(KraflaError, match=message):
        run(machine, examples=5)


def test_a_judge_of_its_own_is_loaded_once(lock_spec: Any) -> None:
    class Own(LockMachine):
        spec = lock_spec

    one, other = Own(), Own()
    assert one.judge.spec is other.judge.spec is lock_spec
    assert isinstance(one.judge, Judge)
    assert one.judge is not other.judge
