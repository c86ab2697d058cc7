"""The state machine of each system finds seeded bugs."""

from __future__ import annotations

import pytest
from tests.mutants.machine_bugs import BUGS, EXAMPLES_MAXIMUM, search

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import NAMES, find_system

EVERY = [pytest.param(word, name, id=f"{word} {name}") for word in BUGS for name in BUGS[word]]


@pytest.mark.nightly
@pytest.mark.parametrize(("word", "name"), EVERY)
def test_a_machine_finds_a_seeded_bug(word, name, tmp_path):
    found = search(word, name, tmp_path)
    assert found is not None, f"not in {EXAMPLES_MAXIMUM} examples"
    killer = find_mutant(name, find_system(word)).killer
    assert killer is None or found.by in killer.actions
    assert list(tmp_path.glob(f"krafla-{word}-machine-*.json"))


def test_there_are_ten_bugs_of_each_system_but_the_stack():
    assert tuple(BUGS) == NAMES
    counts = {word: len(set(BUGS[word])) for word in NAMES}
    assert counts == dict.fromkeys(NAMES, 10) | {"stack": 8}
    for word in NAMES:
        assert {*BUGS[word]} <= {one.name for one in find_system(word).mutants}
