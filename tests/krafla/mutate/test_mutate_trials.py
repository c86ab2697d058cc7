"""What becomes of a mutant on a model: killed by what, noticed by what, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.krafla.mutate.mutants import copy_of_specs, mutants_of, named

from krafla.manifest import load
from krafla.mutate.baseline import Baseline, load_model
from krafla.mutate.scope import Impact
from krafla.mutate.search import Limits, search
from krafla.mutate.trial import Answer, Bench, Trial
from krafla.oracle.explore import explore
from krafla.oracle.jvm import TlcClasses
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.mutate.mutants import Mutant

ANY = Impact(None, is_whole=False, properties=frozenset())


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(copy_of_specs(tmp_path_factory.mktemp("bench")))


@pytest.fixture(scope="module")
def model(bench: Bench) -> Model:
    return named_model(bench, "MCBallot")


def named_model(bench: Bench, name: str) -> Model:
    return next(one for one in load(bench.tree).models if one.name == name)


@pytest.mark.parametrize(
    ("start", "answer", "detail"),
    [
        ("Ballot.Close.drop-guard.019", Answer.PROPERTY, "ClosedByMajorityProp"),
        ("Ballot.Close.drop-update.a3a", Answer.PROPERTY, "GrantedWhileOpenInv"),
        ("Ballot.Init.off-by-one.5d4", Answer.PROPERTY, "TypeOK"),
        ("Ballot.Open.negate-guard.e15", Answer.WITNESS, "DoneReach"),
        ("Ballot.Open.sibling-string.849", Answer.ACTION, "never takes Abandon, Close, Grant"),
        ("Ballot.Close.swap-branches.983", Answer.COUNT, "10 states for 19"),
        ("Ballot.Close.drop-update.616", Answer.DIFFERENT, ""),
        ("Ballot.IsMajority.weaken-quorum.328", Answer.SAME, ""),
    ],
)
def test_a_model_answers(
    bench: Bench, model: Model, start: str, answer: Answer, detail: str
) -> None:
    trial = bench.try_on(named("ballot", start), model)
    assert (trial.answer, trial.detail) == (answer, detail)


def test_a_step_that_changes_nothing_is_no_difference(bench: Bench, model: Model) -> None:
    # Without this guard Grant is taken where it changes nothing, which [][Next]_vars allows.
    mutant = named("ballot", "Ballot.Grant.drop-guard.38b")
    assert bench.try_on(mutant, model).answer is Answer.SAME


def rewritten(start: str, old: str, new: str) -> Mutant:
    mutant = named("ballot", start)
    assert mutant.text.count(old) == 1
    return replace(mutant, text=mutant.text.replace(old, new))


def test_what_has_no_value_is_an_error_of_tlc(bench: Bench, model: Model) -> None:
    mutant = rewritten("Ballot.Open.drop-guard.ee3", "epoch + 1", "epoch + granted")
    trial = bench.try_on(mutant, model)
    assert trial.answer is Answer.ERROR
    assert "a set stands where a number is needed" in trial.detail


def test_a_variable_without_a_value_is_an_error_of_tlc(bench: Bench, model: Model) -> None:
    mutant = rewritten("Ballot.Open.drop-guard.ee3", "UNCHANGED <<granted, closed, last>>", "TRUE")
    assert bench.try_on(mutant, model).answer is Answer.ERROR


def test_what_does_not_parse_is_no_mutant(bench: Bench, model: Model) -> None:
    trial = bench.try_on(rewritten("Ballot.Close.drop-guard.be9", "epoch + 1", "epoch + )"), model)
    assert trial.answer is Answer.UNPARSABLE
    assert trial.detail.startswith("ballot/Ballot.tla:34")


def test_the_copy_of_the_specs_is_as_before_afterwards(bench: Bench, model: Model) -> None:
    mutant = named("ballot", "Ballot.Close.drop-guard.019")
    before = (bench.tree / mutant.file).read_text(encoding="utf-8")
    bench.try_on(mutant, model)
    assert (bench.tree / mutant.file).read_text(encoding="utf-8") == before != mutant.text


def test_a_model_that_is_not_as_pinned_can_kill_nothing(bench: Bench, model: Model) -> None:
    wrong = replace(model, name="Other", distinct=18)
    with pytest.raises(KraflaError, match=r"Other is not held as it stands \(19 distinct"):
        bench.try_on(named("ballot", "Ballot.Close.drop-guard.019"), wrong)


def test_a_witness_that_lies_outside_the_bounds_kills_nothing(bench: Bench, model: Model) -> None:
    config = model.config.with_name("Narrow.cfg")
    text = model.config.read_text(encoding="utf-8")
    config.write_text(text.replace("CONSTRAINT Bounds", "CONSTRAINT Narrow"), encoding="utf-8")
    narrow = replace(model, name="Narrow", config=config, distinct=10)
    trial = bench.try_on(named("ballot", "Ballot.Close.drop-update.616"), narrow)
    assert (trial.answer, trial.detail) == (Answer.DIFFERENT, "")


def test_too_many_states_and_too_much_time_end_a_search(bench: Bench, model: Model) -> None:
    baseline = bench.prepare(model)
    text = (bench.tree / "ballot/Ballot.tla").read_text(encoding="utf-8")
    endless = text.replace("/\\ granted = {}\n  /\\ epoch' = epoch", "/\\ epoch' = epoch - 1")
    assert endless != text
    file = bench.tree / "ballot/Ballot.tla"
    file.write_text(endless, encoding="utf-8")
    try:
        spec = load_model(replace(model, config=_unchecked(model)), baseline.classes)
    finally:
        file.write_text(text, encoding="utf-8")
    found = search(baseline, spec, ANY, Limits(100, 60.0))
    assert found.cut == "more than 100 new states"
    late = search(baseline, spec, ANY, Limits(10**9, 0.0))
    assert late.cut == "more than 0 s"


def _unchecked(model: Model) -> Path:
    path = model.config.with_name("Unchecked.cfg")
    text = model.config.read_text(encoding="utf-8")
    path.write_text(text[: text.index("INVARIANTS")], encoding="utf-8")
    return path


def whole(bench: Bench, mutant: Mutant, model: Model) -> tuple[str | None, int]:
    """Return what a search of every state finds that knows nothing of the model before."""
    file = bench.tree / mutant.file
    before = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        found = explore(load_model(model, TlcClasses()), limit=1000)
    finally:
        file.write_text(before, encoding="utf-8")
    return (None if found.violation is None else found.violation.name), found.distinct


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("name", "every"), [("MCBallot", 12), ("MCBallotSymmetric", 25)])
def test_the_short_way_finds_what_the_whole_search_finds(
    bench: Bench, name: str, every: int
) -> None:
    model = named_model(bench, name)
    mutants = mutants_of("ballot").mutants[::every]
    assert len(mutants) > 2
    for mutant in mutants:
        trial = bench.try_on(mutant, model)
        violated, distinct = whole(bench, mutant, model)
        assert (trial.answer is Answer.PROPERTY) == (violated is not None), mutant.id
        if violated is None and trial.answer is Answer.COUNT:
            assert trial.detail == f"{distinct} states for {model.distinct}"
        if trial.answer in (Answer.SAME, Answer.DIFFERENT):
            assert distinct == model.distinct


@pytest.mark.nightly
def test_a_temporal_property_kills_what_no_state_shows(bench: Bench) -> None:
    model = named_model(bench, "MCBallotLive")
    stuck = bench.try_on(named("ballot", "Ballot.Open.negate-guard.e15"), model)
    assert (stuck.answer, stuck.detail) == (Answer.PROPERTY, "DoneLive")
    assert bench.try_on(named("ballot", "Ballot.Grant.drop-guard.38b"), model).answer is Answer.SAME
    other = bench.try_on(named("ballot", "Ballot.Close.drop-update.616"), model)
    assert other.answer is Answer.DIFFERENT


def test_a_property_that_means_something_else_is_asked_again(bench: Bench, model: Model) -> None:
    # Both sides of the property change, and no step does: only asking all again finds it.
    file = bench.tree / "ballot" / "BallotProperties.tla"
    text = file.read_text(encoding="utf-8")
    baseline = bench.prepare(model)
    file.write_text(text.replace("= epoch + 1]", "= epoch + 2]"), encoding="utf-8")
    try:
        spec = load_model(model, baseline.classes)
    finally:
        file.write_text(text, encoding="utf-8")
    limits = Limits(100, 60.0)
    nothing = frozenset[str]()
    unasked = search(baseline, spec, Impact(nothing, False, nothing), limits)
    asked = search(baseline, spec, Impact(nothing, False, frozenset({"EpochGrowsProp"})), limits)
    assert unasked.is_same
    assert unasked.violated is None
    assert asked.violated == "EpochGrowsProp"


@pytest.mark.parametrize(
    ("start", "answer", "detail"),
    [
        ("Rising.Rise.off-by-one.8b3", Answer.PROPERTY, "RefinesRisingProp"),
        ("Rising.Rise.negate-guard.294", Answer.PROPERTY, "RefinesRisingProp"),
        ("Rising.Rise.drop-guard.7fb", Answer.SAME, ""),
        ("Turning.Turn.swap-branches.ba5", Answer.PROPERTY, "RefinesTurningProp"),
        ("Refined.Step.off-by-one.850", Answer.PROPERTY, "RefinesRisingProp"),
    ],
)
@pytest.mark.parametrize("line", ["", "(* One line more. *)\n"])
def test_one_of_two_refinements_notices_what_it_refines_no_more(
    bench: Bench, start: str, answer: Answer, detail: str, line: str
) -> None:
    # TLC calls a part of a specification by its place alone, which a line more moves.
    mutant = named("refined", start)
    moved = replace(mutant, text=mutant.text.replace("(*", f"{line}(*", 1))
    trial = bench.try_on(moved, named_model(bench, "Refined"))
    assert (trial.answer, trial.detail) == (answer, detail)


def test_the_baseline_has_the_graph_that_tlc_has(model: Model) -> None:
    baseline = Baseline.of(model)
    assert len(baseline.states) == 19
    assert len(baseline.targets) + 1 == baseline.generated
    assert baseline.taken == {"Open", "Grant", "Close", "Abandon"}
    assert sum(baseline.witnessed["DoneReach"]) == 1


def test_trials_are_values() -> None:
    trial = Trial("a", "b", Answer.SAME, "", 0.1)
    assert trial == replace(trial)
    assert {answer for answer in Answer if answer.is_last} == {
        Answer.PROPERTY, Answer.ERROR, Answer.WITNESS, Answer.UNPARSABLE,
    }  # fmt: skip
