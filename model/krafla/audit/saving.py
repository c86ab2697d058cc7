"""What a part of a history needs to write itself as a tree, and to read itself again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from krafla.audit.partition_state import PartitionState

Tree: TypeAlias = Any
"""What `json` reads and writes."""


class Saves(Protocol):
    """The writer of a history; see `krafla.audit.saved_graph.Saver`."""

    def tree(self, value: Any) -> Tree:
        """Return the tree of a value."""

    def state(self, state: PartitionState) -> int:
        """Return the place of a partition's state."""

    def noted(self, noted: Any) -> int:
        """Return the place of a noted change."""


class Restores(Protocol):
    """The reader of a history; see `krafla.audit.saved_graph.Restorer`."""

    loading: Any
    reader: Any
    states: list[PartitionState]

    def value(self, tree: Tree) -> Any:
        """Return the value of a tree."""

    def noted(self, place: int) -> Any:
        """Return the noted change at a place."""

    def every_noted(self) -> list[Any]:
        """Return all noted changes."""
