"""Mutants of a spec that pins no numbers, and of the same one when it does."""

from __future__ import annotations

import pytest


@pytest.mark.usefixtures("folder")
def test_numbers_notice_a_mutant_only_once_they_are_pinned(krafla):
    question = "mutate Lock.tla --only Lock.Ask.drop-update"
    bare = krafla(question)
    told = "survived  Lock.Ask.drop-update"
    assert told in bare.stdout
    assert "0 of 1 mutants noticed" in bare.stdout
    assert "only numbers or the actions taken differ, and no number is pinned: " in bare.stdout
    assert "1 that only change numbers, of models that pin none" in bare.stdout
    assert "to notice them: krafla check Lock.tla --pin\n" in bare.stdout

    assert krafla("check Lock.tla --pin").exit_code == 0
    pinned = krafla(question)
    assert "numbers only  Lock.Ask.drop-update" in pinned.stdout
    assert "1 of 1 mutants noticed" in pinned.stdout
    assert "pinned: " not in pinned.stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Release(c) == c", "Release(c) == ~waits[c] /\\ waits[c] /\\ c", "it deadlocks: a state "),
        ("OneHolder == ", "OneHolder == holder = {} /\\ ", "OneHolder is violated"),
    ],
)
def test_nothing_is_asked_of_mutants_of_a_model_that_does_not_hold(old, new, said, folder, krafla):
    path = folder / "Lock.tla"
    path.write_text(path.read_text().replace(old, new))
    for pins in (False, True):
        if pins:
            (folder / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\ndistinct = 8\n')
        stopped = krafla("mutate Lock.tla --only Lock.Ask.drop-update")
        assert stopped.exit_code == 3
        assert f"not held as it stands ({said}" in stopped.output


def test_a_model_whose_behaviours_may_end_is_mutated(folder, krafla):
    path = folder / "Lock.tla"
    path.write_text(path.read_text().replace("Release(c) == c", "Release(c) == FALSE /\\ c"))
    config = folder / "Lock.cfg"
    config.write_text(config.read_text() + "CHECK_DEADLOCK FALSE\n")
    asked = krafla("mutate Lock.tla --only Lock.Ask.drop-update")
    assert asked.exit_code == 0
    assert "0 of 1 mutants noticed" in asked.stdout
