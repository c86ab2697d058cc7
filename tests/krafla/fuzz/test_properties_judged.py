"""Which properties, actions and witnesses the judges have, and which are left out of some runs."""

from __future__ import annotations

from krafla.fuzz.metadata.system import CONFIGURATIONS as METADATA
from krafla.fuzz.reassignment.system import CONFIGURATIONS as REASSIGNMENT
from krafla.fuzz.registration.system import CONFIGURATIONS as REGISTRATION
from krafla.refinement.metadata import spec as metadata
from krafla.refinement.reassignment import spec as reassignment
from krafla.refinement.registration import spec as registration


def counts(judged):
    """Return how many invariants, properties of steps, and witnesses a judge has."""
    properties = judged.properties
    return len(properties.invariants), len(properties.steps), len(properties.witnesses)


def test_the_judge_of_metadata_leaves_out_one_invariant_in_transactions():
    judged = metadata.load(METADATA["controllers"])
    assert len(judged.spec.actions) == 18
    assert len(judged.properties.witnesses) == 13
    plain = metadata.properties_for(METADATA["failovers"])
    assert "NoReadYourUncommittedInv" in plain.invariants
    assert "UnchangedIsCurrentProp" not in plain.steps
    assert len(plain.invariants) >= 14
    assert len(plain.steps) >= 8
    between = metadata.properties_for(METADATA["transactions"])
    assert set(plain.invariants) - set(between.invariants) == {"NoReadYourUncommittedInv"}


def test_the_judge_of_reassignment_leaves_out_only_what_models_show_to_be_false():
    plain = reassignment.left_out(REASSIGNMENT["moves"])
    assert plain == {"AddingRemovingDisjointInv", "TargetHonouredProp"}
    invariants, steps, witnesses = counts(reassignment.load(REASSIGNMENT["moves"]))
    assert invariants >= 14
    assert steps >= 9
    assert witnesses == 25
    for configuration in REASSIGNMENT.values():
        if configuration.min_isr is None:
            assert reassignment.left_out(configuration) >= plain
        else:
            assert reassignment.left_out(configuration) == {"ElrSubsetReplicasInv"}
    invariants, steps, _ = counts(reassignment.load(REASSIGNMENT["eligible"]))
    assert invariants >= 14
    assert steps >= 7


def test_the_judge_of_registration_leaves_out_only_what_models_show_to_be_false():
    assert registration.left_out(REGISTRATION["registers"]) == frozenset()
    for name in ("gate", "older-software", "dynamic-quorum"):
        assert registration.left_out(REGISTRATION[name]) == {"UpgradeSupportedByAllInv"}
    assert "SentOnlyWhenNeededProp" in registration.left_out(REGISTRATION["eager"])
    assert counts(registration.load(REGISTRATION["registers"])) == (10, 12, 7)
