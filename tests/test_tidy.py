"""The house rules, applied to this repository. test_tidy_rules.py shows that each can fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tidy import (
    code_rules,
    dead_names,
    document_rules,
    family_rules,
    generic_rules,
    house_rules,
    spec_rules,
    text_rules,
)
from tests.tidy.commit_rules import subject_objection, subjects_since_the_rule

ROOT = Path(__file__).resolve().parents[1]

# Each rule, with the files whose presence means that it must have had something to look at.
RULES = [
    (code_rules.files_are_short, "impl/**/*.py"),
    (code_rules.functions_are_short, "tests/**/*.py"),
    (code_rules.public_names_have_docstrings, "impl/**/*.py"),
    (code_rules.packages_do_not_print, "impl/*/*/*.py"),
    (code_rules.errors_are_not_swallowed, "tests/tidy/*.py"),
    (code_rules.silenced_checks_give_a_reason, "tests/tidy/*.py"),
    (code_rules.tests_can_fail, "tests/**/test_*.py"),
    (house_rules.rooms_have_one_word, house_rules.COMMAND),
    (house_rules.class_names_are_not_crowded, "impl/**/*.py"),
    (house_rules.public_methods_have_callers, "impl/**/*.py"),
    (house_rules.spark_works_on_data_frames, "model/krafla/pipeline/*.py"),
    (dead_names.names_of_modules_are_used, "impl/**/*.py"),
    (generic_rules.generic_rooms_know_no_protocol, "model/krafla/match/*.py"),
    (text_rules.no_forbidden_words, "README.md"),
    (spec_rules.spec_references_resolve, "impl/kraft/controller/*.py"),
    (spec_rules.kafka_references_name_a_class, "impl/kraft/records/*.py"),
    (spec_rules.every_model_is_in_the_manifest, "specs/manifest.toml"),
    (document_rules.links_resolve, "CONTRIBUTING.md"),
    (document_rules.claims_are_shown, "docs/claims.md"),
    (document_rules.differences_are_shown, "docs/kip-differences.md"),
    (document_rules.names_agree, "specs/lease/BrokerLease.tla"),
    (document_rules.unnamed_actions, "specs/lease/BrokerLease.tla"),
    (family_rules.every_action_has_a_name, "specs/lease/BrokerLease.tla"),
    (family_rules.every_property_is_claimed, "specs/lease/BrokerLease.tla"),
    (family_rules.claims_rest_on_what_they_name, "docs/claims.md"),
    (family_rules.variables_are_in_the_dictionary, "specs/README.md"),
]


@pytest.mark.parametrize(("rule", "guarded"), RULES, ids=[rule.__name__ for rule, _ in RULES])
def test_the_repository_keeps_the_rule(rule, guarded):
    inspection = rule(ROOT)

    assert not inspection.findings, "\n" + "\n".join(map(str, inspection.findings))
    assert inspection.looked_at or not any(ROOT.glob(guarded)), "the rule looked at nothing"


def test_every_rule_is_applied():
    modules = (
        code_rules,
        document_rules,
        family_rules,
        generic_rules,
        dead_names,
        house_rules,
        spec_rules,
        text_rules,
    )
    written = {
        value.__name__
        for module in modules
        for value in vars(module).values()
        if callable(value) and getattr(value, "__annotations__", {}).get("return") == "Inspection"
    }

    assert written == {rule.__name__ for rule, _ in RULES}


def test_commits_have_imperative_subjects_of_at_most_72_characters():
    subjects = subjects_since_the_rule(ROOT)
    if subjects is None:
        pytest.skip("not a checkout: there are no commits to read")
    objections = {one: subject_objection(one) for one in subjects}

    assert not {one: why for one, why in objections.items() if why}
