"""The entries of the rows of ``krafla verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.report.entries import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.verify import Report

__all__ = ["verify_entries"]


def verify_entries(report: Report) -> Iterator[Entry]:
    """Yield an entry for each question that was answered."""
    for row in report.rows:
        yield Entry(
            row.kind.value, row.name, row.verdict, row.reasons, row.evidence, row.bounds,
            row.reproduce, row.seconds, row.could_run,
        )  # fmt: skip
