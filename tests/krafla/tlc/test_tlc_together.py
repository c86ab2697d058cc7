"""What models show together: actions of Next, stand-ins, and claims that nobody asks about."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.krafla.cli.lamp_room import edit, lay_out

from krafla.manifest import load
from krafla.tlc.model_check import check_model
from krafla.tlc.next_actions import actions_of
from krafla.tlc.together import Shown, definitions, manifest_doubts, spec_totals
from krafla.verdict import KraflaError

MODULE = r"""---- MODULE Many ----
EXTENDS Naturals
VARIABLES x, y
(* Commented == x = 1 *)
Small == x < 3
Init == x = 0 /\ y = 0
Up(n) == x' = x + n /\ UNCHANGED y
Two == \/ Small /\ Up(2) \* no name of its own
       \/ x' = 0 /\ y' = 1
Mixed == Up(1) \/ (x' = 1 /\ y' = 2)
Down == x' = x - 1 /\ y' = y
Named(n) == Up(n) \/ Down
Handle(n) == LET m == n IN /\ y' = m /\ UNCHANGED x
Fallback == UNCHANGED <<x, y>>
Next == \/ \E n \in 1 .. 2 : Named(n)
        \/ Two
        \/ Mixed
        \/ Small /\ Fallback
        \/ \E n \in {y} : \/ Handle(n)
                          \/ Fallback
====
"""

DIMMER = r"""---- MODULE Dimmer ----
EXTENDS LampActions
Dim == is_on /\ is_on' = FALSE /\ UNCHANGED presses
Next == Press \/ Burn \/ Dim
KnownInv == is_on \in BOOLEAN
====
"""
DIMMER_CONFIG = """CONSTANT Limit = 2
INIT Init
NEXT Next
INVARIANT KnownInv
CHECK_DEADLOCK FALSE
"""
DIMMER_ENTRY = """
[[model]]
name = "Dimmer"
module = "lamp/Dimmer.tla"
cfg = "lamp/Dimmer.cfg"
spec = "Dimmer"
tier = "smoke"
kind = "safety"
expect = "holds"
distinct = 5
properties = 1
bounds = "two presses"
[model.untaken]
Burn = "two presses wear out no lamp"
"""


def shown_by(models):
    found = [Shown.by(check_model(model, workers=1)) for model in models]
    return [one for one in found if one is not None]


@pytest.fixture
def specs(tmp_path):
    return lay_out(tmp_path)


@pytest.fixture
def many(make_model):
    return make_model("INIT Init\nNEXT Next\n", "Many", text=MODULE)


def test_actions_are_what_next_chooses_among_by_name(many):
    # What has no name counts as the operator that it stands in.
    names = [one.name for one in actions_of(many)]
    assert names == ["Up", "Down", "Two", "Mixed", "Next", "Handle", "Fallback"]
    assert {one.module for one in actions_of(many)} == {"Many"}


def test_a_spec_without_its_module_or_without_next_is_an_error(many, make_model):
    from dataclasses import replace

    with pytest.raises(KraflaError, match=r"there is no Nobody\.tla"):
        actions_of(replace(many, spec="Nobody"))
    counter = make_model("", "Idle", text="---- MODULE Idle ----\nx == 1\n====\n")
    with pytest.raises(KraflaError, match="Idle has no operator Next"):
        actions_of(counter)


@pytest.mark.nightly
def test_what_stands_in_for_an_action_is_taken_for_it(specs):
    edit(
        specs / "lamp" / "LampProperties.tla", "OnReach ==", "BurnSlowly == Lamp!Burn\n\nOnReach =="
    )
    edit(
        specs / "lamp" / "LampProperties.tla", "EXTENDS Lamp", "EXTENDS Lamp\nLamp == INSTANCE Lamp"
    )
    edit(specs / "lamp" / "LampLong.cfg", "Limit = 4", "Limit = 4 Burn <- BurnSlowly")
    models = load(specs).select(("LampShort", "LampLong"))

    (total,) = spec_totals(models, shown_by(models))

    assert total.taken >= {"Press", "Burn", "Lamp!Burn"}
    assert total.is_whole
    assert str(total) == "Lamp: 2 of 2 actions taken, 1 of 1 witnesses reached"


@pytest.mark.nightly
def test_an_extension_may_leave_actions_to_the_models_of_its_base(specs):
    room = specs / "lamp"
    head, mark, tail = (room / "Lamp.tla").read_text().partition("Next ==")
    (room / "LampActions.tla").write_text(head.replace("Lamp", "LampActions") + "====\n")
    (room / "Lamp.tla").write_text(f"---- MODULE Lamp ----\nEXTENDS LampActions\n{mark}{tail}")
    (room / "Dimmer.tla").write_text(DIMMER)
    (room / "Dimmer.cfg").write_text(DIMMER_CONFIG)
    with (room / "models.toml").open("a") as file:
        file.write(DIMMER_ENTRY)
    models = load(specs).select(("LampLong", "Dimmer"))

    lamp, dimmer = spec_totals(models, shown_by(models))

    assert lamp.is_whole
    assert dimmer.is_whole
    assert (dimmer.taken, dimmer.lent) == ({"Press", "Dim"}, {"Burn"})
    text = "Dimmer: 3 of 3 actions taken (1 only in models of specs that share them)"
    assert str(dimmer) == text
    (alone,) = spec_totals(models[1:], shown_by(models[1:]))
    assert alone.missed_actions == ("Burn",)


def test_a_model_that_did_not_hold_shows_nothing(specs):
    edit(specs / "lamp" / "models.toml", "distinct = 7", "distinct = 6")
    models = load(specs).select(("LampShort", "LampLong"))

    (total,) = spec_totals(models, shown_by(models))

    assert total.missed_actions == ("Burn",)
    assert total.doubts() == ("Lamp: taken in no model that held: Burn",)


def test_definitions_are_found_past_comments_and_without_parameters():
    assert sorted(definitions(MODULE)) == [
        "Down", "Fallback", "Init", "Mixed", "Next", "Small", "Two",
    ]  # fmt: skip


def test_what_an_asked_claim_is_made_of_is_asked_too(specs):
    claims = specs / "lamp" / "LampProperties.tla"
    edit(claims, "OnReach ==", "HalfInv == presses >= 0\n\nOtherHalfInv == TRUE\n\nOnReach ==")
    assert [one.rpartition(" ")[2] for one in manifest_doubts(load(specs))] == [
        "HalfInv",
        "OtherHalfInv",
    ]
    edit(claims, "PressesInv ==", "PressesInv == HalfInv /\\")
    assert [one.rpartition(" ")[2] for one in manifest_doubts(load(specs))] == ["OtherHalfInv"]
    (specs / "proofs.toml").write_text('invariants = ["OtherHalfInv"]\n')
    assert manifest_doubts(load(specs)) == ()


def test_a_cfg_of_another_room_is_no_doubt_about_this_one(specs):
    (specs / "lamp" / "Forgotten.cfg").write_text("")
    manifest = load(specs)

    assert manifest_doubts(manifest) == manifest_doubts(manifest, {"lamp"})
    assert manifest_doubts(manifest) == ("lamp/Forgotten.cfg is in no [[model]] of the manifest",)
    assert manifest_doubts(manifest, {"elsewhere"}) == ()


def test_the_real_lease_room_claims_nothing_that_nobody_asks_about():
    manifest = load()
    assert Path(manifest.path).is_file()
    assert manifest_doubts(manifest, {"lease"}) == ()
