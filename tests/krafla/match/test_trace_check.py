"""Traces on the spec and on the implementation, and the corpus of them."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.refinement.rounds import going_round
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine.kept_trace import check_corpus
from krafla.match import Choice, trace_check, validation
from krafla.match.corpus import read_index, root_of
from krafla.match.property_checker import PropertyChecker
from krafla.match.trace_check import check_trace
from krafla.match.whole import Whole
from krafla.oracle.loader import find_module
from krafla.refinement.lease.properties import MODULE, read_properties
from krafla.refinement.lease.scenario import vocabulary_of
from krafla.traces import Claim, ClaimKind, partial, read_whole_trace, write_trace
from krafla.values import Function, ModelValue
from krafla.verdict import KraflaError, Verdict

CORPUS = Path(__file__).parents[3] / "traces"
ENTRIES = read_index(CORPUS)
LIFE = CORPUS / "accepted" / "lease" / "register-and-unfence.ndjson"


def test_the_corpus_has_every_kind_and_the_implementation_follows_all_but_the_rejected():
    kinds = Counter(entry.kind for entry in ENTRIES)
    assert kinds["accepted"] >= 7
    assert kinds["rejected"] >= 8
    assert kinds["counterexamples"] >= 3
    assert all(entry.implementation for entry in ENTRIES if entry.kind != "rejected")
    assert all(entry.tags for entry in ENTRIES)


def test_an_edited_step_is_rejected_at_that_step():
    trace = read_whole_trace(LIFE)
    step = trace.steps[4]
    wrong = replace(step, state=step.state.replace(log_end=7))
    report = check_trace(trace.with_steps((*trace.steps[:4], wrong, *trace.steps[5:])))
    assert report.verdict is Verdict.VIOLATED
    assert report.rejection.index == 4
    assert "log_end" in report.rejection.names


def test_a_trace_that_begins_elsewhere_is_rejected_at_its_first_state():
    trace = read_whole_trace(LIFE)
    report = check_trace(trace.with_steps(trace.steps[1:]))
    assert report.rejection.index == 0


def test_a_step_without_parameters_is_found_among_the_steps_of_its_action():
    trace = read_whole_trace(LIFE)
    nameless = tuple(replace(step, parameters=None) for step in trace.steps[:4])
    assert check_trace(trace.with_steps(nameless)).verdict is Verdict.HELD
    wrong = replace(nameless[3], action="Crash")
    rejection = check_trace(trace.with_steps((*nameless[:3], wrong))).rejection
    assert rejection.index == 3
    assert "Crash" in str(rejection)


@pytest.fixture
def judged_for_overlaps(monkeypatch):
    """Judge NoOverlapInv in every trace, though the counterexamples do not meet its condition."""
    both = read_properties(find_module(MODULE, None), also=["NoOverlapInv"])
    monkeypatch.setattr(validation, "judged_properties", lambda *_: both)
    # Judges are cached together with their properties.
    trace_check._known_judge.cache_clear()
    yield
    trace_check._known_judge.cache_clear()


@pytest.mark.usefixtures("judged_for_overlaps")
def test_a_property_is_broken_unless_the_trace_claims_to_break_it():
    trace = read_whole_trace(
        min(entry.path for entry in ENTRIES if entry.kind == "counterexamples")
    )
    assert trace.claim.property == "NoOverlapInv"
    assert check_trace(trace).verdict is Verdict.HELD
    last = len(trace) - 1
    for claim in (None, Claim(ClaimKind.INVARIANT, "TypeOK")):
        report = check_trace(replace(trace, claim=claim))
        assert report.verdict is Verdict.VIOLATED
        assert (report.rejection.index, report.rejection.broken) == (last, "NoOverlapInv")
        assert "NoOverlapInv" in report.rejection.names
        assert "~r.fenced" in report.rejection.names


@pytest.mark.usefixtures("judged_for_overlaps")
def test_an_observed_step_that_breaks_a_property_is_no_match():
    trace = read_whole_trace(
        min(entry.path for entry in ENTRIES if entry.kind == "counterexamples")
    )
    report = validation.validate(partial(trace))
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, len(trace) - 1)
    assert report.stuck[0].broken == "NoOverlapInv"
    excused = validation.validate(partial(trace), excused="NoOverlapInv")
    assert excused.verdict is Verdict.HELD


@pytest.mark.parametrize("back", ["LoseMessage", "", "Next"])
def test_a_lasso_that_closes_is_a_behaviour(back):
    assert check_trace(going_round(back)).verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("back", "lasso"), [("LoseMessage", 0), ("", 0), ("Next", 2), ("Tick", 1), ("LoseMessage", 3)]
)
def test_a_lasso_that_does_not_close_is_rejected_at_its_last_step(back, lasso):
    trace = going_round(back, lasso)
    report = check_trace(trace)
    assert report.verdict is Verdict.VIOLATED
    assert report.steps == len(trace)
    assert report.rejection.index == len(trace) - 1
    assert f"no step leads back to step {lasso}" in str(report.rejection)
    assert report.rejection.nearest is not None


@pytest.mark.parametrize(("back", "closes"), [("LoseMessage", True), ("", True), ("Tick", False)])
def test_a_lasso_closes_although_too_few_parameters_are_chosen(back, closes):
    trace = going_round(back)
    spec = validation.loaded(trace.spec, trace.constants)
    narrow = Choice("LoseMessage", likely=lambda *_: (), others=lambda *_: ())
    assert Whole(spec, [narrow]).closes(trace) is closes


def test_a_lasso_that_stays_where_it_is_needs_no_step():
    trace = read_whole_trace(LIFE)
    last = len(trace) - 1
    assert check_trace(replace(trace, lasso=last)).verdict is Verdict.HELD
    with pytest.raises(KraflaError, match="Nonsense: no action"):
        check_trace(replace(trace, lasso=last, back="Nonsense"))


def test_the_step_that_closes_a_lasso_must_keep_the_properties_too(monkeypatch):
    asked = []

    def broken_by(_self, before, after, _changed):
        asked.append((before, after))

    monkeypatch.setattr(PropertyChecker, "broken_by", broken_by)
    trace = going_round()
    assert check_trace(trace).verdict is Verdict.HELD
    assert len(asked) == len(trace) + 1
    before, after = asked[-1]
    assert before.as_function() == trace.steps[-1].state
    assert after.as_function() == trace.steps[1].state


def test_an_initial_state_alone_shows_nothing(tmp_path):
    trace = read_whole_trace(LIFE)
    alone = trace.with_steps(trace.steps[:1])
    for one in (alone, replace(alone, lasso=0)):
        assert check_trace(one).verdict is Verdict.INCONCLUSIVE
        path = tmp_path / "alone.ndjson"
        write_trace(one, path)
        for options in ([], ["--impl"]):
            result = CliRunner().invoke(application("replay"), ["replay", str(path), *options])
            assert result.exit_code == 3
            assert "shows no step" in result.output


def test_an_empty_trace_shows_nothing_and_an_unknown_variable_is_named():
    trace = read_whole_trace(LIFE)
    with pytest.raises(KraflaError, match="without a single state"):
        check_trace(trace.with_steps(()))
    odd = replace(trace.steps[0], state=Function({**trace.steps[0].state, "karma": 1}))
    with pytest.raises(KraflaError, match="karma"):
        check_trace(trace.with_steps((odd,)))


def test_a_trace_of_a_model_names_its_nodes_by_model_values():
    trace = read_whole_trace(LIFE)
    names = dict(zip(sorted(dict(trace.constants)["Incarnation"]), ("p1", "p2"), strict=True))
    broker = ModelValue("b1")
    constants = dict(trace.constants) | {
        "Broker": frozenset({broker}),
        "Incarnation": frozenset(map(ModelValue, names.values())),
        "BrokerOf": Function({ModelValue(name): broker for name in names.values()}),
    }
    vocabulary = vocabulary_of(replace(trace, constants=tuple(sorted(constants.items()))))
    assert vocabulary.constants == constants


def test_a_trace_that_lacks_a_constant_is_an_error_that_names_it():
    trace = read_whole_trace(LIFE)
    without = tuple(pair for pair in trace.constants if pair[0] != "Reorder")
    with pytest.raises(KraflaError, match="Reorder"):
        vocabulary_of(replace(trace, constants=without))


@pytest.fixture
def copied(tmp_path):
    """A copy of the corpus that a test may spoil."""
    root = tmp_path / "traces"
    for entry in ENTRIES:
        target = root / entry.path.relative_to(CORPUS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(entry.path, target)
    shutil.copyfile(CORPUS / "index.toml", root / "index.toml")
    return root


@pytest.mark.nightly
def test_a_corpus_in_which_a_rejected_trace_is_accepted_is_violated(copied):
    good = copied / "accepted" / "lease" / "register-and-unfence.ndjson"
    bad = copied / "rejected" / "lease" / "runs-though-fenced.ndjson"
    shutil.copyfile(good, bad)
    corpus = check_corpus(copied)
    assert corpus.verdict is Verdict.VIOLATED
    assert "runs-though-fenced.ndjson: accepted" in corpus.reasons[0]


def test_a_corpus_in_which_an_accepted_trace_is_rejected_is_violated(copied):
    good = copied / "accepted" / "lease" / "register-and-unfence.ndjson"
    bad = copied / "rejected" / "lease" / "runs-though-fenced.ndjson"
    shutil.copyfile(bad, good)
    assert check_corpus(copied, within=good.parent).verdict is Verdict.VIOLATED


def test_a_corpus_with_an_initial_state_for_a_behaviour_is_violated(copied):
    good = copied / "accepted" / "lease" / "register-and-unfence.ndjson"
    trace = read_whole_trace(good)
    write_trace(trace.with_steps(trace.steps[:1]), good)
    corpus = check_corpus(copied, within=good)
    assert corpus.verdict is Verdict.VIOLATED
    assert corpus.reasons == ("register-and-unfence.ndjson: it shows no step",)


def with_another_conjunct(trace):
    conjunct = replace(trace.claim.conjunct, text="r # Nil")
    return replace(trace, claim=replace(trace.claim, conjunct=conjunct))


def without_its_last_step(trace):
    return trace.with_steps(trace.steps[:-1])


def with_a_property_that_holds(trace):
    return replace(trace, claim=Claim(ClaimKind.INVARIANT, "EpochUniqueInv"))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (with_another_conjunct, "another conjunct of NoOverlapInv than the one"),
        (without_its_last_step, "does not violate NoOverlapInv at its end"),
        (with_a_property_that_holds, "does not violate EpochUniqueInv at its end"),
        (lambda trace: replace(trace, claim=None), "claims to violate no property"),
    ],
)
def test_a_corpus_in_which_a_counterexample_shows_no_violation_is_violated(copied, spoil, words):
    path = min((copied / "counterexamples").rglob("*.ndjson"))
    write_trace(spoil(read_whole_trace(path)), path)
    index = copied / "index.toml"
    # This test does not ask the implementation.
    index.write_text(index.read_text().replace("implementation = true", ""))
    corpus = check_corpus(copied, within=path)
    assert corpus.verdict is Verdict.VIOLATED
    (reason,) = corpus.reasons
    assert reason.startswith(path.name)
    assert words in reason


def test_a_counterexample_must_be_false_for_what_the_index_names(copied):
    path = min((copied / "counterexamples").rglob("*.ndjson"))
    index = copied / "index.toml"
    index.write_text(index.read_text().replace('names = "~r.fenced"', 'names = "r # Nil"'))
    (reason,) = check_corpus(copied, within=path).reasons
    assert "violates NoOverlapInv, but not for r # Nil" in reason


def test_a_file_that_no_index_lists_is_an_error(copied):
    stray = copied / "accepted" / "lease" / "stray.ndjson"
    shutil.copyfile(LIFE, stray)
    with pytest.raises(KraflaError, match="stray"):
        read_index(copied)


def test_an_index_must_say_where_and_why_a_trace_is_rejected(copied):
    index = copied / "index.toml"
    lines = index.read_text().splitlines()
    index.write_text("\n".join(line for line in lines if not line.startswith("names")))
    with pytest.raises(KraflaError, match="step and names"):
        read_index(copied)


def test_a_folder_without_an_index_is_no_corpus(tmp_path):
    with pytest.raises(KraflaError, match=r"index\.toml"):
        root_of(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "status", "shown"),
    [
        (["accepted/lease/register-and-unfence.ndjson"], 0, "HELD"),
        (["accepted/lease/register-and-unfence.ndjson", "--impl"], 0, "16 steps"),
        (["rejected/lease/amended-and-fenced.ndjson"], 1, "registrations[1].fenced"),
        (["rejected/lease/fenced-at-the-timeout.ndjson", "--impl"], 3, "follows 12 of 13 steps"),
        (["rejected"], 0, "8 rejected"),
        (["nowhere.ndjson"], 2, "nowhere.ndjson"),
    ],
)
def test_replay_says_what_it_found_and_exits_accordingly(arguments, status, shown):
    path, *options = arguments
    result = CliRunner().invoke(application("replay"), ["replay", str(CORPUS / path), *options])
    assert result.exit_code == status
    assert shown in result.output
