"""When a run is believed, and when not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from krafla.manifest import Model
from krafla.tlc.judge import judge
from krafla.tlc.outcome import (
    AssumptionFailed,
    ConfigError,
    Deadlock,
    EvaluationError,
    Finished,
    Interrupted,
    InvariantViolated,
    Killed,
    OutOfMemory,
    SpecError,
    TemporalPropertyViolated,
    TooManyStates,
    Unknown,
)
from krafla.tlc.run import ActionCoverage, RunResult, Simulation
from krafla.traces import Step, Trace
from krafla.values import Function
from krafla.verdict import KraflaError, Verdict

MODEL = Model(
    "M", Path("M.tla"), Path("M.cfg"), (), "M", distinct=10, properties=1, witnesses=("ReachOne",),
    witness_count=1,
)  # fmt: skip
BROKEN = replace(MODEL, expect="violates", property="Safe", distinct=None)
RESULT = RunResult(
    outcome=Finished(1e-12),
    generated=20,
    distinct=10,
    depth=3,
    queue_left=0,
    seconds=1.0,
    coverage=(ActionCoverage("Up", 12, 6, "M:3"), ActionCoverage("Down", 8, 4, "M:5")),
    reached=("ReachOne",),
    reached_at_start=(),
    counterexample=None,
    simulation=None,
    version="",
    java=None,
    jar=None,
    exit_status=0,
    warnings=(),
    printed=(),
    java_command=(),
    reproduce="",
    checked=("Safe",),
)


def test_a_complete_run_with_every_pin_met_holds():
    assert judge(MODEL, RESULT).verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"distinct": 9}, "9 distinct states, but 10 are pinned"),
        ({"distinct": 11}, "11 distinct states, but 10 are pinned"),
        ({"checked": ()}, "0 properties in the cfg, but 1 are pinned"),
        ({"checked": ("Safe", "More")}, "2 properties in the cfg, but 1 are pinned"),
        ({"reached": ()}, "witness ReachOne was not reached"),
        (
            {"reached_at_start": ("ReachOne",)},
            "witness ReachOne is true before any step: it shows nothing of the spec",
        ),
        ({"coverage": None}, "it is not known whether every action was taken"),
        ({"coverage": ()}, "the spec has no action"),
        (
            {"coverage": (ActionCoverage("Up", 12, 6, "M:3"), ActionCoverage("Down", 0, 0, "M:5"))},
            "action Down was never taken (M:5)",
        ),
    ],
    ids=[
        "too few",
        "too many",
        "none checked",
        "one more checked",
        "no witness",
        "a witness that is always there",
        "no coverage",
        "no action",
        "untaken action",
    ],
)
def test_a_run_without_error_that_proves_too_little_is_inconclusive(change, reason):
    judgement = judge(MODEL, replace(RESULT, **change))

    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == (reason,)


def test_a_model_without_a_pinned_number_is_inconclusive_and_told_the_number():
    judgement = judge(replace(MODEL, distinct=None), RESULT)

    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == ("no number of distinct states is pinned; found 10",)


def test_a_model_without_a_pinned_number_of_properties_is_inconclusive():
    judgement = judge(replace(MODEL, properties=None), RESULT)

    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == ("no number of properties in the cfg is pinned; found 1",)


def test_a_pinned_number_of_generated_states_is_compared_too():
    assert judge(replace(MODEL, generated=21), RESULT).verdict is Verdict.INCONCLUSIVE


def test_an_excused_action_need_not_be_taken():
    coverage = (*RESULT.coverage, ActionCoverage("Crash", 0, 0, "M:9"))
    excused = replace(MODEL, untaken=(("Crash", "no crash within these bounds"),))

    assert judge(excused, replace(RESULT, coverage=coverage)).verdict is Verdict.HELD


@pytest.mark.parametrize("name", ["Up", "NoSuchAction"])
def test_an_excuse_that_excuses_nothing_is_inconclusive(name):
    judgement = judge(replace(MODEL, untaken=((name, "stale"),)), RESULT)

    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert name in judgement.reasons[0]


@pytest.mark.parametrize(
    "outcome", [InvariantViolated("Safe"), Deadlock(), TemporalPropertyViolated(("Live",))]
)
def test_a_violation_is_violated(outcome):
    assert judge(MODEL, replace(RESULT, outcome=outcome)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "outcome",
    [Unknown("?"), Killed(9), OutOfMemory("heap"), Interrupted("time"), TooManyStates("many")],
)
@pytest.mark.parametrize("model", [MODEL, BROKEN])
def test_an_answer_that_did_not_come_is_inconclusive(model, outcome):
    assert judge(model, replace(RESULT, outcome=outcome)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "outcome",
    [SpecError("s"), ConfigError("c"), AssumptionFailed("M:1", "a"), EvaluationError("e")],
)
@pytest.mark.parametrize("model", [MODEL, BROKEN])
def test_a_faulty_question_is_an_error_not_a_verdict(model, outcome):
    with pytest.raises(KraflaError, match="model M"):
        judge(model, replace(RESULT, outcome=outcome))


def test_an_expected_failure_holds_if_the_named_property_failed():
    result = replace(RESULT, outcome=InvariantViolated("Safe"))

    assert judge(BROKEN, result).verdict is Verdict.HELD


def test_an_expected_failure_of_another_property_is_violated():
    judgement = judge(BROKEN, replace(RESULT, outcome=InvariantViolated("TypeOK")))

    assert judgement.verdict is Verdict.VIOLATED
    assert "only Safe should fail" in judgement.reasons[0]


def test_an_expected_failure_beside_another_is_violated():
    both = replace(RESULT, outcome=TemporalPropertyViolated(("Safe", "Alive")))

    assert judge(BROKEN, both).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("steps", "verdict"), [(1, Verdict.INCONCLUSIVE), (2, Verdict.HELD)])
def test_what_fails_before_any_step_shows_nothing(steps, verdict):
    trace = Trace("M", tuple(Step("Up", (), Function({"x": n})) for n in range(steps)))
    result = replace(RESULT, outcome=InvariantViolated("Safe"), counterexample=trace)

    assert judge(BROKEN, result).verdict is verdict


def test_a_property_that_a_cfg_lists_twice_counts_once():
    twice = replace(RESULT, checked=("Safe", "Safe"))

    judgement = judge(replace(MODEL, properties=2), twice)

    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert "1 properties in the cfg, but 2 are pinned" in judgement.reasons


def test_an_expected_failure_that_does_not_come_is_violated():
    assert judge(BROKEN, RESULT).verdict is Verdict.VIOLATED


def test_an_expected_temporal_failure_without_a_name_is_inconclusive():
    result = replace(RESULT, outcome=TemporalPropertyViolated())

    assert judge(BROKEN, result).verdict is Verdict.INCONCLUSIVE


def test_simulation_without_error_is_inconclusive_unless_the_model_is_one():
    result = replace(RESULT, outcome=Finished(simulated=True), simulation=Simulation(5))

    assert judge(MODEL, result).verdict is Verdict.INCONCLUSIVE
    assert judge(replace(MODEL, kind="simulation"), result).verdict is Verdict.HELD


def test_an_expected_failure_not_found_by_simulation_is_inconclusive():
    result = replace(RESULT, outcome=Finished(simulated=True), simulation=Simulation(5))

    assert judge(BROKEN, result).verdict is Verdict.INCONCLUSIVE
