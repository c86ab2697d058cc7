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
