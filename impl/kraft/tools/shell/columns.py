"""Names side by side, as many as a screen is wide enough for.

Kafka: LsCommandHandler.calculateColumnSchema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LEAST_WIDTH = 4
_GAP = 2


def in_columns(names: Sequence[str], width: int | None) -> Iterator[str]:
    """Yield the lines of names in columns, to be read downwards; one a line without a width."""
    if not names:
        return
    most = 1 if width is None else min(len(names), width // _LEAST_WIDTH)
    for count in range(most, 1, -1):
        height = -(-len(names) // count)
        columns = [names[start : start + height] for start in range(0, len(names), height)]
        widths = [max(map(len, column)) + _GAP for column in columns]
        if width is not None and sum(widths) - _GAP <= width:
            for row in range(height):
                cells = [
                    column[row].ljust(size)
                    for column, size in zip(columns, widths, strict=True)
                    if row < len(column)
                ]
                yield "".join(cells).rstrip()
            return
    yield from names
