"""One run tells which witnesses are reached, and how far it is each second."""

from __future__ import annotations

import pytest
from tests.krafla.unlisted_models import model_of

from krafla.tlc.outcome import Finished, InvariantViolated, SpecError
from krafla.tlc.probe import parse_probe, probe_module
from krafla.tlc.run import run

WITNESSES = ("ReachOne", "ReachThree", "ReachNine")


@pytest.mark.parametrize("workers", [1, 2])
def test_one_run_tells_the_witnesses_reached_from_those_that_are_not(counter, workers):
    result = run(counter("SPECIFICATION Spec", witnesses=WITNESSES), workers=workers)

    assert isinstance(result.outcome, Finished)
    assert result.reached == ("ReachOne", "ReachThree")


@pytest.mark.nightly
def test_the_probe_changes_neither_counts_nor_coverage_nor_answer(counter):
    bare = run(counter("SPECIFICATION Spec\nINVARIANT AtMostThree"))
    probed = run(
        counter("SPECIFICATION Spec\nINVARIANT AtMostThree", witnesses=WITNESSES),
        progress=lambda _: None,
    )

    assert (probed.distinct, probed.generated) == (bare.distinct, bare.generated)
    assert probed.coverage == bare.coverage
    assert [action.name for action in probed.coverage] == ["Up", "Down", "Forget"]


def test_a_violation_is_found_behind_the_probe(counter):
    result = run(counter("SPECIFICATION Spec\nINVARIANT BelowTwo", witnesses=WITNESSES))

    assert result.outcome == InvariantViolated("BelowTwo")
    assert result.reached == ("ReachOne",)


def test_a_witness_that_is_not_defined_is_an_error_that_says_where_it_was_named(counter):
    model = counter("SPECIFICATION Spec", witnesses=("ReachNowhere",), place="manifest.toml:7")

    outcome = run(model).outcome

    assert isinstance(outcome, SpecError)
    assert "ReachNowhere" in outcome.message
    assert "manifest.toml:7" in outcome.message


def test_progress_comes_at_least_once(counter):
    seen = []

    run(counter("SPECIFICATION Spec"), progress=seen.append)

    assert seen[-1].distinct == 9
    assert seen[-1].queue == 0


def test_a_module_need_not_extend_what_the_probe_counts_with(tmp_path):
    module, config = tmp_path / "Bare.tla", tmp_path / "Bare.cfg"
    module.write_text(
        "---- MODULE Bare ----\nVARIABLE lit\nInit == lit = FALSE\nNext == lit' = ~lit\n"
        "LitReach == lit\n====\n"
    )
    config.write_text("INIT Init\nNEXT Next\n")

    result = run(model_of(module, config, witnesses=("LitReach",)), progress=lambda _: None)

    assert isinstance(result.outcome, Finished)
    assert result.reached == ("LitReach",)
    assert result.reached_at_start == ()


def test_a_witness_that_is_true_before_any_step_is_told_apart(counter):
    model = counter("SPECIFICATION Spec", witnesses=("AtMostThree", "ReachOne"))

    result = run(model)

    assert result.reached == ("AtMostThree", "ReachOne")
    assert result.reached_at_start == ("AtMostThree",)


def test_lines_a_spec_prints_are_kept_apart_from_the_probe():
    assert parse_probe('<<"krafla reached", "ReachOne", 4>>') == ("ReachOne", 4)
    assert parse_probe('<<"krafla progress", 12, 3, 4>>') == (12, 3, 4)
    assert parse_probe('<<"krafla reached">>') is None
    assert parse_probe('"hello"') is None


def test_a_probe_of_nothing_is_still_a_module():
    assert probe_module("Counter", (), progress=False).count("TRUE") == 2
