"""Every mutant of the specs is killed, and by the property that is named for it alone."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import pytest

from krafla.manifest import find_specs, load
from krafla.tlc.config import INVARIANT_KEYWORDS, PROPERTY_KEYWORDS, read_config
from krafla.tlc.outcome import Finished, describe, violated_names
from krafla.tlc.run import run
from krafla.tlc.warm_java import warm_javas

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# By day a sample of the properties is broken, each by the mutant that takes least. All mutants are
# run by `make nightly`, which sets KRAFLA_NIGHTLY.
BY_DAY = 12
SECONDS_MAX = 3.0
TIMEOUT_SECONDS = 300.0


class Mutant(NamedTuple):
    """One entry of mutants.toml."""

    id: str
    what: str
    source: str
    file: str
    model: str
    property: str
    seconds: float
    text: str
    replacement: str
    room: str


def all_mutants() -> list[Mutant]:
    listings = sorted((find_specs() / "broken").glob("*/mutants.toml"))
    return [
        Mutant(**entry, room=listing.parent.name)
        for listing in listings
        for entry in tomllib.loads(listing.read_text(encoding="utf-8"))["mutant"]
    ]


MUTANTS = all_mutants()
NIGHTLY = bool(os.environ.get("KRAFLA_NIGHTLY"))


def broken(mutant: Mutant) -> tuple[str, str]:
    """Return the room and the property; several rooms have properties of one name."""
    return mutant.room, mutant.property


CHEAPEST = {
    broken(mutant): mutant for mutant in sorted(MUTANTS, key=lambda one: (-one.seconds, one.id))
}
SHORT = [
    mutant
    for mutant in MUTANTS
    if mutant == CHEAPEST[broken(mutant)] and mutant.seconds <= SECONDS_MAX
]


def lot(mutant: Mutant) -> bytes:
    """Return what orders mutants as if by chance, and always alike."""
    return blake2b(mutant.id.encode()).digest()


def by_turns(mutants: list[Mutant]) -> list[Mutant]:
    """Return the mutants in an order in which each room has its turn."""
    drawn = sorted(mutants, key=lot)
    turns: Counter[str] = Counter()
    ordered = []
    for mutant in drawn:
        ordered.append((turns[mutant.room], len(ordered), mutant))
        turns[mutant.room] += 1
    return [mutant for _, _, mutant in sorted(ordered)]


TRIED = MUTANTS if NIGHTLY else by_turns(SHORT)[:BY_DAY]


def test_there_are_mutants_of_every_sort_and_each_has_its_own_name() -> None:
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 12
    assert len(TRIED) >= BY_DAY
    assert {mutant.room for mutant in TRIED} == {mutant.room for mutant in MUTANTS}
    suffixes = {mutant.property[-4:] for mutant in MUTANTS}
    assert {"Prop", "Live"} <= suffixes
    assert any(mutant.property.endswith("Inv") for mutant in MUTANTS)


@pytest.fixture(scope="module", autouse=True)
def javas() -> Iterator[None]:
    """Let the many short searches share a JVM."""
    with warm_javas():
        yield


def test_every_mutant_fits_its_spec_and_its_model_checks_the_property() -> None:
    specs = find_specs()
    models = {model.name: model for model in load(specs).models}
    for mutant in MUTANTS:
        source = (specs / mutant.file).read_text(encoding="utf-8")
        assert source.count(mutant.text) == 1, mutant.id
        config = read_config(models[mutant.model].config)
        assert mutant.property in {*config.invariants, *config.properties}, mutant.id


def mutated(mutant: Mutant, folder: Path) -> Path:
    """Return a copy of the specs in which the mutant's text is replaced, once."""
    specs = folder / "specs"
    shutil.copytree(find_specs(), specs)
    file = specs / mutant.file
    source = file.read_text(encoding="utf-8")
    assert source.count(mutant.text) == 1, "the mutant no longer fits the spec"
    file.write_text(source.replace(mutant.text, mutant.replacement), encoding="utf-8")
    return specs


def run_alone(specs: Path, model_name: str, name: str) -> object:
    """Return how TLC ends on a model whose only property is the named one."""
    (model,) = load(specs).select((model_name,))
    whole = read_config(model.config)
    assert name in {*whole.invariants, *whole.properties}, f"{model_name} does not check {name}"
    config = whole.without([*INVARIANT_KEYWORDS, *PROPERTY_KEYWORDS])
    keyword = "INVARIANT" if name.endswith("Inv") else "PROPERTY"
    model.config.write_text(config.with_line(f"{keyword} {name}").text, encoding="utf-8")
    alone = replace(model, witnesses=())
    return run(alone, workers=1, coverage=False, timeout=TIMEOUT_SECONDS).outcome


@pytest.mark.by_day(4)
@pytest.mark.parametrize("mutant", TRIED, ids=[mutant.id for mutant in TRIED])
def test_the_named_property_notices(mutant: Mutant, tmp_path: Path) -> None:
    outcome = run_alone(mutated(mutant, tmp_path), mutant.model, mutant.property)
    assert mutant.property in violated_names(outcome), describe(outcome)


@pytest.mark.nightly
def test_without_a_mutant_the_same_run_finishes(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    shutil.copytree(find_specs(), specs)
    outcome = run_alone(specs, "MCBrokerLeaseRefinement", "RefinesUntimedLeaseProp")
    assert isinstance(outcome, Finished), describe(outcome)
