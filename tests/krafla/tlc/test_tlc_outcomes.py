"""Every way in which TLC can end, brought about with the real TLC.

By day all runs follow one another in one JVM, at night also each in its own: what one leaves
behind must not change how another ends.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest

from krafla.tlc import run as tlc_run
from krafla.tlc.judge import judge
from krafla.tlc.outcome import (
    ActionPropertyViolated,
    AssertionFailed,
    AssumptionFailed,
    ConfigError,
    Deadlock,
    EvaluationError,
    Finished,
    Interrupted,
    InvariantViolated,
    SpecError,
    TemporalPropertyViolated,
    Unknown,
)
from krafla.tlc.run import Simulation
from krafla.tlc.warm_java import warm_javas
from krafla.traces import ClaimKind
from krafla.values import ModelValue, record
from krafla.verdict import Verdict

# Runs that count coverage do not share a JVM.
run = partial(tlc_run.run, coverage=False)


@pytest.fixture(
    scope="module", autouse=True, params=["shared", pytest.param("own", marks=pytest.mark.nightly)]
)
def java(request):
    with warm_javas() if request.param == "shared" else nullcontext():
        yield


def actions_of(result):
    return [step.action for step in result.counterexample.steps]


def test_a_model_without_error_finishes_with_its_counts(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT AtMostThree"))

    assert isinstance(result.outcome, Finished)
    assert result.outcome.collision_probability < 1e-9
    assert (result.generated, result.distinct, result.queue_left) == (17, 9, 0)
    assert result.counterexample is None


def test_a_violated_invariant_is_named_and_shown(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT BelowTwo"))

    assert result.outcome == InvariantViolated("BelowTwo")
    assert actions_of(result) == ["Init", "Up", "Up"]
    entry = record(kind="up", by=frozenset({ModelValue("Nil"), "x"}))
    assert result.counterexample.steps[-1].state == record(count=2, log=(entry, entry))
    assert result.counterexample.constants == (("Limit", 3), ("Nil", ModelValue("Nil")))
    assert result.counterexample.claim.property == "BelowTwo"


def test_an_invariant_violated_at_the_start_shows_the_initial_state(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT PositiveAtFirst"))

    assert result.outcome == InvariantViolated("PositiveAtFirst", initial=True)
    assert [step.state for step in result.counterexample.steps] == [record(count=0, log=())]


def test_a_violated_action_property_is_named(counter):
    result = run(counter("SPECIFICATION Spec\nPROPERTY OnlyUp"))

    assert result.outcome == ActionPropertyViolated("OnlyUp")
    assert actions_of(result) == ["Init", "Up", "Down"]


def test_a_step_whose_disjunct_depends_on_the_state_gets_the_name_of_its_operator(counter):
    result = run(counter("SPECIFICATION Spec\nPROPERTY NothingForgotten"))

    assert result.outcome == ActionPropertyViolated("NothingForgotten")
    assert actions_of(result) == ["Init", "Up", "Up", "Forget"]


def test_a_temporal_property_is_violated_by_a_lasso(counter):
    result = run(counter("SPECIFICATION FairSpec\nPROPERTY Climbs"))

    assert result.outcome == TemporalPropertyViolated(("Climbs",))
    assert actions_of(result) == ["Init", "Up"]
    assert (result.counterexample.lasso, result.counterexample.back) == (0, "Down")
    assert not result.counterexample.stutters


def test_a_temporal_property_is_violated_by_stuttering(counter):
    result = run(counter("SPECIFICATION Spec\nPROPERTY Climbs"))

    assert result.outcome == TemporalPropertyViolated(("Climbs",))
    assert result.counterexample.stutters


@pytest.mark.nightly
def test_of_several_temporal_properties_the_failing_one_is_found(counter):
    result = run(counter("SPECIFICATION FairSpec\nPROPERTIES NeverShrinks Climbs"))

    assert result.outcome == TemporalPropertyViolated(("Climbs",))
    assert result.counterexample.claim.kind is ClaimKind.TEMPORAL_PROPERTY
    assert result.counterexample.claim.property == "Climbs"


@pytest.mark.nightly
def test_a_failing_refinement_is_named_though_tlc_gives_a_place_only(make_model):
    config = "SPECIFICATION Spec\nPROPERTIES RefinesChange RefinesGrowth"

    result = run(make_model(config, "Refines"))

    assert result.outcome == ActionPropertyViolated("RefinesGrowth", "Abstract:6")
    assert actions_of(result) == ["Init", "Next", "Next", "Next"]


def test_a_refinement_that_fails_at_the_start_says_so(make_model):
    result = run(make_model("SPECIFICATION Spec\nPROPERTY RefinesStart", "Refines"))

    assert result.outcome == ActionPropertyViolated("RefinesStart", "Abstract:7", initial=True)


def test_a_state_without_successor_is_a_deadlock(make_model):
    config = "CONSTANTS Limit = 3 Nil = Nil\nSPECIFICATION StopSpec"

    result = run(make_model(config))

    assert result.outcome == Deadlock()
    assert actions_of(result) == ["Init", "StopsAtOne"]


def test_a_false_assumption_is_told_with_its_place(make_model):
    result = run(make_model("CONSTANT N = 3\nINIT Init\nNEXT Next", "Assumes"))

    assert isinstance(result.outcome, AssumptionFailed)
    assert result.outcome.location == "Assumes:5"


def test_an_assumption_without_value_is_told_with_its_place(make_model):
    result = run(make_model('CONSTANT N = "a"\nINIT Init\nNEXT Next', "Assumes"))

    assert isinstance(result.outcome, AssumptionFailed)
    assert "should be an integer" in result.outcome.message


def test_a_failed_assertion_in_an_invariant_carries_its_message(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT AssertsBelowTwo"))

    assert result.outcome == AssertionFailed('"reached two"')
    assert len(result.counterexample) == 3


def test_a_failed_assertion_in_an_action_carries_its_place(counter):
    result = run(counter("INIT Init\nNEXT TooFar"))

    assert isinstance(result.outcome, AssertionFailed)
    assert result.outcome.message == '"stepped too far"'
    assert result.outcome.location.startswith("Counter:")


def test_an_invariant_without_value_is_an_evaluation_error(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT LooksTooFar"))

    assert isinstance(result.outcome, EvaluationError)
    assert result.outcome.during == "LooksTooFar"
    assert len(result.counterexample) == 3


def test_an_action_without_value_is_an_evaluation_error_with_its_line(counter):
    model = counter("INIT Init\nNEXT EmptyHead")
    lines = model.module.read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith("EmptyHead"))

    result = run(model)

    assert isinstance(result.outcome, EvaluationError)
    assert result.outcome.location == f"Counter:{line}"


def test_a_field_that_a_record_lacks_is_an_evaluation_error_without_java_frames(counter):
    result = run(counter("INIT Init\nNEXT NoField"))

    assert isinstance(result.outcome, EvaluationError)
    assert result.outcome.message.startswith('Attempted to select nonexistent field "b"')
    assert "\tat " not in result.outcome.message


def test_an_initial_state_that_an_invariant_cannot_judge_is_an_evaluation_error(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT NoNumberInv"))

    assert isinstance(result.outcome, EvaluationError)
    assert "While working" not in result.outcome.message


def test_a_successor_that_leaves_a_variable_open_is_an_evaluation_error(counter):
    result = run(counter("SPECIFICATION HalfSpec"))

    assert isinstance(result.outcome, EvaluationError)
    assert result.counterexample.steps[-1].state == record(count=1, log=ModelValue("null"))


@pytest.mark.nightly
def test_endless_recursion_is_not_called_an_answer_and_shows_no_java_frames(counter):
    result = run(counter("INIT Init\nNEXT StackStep"))

    assert isinstance(result.outcome, Unknown)
    assert "\tat " not in str(result.outcome)


def test_a_syntax_error_is_told_with_file_and_line(make_model):
    text = "---- MODULE Broken ----\nVARIABLE x\nInit == x = 0 /\\\nNext == x' = x\n====\n"

    result = run(make_model("INIT Init\nNEXT Next", "Broken", text=text))

    assert isinstance(result.outcome, SpecError)
    assert (result.outcome.file.endswith("Broken.tla"), result.outcome.line) == (True, 4)


def test_an_unknown_operator_is_told_with_file_and_line(make_model):
    text = "---- MODULE Broken ----\nVARIABLE x\nInit == x = 0\nNext == x' = y\n====\n"

    result = run(make_model("INIT Init\nNEXT Next", "Broken", text=text))

    assert result.outcome == SpecError("Unknown operator: `y'.", result.outcome.file, 4, 14)
    assert result.outcome.file.endswith("Broken.tla")


def test_a_missing_module_is_named(make_model):
    text = "---- MODULE Broken ----\nEXTENDS Nowhere\n====\n"

    result = run(make_model("INIT Init\nNEXT Next", "Broken", text=text))

    assert isinstance(result.outcome, SpecError)
    assert "Nowhere" in result.outcome.message


def test_a_constant_without_value_is_a_config_error_naming_the_cfg(make_model):
    model = make_model("CONSTANT Nil = Nil\nSPECIFICATION Spec")

    result = run(model)

    assert isinstance(result.outcome, ConfigError)
    assert "Limit" in result.outcome.message
    assert result.outcome.file == str(model.config)


def test_a_property_the_spec_does_not_define_is_a_config_error(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT NoSuchInvariant"))

    assert isinstance(result.outcome, ConfigError)
    assert "NoSuchInvariant" in result.outcome.message


def test_an_invariant_that_is_no_state_predicate_is_a_config_error(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT Climbs"))

    assert isinstance(result.outcome, ConfigError)
    assert "Climbs" in result.outcome.message


def test_a_cfg_that_does_not_parse_is_told_with_its_line(make_model):
    result = run(make_model("CONSTANT Nil = Nil Limit = 1\nSPECIFICATION Spec\nFROBNICATE x"))

    assert isinstance(result.outcome, ConfigError)
    assert result.outcome.line == 3


def test_a_spec_without_initial_state_is_not_called_correct(counter):
    result = run(counter("SPECIFICATION VacuousSpec"))

    assert isinstance(result.outcome, Unknown)
    assert "no initial state" in result.outcome.reason


def test_a_run_that_exceeds_its_time_is_interrupted(counter):
    result = run(counter("SPECIFICATION Spec"), timeout=0.001)

    assert isinstance(result.outcome, Interrupted)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("workers", [1, 2])
def test_the_number_of_workers_does_not_change_the_distinct_states(counter, workers):
    assert run(counter("SPECIFICATION Spec"), workers=workers).distinct == 9


def test_simulation_reports_that_it_was_one(counter):
    result = run(counter("SPECIFICATION Spec"), simulation=Simulation(20, depth=5, seed=3))

    assert result.outcome == Finished(simulated=True)
    assert result.distinct is None


def test_simulation_finds_a_violation_and_shows_it(counter):
    model = counter("SPECIFICATION Spec\nINVARIANT BelowTwo")

    result = run(model, simulation=Simulation(100, depth=20, seed=3))

    assert result.outcome == InvariantViolated("BelowTwo")
    assert result.counterexample.steps[-1].state["count"] == 2


def test_a_postcondition_that_this_tlc_cannot_ask_is_not_green(counter):
    model = counter("SPECIFICATION Spec\nPOSTCONDITION Late\nALIAS Short")
    result = run(model)

    assert isinstance(result.outcome, Finished)
    judgement = judge(replace(model, distinct=result.distinct, properties=0), result)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons[0].startswith("POSTCONDITION Late is not asked")


def test_an_operator_that_a_cfg_gives_a_value_is_no_foreign_name(make_model):
    text = (
        "---- MODULE Named ----\nNone == CHOOSE x : x # 0\nVARIABLE x\nInit == x = None\n"
        "Next == UNCHANGED x\n====\n"
    )
    config = "INIT Init\nNEXT Next\nCONSTANT None = None\n"

    assert isinstance(run(make_model(config, "Named", text=text)).outcome, Finished)


def test_a_module_of_assumptions_alone_is_judged_by_them(make_model):
    text = "---- MODULE Sums ----\nEXTENDS Naturals\nASSUME 2 + 2 = 4\n====\n"
    model = make_model("", "Sums", text=text)
    result = tlc_run.run(model, coverage=False, progress=lambda _: None)

    assert result.outcome == Finished(assumptions_only=True)
    assert judge(model, result).verdict is Verdict.HELD
    assert judge(replace(model, distinct=7), result).verdict is Verdict.INCONCLUSIVE
