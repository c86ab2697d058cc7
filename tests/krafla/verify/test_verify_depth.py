"""The two depths of a verification, compared with the manifest: nothing is in neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from night.stages import Night, stages

from krafla.fuzz.engine.system import NAMES
from krafla.manifest import find_specs, load
from krafla.proofs.plans import load_plans
from krafla.tlc.together import manifest_doubts
from krafla.verify import Kind, all_questions, first_questions

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def manifest():
    return load()


@pytest.fixture(scope="module")
def first():
    return first_questions()


@pytest.fixture(scope="module")
def full():
    return all_questions()


def names(questions, *kinds):
    return [one.name for one in questions if one.kind in kinds]


def test_no_question_is_asked_twice(first, full):
    for questions in (first, full):
        titles = [one.title for one in questions]
        assert len(titles) == len(set(titles))


def test_the_full_depth_asks_about_every_smoke_model_and_the_night_about_the_others(full, manifest):
    smoke = [model.name for model in manifest.select(tier="smoke")]
    asked = names(full, Kind.MODEL, Kind.EXPECTED_FAILURE)
    assert sorted(asked) == sorted([*smoke, "all models together"])
    assert full[-1].name == "all models together"
    # Whatever is in no smoke model is asked at night, with every tier.
    night = {stage.name: stage for stage in stages(Night(ROOT / "build", 1))}
    assert night["models"].commands[0].words[1:4] == ("check", "--tier", "all")


def test_a_model_is_named_for_every_claim_and_every_cfg(manifest):
    assert manifest_doubts(manifest) == ()


def test_the_full_depth_asks_all_that_the_first_does(first, full):
    asked = {one.title for one in full}
    left = {one.title for one in first} - asked
    # Its fuzzing would take minutes: it has a command and a night of its own.
    assert left == {"fuzz cluster"}


def test_the_first_verdict_asks_about_every_protocol(first, manifest):
    chosen = [one for one in manifest.models if "first" in one.tags]
    assert names(first, Kind.MODEL, Kind.EXPECTED_FAILURE) == [one.name for one in chosen]
    rooms = {one.room for one in manifest.models} - {"lib"}
    assert rooms | {"stack"} == set(NAMES)
    for room in rooms:
        kinds = {one.kind for one in chosen if one.room == room and one.expect == "holds"}
        assert kinds == {"safety", "refinement"}, room
    findings = [one for one in chosen if one.expect == "violates"]
    assert len(findings) == 3
    assert all("Kafka as built" in one.bounds for one in findings)


def test_the_first_verdict_proves_all_that_its_proofs_rely_on(first, full):
    assert names(first, Kind.PROOF) == ["lease: epochs", "lease: processes"]
    assert len(names(full, Kind.PROOF)) == 4
    for plan in load_plans(find_specs(), "lease"):
        if f"lease: {plan.name}" in names(first, Kind.PROOF):
            assert {f"lease: {one}" for one in plan.after} <= {*names(first, Kind.PROOF)}


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_of_question_is_asked_at_both_depths(first, full, kind):
    assert names(first, kind)
    assert set(names(first, kind)) <= {*names(full, kind), "cluster"}


def test_every_system_is_fuzzed_and_at_full_depth_must_be_covered(first, full):
    assert names(first, Kind.FUZZ) == list(NAMES)
    assert sorted(names(full, Kind.FUZZ)) == sorted(set(NAMES) - {"cluster"})
    assert all(
        ("--require-coverage" in one.reproduce) is (questions is full)
        for questions in (first, full)
        for one in questions
        if one.kind is Kind.FUZZ
    )


def test_ci_asks_everything():
    assert "stage verify VERIFY_ARGS=--full" in (ROOT / ".ci" / "run").read_text()
    assert "krafla verify $(VERIFY_ARGS)" in (ROOT / "Makefile").read_text()
