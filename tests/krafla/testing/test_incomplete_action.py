"""A spec whose action leaves a variable open is at fault itself, and not the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krafla.testing import Judge, Spec
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

OPEN = """\
---- MODULE Open ----
EXTENDS Naturals
VARIABLES lit, count
Init == lit = FALSE /\\ count = 0
Light == ~lit /\\ lit' = TRUE /\\ count' = count + 1
Dim == lit /\\ lit' = FALSE
Next == Light \\/ Dim
====
"""
SAID = "Open: Dim does not say what becomes of count; UNCHANGED <<count>> would let"


@pytest.fixture
def open_spec(tmp_path: Path) -> Spec:
    module = tmp_path / "Open.tla"
    module.write_text(OPEN)
    return Spec.load(module, {})


@pytest.mark.parametrize(
    ("hidden", "seen"),
    [((), {"lit": False, "count": 1}), ((), {"lit": False}), (("Light",), {"lit": False})],
)
def test_a_forgotten_variable_is_an_error_of_the_spec_however_much_is_seen(
    open_spec: Spec, hidden: tuple[str, ...], seen: dict[str, object]
) -> None:
    judge = Judge(open_spec, hidden=hidden)
    judge.step("Light", seen={"lit": True, "count": 1})
    with pytest.raises(KraflaError, match=f"step 2: {SAID}"):
        judge.step("Dim", seen=seen)


def test_a_refusal_of_such_an_action_is_no_better(open_spec: Spec) -> None:
    judge = Judge(open_spec)
    judge.step("Light", seen={"lit": True, "count": 1})
    with pytest.raises(KraflaError, match=f"after step 1: {SAID}"):
        judge.refuse("Dim")


def test_an_action_that_says_all_is_judged_as_ever(open_spec: Spec) -> None:
    judge = Judge(open_spec)
    judge.step("Light", seen={"lit": True, "count": 1})
    assert judge.steps == 1
