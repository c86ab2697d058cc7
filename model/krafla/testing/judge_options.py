"""The options of a judge, as they are said to ``Judge``, in a machine, or on a command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["JudgeOptions"]


# Without slots, so that a default is the attribute of the class.
@dataclass(frozen=True)
class JudgeOptions:
    """The options that ``Judge`` explains; ``KraflaError`` if one makes no sense."""

    hidden: Sequence[str] | None = ()
    hidden_max: int = 8
    invariants: Sequence[str] | None = None
    properties: Sequence[str] | None = None
    frontier: int = 2_000
    limit_s: float = 60.0

    def __post_init__(self) -> None:
        for name in ("hidden", "invariants", "properties"):
            given = getattr(self, name)
            if isinstance(given, str):
                raise KraflaError(f"{name} lists names: [{given!r}], not {given!r}")
        for name, least in (("hidden_max", 0), ("frontier", 1)):
            given = getattr(self, name)
            if not isinstance(given, int) or given < least:
                raise KraflaError(f"{name} is a whole number from {least} on, not {given!r}")
        if not isinstance(self.limit_s, int | float) or not self.limit_s > 0:
            raise KraflaError(f"limit_s is a number of seconds, not {self.limit_s!r}")
