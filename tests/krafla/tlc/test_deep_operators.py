"""Operators that call themselves deeply: what a check evaluates, the oracle evaluates, too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from krafla.oracle import EvaluationError, Spec, explore
from krafla.testing import Judge
from krafla.tlc.outcome import Finished, describe
from krafla.tlc.run import run

DEEP = """---- MODULE Deep ----
EXTENDS Naturals
CONSTANT Depth
VARIABLE x
RECURSIVE Count(_)
Count(n) == IF n = 0 THEN 0 ELSE 1 + Count(n - 1)
Init == x = 0
Next == x' = Count(Depth)
====
"""
ENDLESS = "an operator calls itself too deeply, perhaps without end"


def deep(make_model, depth, text=DEEP):
    return make_model(f"CONSTANT Depth = {depth}\nINIT Init\nNEXT Next\n", "Deep", text=text)


def test_an_operator_that_calls_itself_2500_times_is_evaluated_everywhere(make_model):
    model = deep(make_model, 2500)

    assert isinstance(run(model, coverage=False).outcome, Finished)
    found = explore(Spec.load("Deep", path=model.module, cfg=model.config))
    assert [state["x"] for state in found.states] == [0, 2500]
    judge = Judge(Spec.load("Deep", path=model.module, cfg=model.config))
    judge.start({"x": 0})
    judge.step("Next", seen={"x": 2500})


@pytest.mark.parametrize("limit", ["-Ss 1024", "-s 8192"])
def test_the_judge_does_not_depend_on_the_stack_of_the_shell(make_model, limit):
    model = deep(make_model, 2500)
    lines = '{"start": {"seen": {"x": 0}}}\n{"step": "Next", "seen": {"x": 2500}}\n'
    command = [sys.executable, "-m", "krafla", "judge", "--spec", str(model.module)]
    found = subprocess.run(
        ["bash", "-c", f'ulimit {limit} && exec "$@"', "bash", *command],
        input=lines, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert found.returncode == 0, found.stdout + found.stderr
    assert '"steps":1,' in found.stdout


def test_an_operator_that_calls_itself_without_end_is_told_by_both(make_model):
    model = deep(make_model, 1, DEEP.replace("n - 1", "n + 1"))

    told = describe(run(model, coverage=False).outcome)
    assert told.startswith("cannot evaluate the spec")
    assert told.endswith(f": java.lang.StackOverflowError; {ENDLESS}")
    with pytest.raises(EvaluationError, match=f"^Deep: java.lang.StackOverflowError; {ENDLESS}"):
        explore(Spec.load("Deep", path=model.module, cfg=model.config))


@pytest.mark.parametrize("limit", ["-Ss 1024", "-s 8192"])
def test_a_small_stack_of_the_shell_is_no_hindrance(make_model, limit):
    model = deep(make_model, 50)
    program = (
        "from pathlib import Path; from krafla.oracle import Spec, explore;"
        f"spec = Spec.load('Deep', path=Path({str(model.module)!r}),"
        f" cfg=Path({str(model.config)!r})); print(len(explore(spec).states))"
    )
    found = subprocess.run(
        ["bash", "-c", f'ulimit {limit} && exec "$0" -c "$1"', sys.executable, program],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert (found.stdout, found.stderr, found.returncode) == ("2\n", "", 0)
