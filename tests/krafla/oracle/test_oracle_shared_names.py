"""Specs that share TLC's classes: each keeps its own constants, and gives the answers it gave."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec, jvm
from krafla.refinement.common import loading
from krafla.values import Function, ModelValue

RING = """---- MODULE Ring ----
EXTENDS Integers
CONSTANTS Node, Limit, Nil
VARIABLES holder, count
Init == /\\ holder = Nil
        /\\ count = [n \\in Node |-> 0]
Least == CHOOSE n \\in Node : Limit[n] <= 9
Take(n) == /\\ holder # n
           /\\ count[n] < Limit[n]
           /\\ holder' = n
           /\\ count' = [count EXCEPT ![n] = @ + 1]
Next == \\E n \\in Node : Take(n)
FewInv == \\A n \\in Node : count[n] < 2
HeldInv == holder \\in Node \\cup {Nil}
====
"""
LIMITS = ({"c": 2, "b": 1}, {"a": 3, "b": 2, "c": 2}, {"b": 3, "d": 1, "a": 2})
NIL = ModelValue("Nil")


def load(folder, limits, classes=None, text=RING):
    (folder / "Ring.tla").write_text(text, encoding="utf-8")
    constants = {"Node": frozenset(limits), "Limit": Function(limits), "Nil": NIL}
    return Spec.load("Ring", constants, path=folder, classes=classes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("specs")


@pytest.fixture(scope="module")
def shared(folder):
    first = load(folder, LIMITS[0])
    return [first, *(load(folder, limits, first.classes) for limits in LIMITS[1:])]


def walk(spec):
    """Yield what a spec says in each step of a walk, until nothing is left to do."""
    state = spec.initial_states()[0]
    while steps := sorted(spec.steps_by("Take", state), key=lambda step: step[0]):
        broken = [name for name in ("FewInv", "HeldInv") if not spec.check_invariant(name, state)]
        why = [str(spec.explain_invariant(name, state)) for name in broken]
        refused = str(spec.explain(state, "Take", (state["holder"],)))
        yield state.as_function(), [step[0] for step in steps], why, refused
        state = steps[-1][1]


def test_specs_asked_in_turn_say_what_each_says_alone(folder, shared):
    alone = [list(walk(load(folder, limits))) for limits in LIMITS]
    said = [[] for _ in LIMITS]
    walks = [walk(spec) for spec in shared]
    while any(len(some) < len(every) for some, every in zip(said, alone, strict=True)):
        for walked, some, every in zip(walks, said, alone, strict=True):
            if len(some) < len(every):
                some.append(next(walked))

    assert said == alone
    assert min(map(len, alone)) > 2


def test_the_element_that_is_blamed_does_not_depend_on_what_was_seen_before(shared):
    spec = shared[1]
    state = spec.state({"holder": NIL, "count": Function({"a": 5, "b": 5, "c": 5})})

    assert dict(spec.explain_invariant("FewInv", state).reasons[0].values)["n"] == "a"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("VARIABLES holder, count", "VARIABLES holder, count, more"),
        ("FewInv ==", "Another == 1\nFewInv =="),
    ],
)
def test_a_spec_with_other_names_is_kept_out(folder, old, new):
    classes = load(folder, LIMITS[0]).classes

    with pytest.raises(RuntimeError, match=r"share TLC's classes|an earlier one lacks"):
        load(folder, LIMITS[1], classes, RING.replace(old, new))
    # It has left its names in the classes.
    assert classes.are_worn


def test_after_so_many_specs_the_next_has_other_classes(folder, monkeypatch):
    classes = load(folder, LIMITS[0]).classes
    assert not classes.are_worn
    monkeypatch.setattr(jvm, "SPECS_MOST", 2)
    load(folder, LIMITS[1], classes)
    assert classes.spec_count == 2
    assert classes.are_worn
    first = loading.classes_for("Ring", "a")
    assert loading.classes_for("Ring", "a") is first
    first.spec_count = 2
    assert loading.classes_for("Ring", "a") is not first
