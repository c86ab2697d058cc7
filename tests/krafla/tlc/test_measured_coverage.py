"""The coverage that is kept of models: used as long as it is theirs, and noticed when it is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.krafla.cli.lamp_room import edit, krafla, lay_out

from krafla.manifest import load
from krafla.tlc.measured_coverage import (
    coverage_file,
    find_coverage,
    keep_coverage,
)
from krafla.tlc.model_check import check_model, evidence
from krafla.verdict import ExitCode, KraflaError, Verdict

DIM = "Dim == is_on /\\ is_on' = FALSE /\\ UNCHANGED presses"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A model of the room with its measured run."""
    specs = lay_out(tmp_path_factory.mktemp("measured"))
    model = model_of(specs)
    return check_model(model, workers=1).result


@pytest.fixture
def specs(tmp_path, measured):
    """The room with the coverage of LampLong kept."""
    specs = lay_out(tmp_path)
    keep_coverage([(model_of(specs), measured)])
    return specs


def model_of(specs):
    return load(specs).select(("LampLong",))[0]


def stale_models(models):
    """Return the models whose coverage is not kept, or is of other files."""
    measured = [one for one in models if one.expect == "holds" and one.kind != "simulation"]
    return tuple(one for one in measured if find_coverage(one) is None)


def entry_of(specs):
    path = coverage_file(model_of(specs))
    return path, json.loads(path.read_text())


def test_every_smoke_model_has_a_kept_coverage_of_its_files():
    stale = [model.name for model in stale_models(load().select(tier="smoke"))]
    assert not stale, f"measure them: krafla check {' '.join(stale)} --pin"


def test_what_is_kept_is_what_was_measured_and_is_not_measured_again(specs, measured):
    check = check_model(model_of(specs), workers=1)
    assert check.coverage_is_kept
    assert "-coverage" in measured.java_command
    assert "-coverage" not in check.result.java_command
    assert check.verdict is Verdict.HELD
    found = [(one.name, one.taken, one.distinct) for one in check.result.coverage]
    assert found == [(one.name, one.taken, one.distinct) for one in measured.coverage]
    assert "2 of 2 actions taken, as measured before" in evidence(check)


def test_a_model_that_must_fail_is_not_measured(specs):
    (model,) = load(specs).select(("LampOn",))
    assert "-coverage" not in check_model(model, workers=1).result.java_command
    assert stale_models([model]) == ()


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "Lamp.tla",
            "Next ==",
            "Dim == is_on /\\ is_on' = FALSE /\\ UNCHANGED presses\nNext == Dim \\/",
        ),
        ("LampLong.cfg", "Limit = 4", "Limit = 5"),
        ("models.toml", 'bounds = "four presses"', 'bounds = ""\nwitnesses = ["OnReach"]'),
    ],
    ids=["an action more", "another bound", "another witness"],
)
def test_a_change_of_what_is_searched_makes_the_coverage_stale(specs, file, old, new):
    assert stale_models([model_of(specs)]) == ()
    path = specs / "lamp" / file
    head, found, tail = path.read_text().rpartition(old)
    assert found
    path.write_text(f"{head}{new}{tail}")
    assert [one.name for one in stale_models([model_of(specs)])] == ["LampLong"]
    assert "-coverage" in check_model(model_of(specs), workers=1).result.java_command


def test_a_comment_changes_nothing(specs):
    path = specs / "lamp" / "Lamp.tla"
    edit(path, "Next ==", "\\* What may happen.\n\nNext ==")
    assert stale_models([model_of(specs)]) == ()


@pytest.mark.parametrize("change", ["count", "name", "generated"])
def test_an_edit_of_the_file_by_hand_makes_it_stale(specs, change):
    path, kept = entry_of(specs)
    entry = kept["LampLong"]
    if change == "count":
        entry["actions"]["Press"][0] += 1
    elif change == "name":
        entry["actions"]["Switch"] = entry["actions"].pop("Press")
    else:
        entry["generated"] += 1
    path.write_text(json.dumps(kept))
    assert find_coverage(model_of(specs)) is None


@pytest.mark.by_day(1)
@pytest.mark.parametrize("entry", [3, {"digest": 3}, {}, None])
def test_an_entry_that_is_no_coverage_is_measured_anew(specs, entry):
    path, kept = entry_of(specs)
    path.write_text(json.dumps({"LampLong": entry}))
    assert krafla(specs, "check", "LampLong", "--pin").returncode == ExitCode.HELD
    assert json.loads(path.read_text()) == kept


@pytest.mark.parametrize("text", ["{", "[]"])
def test_what_is_no_coverage_is_refused_with_its_file(specs, text):
    path = coverage_file(model_of(specs))
    path.write_text(text)
    with pytest.raises(KraflaError) as refused:
        find_coverage(model_of(specs))
    assert refused.value.place == str(path)
    assert "remove it, and krafla check --pin writes it again" in str(refused.value)


def test_counts_of_another_search_are_doubted(specs, measured):
    keep_coverage([(model_of(specs), replace(measured, generated=measured.generated + 1))])
    check = check_model(model_of(specs), workers=1)
    assert check.verdict is Verdict.INCONCLUSIVE
    assert check.judgement.reasons[0] == "it is not known whether every action was taken"
    assert "the kept coverage is of a search that generated" in check.judgement.reasons[1]


@pytest.mark.nightly
def test_a_wrong_count_is_found_where_all_is_measured_and_mended_by_pin(specs, measured):
    burn, press = sorted(measured.coverage, key=lambda one: one.name)
    forged = replace(measured, coverage=(replace(burn, taken=0), press))
    keep_coverage([(model_of(specs), forged)])
    check = check_model(model_of(specs), workers=1, measure=True)
    assert check.verdict is Verdict.INCONCLUSIVE
    assert check.judgement.reasons == ("the kept coverage is wrong about Burn",)
    assert krafla(specs, "check", "LampLong", "--measure").returncode == ExitCode.INCONCLUSIVE
    said = krafla(specs, "check", "LampLong", "--pin")
    assert said.returncode == ExitCode.HELD, said.stdout
    assert check_model(model_of(specs), workers=1, measure=True).verdict is Verdict.HELD
