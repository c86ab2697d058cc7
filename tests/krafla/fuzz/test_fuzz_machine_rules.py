"""Every rule of the seven state machines is taken: a rule without a choice would show nothing."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest

from krafla.fuzz.engine import choice_machine, plan_machine
from krafla.fuzz.engine.choice_run import ChoiceCase
from krafla.fuzz.engine.state_machine import machine_of
from krafla.fuzz.engine.system import CHOICE_NAMES, find_system

# A walk ends after so many moves, for another to begin: what it has done may rule a kind out.
MOVES = 40
# Of five seeds, no system needed more than 109.
WALKS = 200


class Unjudged:
    """A run that no spec judges: a walk asks which rules can be taken, and needs no TLC."""

    finding = None
    steps = 0

    def __init__(self, system, case):
        self._system = system
        self.cluster = system.first_cluster(case.configuration)

    def step(self, choice):
        self.cluster = self._system.step(self.cluster, choice).after
        self.steps += 1


class First:
    """Draws for a rule as Hypothesis would, by chance that a seed decides."""

    def __init__(self, chance):
        self._chance = chance

    def draw(self, strategy, label):  # noqa: ARG002 - rules give it by name
        return self._chance.choice(strategy.elements)


def beginnings(machine):
    """Return how the runs of a machine can begin."""
    return [case for case in machine().cases().elements if isinstance(case, ChoiceCase)]


def walk(machine, rules, left, chance):
    """Take rules by chance, half of the time one not taken yet; strike each that is taken off."""
    for _ in range(MOVES):
        wanted = left if left and chance.random() < 0.5 else rules
        for name in chance.sample(sorted(wanted), len(wanted)):
            if all(holds(machine) for holds in rules[name].preconditions):
                own = {"by_controller_ms": 1, "by_broker_ms": (1, 1, 1, 1), "data": First(chance)}
                before = machine.player.steps
                rules[name].function(machine, **{one: own[one] for one in rules[name].arguments})
                assert machine.player.steps == before + 1, f"{name} takes no step"
                left.discard(name)
                break
        machine.go_on(chance.choice((0, 2, 6)))


@pytest.mark.parametrize("word", CHOICE_NAMES)
def test_every_rule_of_a_machine_of_choices_is_taken(word, monkeypatch):
    monkeypatch.setattr(choice_machine, "Player", Unjudged)
    kind = machine_of(word)
    names = {choice_machine.rule_name(one) for one in get_args(kind.system.choice)}
    rules = {
        rule.function.__name__: rule
        for rule in kind.setup_state().rules
        if rule.function.__name__ in names
    }
    left, chance = set(rules), Random(2)
    cases = beginnings(kind)
    for number in range(WALKS):
        machine = kind()
        machine.start(cases[number % len(cases)])
        walk(machine, rules, left, chance)
        if not left:
            return
    pytest.fail(f"never taken in {WALKS} walks: {', '.join(sorted(left))}")


@pytest.mark.parametrize("word", ["raft", "stack"])
def test_every_rule_of_a_machine_of_faults_puts_its_fault_into_the_plan(word):
    kind, system = machine_of(word), find_system(word)
    requests = set(system.request_kinds)
    names = {*system.kinds, *requests} - plan_machine.PLANNED
    rules = {rule.function.__name__: rule for rule in kind.setup_state().rules}
    machine = kind()
    machine.begin(7, 3, 1, *([1] if word == "raft" else []), 4_000, ())
    drawn = {"after_ms": 0, "chance": 7, "node": 1, "nodes": 5, "lasts_ms": 400}
    # The faults come last: they may leave no leader, and a request is sent to one.
    for name in sorted(names, key=lambda one: (one not in requests, one)):
        rule = rules[plan_machine.rule_name(name)]
        assert all(holds(machine) for holds in rule.preconditions), name
        rule.function(machine, **{one: drawn[one] for one in rule.arguments})
    assert {fault.kind for fault in machine.case.plan} == names
