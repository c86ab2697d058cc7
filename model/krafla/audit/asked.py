"""How often each invariant was asked: counters that the audit of a history keeps as it goes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Asked:
    """What a history had of each sort of thing that invariants are asked about.

    `records` counts by api key. An answer that is remembered for an equal change counts as asked.
    """

    batches: int = 0
    operations: int = 0
    changes: int = 0
    checkpoints: int = 0
    records: dict[int, int] = field(default_factory=dict)

    def count(self, counts: dict[tuple[int, int], int]) -> None:
        """Add the records of a batch, counted by api key and version."""
        for (api_key, _), number in counts.items():
            self.records[api_key] = self.records.get(api_key, 0) + number

    def of(self, name: str) -> int:
        """Return the counter of a name; `every` counts all records but control records."""
        if name == "every":
            return sum(self.records.values())
        counter: int = getattr(self, name)
        return counter
