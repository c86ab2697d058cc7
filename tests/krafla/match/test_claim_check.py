"""Whether a trace shows what it claims: every tool gives the same answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.refinement.rounds import going_round

from krafla.match.claim_check import claim_shown
from krafla.match.corpus import read_index
from krafla.match.corpus_result import violation_of
from krafla.match.trace_check import check_trace
from krafla.report.explain.outcome import outcome_of
from krafla.shrink import shrink_behaviour
from krafla.traces import Claim, ClaimKind, Step, read_whole_trace
from krafla.verdict import KraflaError

TRACES = Path(__file__).resolve().parents[3] / "traces"


@pytest.fixture(scope="module")
def overlap():
    """The counterexample of NoSelfFence: a silent broker is fenced, and still serves."""
    entries = (entry for entry in read_index(TRACES) if entry.kind == "counterexamples")
    return min((read_whole_trace(entry.path) for entry in entries), key=len)


def with_hole(trace):
    """Leave out a step in the middle, so that the next one is no step of the spec."""
    return trace.with_steps((*trace.steps[:5], *trace.steps[6:]))


def with_more(trace):
    """Add a step after the violation; the property stays false."""
    last = trace.steps[-1]
    (broker,) = dict(trace.constants)["Broker"]
    state = last.state
    log_end = state["log_end"]
    after = {**dict(state.items()), "log_end": log_end + 1}
    epoch_lost = {
        "contact_age": type(state["contact_age"])({broker: -1}),
        "metadata_offset": type(state["metadata_offset"])({broker: -1}),
        "controlled_shutdown_offset": type(state["controlled_shutdown_offset"])({broker: -1}),
    }
    step = Step("FailOver", (), type(state)({**after, **epoch_lost}))
    return trace.with_steps((*trace.steps, step))


def with_another_conjunct(trace):
    conjunct = replace(trace.claim.conjunct, text="r # Nil")
    return replace(trace, claim=replace(trace.claim, conjunct=conjunct))


def with_another_claim(trace):
    return replace(trace, claim=Claim(trace.claim.kind, "EpochUniqueInv"))


def test_a_true_claim_is_shown_by_every_tool(overlap):
    assert claim_shown(overlap).is_shown
    assert violation_of(overlap).reasons[0].text == "~r.fenced"
    assert outcome_of(overlap).is_bad
    shrunk = shrink_behaviour(overlap, tries=1).result.claim
    # The line of the conjunct changes with every edit of the spec.
    assert (shrunk.kind, shrunk.property) == (overlap.claim.kind, overlap.claim.property)
    assert shrunk.conjunct.text == overlap.claim.conjunct.text
    assert shrunk.conjunct.values == overlap.claim.conjunct.values


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (with_more, "before its end"),
        (with_another_conjunct, "another conjunct of NoOverlapInv"),
        (with_another_claim, "does not violate EpochUniqueInv at its end"),
    ],
)
def test_a_false_claim_is_not_shown(overlap, change, sentence):
    trace = change(overlap)

    assert check_trace(trace).rejection is None
    shown = claim_shown(trace)
    assert sentence in shown.sentence
    assert shown.is_gone == (change is with_another_claim)
    with pytest.raises(KraflaError, match=sentence):
        violation_of(trace)
    with pytest.raises(KraflaError, match=sentence):
        shrink_behaviour(trace)


def test_the_claim_of_a_trace_that_is_no_behaviour_is_not_shown(overlap):
    trace = with_hole(overlap)

    rejected_at = check_trace(trace).rejection.index
    assert outcome_of(trace).step == rejected_at
    assert "the spec does not have step" in outcome_of(trace).headline
    with pytest.raises(KraflaError, match=f"is no behaviour of the spec: step {rejected_at}"):
        shrink_behaviour(trace)


@pytest.mark.parametrize(
    ("back", "lasso", "is_shown", "sentence"),
    [
        ("LoseMessage", 1, None, "has a cycle that closes at step 1"),
        ("", 1, None, "has a cycle that closes at step 1"),
        ("LoseMessage", 0, False, "has a cycle that does not close: no step leads to step 0"),
        ("", 2, False, "has a cycle that does not close: no step leads to step 2"),
        ("", None, None, "needs an infinite behaviour"),
    ],
)
def test_a_temporal_claim_needs_a_cycle_that_closes(back, lasso, is_shown, sentence):
    claim = Claim(ClaimKind.TEMPORAL_PROPERTY, "EventuallyServed")
    shown = claim_shown(replace(going_round(back, lasso), claim=claim))
    assert shown.is_shown is is_shown
    assert sentence in shown.sentence


@pytest.mark.parametrize(
    ("kind", "is_shown", "sentence"),
    [
        (ClaimKind.DIVERGENCE, False, "claims that the spec does not allow its last step, Tick"),
        (ClaimKind.DEADLOCK, False, "ends where a step leads on, and it claims none"),
        (ClaimKind.FAILURE, None, "claims a failure Tick, about which the spec cannot be asked"),
    ],
)
def test_a_claim_about_the_last_step_is_not_shown_by_a_behaviour(overlap, kind, is_shown, sentence):
    shown = claim_shown(replace(overlap, claim=Claim(kind, "Tick")))
    assert (shown.is_shown, shown.sentence) == (is_shown, sentence)


def test_a_trace_cannot_redefine_a_definition_of_its_spec(overlap):
    constants = (*overlap.constants, ("NoOverlapInv", False))
    trace = replace(overlap, constants=tuple(sorted(constants)))

    with pytest.raises(KraflaError, match="NoOverlapInv"):
        shrink_behaviour(trace)
    with pytest.raises(KraflaError, match="NoOverlapInv"):
        check_trace(trace)
