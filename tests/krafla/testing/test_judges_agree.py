"""The judge of code and the match of traces, against the sets of all states of a small game."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.krafla.testing.conftest import SPECS
from tests.krafla.testing.table_game import (
    ACTIONS,
    BEGINNINGS,
    PLAYERS,
    Look,
    Table,
    ends,
    looks_at_a_run,
    sound_steps,
)

from krafla.match import match
from krafla.match.property_checker import PropertyChecker
from krafla.oracle.properties import Properties
from krafla.testing import Inconclusive, Judge, PartialTrace, Spec, SpecViolation
from krafla.traces import partial
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.match import MatchReport, Taken
    from krafla.testing import State, Trace

EXAMPLES = 3_000 if os.environ.get("KRAFLA_NIGHTLY") else 300
# So many hidden steps and candidates leave nothing out: the game has 36 states.
ALL = 2_000
PROPERTIES = Properties(("EndInv",), ("ForwardProp",), ())
HIDDEN = st.lists(st.sampled_from(sorted(ACTIONS)), unique=True, max_size=3).map(tuple)
# Not of st.randoms: it draws most runs alike, and takes minutes to shrink one.
RANDOM = st.integers(0, 2**32).map(Random)


@pytest.fixture(scope="module")
def table_spec() -> Spec:
    return Spec.load(SPECS / "Table.tla", {"Player": set(PLAYERS)})


@settings(max_examples=EXAMPLES, deadline=None)
@given(RANDOM, HIDDEN, st.sampled_from([1, 2, ALL]), st.sampled_from([1, 2, 3, ALL]))
def test_a_trace_matches_as_far_as_the_game_has_states_for_it(
    table_spec: Spec, random: Random, hidden: tuple[str, ...], hidden_max: int, frontier: int
) -> None:
    looks = looks_at_a_run(random, hidden)
    note(f"{looks}")
    known = [one for one in ends(looks, hidden) if one]
    report = matched(table_spec, traced(looks, hidden, hidden_max), frontier)
    if report.accepted == len(looks):
        assert shows(report.behaviour, looks, hidden)
    elif report.doubt is None or hidden_max == frontier == ALL:
        assert (report.verdict, report.accepted) == (Verdict.VIOLATED, len(known))
        assert not known or report.candidates == len(known[-1])


@settings(max_examples=EXAMPLES, deadline=None)
@given(RANDOM, HIDDEN, st.sampled_from([1, 2, ALL]), st.sampled_from([1, 2, 3, ALL]))
def test_code_is_judged_as_the_game_is_and_its_trace_likewise(
    table_spec: Spec, random: Random, hidden: tuple[str, ...], hidden_max: int, frontier: int
) -> None:
    judge = Judge(
        table_spec, hidden=hidden, hidden_max=hidden_max, frontier=frontier,
        invariants=PROPERTIES.invariants, properties=PROPERTIES.steps,
    )  # fmt: skip
    is_all = hidden_max == frontier == ALL
    looks = looks_at_a_run(random, hidden)
    note(f"{looks}")
    for look, states in zip(looks, ends(looks, hidden), strict=False):
        try:
            show(judge, look)
        except SpecViolation as violation:
            assert not states
            again = matched(table_spec, observed(violation.trace))
            assert (again.verdict, again.accepted) == (Verdict.VIOLATED, len(again.trace) - 1)
            return
        except Inconclusive:
            assert not is_all
            return
        assert states
        if is_all:
            assert {table_of(one) for one in judge.states} == states
    trace = observed(judge.trace)
    assert matched(table_spec, trace).accepted == len(trace)


def traced(looks: list[Look], hidden: tuple[str, ...], hidden_max: int) -> PartialTrace:
    observations = tuple(one.observation() for one in looks)
    return PartialTrace("Table", observations, (), hidden, hidden_max)


def observed(trace: Trace | PartialTrace) -> PartialTrace:
    return trace if isinstance(trace, PartialTrace) else partial(trace)


def matched(spec: Spec, trace: PartialTrace, frontier: int = ALL) -> MatchReport:
    breaks = PropertyChecker(spec, PROPERTIES).broken_by
    return match(spec, trace, frontier=frontier, breaks=breaks, only_next=True)


def shows(behaviour: tuple[Taken, ...], looks: list[Look], hidden: tuple[str, ...]) -> bool:
    """Return whether a behaviour is one of the game, and shows what was seen."""
    before: Table | None = None
    numbers = []
    for taken in behaviour:
        table = table_of(taken.state)
        step = taken.action, taken.parameters, table
        if before is None:
            assert table in BEGINNINGS
        else:
            assert step in sound_steps(before)
            assert taken.observation is not None or taken.action in hidden
        if taken.observation is not None:
            look = looks[taken.observation]
            assert before is None or look.names(step)
            assert look.fits(table)
        for number in taken.stays:
            assert looks[number].is_shown_by(table)
        numbers += [one for one in (taken.observation, *taken.stays) if one is not None]
        before = table
    return numbers == list(range(len(looks)))


def show(judge: Judge, look: Look) -> None:
    """Show a judge what was seen."""
    given: Any = (... if one is None else one for one in look.given or ())
    if look.action == "Init":
        judge.start(look.seen)
    elif look.kind == "step":
        judge.step(look.action, *given, seen=look.seen)
    elif look.kind == "stay":
        judge.stay(look.seen)
    else:
        judge.refuse(str(look.action), *given)


def table_of(state: State) -> Table:
    return Table(**state)
