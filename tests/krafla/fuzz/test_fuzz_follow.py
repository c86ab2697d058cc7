"""Traces forced upon the implementation: followed, left, violated as claimed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.refinement.rounds import going_round
from typer.testing import CliRunner

import krafla.fuzz.lease.follow
from krafla import manifest
from krafla.cli import application
from krafla.fuzz.engine.kept_trace import does_not_follow
from krafla.fuzz.lease.follow import follow
from krafla.match.claim_check import claim_shown
from krafla.match.counterexample import replayable
from krafla.match.trace_check import check_trace
from krafla.tlc.model_check import check_model
from krafla.traces import Claim, ClaimKind, read_whole_trace, write_trace
from krafla.values import Function
from krafla.verdict import KraflaError, Verdict
from kraft.sim.common.step import Refused
from kraft.sim.lease.step import step as take

CORPUS = Path(__file__).parents[3] / "traces"
LIFE = read_whole_trace(CORPUS / "accepted" / "lease" / "register-and-unfence.ndjson")
REJECTED = sorted((CORPUS / "rejected" / "lease").glob("*.ndjson"))


@pytest.fixture(scope="module")
def overlap():
    """TLC's counterexample of Kafka as it is: without self-fencing a fenced broker serves."""
    (model,) = manifest.load().select(("NoSelfFence",))
    found = check_model(model, workers=1).result.counterexample
    return replayable(found, model)


def test_a_behaviour_of_the_spec_is_followed_to_its_end():
    followed = follow(LIFE)
    assert followed.verdict is Verdict.HELD
    assert followed.steps == len(LIFE)
    assert "all 16 steps" in followed.sentence


@pytest.mark.parametrize("path", REJECTED, ids=lambda path: path.stem)
def test_what_the_spec_denies_the_implementation_does_not_do_either(path):
    trace = read_whole_trace(path)
    rejection = check_trace(trace).rejection
    followed = follow(trace)
    assert followed.verdict is Verdict.INCONCLUSIVE
    assert followed.apart.index == rejection.index
    assert followed.apart.explanation.finding == rejection.explanation.finding
    assert followed.apart.nearest == rejection.nearest
    assert "does not follow at step" in str(followed.apart)


@pytest.mark.nightly
def test_a_counterexample_of_tlc_stands_alone(overlap):
    assert overlap.spec == "BrokerLeaseProperties"
    assert {name for name, _ in overlap.constants} == {name for name, _ in LIFE.constants}
    assert all(step.parameters is not None for step in overlap.steps)
    assert overlap.claim.property == "NoOverlapInv"
    assert "fenced" in overlap.claim.conjunct.text
    assert overlap.origin.made_by == "tlc"
    assert check_trace(overlap).verdict is Verdict.HELD


def test_the_implementation_violates_what_the_model_violates(overlap):
    followed = follow(overlap)
    assert followed.verdict is Verdict.VIOLATED
    assert followed.is_as_claimed
    assert followed.sentence == (
        f"the implementation follows all {len(overlap) - 1} steps and violates NoOverlapInv "
        "as claimed"
    )
    assert claim_shown(overlap).is_shown


def test_only_the_violation_that_is_claimed_is_as_claimed(overlap):
    followed = follow(overlap)
    claim = overlap.claim
    blamed = followed.finding.explanation.reasons[0].text

    def is_as_claimed(steps=followed.steps, **changes):
        trace = replace(overlap, claim=replace(claim, **changes))
        return replace(followed, trace=trace, steps=steps).is_as_claimed

    assert is_as_claimed()
    assert is_as_claimed(conjunct=None)
    assert is_as_claimed(conjunct=replace(claim.conjunct, text=blamed))
    assert not is_as_claimed(property="OneServerPerIdInv")
    assert not is_as_claimed(conjunct=replace(claim.conjunct, text="r # Nil"))
    assert not is_as_claimed(steps=followed.steps - 1)
    assert not replace(followed, trace=replace(overlap, claim=None)).is_as_claimed


def test_an_implementation_that_violates_another_conjunct_does_not_follow(overlap):
    conjunct = replace(overlap.claim.conjunct, text="r # Nil")
    other = replace(overlap, claim=replace(overlap.claim, conjunct=conjunct))
    assert does_not_follow(overlap) is None
    assert "violates NoOverlapInv, not as claimed" in does_not_follow(other)


def test_a_violation_before_the_end_is_not_as_claimed(overlap):
    longer = overlap.with_steps((*overlap.steps, overlap.steps[-1]))
    followed = follow(longer)
    assert followed.finding.name == "NoOverlapInv"
    assert followed.steps == len(overlap)
    assert not followed.is_as_claimed


def test_replay_says_so_on_either_side(overlap, tmp_path):
    path = tmp_path / "overlap.ndjson"
    write_trace(overlap, path)
    for options in ([], ["--impl"]):
        result = CliRunner().invoke(application("replay"), ["replay", str(path), *options])
        assert result.exit_code == 1
        assert "as claimed" in result.output
        assert "r.fenced = TRUE" in result.output


def test_a_claim_that_the_trace_does_not_show_is_not_green():
    claimed = replace(LIFE, claim=Claim(ClaimKind.INVARIANT, "NoOverlapInv"))
    assert claim_shown(claimed).is_shown is False
    assert follow(claimed).verdict is Verdict.INCONCLUSIVE


def test_the_return_of_a_lasso_is_taken_too():
    # A session that ran out gets no older: the next tick leads back.
    trace = read_whole_trace(CORPUS / "accepted" / "lease" / "fenced-after-the-timeout.ndjson")
    ticks = [index for index, step in enumerate(trace.steps) if step.action == "Tick"]
    steps = trace.steps[: ticks[-1] + 1]
    last = len(steps) - 1
    closed = replace(trace.with_steps(steps), lasso=last, back="Tick")
    assert follow(closed).verdict is Verdict.HELD


@pytest.mark.parametrize("back", ["LoseMessage", "", "Next"])
def test_a_lasso_is_followed_round(back, monkeypatch):
    taken = []

    def noted(cluster, choice):
        taken.append(choice)
        return take(cluster, choice)

    monkeypatch.setattr(krafla.fuzz.lease.follow, "take", noted)
    trace = going_round(back)
    assert follow(trace).verdict is Verdict.HELD
    assert len(taken) == len(trace)


@pytest.mark.parametrize(("back", "lasso"), [("LoseMessage", 0), ("Tick", 0), ("", 0), ("", 2)])
def test_a_lasso_that_nothing_closes_is_left_after_its_last_step(back, lasso):
    trace = going_round(back, lasso)
    followed = follow(trace)
    assert followed.verdict is Verdict.INCONCLUSIVE
    assert followed.apart.index == len(trace)
    assert f"nothing leads back to step {lasso}" in str(followed.apart)
    assert "the lasso does not close" in str(followed.apart)


def test_an_implementation_that_does_not_go_round_is_no_follower(monkeypatch):
    trace = going_round()
    count = 0

    def stuck_at_the_end(cluster, choice):
        nonlocal count
        count += 1
        result = take(cluster, choice)
        if count < len(trace):
            return result
        return replace(result, after=cluster, outcome=Refused("no message is lost"))

    monkeypatch.setattr(krafla.fuzz.lease.follow, "take", stuck_at_the_end)
    assert follow(trace).verdict is not Verdict.HELD


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": ("nobody",)}, '"nobody" is not a process of the trace'),
        ({"action": "Nonsense"}, "Nonsense: no action"),
        ({"parameters": ()}, "takes 1 parameter, not 0"),
        ({"parameters": None}, "parameters are not known"),
    ],
)
def test_unknown_nodes_and_actions_are_one_error_with_its_place(changes, words):
    wrong = replace(LIFE.steps[1], **changes)
    trace = LIFE.with_steps((LIFE.steps[0], wrong, *LIFE.steps[2:]))
    with pytest.raises(KraflaError, match=words) as caught:
        follow(trace)
    assert caught.value.place.startswith("step 1")


def test_a_trace_that_begins_elsewhere_or_is_of_another_spec_is_an_error():
    first = replace(LIFE.steps[0], state=LIFE.steps[0].state.replace(log_end=3))
    with pytest.raises(KraflaError, match="does not begin where"):
        follow(LIFE.with_steps((first, *LIFE.steps[1:])))
    odd = replace(LIFE.steps[0], state=Function({**LIFE.steps[0].state, "karma": 1}))
    with pytest.raises(KraflaError, match="no variable"):
        check_trace(LIFE.with_steps((odd,)))
