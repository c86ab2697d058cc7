"""What the tests of seeded bugs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.mutants.mutant import Mutant


@pytest.fixture
def mutated(monkeypatch):
    """Make the implementation wrong in the way of a mutant, for one test."""

    def mutate(mutant: Mutant) -> None:
        for place, wrong in mutant.patches.items():
            monkeypatch.setattr(place, wrong)

    return mutate
