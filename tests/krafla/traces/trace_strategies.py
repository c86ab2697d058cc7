"""Hypothesis strategies: values, traces and partial traces that can be written to a file."""

from __future__ import annotations

from hypothesis import strategies as st

from krafla.traces import (
    Call,
    Claim,
    ClaimKind,
    Conjunct,
    Event,
    Observation,
    Origin,
    PartialTrace,
    SpecText,
    Step,
    Trace,
)
from krafla.values import Function, ModelValue, function, sort_key

# Every character that a value may hold; other tests try the rest, which must be refused.
CHARACTERS = st.one_of(st.characters(exclude_categories=("Cc", "Cs")), st.sampled_from("\t\n\f\r"))
TEXTS = st.text(CHARACTERS, max_size=4)
NAMES = st.sampled_from(["S", "BrokerLease", "r_1", "0"])
NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31 - 1))
COUNTERS = st.integers(0, 2**53 - 1)
SCALARS = st.one_of(st.booleans(), NUMBERS, TEXTS, st.sampled_from(["r1", "Nil"]).map(ModelValue))


def _are_told_apart(members):
    return len({sort_key(member) for member in members}) == len(set(members))


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).filter(_are_told_apart).map(frozenset),
        st.dictionaries(TEXTS, inner, max_size=3).map(function),
        st.lists(st.tuples(inner, inner), max_size=3)
        .filter(lambda pairs: _are_told_apart([one for one, _ in pairs]))
        .map(function),
    ),
    max_leaves=6,
)
EVENTS = st.builds(
    Event,
    node=st.none() | SCALARS,
    sent=st.lists(COUNTERS, max_size=2).map(tuple),
    taken=st.none() | COUNTERS,
    time_ms=st.none() | COUNTERS,
)
DIGESTS = st.none() | st.just("0f" * 32)
ORIGINS = st.builds(
    Origin,
    made_by=TEXTS,
    profile=st.none() | TEXTS,
    seed=st.none() | TEXTS,
    plan=st.none() | st.just('[{"deliver": 1}]'),
    digest=DIGESTS,
)
SPEC_TEXTS = st.builds(
    lambda modules, config: SpecText(min(modules), tuple(sorted(modules.items())), config),
    st.dictionaries(NAMES, TEXTS, min_size=1, max_size=2),
    st.none() | TEXTS,
)
NAMED_VALUES = st.dictionaries(NAMES, VALUES, max_size=2).map(lambda found: tuple(found.items()))
CONJUNCTS = st.builds(Conjunct, text=TEXTS, place=TEXTS, values=NAMED_VALUES)
CLAIMS = st.builds(
    Claim, st.sampled_from(ClaimKind), st.none() | TEXTS, conjunct=st.none() | CONJUNCTS
)
ACTIONS = st.sampled_from(["Init", "Next", "Lease!Tick"])
PARAMETERS = st.none() | st.lists(VALUES, max_size=2).map(tuple)


@st.composite
def _states(draw):
    """A few states of the same variables, some of whose parts stay as they are."""
    variables = draw(st.sampled_from([["epoch"], ["epoch", "log"], ["a", "b", "c"]]))
    pool = draw(st.lists(VALUES, min_size=1, max_size=4))
    domain = draw(st.lists(SCALARS, min_size=1, max_size=3).filter(_are_told_apart))
    pick = st.sampled_from(pool)
    parts = st.fixed_dictionaries(dict.fromkeys(domain, pick)).map(function)
    state = st.fixed_dictionaries(dict.fromkeys(variables, pick | parts)).map(Function)
    return draw(st.lists(state, min_size=1, max_size=4))


@st.composite
def traces(draw):
    """Traces of every kind, as ``dumps`` takes them."""
    states = draw(_states())
    steps = tuple(
        Step(
            draw(ACTIONS),
            draw(PARAMETERS),
            state,
            draw(TEXTS),
            draw(st.none() | EVENTS),
        )
        for state in states
    )
    return Trace(
        spec=draw(NAMES),
        steps=steps,
        constants=draw(NAMED_VALUES),
        claim=draw(st.none() | CLAIMS),
        lasso=draw(st.none() | st.integers(0, len(steps) - 1)),
        back=draw(st.just("") | ACTIONS),
        model=draw(st.none() | NAMES),
        origin=draw(st.none() | ORIGINS),
        text=draw(st.none() | SPEC_TEXTS),
        machine=draw(st.none() | NAMES),
    )


_PARTS = st.lists(VALUES, max_size=2).map(lambda arguments: ("epoch", *arguments))
_OBSERVED = st.none() | st.lists(st.none() | VALUES, max_size=2).map(tuple)

_CALLS = (
    st.none()
    | st.just("same")
    | st.builds(Call, TEXTS, st.none() | st.lists(VALUES, max_size=2).map(tuple))
)
_WHAT = st.one_of(
    st.tuples(st.just("step"), st.none() | ACTIONS, _OBSERVED, _CALLS),
    st.tuples(st.just("stay"), st.none(), st.none(), _CALLS),
    st.tuples(st.just("refusal"), ACTIONS, _OBSERVED, _CALLS),
)
OBSERVATIONS = st.builds(
    lambda what, seen, place, time_ms: Observation(
        what[1], what[2], seen, place, time_ms, what[0], what[3]
    ),
    what=_WHAT.filter(lambda what: what[1] != "Init" or (what[0] == "step" and what[3] is None)),
    seen=st.lists(st.tuples(_PARTS, VALUES), max_size=2).map(tuple),
    place=TEXTS,
    time_ms=st.none() | COUNTERS,
)
PARTIAL_TRACES = st.builds(
    PartialTrace,
    spec=NAMES,
    machine=st.none() | NAMES,
    observations=st.lists(OBSERVATIONS, max_size=3).map(tuple),
    constants=NAMED_VALUES,
    hidden=st.none() | st.lists(ACTIONS, max_size=2).map(tuple),
    hidden_max=st.integers(0, 20),
    digest=DIGESTS,
    text=st.none() | SPEC_TEXTS,
)
