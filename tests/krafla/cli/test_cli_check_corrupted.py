"""Whatever is changed in a manifest, a cfg or a name: a tier that was green turns red."""

from __future__ import annotations

import pytest
from tests.krafla.cli.lamp_room import edit, krafla, lay_out

MODELS = "lamp/models.toml"
SHORT, LONG, ON = "lamp/LampShort.cfg", "lamp/LampLong.cfg", "broken/lamp/LampOn.cfg"
SPEC, CLAIMS = "lamp/Lamp.tla", "lamp/LampProperties.tla"
LAST_ENTRY = '[[model]]\nname = "LampLong"'
CORRUPTIONS = {
    "number of distinct states": ([(MODELS, "distinct = 7", "distinct = 9")], 3, "9 are pinned"),
    "number of generated states": ([(MODELS, "generated = 3", "generated = 4")], 3, "4 are pinned"),
    "number of properties": ([(MODELS, "properties = 3", "properties = 2")], 3, "2 are pinned"),
    "name of a witness": ([(MODELS, '["OnReach"]', '["OnReech"]')], 2, "OnReech"),
    "name of an untaken action": ([(MODELS, "Burn =", "Bern =")], 3, "Burn was never taken"),
    "property that must fail": ([(MODELS, '"NeverOnInv"', '"PressesInv"')], 1, "should fail, but"),
    "invariant of a cfg": ([(LONG, "PressesInv", "PressesInf")], 2, "PressesInf"),
    "property of a cfg, misspelt": ([(SHORT, "CountsUpProp", "CountsUpProb")], 2, "CountsUpProb"),
    "constant of a cfg": ([(LONG, "Limit = 4", "Limit = 3")], 3, "7 are pinned"),
    "name of a constant": ([(LONG, "Limit", "Limits")], 2, "Limits; did you mean Limit"),
    "another constant": ([(LONG, "Limit = 4", "Limit = 4 Extra = 1")], 2, "constant Extra"),
    "property taken out of a cfg": ([(SHORT, "PROPERTY CountsUpProp", "")], 3, "3 are pinned"),
    "property taken out of cfg and manifest": (
        [(SHORT, "PROPERTY CountsUpProp", ""), (MODELS, "properties = 3", "properties = 2")],
        3,
        "lamp/LampProperties.tla: no model asks about CountsUpProp",
    ),
    "witness taken out": (
        [(MODELS, 'witnesses = ["OnReach"]\n', "")],
        3,
        "no model asks about OnReach",
    ),
    "witness taken out of one model": (
        [(MODELS, '["OnReach"]', "[]")],
        3,
        "0 witnesses, but 1 are pinned",
    ),
    "model taken out": (
        [(MODELS, "[[model]]\nname = \"LampOn\"", "[[modell]]\nname = \"LampOn\"")],
        2,
        "is a table [[",
    ),
    "tier of a model": (
        [(MODELS, 'cfg = "lamp/LampLong.cfg"\nspec = "Lamp"\ntier = "smoke"',
          'cfg = "lamp/LampLong.cfg"\nspec = "Lamp"\ntier = "full"')],
        3,
        "Lamp: taken in no model that held: Burn",
    ),
    "tier that there is not": (
        [(MODELS, 'cfg = "lamp/LampLong.cfg"\nspec = "Lamp"\ntier = "smoke"',
          'cfg = "lamp/LampLong.cfg"\nspec = "Lamp"\ntier = "smoky"')],
        2,
        "'tier' is one of",
    ),
    "expectation of a model": (
        [(MODELS, 'expect = "violates"\nproperty = "NeverOnInv"', 'expect = "holds"')],
        1,
        "invariant NeverOnInv is violated",
    ),
    "spec of a model": (
        [(MODELS, 'cfg = "lamp/LampShort.cfg"\nspec = "Lamp"',
          'cfg = "lamp/LampShort.cfg"\nspec = "Lump"')],
        3,
        "there is no Lump.tla",
    ),
    "action that nobody takes": (
        [(SPEC, "Next == Press \\/ Burn", "Fix == FALSE /\\ UNCHANGED <<presses, is_on>>\n"
          "Next == Press \\/ Burn \\/ Fix")],
        3,
        "action Fix was never taken",
    ),
    "claim that nobody checks": (
        [(CLAIMS, "OnReach == is_on", "OnReach == is_on\nDarkLive == <>~is_on")],
        3,
        "no model asks about DarkLive",
    ),
}  # fmt: skip
# One of each thing that can be corrupted; each takes a JVM for each of three models.
BY_DAY = {
    "number of distinct states",
    "name of a witness",
    "property that must fail",
    "constant of a cfg",
    "property taken out of a cfg",
    "action that nobody takes",
    "claim that nobody checks",
}


def test_the_days_corruptions_are_known():
    assert set(CORRUPTIONS) > BY_DAY


@pytest.mark.nightly
def test_the_tier_is_green_and_says_what_that_rests_on(tmp_path):
    finished = krafla(lay_out(tmp_path), "check")

    assert finished.returncode == 0, finished.stdout
    lines = finished.stdout.splitlines()
    assert lines[-2:] == [
        "Lamp: 2 of 2 actions taken, 1 of 1 witnesses reached",
        "3 models: 3 held",
    ]
    table = {line.split()[1]: line.split() for line in lines if line.startswith("held ")}
    assert table["LampShort"][2:5] == ["3", "as", "pinned"]
    assert table["LampLong"][2:5] == ["7", "as", "pinned"]
    assert table["LampOn"][3:] == ["NeverOnInv", "failed"]


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    "what",
    [pytest.param(one, marks=() if one in BY_DAY else pytest.mark.nightly) for one in CORRUPTIONS],
)
def test_a_corruption_turns_the_tier_red(tmp_path, what):
    edits, status, complaint = CORRUPTIONS[what]
    specs = lay_out(tmp_path)
    for name, old, new in edits:
        edit(specs / name, old, new)

    finished = krafla(specs, "check")

    assert finished.returncode == status, finished.stdout + finished.stderr
    assert complaint in finished.stdout + finished.stderr


@pytest.mark.nightly
def test_a_model_that_leaves_the_manifest_leaves_its_cfg_behind(tmp_path):
    specs = lay_out(tmp_path)
    text = (specs / MODELS).read_text()
    (specs / MODELS).write_text(text[: text.index('[[model]]\nname = "LampOn"')])

    finished = krafla(specs, "check")

    assert finished.returncode == 3
    assert "broken/lamp/LampOn.cfg is in no [[model]] of the manifest" in finished.stdout
    assert "no model asks about NeverOnInv" in finished.stdout
