from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from krafla.match.trace_check import check_trace
from krafla.oracle import Spec
from krafla.shrink import Size, behaviour, shrink_behaviour
from krafla.traces import Claim, ClaimKind, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import ModelValue, function
from krafla.verdict import KraflaError

BROKERS = [ModelValue(f"b{number}") for number in (1, 2)]
PROCESSES = [ModelValue(f"p{number}") for number in (1, 2, 3)]
CONSTANTS = {
    "Broker": frozenset(BROKERS),
    "Incarnation": frozenset(PROCESSES),
    "BrokerOf": function(zip(PROCESSES, [BROKERS[0], BROKERS[0], BROKERS[1]], strict=True)),
    "SessionTimeout": 2,
    "BrokerTimeout": 1,
    "MaxSkew": 0,
    "SelfFence": False,
    "Reorder": True,
    "Nil": ModelValue("Nil"),
}
# Actions that end a process would make a random walk too long.
LEFT_OUT = {"Crash", "RequestShutdown", "UnregisterBroker"}
NEVER_FENCED = (
    "[][\\A b \\in Broker : (Registered(b) /\\ Registered(b)') => "
    "(registrations'[b].fenced => registrations[b].fenced)]_registrations"
)
# The length of TLC's counterexample of NoSelfFence; its search is breadth first.
SHORTEST = 14


@pytest.fixture(scope="module")
def spec():
    return Spec.load("BrokerLeaseProperties", CONSTANTS)


def walk(spec, seed, name):
    """Take steps at random until a property is false."""
    random, state = Random(seed), spec.initial_states()[0]
    names = sorted(action.name for action in spec.actions if action.name not in LEFT_OUT)
    steps = [Step(INITIAL, (), state.as_function())]
    while spec.check_invariant(name, state):
        action = random.choice(names)
        found = [step for step in spec.steps_by(action, state) if step[1] != state]
        if found:
            parameters, state = random.choice(found)
            steps.append(Step(action, parameters, state.as_function()))
    claim = Claim(ClaimKind.INVARIANT, name)
    return Trace("BrokerLeaseProperties", tuple(steps), tuple(sorted(CONSTANTS.items())), claim)


@pytest.fixture(scope="module")
def wandering(spec):
    return walk(spec, 4, "NoOverlapInv")


@pytest.fixture(scope="module")
def shrunk(wandering):
    return shrink_behaviour(wandering)


def test_a_random_walk_shrinks_to_the_length_of_the_shortest_counterexample(wandering, shrunk):
    before, after = Size.of(wandering), Size.of(shrunk.result)

    assert before.steps > 10 * SHORTEST
    assert (after.steps, after.nodes, after.faults) == (SHORTEST, 1, 0)
    assert shrunk.is_minimal
    assert dict(shrunk.result.constants)["Reorder"] is False


def test_the_shrunk_trace_is_a_behaviour_that_shows_the_same_claim(shrunk):
    trace = shrunk.result

    assert check_trace(trace).rejection is None
    assert trace.claim.property == "NoOverlapInv"
    loaded = Spec.load(trace.spec, dict(trace.constants))
    states = [loaded.state(dict(step.state.items())) for step in trace.steps]
    held = [loaded.check_invariant("NoOverlapInv", state) for state in states]
    assert held == [True] * SHORTEST + [False]


def test_another_conjunct_of_the_same_property_does_not_count(shrunk):
    whole = shrunk.result
    true = whole.claim.conjunct
    loaded = Spec.load(whole.spec, dict(whole.constants))
    wanted = behaviour._wanted(whole)

    def play(conjunct):
        return behaviour._Play(loaded, whole, "NoOverlapInv", conjunct).play(wanted)

    same, other = play(true), play(replace(true, text="r # Nil"))

    assert same.of(whole).steps == whole.steps
    assert other is None


def test_a_step_property_is_judged_on_the_last_step(shrunk):
    whole = shrunk.result
    loaded = Spec.load(
        whole.spec,
        dict(whole.constants),
        expressions={"NeverFencedProp": NEVER_FENCED},
    )  # fmt: skip
    play = behaviour._Play(loaded, whole, "NeverFencedProp", None)

    found = play.play(behaviour._wanted(whole))

    assert found.of(whole).steps[-1].action == "FenceStaleBroker"
    assert found.claim.kind is ClaimKind.ACTION_PROPERTY
    assert play.play(behaviour._wanted(whole)[:-1]) is None


def test_a_spent_budget_is_reported_and_still_gives_a_behaviour(wandering):
    hurried, again = (shrink_behaviour(wandering, tries=10) for _ in range(2))

    assert not hurried.is_minimal
    assert len(hurried.result) < len(wandering)
    assert check_trace(hurried.result).rejection is None
    assert again == hurried


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (None, "claims nothing"),
        (Claim(ClaimKind.BEHAVIOUR), "claims behaviour"),
        (Claim(ClaimKind.TEMPORAL_PROPERTY, "WholeLive"), "temporal property WholeLive"),
        (Claim(ClaimKind.INVARIANT, "EpochUniqueInv"), "does not violate EpochUniqueInv"),
    ],
)
def test_a_trace_that_shows_nothing_is_refused(shrunk, claim, message):
    with pytest.raises(KraflaError, match=message):
        shrink_behaviour(replace(shrunk.result, claim=claim))
