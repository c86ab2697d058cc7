r"""An action that is given an operator, as ``Step(Double, k)``: it has the values as parameters."""

from __future__ import annotations

import pytest

from krafla.match.moves import Moves
from krafla.oracle import NotEnabled, Spec, explore
from krafla.oracle.guards import Guards
from krafla.testing import Judge, SpecViolation

SPEC = r"""---- MODULE Given ----
EXTENDS Naturals
VARIABLES x, steps
Inc(v) == v + 1
Step(Op(_), k) == Op(x[k]) <= 4 /\ x' = [x EXCEPT ![k] = Op(@)] /\ steps' = steps + 1
Both(Do(_), Op(_)) == steps > 1 /\ Op(steps) > 2 /\ Do("b")
Reset(k) == x' = [x EXCEPT ![k] = 1] /\ steps' = 0
Init == x = [k \in {"a", "b"} |-> 1] /\ steps = 0
Next ==
    NEXT
====
"""
FIXED = r'(\E k \in {"a", "b"} : Step(Inc, k) \/ Step(LAMBDA v : v * 2, k)) \/ Both(Reset, Inc)'
NEXTS = {
    "fixed": FIXED,
    "of the state": FIXED.replace('k \\in {"a", "b"}', "k \\in DOMAIN x"),
    "joined": rf"({FIXED}) /\ steps < 3",
}


@pytest.fixture(params=NEXTS)
def spec(request, tmp_path):
    (tmp_path / "Given.tla").write_text(SPEC.replace("NEXT", NEXTS[request.param]))
    (tmp_path / "Given.cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    return Spec.load(tmp_path / "Given.tla")


def test_an_operator_is_none_of_the_parameters(spec):
    found = explore(spec)
    calls = {one[:2] for state in found.states for one in spec.successors(state)}

    assert [str(one) for one in spec.actions] == ["Step(k)", "Both"]
    assert calls == {("Step", ("a",)), ("Step", ("b",)), ("Both", ())}


def test_each_operator_that_next_gives_is_tried(spec):
    judge = Judge(spec)
    judge.step("Step", "a", seen={"x": {"a": 2, "b": 1}})
    judge.step("Step", "a", seen={"x": {"a": 4, "b": 1}})
    with pytest.raises(SpecViolation, match="is not enabled"):
        judge.step("Step", "a")
    judge = Judge(spec)
    judge.step("Step", "a")
    judge.step("Step", "b")
    judge.step("Both", seen={"steps": 0})


def test_a_step_is_applied_and_refused_with_the_values_alone(spec):
    (start,) = spec.initial_states()

    assert spec.apply(start, "Step", "b")["x"]["b"] == 2
    with pytest.raises(NotEnabled, match=r"Op\(x\[k\]\) <= 4"):
        spec.apply(spec.rebind(start, {"x": {"a": 1, "b": 4}}), "Step", "b")
    with pytest.raises(NotEnabled, match=r'Next has no Step\("c"\)'):
        spec.apply(start, "Step", "c")


def test_the_parameters_that_next_gives_are_known(spec):
    (start,) = spec.initial_states()
    moves = Moves(spec)

    assert set(moves.offered("Step", start)) == {("a",), ("b",)}
    assert moves.gives(start, "Step", ("a",))
    assert not moves.gives(start, "Step", ("c",))
    assert not moves.outcomes(start, "Step", ("c",))


def test_a_guard_refuses_parameters_though_an_operator_is_none_of_them(spec):
    (start,) = spec.initial_states()
    full = spec.rebind(start, {"x": {"a": 4, "b": 3}})
    guards = Guards(spec)
    (guard,) = (one for one in guards.all() if one.action == "Step" and "Op" in one.text)

    # b may go on by Inc, though not by the other operator.
    assert guards.refused(guard, full) == ("a",)
    assert guards.refused(guard, start) is None
