"""The options of a judge are the same wherever they are said, and a misspelt one is refused."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_server import LockDriver
from tests.krafla.testing.lock_traces import C1, of_lock

from krafla.match import FRONTIER_DEFAULT
from krafla.testing import Inconclusive, Judge, SpecMachine, drive
from krafla.testing.judge_options import JudgeOptions
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.oracle import Spec

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"
DEFAULTS = {one.name: one.default for one in fields(JudgeOptions)}


def test_judge_machine_and_page_have_the_same_options() -> None:
    parameters = inspect.signature(Judge).parameters.values()
    assert {one.name: one.default for one in parameters if one.name != "spec"} == DEFAULTS
    attributes = {name.replace("inv", "spec_inv"): value for name, value in DEFAULTS.items()}
    assert {name: getattr(SpecMachine, name) for name in attributes} == attributes
    _, judge, machine = re.split(r"\n## The (?:judge|machine)\n", PAGE.read_text())
    assert [name for name in DEFAULTS if f"`{name}=" not in judge] == []
    assert [name for name in attributes if f"`{name}`" not in machine] == []
    assert JudgeOptions.frontier == FRONTIER_DEFAULT


def test_a_machine_may_give_its_judge_another_frontier() -> None:
    class Wide(LockMachine):
        hidden = ("Acquire",)
        observes = False

    class Narrow(Wide):
        frontier = 1

    wide, narrow = Wide(), Narrow()
    wide.judge.step("Acquire", "c1")
    wide.judge.step("Release", "c3")
    narrow.judge.step("Acquire", "c1")
    with pytest.raises(Inconclusive, match="none of the first 1 states"):
        narrow.judge.step("Release", "c3")


WRONG = [
    (
        {"hiden": ["Acquire"]},
        "Faulty: hiden: no option of a machine; did you mean hidden. If hiden is an attribute",
    ),
    ({"max_hidden": 2}, "Faulty: max_hidden: no option of a machine; did you mean hidden_max"),
    ({"limt_s": 2}, "Faulty: limt_s: no option of a machine; did you mean limit_s"),
    ({"hiddenMax": 2}, "Faulty: hiddenMax: no option of a machine; did you mean hidden_max"),
    ({"frontire": 2}, "Faulty: frontire: no option of a machine; did you mean frontier"),
    ({"invariant": ["HolderInv"]}, "no option of a machine; did you mean spec_invariants"),
    ({"invariants": ["HolderInv"]}, "Faulty: invariants: Hypothesis has a list of this name"),
    ({"observe": None}, "Faulty: observe = None: it is a method: observes = False says"),
    ({"hidden": "Acquire"}, r"hidden lists names: \['Acquire'\], not 'Acquire'"),
    ({"hidden_max": -1}, "hidden_max is a whole number from 0 on, not -1"),
    ({"frontier": 0}, "frontier is a whole number from 1 on, not 0"),
    ({"frontier": "9"}, "frontier is a whole number from 1 on, not '9'"),
    ({"limit_s": 0}, "limit_s is a number of seconds, not 0"),
]


@pytest.mark.parametrize(("attributes", "said"), WRONG, ids=[next(iter(one)) for one, _ in WRONG])
@pytest.mark.parametrize("base", [LockMachine, LockDriver])
def test_an_option_that_nothing_would_read_is_refused(
    base: type, attributes: dict[str, Any], said: str
) -> None:
    spec = getattr(base, "spec", None)
    machine = type("Faulty", (base,), {"__module__": base.__module__, "spec": spec} | attributes)
    with pytest.raises(KraflaError, match=said):
        drive(machine, of_lock(("Acquire", C1, C1, ())))


def test_other_names_of_a_class_are_its_own() -> None:
    class Own(LockMachine):
        limit = 3
        limits = (1, 2)
        limit_ms = 50
        variants = frontier_map = ()
        max_steps = 5
        is_hidden = True
        proper = ()

        def constant(self) -> int:
            return self.limit

    assert Own().judge.hidden == ()


@pytest.mark.parametrize("options", [{"hidden": "Acquire"}, {"frontier": 0}, {"limit_s": -1}])
def test_a_judge_refuses_what_makes_no_sense(lock_spec: Spec, options: dict[str, Any]) -> None:
    with pytest.raises(KraflaError, match=next(iter(options))):
        Judge(lock_spec, **options)
