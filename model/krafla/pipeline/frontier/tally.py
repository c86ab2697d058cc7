"""What a task counted and found beside states: small, and the sum over tasks is order-free."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import Any

__all__ = ["Fault", "Tally"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A property that is false; of several the least by ``order`` is shown.

    ``depth`` is that of the state whose steps were looked at, 0 for initial states out of bounds.
    If ``state`` is empty, the state with the fingerprint ``fp`` is wrong, and it is in the table.
    Otherwise ``state`` has the bytes of a state after the one with the fingerprint ``parent``, by
    the action of number ``action`` (-1: it is initial). ``is_step`` tells a false step.
    """

    depth: int
    place: int
    name: str
    fp: int
    parent: int | None = None
    action: int = -1
    state: str = ""
    is_step: bool = False

    @property
    def order(self) -> tuple[Any, ...]:
        """Return what decides which of several faults is shown: the shortest way first."""
        length = self.depth + bool(self.state)
        return (length, self.place, self.parent or 0, self.fp, self.action, self.state)


@dataclass(slots=True)
class Tally:
    """The counts of some expanded states.

    ``generated`` counts steps and initial states, as TLC does. ``emitted`` counts the states a
    task handed on, before those that another one found, too, are merged. ``stepless`` counts states
    without any step, and ``stuck`` is the nearest, as (depth, fingerprint). ``error`` is TLC's
    complaint about an expression it cannot evaluate.
    """

    expanded: int = 0
    generated: int = 0
    emitted: int = 0
    stepless: int = 0
    left: int = 0
    seconds: float = 0.0
    taken: Counter[str] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)
    beyond: set[str] = field(default_factory=set)
    stuck: tuple[int, int] | None = None
    fault: Fault | None = None
    error: str | None = None

    def blame(self, fault: Fault) -> None:
        """Keep a fault, if it is to be shown before the one that is known."""
        if self.fault is None or fault.order < self.fault.order:
            self.fault = fault

    def add(self, other: Tally) -> None:
        """Add what another task counted."""
        for name in ("expanded", "generated", "emitted", "stepless", "left", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.taken.update(other.taken)
        self.reached |= other.reached
        self.beyond |= other.beyond
        self.stuck = min((one for one in (self.stuck, other.stuck) if one), default=None)
        if other.fault is not None:
            self.blame(other.fault)
        self.error = self.error or other.error

    def as_json(self, **more: Any) -> str:
        """Return the tally as JSON; ``more`` tells equal tallies of two tasks apart."""
        content = asdict(replace(self, taken=Counter()))
        content["taken"] = dict(self.taken)
        content["reached"], content["beyond"] = sorted(self.reached), sorted(self.beyond)
        return json.dumps({**content, **more}, sort_keys=True)

    @classmethod
    def of(cls, text: str) -> Tally:
        """Return the tally that JSON stands for."""
        content = json.loads(text)
        known = {name: content[name] for name in cls.__dataclass_fields__}
        known["taken"] = Counter(known["taken"])
        known["reached"], known["beyond"] = set(known["reached"]), set(known["beyond"])
        known["stuck"] = None if known["stuck"] is None else tuple(known["stuck"])
        known["fault"] = None if known["fault"] is None else Fault(**known["fault"])
        return cls(**known)
