"""What counts as an action by its name, and that all calls of a judge agree on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.testing import Judge, KraflaError, Spec, SpecViolation

DESK = Path(__file__).parent / "specs" / "Desk.tla"
NAMES = r"""---- MODULE Names ----
EXTENDS Naturals
VARIABLES msgs, n
Init == msgs = {1} /\ n = 0
A(m) == n' = m /\ UNCHANGED msgs
B(m) == n' = m + 10 /\ UNCHANGED msgs
Either(m) == A(m) \/ (\E k \in msgs : B(k))
Mixed(m) == A(m) \/ (n' = m + 20 /\ UNCHANGED msgs)
Deep(m) == A(m) \/ (\E k \in {1} : B(k) \/ (n' = 7 /\ UNCHANGED msgs))
Chosen == \E m \in {1} : Either(m)
Kept == \E m \in {1} : Mixed(m) \/ Deep(m)
Handled == \E m \in msgs : Either(m)
Plain == A(1) \/ (n' = 5 /\ UNCHANGED msgs)
Alias == Plain
Inside == \E m \in {1} : A(m)
====
"""


@pytest.fixture
def judge() -> Judge:
    """Return a judge of a run in which ann holds the desk, and bob waits."""
    spec = Spec.load(DESK, {"Client": {"ann", "bob"}, "Nobody": "nobody"})
    found = Judge(spec)
    found.start()
    found.step("Ask", "ann")
    found.step("Ask", "bob")
    return found


def test_an_action_with_a_disjunct_that_has_no_name_is_one_action(judge: Judge) -> None:
    assert [one.name for one in judge.spec.actions] == ["Ask", "Release"]
    assert judge.allows("Release", "ann")
    assert judge.allows("Release", ...)
    assert judge.enabled("Release") == (("ann",),)
    for parameter in ("ann", ...):
        with pytest.raises(SpecViolation, match=r'the code refuses Release\("ann"\)'):
            judge.refuse("Release", parameter)
    judge.step("Release", ..., seen={"holder": "bob"})
    judge.step("Release", "bob", seen={"holder": "nobody"})


@pytest.mark.parametrize(
    ("following", "names"),
    [
        ("Chosen", ["A", "B"]),
        ("Kept", ["Mixed", "Deep"]),
        ("Handled", ["Either"]),
        ("Plain", ["A", "Plain"]),
        ("Alias", ["A", "Plain"]),
    ],
)
def test_an_operator_gives_way_to_the_actions_it_chooses_among_if_all_have_names(
    tmp_path: Path, following: str, names: list[str]
) -> None:
    module = tmp_path / "Names.tla"
    module.write_text(NAMES, encoding="utf-8")
    spec = Spec.load(module, {}, next=following)
    assert [one.name for one in spec.actions] == names
    (first,) = spec.initial_states()
    judge = Judge(spec)
    judge.start()
    for name in names:
        taken = {parameters for one, parameters, _ in spec.successors(first) if one == name}
        assert set(judge.enabled(name)) == taken
        assert all(judge.allows(name, *one) for one in taken)


@pytest.mark.parametrize("seen", [{"n": 10, "msgs": {1}}, {"n": 10}])
def test_an_operator_that_is_no_action_of_next_is_none_where_all_was_seen(
    tmp_path: Path, seen: dict[str, object]
) -> None:
    (tmp_path / "Names.tla").write_text(NAMES)
    judge = Judge(Spec.load("Names", path=tmp_path, next="Inside", constants={}))
    judge.start()
    with pytest.raises(KraflaError, match="B: no action of Names"):
        judge.step("B", 0, seen=seen)
