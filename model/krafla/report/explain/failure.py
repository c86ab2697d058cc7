"""The failure text of a test that replays a kept trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.report.explain.account import Account, account_lines
from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.view import view_of
from krafla.report.explain.words import inert
from krafla.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.match.corpus import Entry

__all__ = ["failure_text"]

_WIDTH = 100


def failure_text(entry: Entry, error: Exception) -> str:
    """Return the entry's reason, the error with its notes, its account, and commands to go on.

    The account is of the error's attribute ``trace``, if it has one.
    """
    lines = [inert(f"{entry.kind}: {entry.reason}")]
    if entry.tags:
        lines.append(f"tags: {', '.join(entry.tags)}")
    lines += ["", *map(inert, str(error).splitlines()), *getattr(error, "__notes__", ())]
    trace = getattr(error, "trace", None)
    if isinstance(trace, Trace):
        lines += ["", *_told(trace)]
    verbs = ("replay",) if entry.is_run else ("explain", "replay")
    lines += ["", *(f"krafla {verb} {entry.path}" for verb in verbs)]
    return "\n".join(lines)


def _told(trace: Trace) -> Iterator[str]:
    outcome = outcome_of(trace)
    account = Account(outcome, view_of(trace, outcome))
    return (text for text, _ in account_lines(account, _WIDTH))
