"""What is true of the seeded bugs of every system, and of a mistake put in place and taken out."""

from __future__ import annotations

import sys
from copy import copy
from types import ModuleType

import pytest

from krafla.fuzz.engine.mutant import Mutant, Probe, find_mutant, wrong_answer, wrong_turn
from krafla.fuzz.engine.system import NAMES, find_system
from krafla.verdict import KraflaError
from kraft.controller import activation
from kraft.controller.operations import features
from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode

HOW_MANY = {
    "lease": 31, "metadata": 24, "reassignment": 32, "registration": 12, "cluster": 18,
    "raft": 74, "stack": 148,
}  # fmt: skip


@pytest.mark.parametrize("word", NAMES)
def test_each_bug_has_a_name_of_its_own_a_source_a_place_and_a_sentence(word):
    mutants = find_system(word).mutants
    assert len({one.name for one in mutants}) == len(mutants) == HOW_MANY[word]
    for mutant in mutants:
        assert mutant.name == mutant.name.lower().replace(" ", "-")
        assert mutant.source
        assert mutant.sentence.endswith(".")
        with mutant.applied() as probe:
            assert probe == Probe()


def test_a_class_is_wrong_only_where_its_module_makes_values_of_it():
    mutant = find_mutant("downgrade-is-not-written", find_system("stack"))
    with mutant.applied():
        assert not isinstance(features.FeatureLevelRecord, type)
        assert isinstance(activation.FeatureLevelRecord, type)
    assert features.FeatureLevelRecord is activation.FeatureLevelRecord


def test_a_bug_that_there_is_not_is_named_with_what_may_be_meant():
    with pytest.raises(KraflaError, match=r"'vote-before-writes'; did you mean vote-before-write"):
        find_mutant("vote-before-writes", find_system("raft"))


def test_a_module_imported_while_a_mistake_is_in_place_has_the_right_function_afterwards(
    monkeypatch,
):
    home, late = ModuleType("kraft.home_of_a_test"), ModuleType("kraft.late_of_a_test")
    home.answer = right = len
    monkeypatch.setitem(sys.modules, home.__name__, home)
    wrong = wrong_answer(lambda *_: 7)
    with Mutant("a", "b", f"{home.__name__}:answer", "C.", wrong).applied() as probe:
        late.answer = home.answer
        monkeypatch.setitem(sys.modules, late.__name__, late)
        assert (late.answer(""), late.answer("seven l")) == (7, 7)
    assert home.answer is late.answer is right
    assert (probe.reached, probe.triggered) == (2, 1)


@pytest.mark.parametrize(
    ("code", "triggered"), [(ErrorCode.NOT_CONTROLLER, 1), (ErrorCode.INVALID_REQUEST, 0)]
)
def test_another_error_is_another_answer(code, triggered):
    def right():
        raise ControllerError(ErrorCode.INVALID_REQUEST, "no")

    def answer(_right):
        raise ControllerError(code, "no")

    probe = Probe()
    with pytest.raises(ControllerError) as raised:
        wrong_answer(answer)(right, probe)()
    assert raised.value.code is code
    assert (probe.reached, probe.triggered) == (1, triggered)


class Turn:
    state = 0

    def __init__(self):
        self.effects = []


@pytest.mark.parametrize(("gain", "triggered"), [(1, 0), (2, 1)])
def test_a_mistaken_turn_is_compared_with_what_the_right_handler_leaves(gain, triggered):
    def right(turn, amount):
        turn.state += amount
        turn.effects.append("told")

    def change(given, turn, amount):
        given(turn, amount * gain)

    probe, turn = Probe(), Turn()
    before = copy(turn)
    wrong_turn(change)(right, probe)(turn, 3)
    assert (turn.state, before.state, turn.effects) == (3 * gain, 0, ["told"])
    assert (probe.reached, probe.triggered) == (1, triggered)
