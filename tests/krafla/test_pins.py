"""Pinned numbers: the line that states each, and writing another number there and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krafla.manifest import load
from krafla.pins import Pin, pin_of, witness_doubts, witness_pin, write_pins
from krafla.verdict import KraflaError

ENTRIES = b"""# Every model.
[[model]]
name = "One"
module = "room/M.tla"
cfg = "room/M.cfg"
spec = "M"
tier = "smoke"
kind = "safety"
expect = "holds"
distinct   =  1_234  # as many as a clock has
properties = 2
bounds = \"\"\"
distinct = 7
\"\"\"
[model.untaken]
generated = "an action of this name"\r

[[model]]
name = "Two"
module = "room/M.tla"
cfg = "room/M.cfg"
spec = "M"
tier = "smoke"
kind = "safety"
expect = "holds"
bounds = \"\"\"
properties = 5
\"\"\"
properties = 5
generated = 10
"""


@pytest.fixture
def path(tmp_path):
    """The file of two models that pin numbers."""
    room = tmp_path / "specs" / "room"
    room.mkdir(parents=True)
    (room.parent / "manifest.toml").write_text('rooms = ["room"]\n')
    (room / "M.tla").write_text("---- MODULE M ----\n====\n")
    (room / "M.cfg").write_text("")
    (room / "models.toml").write_bytes(ENTRIES)
    return room / "models.toml"


@pytest.fixture
def models(path):
    """The two models."""
    return load(path.parents[1]).models


def test_a_pin_that_does_not_fit_names_its_line_its_key_and_both_numbers(models, path):
    one, two = models
    pin = pin_of(one, "distinct", 1300)
    assert pin == Pin("One", path, 10, "distinct", 1234, 1300)
    assert str(pin) == f"{path}:10: distinct = 1234 -> 1300"
    assert pin_of(two, "generated", 11).line == 30


def test_there_is_no_pin_where_the_number_fits_or_none_is_pinned(models):
    one, two = models
    assert pin_of(one, "distinct", 1234) is None
    assert pin_of(one, "generated", 9) is None
    assert pin_of(two, "distinct", 9) is None


def test_only_the_numbers_are_written_and_all_else_stays_byte_for_byte(models, path):
    one, two = models
    pins = [pin_of(one, "distinct", 20_000), pin_of(one, "properties", 0)]
    write_pins([*pins, pin_of(two, "generated", 9)])
    expected = (
        ENTRIES.replace(b"1_234", b"20000")
        .replace(b"properties = 2\n", b"properties = 0\n")
        .replace(b"generated = 10\n", b"generated = 9\n")
    )
    assert path.read_bytes() == expected


@pytest.mark.parametrize(
    "change",
    [(b"1_234", b"1_235"), (b"# Every model.\n", b""), (b'name = "One"', b'name = "Other"')],
)
def test_a_file_that_says_something_else_by_now_is_left_alone(models, path, change):
    pin = pin_of(models[0], "distinct", 5)
    path.write_bytes(ENTRIES.replace(*change))
    with pytest.raises(KraflaError, match="does not say distinct = 1234 for One") as refused:
        write_pins([pin])
    assert refused.value.place == f"{path}:10"
    assert path.read_bytes() == ENTRIES.replace(*change)


def test_a_line_within_a_text_that_looks_like_a_pin_is_not_written(models, path):
    pin = pin_of(models[1], "properties", 6)
    with pytest.raises(KraflaError, match="does not say properties = 5 for Two"):
        write_pins([pin])
    assert path.read_bytes() == ENTRIES


def test_every_model_asks_for_as_many_witnesses_as_are_pinned():
    models = load().models
    assert [doubt for model in models for doubt in witness_doubts(model)] == []
    asking = [model for model in models if model.witnesses]
    assert len(asking) > 100
    for model in asking:
        (doubt,) = witness_doubts(replace(model, witnesses=model.witnesses[1:]))
        assert f"witnesses.toml:{witness_pin(replace(model, witnesses=())).line}: " in doubt


def test_a_witness_that_is_asked_for_twice_counts_once(path):
    path.with_name("witnesses.toml").write_text("# How many.\n\nTwo = 2\n")
    one, two = load(path.parents[1]).models
    twice = replace(two, witnesses=("AReach", "AReach"))
    assert witness_doubts(twice) == [f"1 witnesses, but 2 are pinned: {witness_pin(twice)}"]
    assert str(witness_pin(twice)) == f"{path.with_name('witnesses.toml')}:3: Two = 2 -> 1"
    new = replace(one, witnesses=("AReach",))
    assert witness_pin(new) is None
    (doubt,) = witness_doubts(new)
    assert doubt.endswith(f"found 1: add One = 1 to {path.with_name('witnesses.toml')}")


def test_a_new_number_of_witnesses_is_written_and_all_else_stays(path):
    file = path.with_name("witnesses.toml")
    file.write_text("# How many.\nOne = 2 # of three\nTwo = 2\n")
    pins = [
        witness_pin(replace(one, witnesses=("AReach",))) for one in load(path.parents[1]).models
    ]
    write_pins(pins[:1])
    assert file.read_text() == "# How many.\nOne = 1 # of three\nTwo = 2\n"
    with pytest.raises(KraflaError, match="does not say One = 2 for One"):
        write_pins(pins[:1])
