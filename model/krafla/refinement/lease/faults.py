"""The actions that are faults, as a constant for the simulator's campaigns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from krafla.traces.spec_facts import faults

__all__ = ["FAULTS"]


class _Faults(Mapping[str, str]):
    """The faults of the specs in use, read on access."""

    def __getitem__(self, action: str) -> str:
        return faults()[action]

    def __iter__(self) -> Iterator[str]:
        return iter(faults())

    def __len__(self) -> int:
        return len(faults())


FAULTS: Final[Mapping[str, str]] = _Faults()
"""Each action that is a fault, with its name in tables."""
