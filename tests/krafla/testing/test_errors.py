"""Questions that cannot be asked: one sentence each, with its place and a remedy."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.conftest import SPECS

from krafla.testing import Inconclusive, Judge, ModelValue, Spec, SpecViolation
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda j: j.step("Aquire", "c1"), "1: Aquire: no action of Lock; did you mean Acquire"),
        (lambda j: j.enabled("Free"), "step 1: Free: no action of Lock; there are: Acquire, Rel"),
        (lambda j: j.step("Acquire"), r"step 1: Acquire\(c\) takes 1 parameter, not 0"),
        (lambda j: j.step("Acquire", "c1", seen={"hodler": 1}),
         "step 1: hodler: no variable of Lock; did you mean holder"),
        (lambda j: j.step("Acquire", None),
         "step 1, parameter 1: NoneType None has no counterpart in TLA.; give the value of the "
         "spec that stands for it, such as Nobody"),
        (lambda j: j.start({"queue": [{"a": (1, 0.5)}]}),
         r"the beginning, queue\[1\]\['a'\]\[2\]: float 0.5 has no counterpart in TLA.; "
         "TLA. has whole numbers: give an int"),
        (lambda j: j.start({"queue": {b"c1"}}),
         r"queue\[1\]: bytes b'c1' has no counterpart in TLA.; give numbers, strings"),
        (lambda j: j.step("Acquire", "c1", seen={"holder": 2**31}),
         "step 1: 2147483648 does not fit in TLC's 32-bit numbers"),
        (lambda j: j.step("Acquire", ModelValue("c9")),
         r"step 1: c9 is no model value of this spec \(declared: Nobody, c1, c2, c3\)"),
        (lambda j: j.start(["holder"]),
         "the beginning: what was seen is a list, not a mapping from variables to values"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_one_sentence_with_its_place(
    lock_spec: Spec, ask: Callable[[Judge], object], message: str
) -> None:
    judge = Judge(lock_spec)
    with pytest.raises(KraflaError, match=message):
        ask(judge)
    # A question that was refused is no step.
    judge.step("Acquire", "c1", seen={"holder": "c1", "queue": []})
    assert judge.steps == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": ["Grant"]}, "hidden: Grant: no action of Lock; there are: Acquire, Release"),
        ({"invariants": ["HeldInv"]}, "Lock has no operator HeldInv; did you mean HolderInv"),
        ({"properties": ["HolderProp"]}, "Lock has no operator HolderProp; did you mean HeldProp"),
        ({"properties": ["Spec"], "invariants": ["Acquire"]}, "Acquire of Lock has parameters"),
    ],
)
def test_a_judge_of_what_the_spec_lacks_is_refused(lock_spec: Spec, options, message) -> None:
    with pytest.raises(KraflaError, match=message):
        Judge(lock_spec, **options)


PLUSCAL = """\
---- MODULE Counter ----
EXTENDS Naturals
(* --algorithm counter {
  variable x = 0;
  { a: x := x + 1; }
} *)
====
"""


@pytest.mark.parametrize(
    ("text", "constants", "message"),
    [
        (PLUSCAL, {}, r"Counter.tla:3: the PlusCal algorithm is not translated: .* pcal.trans "),
        ("---- MODULE Counter ----\nVARIABLE x\nStart == x = 0\n====\n", {},
         "Counter.tla: Counter defines no Init: write SPECIFICATION, or INIT and NEXT, in"),
        ("---- MODULE Counter ----\nVARIABLE x\nInit == x =\n====\n", {}, r"Counter.tla:4: "),
        ("---- MODULE Counter ----\nCONSTANT C\nVARIABLE x\nInit == x = C\nNext == x' = C\n====\n",
         {}, "Counter.tla: the constant parameter C is not assigned a value: give it in constants"),
        ("---- MODULE Counter ----\nVARIABLE x\nInit == x = 1\nNext == x' = x\n====\n", {"D": 1},
         "Counter.tla: the identifier D does not appear in Counter"),
        ("---- MODULE Counter ----\nCONSTANT C\nVARIABLE x\nInit == x = C\nNext == x' = C\n====\n",
         {"C": None}, "the constant C: NoneType None has no counterpart"),
    ],
)  # fmt: skip
def test_a_spec_that_does_not_load_says_what_to_write(
    tmp_path: Path, text: str, constants: dict[str, object], message: str
) -> None:
    file = tmp_path / "Counter.tla"
    file.write_text(text)
    with pytest.raises(KraflaError, match=message):
        Spec.load(file, constants)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("specs/Absent.tla", "Absent.tla: there is no module Absent here"),
        ("specs/Lock", "specs/Lock: no file of a module: its name ends in .tla"),
    ],
)
def test_a_module_that_is_not_there_is_named(name: str, message: str) -> None:
    with pytest.raises(KraflaError, match=message):
        Spec.load(name)


def test_sets_without_end_can_be_judged_but_not_listed() -> None:
    judge = Judge(Spec.load(SPECS / "Add.tla"))
    judge.start({"number": 3})
    judge.step("Add", 4, seen={"number": 7})
    with pytest.raises(SpecViolation, match=r"number' = number \+ n"):
        judge.step("Add", 4, seen={"number": 10})
    for ask in (
        lambda: judge.step("Add", ..., seen={"number": 8}),
        lambda: judge.step(None),
        lambda: judge.enabled("Add"),
    ):
        with pytest.raises(KraflaError, match=r"step 2: .* Nat\..*; give every parameter of the"):
            ask()
    with pytest.raises(KraflaError, match=r"the beginning: .* not enumerable"):
        judge.start()
    with pytest.raises(SpecViolation, match="does not begin where the spec does") as caught:
        judge.start({"number": -1})
    assert caught.value.reason.reasons[0].text == r"number \in Nat"


ENDLESS = """\
import sys
from krafla.testing import Inconclusive, Judge, Spec, SpecViolation
judge = Judge(Spec.load(sys.argv[1]), limit_s=0.5)
try:
    judge.step("Step", seen={"number": 5})
except SpecViolation as violation:
    print(violation)
judge = Judge(Spec.load(sys.argv[1]), limit_s=0.5)
judge.start()
for action in ("Search", "Step"):
    try:
        judge.step(action, seen={"number": 1})
    except Inconclusive as doubt:
        print(doubt)
"""


def test_a_spec_that_runs_for_ever_is_a_doubt_and_the_process_ends() -> None:
    """Nothing can stop the evaluation, so it has a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(SPECS / "Search.tla")],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    line = "step 1, Search: Search was still being evaluated after 0.5 s; bound what the spec "
    assert finished.stdout.count(line) == 2
    # The machine decides whether the reason is told within the limit, or that it took too long.
    told, late = (
        "Step leads to another value of number",
        "step 1, why the spec denies it: Search was still",
    )
    head = "the spec does not have step 1: "
    assert finished.stdout.startswith((head + told, head + late))
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_doubt_is_no_violation() -> None:
    assert not issubclass(Inconclusive, AssertionError)
