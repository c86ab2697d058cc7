"""A fixed sample: some mutants of each module and each operator, the same ones every time."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.mutate.mutants import Mutant

__all__ = ["sample"]


def sample(mutants: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return ``size`` mutants, as evenly spread over modules and operators as can be.

    Each module with each operator gives one, then each that has more gives another, and so on.
    Which ones is decided by a hash of the seed and their id: a mutant that comes or goes
    elsewhere changes little.
    """
    strata: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants:
        strata.setdefault((mutant.module, mutant.operator), []).append(mutant)
    ranked: list[tuple[int, str, Mutant]] = []
    for members in strata.values():
        members.sort(key=lambda one: _lot(seed, one.id))
        ranked += [
            (turn, _lot(seed, f"{one.module}.{one.operator}"), one)
            for turn, one in enumerate(members)
        ]
    ranked.sort(key=lambda one: one[:2])
    chosen = {one.id for _, _, one in ranked[:size]}
    return [mutant for mutant in mutants if mutant.id in chosen]


def _lot(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()
