"""A lease that expires by time: a machine with a hidden action, and a method of no action."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from krafla.testing import Refused, SpecMachine, Taken, action

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent
PERIOD = 10


class Lease(SpecMachine):
    """A lease of ten seconds. Nothing that the code does is its end, so that step is hidden."""

    spec = HERE / "specs" / "Lease.tla"
    hidden = ("Expire",)
    # Whether the mistake of a subclass is there.
    is_wrong = True

    def __init__(self) -> None:
        super().__init__()
        self.now, self.end = 0.0, 0.0

    @property
    def is_held(self) -> bool:
        return self.now < self.end

    def observe(self) -> Mapping[str, Any]:
        return {"held": self.is_held}

    @action("Take")
    def take(self) -> None:
        if self.is_held:
            raise Refused
        self.end = self.now + PERIOD

    @action("Use")
    def use(self) -> None:
        if not self.is_held:
            raise Refused

    @action(None, seconds=st.just(PERIOD))
    def wait(self, seconds: float = PERIOD) -> Taken:
        self.now += seconds
        return Taken.nothing
