"""The actions that are faults, under the name by which the simulator's campaigns know them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from krafla.traces.spec_facts import faults

__all__ = ["FAULTS"]


class _Faults(Mapping[str, str]):
    """The faults of the specs in use, read when they are asked for."""

    def __getitem__(self, action: str) -> str:
        return faults()[action]

    def __iter__(self) -> Iterator[str]:
        return iter(faults())

    def __len__(self) -> int:
        return len(faults())


FAULTS: Final[Mapping[str, str]] = _Faults()
"""Each action that is a fault, with its name in tables."""
